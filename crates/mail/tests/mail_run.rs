//! Whole mail runs on the real engine over simulated disks, in virtual time.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

mod caches;
mod cut_off;
mod errors;
mod harmed;
mod replication;
mod storage_tests;
mod support;

use config::{ByteSize, TimeSpan};
use mail::plan::MailPlan;
use mail::profile::MailProfile;
use measure::result::{ErrorRecord, Verdict};
use runtime::simulated::{Fault, FaultEffect};
use runtime::{Directory, File, IoOperation, Runtime, SimulatedDisk};
use support::{Outcome, carry_out, profile, run, run_on, run_with, slow_disk};
use workload::pacing::arrivals::Spacing;

#[test]
fn three_databases_go_from_nothing_to_a_verdict() {
    let mut profile = profile();
    // A minute is too short to be steady: the caches and the databases still grow.
    profile.run.steady_state.required = false;
    let Outcome { result, .. } = run(&profile);
    assert_eq!(result.errors, [], "{:#?}", result.errors);
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
    for database in &result.databases {
        assert!(
            database.figures.reads.count > 0 && database.figures.writes.count > 0,
            "{database:#?}"
        );
        assert!(
            database.figures.log_writes.count > 0
                && database.figures.size_end_bytes >= database.figures.size_begin_bytes
        );
        assert_eq!(
            database.figures.reads.errors + database.figures.writes.errors,
            0
        );
    }
    assert!(
        (59.9..60.1).contains(&result.duration_s),
        "{}",
        result.duration_s
    );
}

#[test]
fn one_seed_is_one_run_on_the_engine_too() {
    let mut profile = profile();
    profile.run.duration = TimeSpan::seconds(10);
    let json = || serde_json::to_string(&run(&profile).result).unwrap();
    assert_eq!(json(), json());
}

#[test]
fn a_held_rate_is_held_on_the_engine() {
    let mut profile = profile();
    profile.run.held_rate = Some(200.0);
    profile.mail.threads = Some(48);
    profile.run.warm_up.minimum = Some(TimeSpan::seconds(60));
    profile.run.duration = TimeSpan::seconds(120);
    let Outcome { result, .. } = run(&profile);
    let achieved = result.throughput.achieved_iops;
    assert!((198.0..202.0).contains(&achieved), "{achieved}");
    for operation in &result.operations {
        let (Some(service), Some(from_due)) = (operation.service_time, operation.response_time)
        else {
            continue;
        };
        assert!(
            from_due.average_ms >= service.average_ms - 1e-6,
            "{operation:?}"
        );
    }
}

#[test]
fn a_rate_is_held_with_poisson_arrivals_too() {
    let mut profile = profile();
    profile.run.held_rate = Some(100.0);
    profile.run.arrivals = Spacing::Poisson;
    profile.mail.threads = Some(96);
    profile.run.warm_up.minimum = Some(TimeSpan::seconds(60));
    profile.run.duration = TimeSpan::seconds(120);
    let Outcome { result, .. } = run(&profile);
    let achieved = result.throughput.achieved_iops;
    // More than a thousand arrivals: the tenth is over three standard deviations.
    assert!((90.0..110.0).contains(&achieved), "{achieved}");
}

#[test]
fn a_build_alone_says_how_large_the_databases_are() {
    let runtime = Runtime::virtual_clock();
    let disk = SimulatedDisk::new(&runtime.handle(), slow_disk());
    // Once to build them, once to find them there.
    for _ in 0..2 {
        let mut plan = MailPlan::new(&profile(), 2);
        plan.run.build_only = true;
        let Outcome { result, .. } = carry_out(&runtime, &disk, plan);
        let mut sum_bytes = 0;
        for (number, database) in result.databases.iter().enumerate() {
            let directory = disk.directory(&format!("data{number}"));
            let name = format!("{}.edb", database.name);
            let file_bytes = runtime.block_on(async move {
                let file = directory.open(&name).await.unwrap();
                file.size_bytes().await.unwrap()
            });
            assert_eq!(database.figures.size_end_bytes, file_bytes);
            sum_bytes += file_bytes;
        }
        assert!(sum_bytes > 3 * (8 << 20), "{sum_bytes}");
        assert_eq!(result.totals.size_end_bytes, sum_bytes);
    }
}

/// A run of next to no load, so that the background scan makes nearly all reads; from the 100th one
/// on they suffer `fault`.
fn first_error_of_a_scan(fault: impl FnOnce(IoOperation, u64) -> Fault) -> ErrorRecord {
    let mut profile = profile();
    profile.mail.databases = 1;
    profile.mail.threads = Some(1);
    profile.run.held_rate = Some(0.1);
    profile.run.warm_up.minimum = Some(TimeSpan::seconds(1));
    profile.run.duration = TimeSpan::seconds(10);
    let Outcome { result, .. } = run_with(&profile, |disk| {
        disk.set_fault(fault(IoOperation::Read, 100).on_file("mail-001.edb"));
    });
    assert_eq!((result.verdict, result.exit_status), (Verdict::Error, 4));
    let error = result.errors.first();
    let error = error.expect("what went wrong is named").clone();
    assert!(error.file.contains("mail-001.edb"), "{error:?}");
    assert!(error.page.is_some(), "{error:?}");
    error
}

#[test]
fn damage_that_only_the_background_scan_meets_is_named() {
    let error = first_error_of_a_scan(|operation, nth| {
        Fault::from_then_on(operation, nth, FaultEffect::FlipBit)
    });
    assert!(error.error.contains("damaged"), "{error:?}");
    assert_eq!(error.operation, "background work");
}

#[test]
fn a_read_that_succeeds_when_the_scan_makes_it_again_is_named() {
    let error = first_error_of_a_scan(|operation, nth| {
        let effect = FaultEffect::Fail(runtime::IoFailure::Device("no answer".into()));
        Fault::once(operation, nth, effect)
    });
    assert!(error.error.contains("no answer"), "{error:?}");
    assert_eq!(error.operation, "background maintenance");
}

#[test]
fn databases_are_used_again_and_unfinished_ones_rebuilt() {
    let mut profile = profile();
    profile.mail.databases = 1;
    profile.run.duration = TimeSpan::seconds(5);
    let runtime = Runtime::virtual_clock();
    let disk = SimulatedDisk::new(&runtime.handle(), slow_disk());
    let first = run_on(&runtime, &disk, &profile).result;
    let again = run_on(&runtime, &disk, &profile).result;
    assert_eq!(again.errors, [], "{:#?}", again.errors);
    // The second run goes on where the first one ended, rows and all.
    let grown = first.databases[0].figures.size_end_bytes;
    assert!(again.databases[0].figures.size_begin_bytes >= grown);
    // A build that was interrupted leaves its mark, and nothing is used but what a build makes.
    let data = disk.directory("data0");
    runtime.block_on(async move {
        let state = data.open("mail.state").await.unwrap();
        let (buffer, result) = state.read(0, runtime::Buffer::zeroed(4096)).await;
        result.unwrap();
        let text = String::from_utf8(buffer.to_vec()).unwrap();
        let (text, _) = text.split_once('\0').unwrap();
        let text = text.replace("\"ready\"", "\"building\"");
        // As a version without checksum writes it.
        let mut changed = runtime::Buffer::zeroed(4096);
        changed[..text.len()].copy_from_slice(text.as_bytes());
        let durable = runtime::Persistence::Durable;
        state.write(0, changed.into(), durable).await.unwrap();
    });
    let rebuilt = run_on(&runtime, &disk, &profile).result;
    assert_eq!(rebuilt.errors, []);
    assert_eq!(
        rebuilt.databases[0].figures.size_begin_bytes,
        first.databases[0].figures.size_begin_bytes
    );
}

#[test]
fn the_default_profile_has_the_signature_of_a_mail_server() {
    // The engine's and the mix's settings of exchange-2013, with a database 32 times the size
    // of its cache, scaled down.
    let mut profile = MailProfile::default();
    profile.mail.databases = 1;
    profile.mail.mailboxes_per_database = 8;
    profile.mail.mailbox_size = ByteSize::mib(32);
    profile.mail.threads = Some(8);
    profile.mail.session_pause_factor = 0.0;
    profile.engine.cache_size_per_database = ByteSize::mib(8);
    profile.engine.checkpoint_depth = ByteSize::mib(10);
    profile.run.duration = TimeSpan::seconds(60);
    profile.run.warm_up.minimum = Some(TimeSpan::seconds(20));
    let Outcome { result, .. } = run(&profile);
    let totals = &result.totals;
    let (reads, writes) = (totals.reads.per_second, totals.writes.per_second);
    let read_share = reads / (reads + writes);
    let per_log_write = (reads + writes) / totals.log_writes.per_second;
    println!(
        "reads {:.1} % of {:.0} IOPS, {:.0} bytes; writes {:.0} bytes; {per_log_write:.2} per log \
         write of {:.0} bytes",
        read_share * 100.0,
        reads + writes,
        totals.reads.average_bytes,
        totals.writes.average_bytes,
        totals.log_writes.average_bytes
    );
    // In so small a database index and tail are a large share of the pages and lie side by side in
    // the cache, so that more writes join than in one of real size.
    assert!((0.55..0.70).contains(&read_share), "{read_share}");
    // Published: 8 to 12 for Exchange 2003, 3 to 6 since. Here all sessions work without a pause, and
    // pages hardly wait for the log: one log write comes to each durable commit and no more.
    assert!((3.5..12.0).contains(&per_log_write), "{per_log_write}");
    assert!((4_096.0..12_288.0).contains(&totals.log_writes.average_bytes));
    assert!((32_768.0..34_000.0).contains(&totals.reads.average_bytes));
    assert!((32_768.0..56_000.0).contains(&totals.writes.average_bytes));
}

#[test]
fn a_full_disk_ends_the_run_and_says_so() {
    let mut profile = profile();
    profile.mail.databases = 1;
    let runtime = Runtime::virtual_clock();
    let options = runtime::SimulatedOptions {
        capacity_bytes: 34 << 20,
        ..slow_disk()
    };
    let disk = SimulatedDisk::new(&runtime.handle(), options);
    let result = run_on(&runtime, &disk, &profile).result;
    assert_eq!((result.verdict, result.exit_status), (Verdict::Error, 4));
    let error = &result.errors[0];
    assert!(error.error.contains("space"), "{error:?}");
    assert!(
        result.phases.iter().any(|phase| phase.name == "measured"),
        "{:?}",
        result.phases
    );
}
