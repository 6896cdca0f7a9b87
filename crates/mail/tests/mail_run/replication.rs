//! Passive copies that follow a load.

use super::support::{Outcome, carry_out, profile, slow_disk};
use config::{ByteSize, TimeSpan};
use mail::plan::MailPlan;
use mail::profile::MailProfile;
use measure::result::{CheckId, ErrorKind, RunResult, Verdict};
use measure::sample::Phase;
use runtime::simulated::{Fault, FaultEffect};
use runtime::{IoFailure, IoOperation, Runtime, SimulatedDisk};
use workload::controller::plan::ReplicationPlan;

fn small() -> MailProfile {
    let mut profile = profile();
    profile.engine.log_file_size = ByteSize::kib(256);
    profile.engine.checkpoint_depth = ByteSize::mib(1);
    profile.passive_copies.checkpoint_depth = ByteSize::mib(1);
    profile.run.duration = TimeSpan::seconds(20);
    profile.run.sample_interval = Some(TimeSpan::seconds(2));
    profile.run.steady_state.required = false;
    profile
}

fn one_database() -> MailProfile {
    let mut profile = small();
    profile.mail.databases = 1;
    profile.mail.threads = Some(2);
    profile
}

fn run_replicating(profile: &MailProfile, faults: Vec<Fault>) -> RunResult {
    replicating(profile, faults).result
}

fn replicating(profile: &MailProfile, faults: Vec<Fault>) -> Outcome {
    let runtime = Runtime::virtual_clock();
    let disk = SimulatedDisk::new(&runtime.handle(), slow_disk());
    faults.into_iter().for_each(|fault| disk.set_fault(fault));
    let mut plan = MailPlan::new(profile, 2);
    plan.run.tests.replication = Some(ReplicationPlan {
        copied_to: "passive".to_owned(),
    });
    carry_out(&runtime, &disk, plan)
}

#[test]
fn copies_follow_the_load_and_are_the_same_in_the_end() {
    let Outcome {
        result, samples, ..
    } = replicating(&small(), Vec::new());
    assert_eq!(result.errors, [], "{:#?}", result.errors);
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
    let phases = result.phases.iter();
    let phases: Vec<&str> = phases.map(|phase| phase.name.as_str()).collect();
    let expected = [
        "build",
        "open",
        "seeding",
        "warm-up",
        "measured",
        "close",
        "copy-comparison",
        "checksum",
    ];
    assert_eq!(phases, expected);
    let replication = result.replication.as_ref().unwrap();
    assert_eq!(replication.databases.len(), 3);
    for one in &replication.databases {
        assert_eq!(one.errors(), Some(0), "{one:?}");
        assert!(one.seeded_bytes > 8 << 20 && one.seeding_s > 0.0, "{one:?}");
        assert!(one.shipped_log_files > 2, "{one:?}");
        assert!(one.replayed_log_files <= one.shipped_log_files, "{one:?}");
        assert!(
            one.copy_queue_max >= 1 && one.replay_queue_max >= 1,
            "{one:?}"
        );
        assert!(one.copy_queue <= one.copy_queue_max, "{one:?}");
        assert!(one.compared_pages > Some(1_000), "{one:?}");
    }
    let load = samples
        .iter()
        .filter(|sample| sample.phase == Phase::Measured);
    let queues: Vec<Vec<_>> = load
        .map(|sample| sample.databases.iter().map(|one| one.copy_queues).collect())
        .collect();
    assert!(queues.iter().flatten().all(Option::is_some), "{queues:?}");
    for (number, one) in replication.databases.iter().enumerate() {
        let queues = queues.iter().filter_map(|sample| sample[number]);
        let (copy, replay): (Vec<_>, Vec<_>) = queues.map(|one| (one.copy, one.replay)).unzip();
        let longest = |queue: Vec<u64>| queue.into_iter().max();
        assert!(longest(copy) <= Some(one.copy_queue_max), "{one:?}");
        let replay = longest(replay);
        assert!(
            replay > Some(0) && replay <= Some(one.replay_queue_max),
            "{one:?}"
        );
    }
    let totals = &result.totals;
    for figures in [
        &totals.log_reads,
        &totals.copy_log_writes,
        &totals.copy_log_reads,
        &totals.copy_reads,
        &totals.copy_writes,
    ] {
        assert!(figures.count > 0 && figures.bytes > 0, "{totals:#?}");
    }
    // What is shipped is what was read.
    assert_eq!(totals.copy_log_writes.average_bytes, 262_144.0);
    let checks = result.checks.iter();
    let checks = checks.filter(|check| check.id == CheckId::PassiveCopyErrors);
    assert_eq!(checks.filter(|check| check.passed == Some(true)).count(), 3);
}

#[test]
fn a_deeper_checkpoint_of_the_copy_writes_less() {
    let written = |depth| {
        let mut profile = one_database();
        profile.passive_copies.checkpoint_depth = depth;
        profile.passive_copies.cache_percent = 100.0;
        let result = run_replicating(&profile, Vec::new());
        assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
        result.totals.copy_writes.bytes
    };
    let (shallow, deep) = (written(ByteSize::kib(256)), written(ByteSize::mib(64)));
    // Pages that leave the cache are written, however deep it is.
    assert!(deep * 10 < shallow * 9, "{deep} and {shallow} bytes");
}

#[test]
fn a_larger_cache_of_the_copy_reads_less() {
    let read = |percent| {
        let mut profile = one_database();
        profile.passive_copies.cache_percent = percent;
        run_replicating(&profile, Vec::new())
            .totals
            .copy_reads
            .count
    };
    let (small, large) = (read(13.0), read(100.0));
    assert!(large < small, "{large} and {small} reads");
}

#[test]
fn a_copy_whose_storage_fails_or_is_full_fails_alone() {
    let no_answer = IoFailure::Device("no answer".to_owned());
    for (failure, words, kind) in [
        (no_answer, "no answer", ErrorKind::Io),
        (
            IoFailure::OutOfSpace,
            "no space is left",
            ErrorKind::OutOfSpace,
        ),
    ] {
        let fault = Fault::from_then_on(IoOperation::Write, 8, FaultEffect::Fail(failure));
        let result = run_replicating(&small(), vec![fault.on_file("passive-log1/")]);
        assert_eq!(result.verdict, Verdict::Error, "{}", result.verdict_reason);
        let [error] = &result.errors[..] else {
            panic!("{:#?}", result.errors);
        };
        assert_eq!(error.kind, kind);
        // It is that of the database or of its log: the error names the first that failed.
        let of_copy = ["passive1/", "passive-log1/"];
        assert!(
            of_copy.iter().any(|place| error.file.contains(place)),
            "{}",
            error.file
        );
        assert!(
            (19.9..20.1).contains(&result.duration_s),
            "the load went on"
        );
        let failed = result.failed_checks();
        let failed: Vec<_> = failed
            .filter(|one| one.id == CheckId::PassiveCopyErrors)
            .collect();
        assert_eq!(failed.len(), 1, "{failed:#?}");
        assert_eq!(failed[0].place, "mail-002");
        let databases = &result.replication.as_ref().unwrap().databases;
        let problem = &databases[1].problem;
        assert!(problem.contains("suspended since log file"), "{problem}");
        assert!(problem.contains(words), "{problem}");
        assert!(
            result.notes.iter().any(|note| note.contains(problem)),
            "{:?}",
            result.notes
        );
        for one in [&databases[0], &databases[2]] {
            assert_eq!(one.errors(), Some(0), "{one:?}");
        }
    }
}

#[test]
fn a_copy_that_cannot_be_seeded_fails_alone() {
    let failure = FaultEffect::Fail(IoFailure::OutOfSpace);
    let fault = Fault::from_then_on(IoOperation::Write, 4, failure);
    let result = run_replicating(&small(), vec![fault.on_file("passive0/mail-001.edb")]);
    assert_eq!(result.verdict, Verdict::Error, "{}", result.verdict_reason);
    assert_eq!(result.errors[0].kind, ErrorKind::OutOfSpace);
    assert!(
        (19.9..20.1).contains(&result.duration_s),
        "the load went on"
    );
    let problem = &result.replication.as_ref().unwrap().databases[0].problem;
    assert!(problem.contains("could not be seeded"), "{problem}");
}

#[test]
fn a_page_that_differs_is_a_data_error() {
    let mut profile = small();
    // Hardly anything changes, so that replay does not come across the page that was lost.
    profile.run.held_rate = Some(4.0);
    let lost = Fault::once(IoOperation::Write, 30, FaultEffect::LoseWrite);
    let result = run_replicating(&profile, vec![lost.on_file("passive0/mail-001.edb")]);
    assert_eq!(result.verdict, Verdict::Error, "{}", result.verdict_reason);
    assert_eq!(result.errors.len(), 1, "{:#?}", result.errors);
    assert!(
        result.errors[0].error.contains("differ"),
        "{:#?}",
        result.errors
    );
    let one = &result.replication.as_ref().unwrap().databases[0];
    assert!(one.different_pages > 0, "{one:?}");
}
