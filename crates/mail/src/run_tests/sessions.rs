//! How many sessions there are, and when they pause.

use super::*;

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
