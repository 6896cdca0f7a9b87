//! Runs that lose power, and runs on what they leave behind.

use super::support::{profile, run_on, slow_disk};
use config::TimeSpan;
use mail::state_file::{Condition, DatabaseState};
use measure::result::Verdict;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::simulated::Tearing;
use runtime::{Directory, File, Runtime, SimulatedDisk, SimulatedOptions};

/// Pages are written whole or not, as the engine's default takes for granted.
fn disk(runtime: &Runtime) -> SimulatedDisk {
    let options = SimulatedOptions {
        tearing: Tearing::Pages { bytes: 8192 },
        ..slow_disk()
    };
    SimulatedDisk::new(&runtime.handle(), options)
}

#[test]
fn what_a_run_without_power_leaves_is_recovered_and_run_on() {
    for seed in 0..3 {
        println!("seed {seed}");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut profile = profile();
        profile.mail.databases = 1;
        profile.mail.threads = Some(random.random_range(1..24));
        profile.mail.mix.operations_per_transaction = random.random_range(1..4);
        profile.run.steady_state.required = false;
        let runtime = Runtime::virtual_clock();
        let mut disk = disk(&runtime);
        // Several cuts one after the other: the first in a run on a new database, the others also
        // in recoveries.
        for cut in 0..3 {
            let runtime = Runtime::virtual_clock();
            let handle = runtime.handle();
            disk = match disk.has_power() {
                true => disk.killed_copy(&handle),
                false => disk.reopen(&handle),
            };
            let (doomed, cut_seed) = (disk.clone(), random.random_range(0..u64::MAX));
            let longest_ms = if cut == 0 { 30_000 } else { 8_000 };
            let after_ms = random.random_range(longest_ms / 3..longest_ms);
            let clock = handle.clone();
            drop(handle.spawn(async move {
                clock.sleep_ns(after_ms * 1_000_000).await;
                doomed.crash(cut_seed);
            }));
            profile.run.duration = TimeSpan::seconds(600);
            let result = run_on(&runtime, &disk, &profile).result;
            assert_eq!(result.verdict, Verdict::Error, "the power was cut");
        }
        let runtime = Runtime::virtual_clock();
        let disk = disk.reopen(&runtime.handle());
        profile.run.duration = TimeSpan::seconds(8);
        let result = run_on(&runtime, &disk, &profile).result;
        assert_eq!(result.errors, [], "{:#?}", result.errors);
        let recovered = result
            .notes
            .iter()
            .any(|note| note.contains("recovered in"));
        assert!(recovered, "{:?}", result.notes);
        let data = disk.directory("data0");
        runtime.block_on(async move {
            let state = DatabaseState::read(&data).await.unwrap().unwrap();
            assert_eq!(state.condition, Condition::Ready);
            let file = data.open("mail-001.edb").await.unwrap();
            let report = edb::check::check(&file, |_, _| {}).await.unwrap();
            assert_eq!(report.findings, [], "{}", file.name());
            let rows = state.population;
            assert!(
                rows.next_row - report.rows <= rows.deletes,
                "{report:?} {rows:?}"
            );
        });
    }
}

#[test]
fn a_database_that_is_not_as_asked_for_is_refused_and_left_alone() {
    let mut profile = profile();
    profile.mail.databases = 1;
    profile.run.duration = TimeSpan::seconds(5);
    let runtime = Runtime::virtual_clock();
    let disk = disk(&runtime);
    run_on(&runtime, &disk, &profile);
    profile.run.seed += 1;
    let result = run_on(&runtime, &disk, &profile).result;
    assert_eq!(result.verdict, Verdict::Error);
    assert!(
        result.errors[0].error.contains("another seed"),
        "{:?}",
        result.errors
    );
    profile.run.seed -= 1;
    assert_eq!(run_on(&runtime, &disk, &profile).result.errors, []);
}
