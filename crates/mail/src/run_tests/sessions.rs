//! How many sessions there are, and when they pause.

use super::*;
use workload::profile::FindLoad;

#[test]
fn the_tuner_finds_the_fewest_threads_for_the_rate() {
    let mut profile = profile();
    profile.mail.threads = None;
    profile.mail.iops_per_mailbox = 80.0;
    profile.tuning.transient_samples = 5;
    profile.tuning.stable_samples = 10;
    let result = run(&profile);
    let tuning = result.tuning.as_ref().unwrap();
    assert!(tuning.reached, "{tuning:#?}");
    let threads = result.throughput.threads.unwrap();
    assert!((4..60).contains(&threads), "{threads}");
    // Fewer threads were tried and gave less than was asked for.
    let fewer = tuning.steps.iter().filter(|step| step.threads < threads);
    assert!(fewer.clone().count() > 0);
    assert!(
        fewer.clone().all(|step| step.achieved_iops < 2_400.0),
        "{tuning:#?}"
    );
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
}

#[test]
fn the_tuner_stops_at_the_knee_of_a_slow_disk() {
    // One server of 5 ms per database, writes included: a handful of sessions is too much.
    let slow = TestDisk {
        servers: 1,
        service_ns: 5_000_000,
        reads_per_operation: 1,
    };
    let mut profile = profile();
    profile.mail.threads = None;
    profile.mail.iops_per_mailbox = 500.0;
    profile.run.duration = TimeSpan::seconds(600);
    profile.tuning.sample_interval = TimeSpan::seconds(1);
    profile.tuning.transient_samples = 5;
    profile.tuning.stable_samples = 10;
    let result = run_on(slow, &profile, u64::MAX, Heard::default());
    let tuning = result.tuning.as_ref().unwrap();
    assert!(!tuning.reached, "{tuning:#?}");
    let threads = result.throughput.threads.unwrap();
    // Found with the margin of 5 % below the limits of 20 and 10 ms.
    let keeps = |step: &&TuningStep| {
        step.average_database_read_ms < Some(19.0) && step.average_log_write_ms < Some(9.5)
    };
    let most = tuning
        .steps
        .iter()
        .filter(keeps)
        .map(|step| step.threads)
        .max();
    assert_eq!(Some(threads), most, "{tuning:#?}");
    assert!(threads <= 6, "{threads}");
    let reads = result.totals.reads.latency.unwrap();
    assert!((5.0..20.0).contains(&reads.average_ms), "{reads:?}");
    assert_eq!(result.verdict, Verdict::Fail);
}

#[test]
fn sessions_that_pause_as_long_as_they_worked_do_half_as_much() {
    // As many servers as sessions: nobody ever waits for another one.
    let disk = TestDisk {
        servers: 12,
        ..DISK
    };
    let per_second = |factor: f64| {
        let mut profile = profile();
        profile.mail.session_pause_factor = factor;
        let result = run_on(disk, &profile, u64::MAX, Heard::default());
        assert_eq!(result.errors, []);
        result.throughput.operations_per_second
    };
    let busy = per_second(0.0);
    for factor in [0.5, 1.0, 3.0] {
        let share = per_second(factor) / busy * (1.0 + factor);
        assert!((0.998..=1.002).contains(&share), "{factor}: {share}");
    }
}

#[test]
fn a_held_rate_knows_no_pause() {
    let mut profile = profile();
    profile.run.held_rate = Some(600.0);
    let json = |profile: &MailProfile| serde_json::to_string(&run(profile)).unwrap();
    let without = json(&profile);
    profile.mail.session_pause_factor = 100.0;
    assert_eq!(without, json(&profile));
}

#[test]
fn a_long_pause_does_not_hold_up_the_end() {
    let mut profile = profile();
    // Enough sessions that one of them deletes in its first transaction.
    profile.mail.threads = Some(60);
    profile.mail.session_pause = TimeSpan::seconds(60);
    profile.run.warm_up.maximum = Some(TimeSpan::seconds(1));
    profile.run.duration = TimeSpan::seconds(5);
    let heard = Heard::default();
    let result = run_on(DISK, &profile, u64::MAX, heard);
    let total_s: f64 = result.phases.iter().map(|phase| phase.duration_s).sum();
    assert!(total_s < 20.0, "{:#?}", result.phases);
}

/// Reads of each database in the measured phase.
fn reads(result: &RunResult) -> Vec<f64> {
    let databases = result.databases.iter();
    databases
        .map(|one| one.figures.reads.count as f64)
        .collect()
}

#[test]
fn weights_divide_the_load() {
    let mut profile = profile();
    profile.mail.load_weights = vec![1.0, 2.0, 3.0];
    // In a closed loop threads get their part of the sessions, whose rate depends on the storage.
    for (rate, tolerance) in [(None, 0.5), (Some(600.0), 0.1)] {
        profile.run.held_rate = rate;
        let reads = reads(&run(&profile));
        let all: f64 = reads.iter().sum();
        for (number, share) in [1.0, 2.0, 3.0].iter().enumerate() {
            let part = reads[number] / all * 6.0;
            assert!((part - share).abs() < tolerance, "{rate:?}: {reads:?}");
        }
    }
}

#[test]
fn sessions_of_each_database_are_given_apart() {
    let mut profile = profile();
    profile.mail.threads = None;
    profile.mail.threads_per_database = Some(2);
    let result = run(&profile);
    assert_eq!(result.throughput.threads, Some(6));
    assert_eq!(result.tuning, None, "their number is given");
    let mut threads = profile.clone();
    threads.mail.threads_per_database = None;
    threads.mail.threads = Some(6);
    let (apart, together) = (reads(&result), reads(&run(&threads)));
    for (apart, together) in apart.iter().zip(&together) {
        assert!((apart / together - 1.0).abs() < 0.05, "{apart} {together}");
    }
}

#[test]
fn a_rate_of_transactions_is_held() {
    let mut profile = profile();
    profile.mail.held_transactions_per_second = Some(120.0);
    profile.mail.mix.operations_per_transaction = 2;
    let result = run(&profile);
    let operations = result.throughput.operations_per_second;
    assert!((operations - 240.0).abs() < 3.0, "{operations}");
    let rate =
        |check: &&measure::result::Check| check.id == measure::result::CheckId::TransactionRate;
    let check = result.checks.iter().find(rate).unwrap();
    assert_eq!((check.limit, check.passed), (114.0, Some(true)));
    profile.mail.held_transactions_per_second = Some(9_000.0);
    let result = run(&profile);
    let check = result.checks.iter().find(rate).unwrap();
    assert_eq!(check.passed, Some(false), "{check:?}");
}

/// A search on disks of 4 ms with 8 servers each, which carry 2,000 requests per second at most.
fn found(change: impl Fn(&mut MailProfile)) -> RunResult {
    let mut profile = profile();
    profile.mail.threads = None;
    profile.tuning.find = FindLoad::MaxIops;
    profile.tuning.transient_samples = 5;
    profile.tuning.stable_samples = 20;
    change(&mut profile);
    run(&profile)
}

#[test]
fn the_highest_rate_is_found_and_held() {
    let result = found(|_| ());
    let tuning = result.tuning.as_ref().unwrap();
    assert!(tuning.finds_maximum && tuning.reached, "{tuning:#?}");
    let held = result.throughput.rate_iops.unwrap();
    // Nothing above it kept every level, and everything below did.
    for step in &tuning.steps {
        assert_eq!(step.kept, step.rate_iops.unwrap() <= held, "{tuning:#?}");
    }
    let least_missed = tuning.steps.iter().filter(|step| !step.kept);
    let least_missed = least_missed
        .map(|step| step.rate_iops.unwrap())
        .fold(1e9, f64::min);
    assert!(least_missed / held < 1.05, "{tuning:#?}");
    assert!(tuning.stopped_by.is_some());
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
    assert!(result.verdict_reason.starts_with("Maximum found "));
    assert!((result.throughput.achieved_iops / held - 1.0).abs() < 0.03);
}

#[test]
fn a_part_of_the_maximum_is_held_after_a_curve() {
    let result = found(|profile| {
        profile.run.duration = TimeSpan::seconds(300);
        profile.tuning.held_percent = 50.0;
        profile.tuning.curve_percent = vec![25.0, 50.0, 75.0];
    });
    let tuning = result.tuning.as_ref().unwrap();
    let maximum = tuning.maximum_iops.unwrap();
    let held = result.throughput.rate_iops.unwrap();
    assert!((held / maximum - 0.5).abs() < 0.03, "{held} of {maximum}");
    let parts: Vec<_> = tuning.curve.iter().map(|step| step.percent).collect();
    assert_eq!(parts, [Some(25.0), Some(50.0), Some(75.0)]);
    assert!(
        tuning.curve.iter().all(|step| step.kept) && tuning.knee_iops.is_some(),
        "{:#?}",
        tuning.curve
    );
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
}

#[test]
fn a_target_beyond_the_maximum_is_said_to_be_missed() {
    let result = found(|profile| profile.run.held_rate = Some(50_000.0));
    assert_eq!(result.verdict, Verdict::Fail);
    let reason = &result.verdict_reason;
    assert!(reason.starts_with("Maximum found "), "{reason}");
    assert!(
        reason.contains("target 50,000 IOPS not reached"),
        "{reason}"
    );
    assert_eq!(result.throughput.target_iops, Some(50_000.0));
    assert!(result.throughput.rate_iops < Some(10_000.0));
}
