//! Power cuts at random instants, during work and during recovery.

use crate::common::*;
use crate::reading::{equals, read_all};
use crate::sessions::{Committed, State, World};
use edb::{EngineSettings, RecoveryReport, Row};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::Runtime;
use runtime::simulated::{SimulatedDisk, SimulatedOptions, Tearing};
use std::collections::BTreeMap;

/// A disk with an empty table on it, made once and copied for each seed.
fn prepared(settings: &EngineSettings, tearing: Tearing) -> SimulatedDisk {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let options = SimulatedOptions {
        tearing,
        log_length: 0,
        ..SimulatedOptions::default()
    };
    let disk = SimulatedDisk::new(&handle, options);
    let (settings, work) = (*settings, disk.clone());
    runtime.block_on(async move {
        let db = create(&handle, &work, &settings).await;
        db.create_table(&messages()).await.unwrap();
        db.close().await.unwrap();
    });
    disk
}

/// What recoveries had to do, so that a test knows that it has tested something.
#[derive(Debug, Default)]
struct Tally {
    lives: u64,
    cut_recoveries: u64,
    unclean: u64,
    redone: u64,
    skipped: u64,
    undone: u64,
    restored: u64,
    lost_lazy_commits: u64,
}

/// What one life of the database left behind.
struct Life {
    history: Vec<Committed>,
    /// What recovery did and how many commits survived, if it came to its end.
    report: Option<(RecoveryReport, usize)>,
    /// Whether it ended by the power cut; otherwise all work was done before.
    was_cut: bool,
}

/// Opens the database, checks it against what may be left of `history` on top of `base`, works, and
/// loses power at a random instant, maybe while it still recovers.
fn live(
    disk: &SimulatedDisk,
    settings: &EngineSettings,
    seed: u64,
    base: &mut State,
    history: &mut Vec<Committed>,
) -> (SimulatedDisk, Life) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let disk = if disk.has_power() {
        disk.killed_copy(&handle)
    } else {
        disk.reopen(&handle)
    };
    let cut_after_ns = match random.random_range(0..4) {
        0 => random.random_range(0..3_000_000),
        1 => random.random_range(0..20_000_000),
        _ => random.random_range(0..120_000_000),
    };
    let cut_seed = random.random_range(0..u64::MAX);
    let (cut, clock) = (disk.clone(), handle.clone());
    drop(handle.spawn(async move {
        clock.sleep_ns(cut_after_ns).await;
        cut.crash(cut_seed);
    }));
    let (settings, work) = (*settings, disk.clone());
    let (start, committed) = (std::mem::take(base), std::mem::take(history));
    let (start, committed, life) = runtime.block_on(async move {
        let cut_early = |start, committed| {
            (
                start,
                committed,
                Life {
                    history: Vec::new(),
                    report: None,
                    was_cut: true,
                },
            )
        };
        let (db, report) = match open(&handle, &work, &settings).await {
            Ok(opened) => opened,
            Err(error) => {
                assert!(!work.has_power(), "recovery failed with power on: {error}");
                return cut_early(start, committed);
            }
        };
        let table = db.table("messages").unwrap();
        let rows = match read_all(&db, &table).await {
            Ok(rows) => rows,
            Err(error) => {
                assert!(!work.has_power(), "reading failed with power on: {error}");
                return cut_early(start, committed);
            }
        };
        let (start, survived) = survivors(start, committed, &rows);
        let world = World::new(&handle, db.clone(), table, start.clone(), seed);
        let errors = world.run(seed, 4, 25).await;
        if work.has_power() {
            assert_eq!(errors, []);
            if random.random_range(0..2) == 0 {
                let closed = db.close().await;
                assert!(
                    closed.is_ok() || !work.has_power(),
                    "closing failed: {closed:?}"
                );
            }
        }
        let history = std::mem::take(&mut world.model.borrow_mut().history);
        (
            start,
            Vec::new(),
            Life {
                history,
                report: Some((report, survived)),
                was_cut: !work.has_power(),
            },
        )
    });
    *base = start;
    *history = committed;
    if life.was_cut {
        return (disk, life);
    }
    disk.crash(cut_seed);
    (disk, life)
}

/// Recovers a copy of a crashed disk without trouble, closes the database and holds everything in
/// it against everything: trees, space, indexes, long values.
fn check_recovered(disk: &SimulatedDisk, settings: &EngineSettings) {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let (disk, settings) = (disk.reopen(&handle), *settings);
    runtime.block_on(async move {
        let (db, report) = open(&handle, &disk, &settings).await.unwrap();
        let rows = read_all(&db, &db.table("messages").unwrap()).await.unwrap();
        let rebuilt = db.rebuild_versions(|_| true).await.unwrap();
        assert_eq!(db.take_damage(), [], "after {report:?}: {rebuilt:?}");
        db.close().await.unwrap();
        let (database, log) = (disk.directory("database"), disk.directory("log"));
        let state = db.closed_state();
        let place = (&database, "mail.edb");
        let verified = state.verify(&handle, place, &log, std::rc::Rc::new(|_| true));
        let found = verified.await.unwrap();
        assert_eq!(found.pages.findings, [], "after {report:?}");
        assert_eq!(found.log.findings, [], "after {report:?}");
        assert_eq!(found.copies, [], "after {report:?}");
        let checked = found.trees.unwrap().unwrap();
        assert_eq!(checked.findings, [], "after {report:?}");
        assert_eq!(checked.rows, rows.len() as u64);
    });
}

/// The state after as many commits as are left: at least all that were acknowledged as durable.
fn survivors(start: State, history: Vec<Committed>, rows: &BTreeMap<i64, Row>) -> (State, usize) {
    let acknowledged = history
        .iter()
        .rposition(|one| one.acknowledged)
        .map_or(0, |at| at + 1);
    let total = history.len();
    let mut state = start;
    let mut report = Vec::new();
    if acknowledged == 0 && equals(rows, &state) {
        return (state, 0);
    }
    for (place, one) in history.into_iter().enumerate() {
        for (key, row) in one.effects {
            match row {
                Some(row) => state.insert(key, row),
                None => state.remove(&key),
            };
        }
        if place + 1 >= acknowledged && equals(rows, &state) {
            return (state, place + 1);
        }
        report.push(format!(
            "after {}: {}",
            place + 1,
            differences(rows, &state)
        ));
    }
    let last = report.split_off(report.len().saturating_sub(8)).join("\n");
    panic!("the rows are those of no prefix of {acknowledged}..={total} commits:\n{last}")
}

fn crash_and_recover(
    base: &SimulatedDisk,
    settings: &EngineSettings,
    seed: u64,
    tally: &mut Tally,
) {
    // Shown only if the test fails.
    println!("seed {seed}, pages of {}", settings.engine.page_size);
    let mut disk = base.clone();
    let (mut state, mut history) = (State::new(), Vec::new());
    for life in 0..4 {
        let seed = seed.wrapping_mul(1009).wrapping_add(life);
        let commits_before = history.len();
        let (after, lived) = live(&disk, settings, seed, &mut state, &mut history);
        disk = after;
        check_recovered(&disk, settings);
        tally.lives += 1;
        match lived.report {
            None => tally.cut_recoveries += 1,
            Some((report, survived)) => {
                assert_eq!(report.was_clean, report.generations == 0, "{report:?}");
                tally.unclean += u64::from(!report.was_clean);
                tally.redone += report.redone;
                tally.skipped += report.skipped;
                tally.undone += report.undone_transactions;
                tally.restored += report.restored_pages;
                tally.lost_lazy_commits += u64::from(survived < commits_before);
            }
        }
        if history.is_empty() {
            history = lived.history;
        }
    }
}

/// The seeds to try: so many, or as many as the variable PROOFLOAD_CRASH_SEEDS says (`5000`, or a
/// range such as `1756..1757`).
fn seeds(default: u64) -> std::ops::Range<u64> {
    let wanted = std::env::var("PROOFLOAD_CRASH_SEEDS").unwrap_or_default();
    match wanted.split_once("..") {
        Some((first, end)) => first.parse().unwrap()..end.parse().unwrap(),
        None => 0..wanted.parse().unwrap_or(default),
    }
}

/// How rows differ from a model.
fn differences(rows: &BTreeMap<i64, Row>, state: &State) -> String {
    let missing = state.keys().filter(|key| !rows.contains_key(key));
    let surplus = rows.keys().filter(|key| !state.contains_key(key));
    let other = rows
        .iter()
        .filter(|(key, row)| state.get(key).is_some_and(|model| !model.is(row)));
    format!(
        "missing {:?}, surplus {:?}, other {:?}",
        missing.collect::<Vec<_>>(),
        surplus.collect::<Vec<_>>(),
        other.map(|(key, _)| key).collect::<Vec<_>>()
    )
}

#[test]
fn every_durable_commit_survives_with_whole_page_writes() {
    let mut tally = Tally::default();
    for page_bytes in [4096, 8192] {
        let settings = small_settings(page_bytes);
        let base = prepared(
            &settings,
            Tearing::Pages {
                bytes: page_bytes as u64,
            },
        );
        for seed in seeds(400) {
            crash_and_recover(&base, &settings, seed, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(
        tally.cut_recoveries > 0 && tally.unclean > 0 && tally.undone > 0,
        "{tally:?}"
    );
    assert!(
        tally.redone > 0 && tally.skipped > 0 && tally.lost_lazy_commits > 0,
        "{tally:?}"
    );
}

#[test]
fn a_torn_page_that_looks_like_an_older_whole_one_is_restored_from_its_image() {
    // Found among thousands: a page was torn, restored, and torn again into what it had been at
    // first, when the checkpoint had passed the changes before the image.
    let settings = with_images(&small_settings(4096));
    let base = prepared(&settings, Tearing::Sectors);
    crash_and_recover(&base, &settings, 1173, &mut Tally::default());
}

#[test]
fn every_durable_commit_survives_torn_writes_with_page_images() {
    let mut tally = Tally::default();
    let settings = with_images(&small_settings(4096));
    let base = prepared(&settings, Tearing::Sectors);
    for seed in seeds(400) {
        crash_and_recover(&base, &settings, seed, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.cut_recoveries > 0 && tally.undone > 0, "{tally:?}");
    assert!(tally.restored > 0, "no page was torn: {tally:?}");
}
