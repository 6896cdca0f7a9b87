//! Tests of the crash tests: each bug put into the engine must be found.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use crate::support::{run_all, run_seeds};
use edb::seeded_bugs::{SeededBug, with_seeded_bug};
use std::time::Instant;

/// Seeds within which every bug must be found.
const MOST_SEEDS: u64 = 10_000;

/// The lowest seed that finds the bug, and how it shows.
fn find(bug: SeededBug) -> Result<(u64, String), String> {
    let began = Instant::now();
    let simulate = |seed| with_seeded_bug(bug, || crashtest::run(seed));
    let (_, failure) = run_seeds(0..MOST_SEEDS, simulate);
    let Some(failure) = failure else {
        return Err(format!("{bug:?} is not found within {MOST_SEEDS} seeds"));
    };
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{bug:?}: seed {} after {seconds:.1} s: {}",
        failure.seed, failure.problem
    );
    Ok((failure.seed, failure.problem.clone()))
}

#[test]
fn every_seeded_bug_is_found() {
    let wanted = std::env::var("PROOFLOAD_SEEDED_BUG").unwrap_or_default();
    let bugs = SeededBug::ALL.iter().copied();
    let bugs = bugs.filter(|bug| wanted.is_empty() || format!("{bug:?}") == wanted);
    let missed: Vec<String> = bugs.filter_map(|bug| find(bug).err()).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn without_a_bug_the_same_seeds_pass() {
    let (_, failure) = run_all(0..200);
    assert!(failure.is_none(), "{}", failure.unwrap());
}
