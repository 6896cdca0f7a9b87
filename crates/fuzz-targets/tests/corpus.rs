//! Every target with every file of its corpus, and with files made of these by chance.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use fuzz_targets::{TARGETS, Target, database};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Memory that this process may take at most, in KiB.
const MOST_MEMORY_KIB: u64 = 1 << 20;

/// The longest input.
const MOST_BYTES: usize = 64 * 1024;

fn corpus_of(target: &Target) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../../fuzz/corpus").join(target.name)
}

fn inputs_of(target: &Target) -> Vec<Vec<u8>> {
    let directory = corpus_of(target);
    let mut paths: Vec<PathBuf> = fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut inputs: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(!inputs.is_empty(), "{} is empty", directory.display());
    inputs.extend(made_by_the_engine(target));
    inputs
}

/// Sound inputs that the engine makes afresh: they follow the format without being kept in files.
fn made_by_the_engine(target: &Target) -> Vec<Vec<u8>> {
    let (inputs, every) = match target.name {
        "page" => (database::sound_pages(), 3),
        "log_record" => (database::sound_records(), 9),
        _ => return Vec::new(),
    };
    let inputs: Vec<Vec<u8>> = inputs.into_iter().step_by(every).take(12).collect();
    assert!(inputs.len() > 4, "{}: {} inputs", target.name, inputs.len());
    inputs
}

/// Changes an input by chance, a few times.
fn mutate(random: &mut Xoshiro256PlusPlus, inputs: &[Vec<u8>]) -> Vec<u8> {
    const TOKENS: [&[u8]; 12] = [
        b"18446744073709551615",
        b"-1",
        b"0",
        b"1e308",
        b"nan",
        b"\"",
        b"\n",
        b",",
        b"=",
        b"[",
        b"\xff\xff\xff\xff",
        b"\0\0\0\0",
    ];
    let mut bytes = inputs[random.random_range(0..inputs.len())].clone();
    for _ in 0..random.random_range(1..8) {
        let at = random.random_range(0..=bytes.len());
        let end = (at + random.random_range(0..32)).min(bytes.len());
        match random.random_range(0..7) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            2 if at < bytes.len() => bytes[at] = random.random_range(0..=255),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let token = TOKENS[random.random_range(0..TOKENS.len())];
                drop(bytes.splice(at..end.min(at + token.len()), token.iter().copied()));
            }
            5 => {
                let copy = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            _ => {
                let other = &inputs[random.random_range(0..inputs.len())];
                let from = random.random_range(0..=other.len());
                let part = &other[from..(from + 64).min(other.len())];
                drop(bytes.splice(at..end, part.iter().copied()));
            }
        }
    }
    bytes.truncate(MOST_BYTES);
    bytes
}

fn run(target: &Target, bytes: &[u8]) {
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(bytes)));
    if outcome.is_err() {
        let path = std::env::temp_dir().join(format!("proofload-fuzz-{}", target.name));
        fs::write(&path, bytes).unwrap();
        panic!("target {} panics at {}", target.name, path.display());
    }
}

/// The most memory that this process has taken so far, in KiB.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[test]
fn every_target_returns_whatever_it_reads() {
    let runs = std::env::var("PROOFLOAD_FUZZ_RUNS").ok();
    let runs: u64 = runs.map_or(400, |runs| runs.parse().unwrap());
    for target in &TARGETS {
        let inputs = inputs_of(target);
        inputs.iter().for_each(|bytes| run(target, bytes));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for _ in 0..runs {
            run(target, &mutate(&mut random, &inputs));
        }
        let peak_kib = peak_kib();
        println!(
            "{}: {runs} runs, peak of memory {peak_kib} KiB",
            target.name
        );
        assert!(
            peak_kib < MOST_MEMORY_KIB,
            "{}: {peak_kib} KiB",
            target.name
        );
    }
}

#[test]
fn every_target_has_a_file_for_cargo_fuzz() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    for target in &TARGETS {
        let file = root.join(format!("fuzz_targets/{}.rs", target.name));
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(&format!("\"{}\"", target.name)), "{text}");
        assert!(manifest.contains(&format!("name = \"{}\"", target.name)));
    }
}

/// Files for cargo-fuzz, which cannot ask the engine: PROOFLOAD_WRITE_CORPUS=1 writes them.
#[test]
fn the_corpora_can_hold_what_the_engine_writes() {
    for target in &TARGETS {
        let inputs = made_by_the_engine(target);
        if std::env::var_os("PROOFLOAD_WRITE_CORPUS").is_some() {
            for (number, bytes) in inputs.iter().enumerate() {
                let path = corpus_of(target).join(format!("engine-{number:02}"));
                fs::write(path, bytes).unwrap();
            }
        }
    }
}
