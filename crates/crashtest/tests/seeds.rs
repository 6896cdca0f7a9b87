//! Crash tests of the engine as it is.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use crate::support::run_all;
use crashtest::{FaultKind, Requirement, Target, trace};
use std::ops::Range;
use std::time::Instant;

/// The seeds to try: so many, or as many as the variable PROOFLOAD_CRASH_SEEDS says (`5000`, or a
/// range such as `1756..1757`).
fn seeds(default: u64) -> Range<u64> {
    let wanted = std::env::var("PROOFLOAD_CRASH_SEEDS").unwrap_or_default();
    match wanted.split_once("..") {
        Some((first, end)) => first.parse().unwrap()..end.parse().unwrap(),
        None => 0..wanted.parse().unwrap_or(default),
    }
}

#[test]
fn no_seed_fails() {
    let seeds = seeds(20_000);
    let count = seeds.end - seeds.start;
    let began = Instant::now();
    let (totals, failure) = run_all(seeds);
    let seconds = began.elapsed().as_secs_f64();
    println!("{count} seeds in {seconds:.1} s: {totals:#?}");
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    // What was not gone through was not tested.
    if count >= 20_000 {
        assert!(totals.cut_recoveries > 0 && totals.undone > 0, "{totals:?}");
        assert!(totals.redone > 0 && totals.skipped > 0, "{totals:?}");
        assert!(totals.restored_pages > 0 && totals.lost_lazy_commits > 0);
        assert!(totals.torn_pages.reported > 0, "{totals:?}");
        for &kind in FaultKind::ALL {
            let kind_tally = totals.kinds[&kind];
            if !kind.is_silent() {
                // What the storage does itself report is no damage, and neither is a power cut.
                assert_eq!(kind_tally.reported, 0, "{kind}: {kind_tally:?}");
                assert_eq!(kind_tally.not_shown, 0, "{kind}: {kind_tally:?}");
            }
            if Requirement::ReportedByPageVersion == kind.requirement(Target::Data) {
                assert!(kind_tally.reported > 0, "{kind}: {kind_tally:?}");
                assert!(kind_tally.found_at_the_end > 0, "{kind}: {kind_tally:?}");
            }
            let is_fault = kind != FaultKind::PowerCut;
            assert!(kind_tally.seeds > 100, "{kind}: {kind_tally:?}");
            assert!(
                !is_fault || kind_tally.injected > 20,
                "{kind}: {kind_tally:?}"
            );
        }
    }
}

#[test]
fn a_seed_gives_the_same_simulation_every_time() {
    for seed in 0..40 {
        let (first, second) = (trace(seed), trace(seed));
        assert!(first.trace.len() > 20, "seed {seed} does something");
        assert_eq!(first.trace, second.trace, "seed {seed}");
    }
    assert_ne!(trace(1).trace, trace(2).trace);
}
