//! Prints the I/O signature of the default mail profile on a simulated disk: what share of the
//! requests are reads, how large requests are, and how many database requests come to one log
//! write. It shows what these figures depend on: the rate, the window of lazy commits, the size of
//! the database.
//!
//!     cargo run -p mail --example signature

use config::{ByteSize, TimeSpan};
use mail::edb_host::{DatabaseDirectories, EdbHost};
use mail::plan::MailPlan;
use mail::profile::MailProfile;
use measure::result::RunResult;
use runtime::{Runtime, SimulatedDisk, SimulatedOptions};
use std::collections::BTreeMap;
use std::sync::Arc;
use workload::controller::{NoListener, run_on_virtual_clock};
use workload::progress::StopRequest;

/// One line of the table.
#[derive(Clone, Copy)]
struct Case {
    mailbox_mib: u64,
    /// Database requests per second; `None`: eight sessions as fast as they can.
    rate: Option<f64>,
    window_ms: u64,
    /// Latency of a write, of the log too.
    write_us: u64,
}

fn profile(case: Case) -> MailProfile {
    let mut profile = MailProfile::default();
    profile.mail.databases = 1;
    profile.mail.mailboxes_per_database = 8;
    profile.mail.mailbox_size = ByteSize::mib(case.mailbox_mib);
    profile.mail.threads = Some(if case.rate.is_some() { 64 } else { 8 });
    profile.mail.mix.lazy_commit_window = TimeSpan(case.window_ms * 1_000_000);
    profile.engine.cache_size_per_database = ByteSize::mib(8);
    profile.engine.checkpoint_depth = ByteSize::mib(10);
    profile.run.held_rate = case.rate;
    profile.run.duration = TimeSpan::seconds(60);
    profile.run.warm_up.minimum = Some(TimeSpan::seconds(30));
    profile.run.verify_after_run = false;
    profile
}

fn run(case: Case) -> RunResult {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let options = SimulatedOptions {
        read_ns: 4_000_000..=8_000_000,
        write_ns: case.write_us * 500..=case.write_us * 1_500,
        sync_ns: 500_000..=1_500_000,
        queue_depth: 64,
        ..SimulatedOptions::seeded(7)
    };
    let disk = SimulatedDisk::new(&handle, options);
    let plan = Arc::new(MailPlan::new(&profile(case), 1));
    let run = plan.run.clone();
    let for_hosts = handle.clone();
    runtime.block_on(async move {
        let make = move |_| {
            let places = DatabaseDirectories {
                data: disk.directory("data"),
                log: disk.directory("log"),
            };
            let places = BTreeMap::from([(0, places)]);
            EdbHost::new(for_hosts.clone(), Arc::clone(&plan), places)
        };
        let stop = StopRequest::new();
        run_on_virtual_clock(
            handle,
            run,
            RunResult::new(),
            stop,
            workload::controller::shared(NoListener),
            make,
        )
        .await
    })
}

fn print(case: Case) {
    let result = run(case);
    let totals = &result.totals;
    let iops = totals.reads.per_second + totals.writes.per_second;
    let operations: f64 = result
        .operations
        .iter()
        .take(5)
        .map(|one| one.per_second)
        .sum();
    let rate = case
        .rate
        .map_or("most".to_owned(), |rate| format!("{rate:.0}"));
    println!(
        "{:>8} {rate:>6} {:>7} {:>7} | {iops:>6.0} {:>6.1} {:>6.2} {:>7.2} {:>7.1} {:>7.1} {:>7.0}",
        case.mailbox_mib * 8,
        case.window_ms,
        case.write_us,
        totals.reads.per_second / iops * 100.0,
        iops / operations,
        iops / totals.log_writes.per_second,
        totals.log_writes.average_bytes / 1024.0,
        totals.writes.average_bytes / 1024.0,
        totals.log_writes.bytes_per_second() / operations,
    );
}

fn main() {
    println!(
        "                           window   write |                I/O per        DB I/O per  \
         log write  DB write  log bytes\n     MiB   IOPS      ms      us |   IOPS read %  operation \
         log write KiB   KiB  per operation"
    );
    let usual = Case {
        mailbox_mib: 32,
        rate: None,
        window_ms: 1_000,
        write_us: 1_000,
    };
    let sized = [8, 16, 32, 64, 128].map(|mailbox_mib| Case {
        mailbox_mib,
        ..usual
    });
    let rated = [50.0, 100.0, 200.0, 400.0, 800.0].map(|rate| Case {
        rate: Some(rate),
        ..usual
    });
    let windowed = [1, 5, 20, 100].map(|window_ms| Case {
        rate: Some(400.0),
        window_ms,
        ..usual
    });
    let slowed = [100, 5_000].map(|write_us| Case {
        rate: Some(400.0),
        write_us,
        ..usual
    });
    let cases = sized.iter().chain(&rated).chain(&windowed).chain(&slowed);
    cases.copied().for_each(print);
}
