//! How fast a prediction of full size runs: the simulation of six databases of 167 GB on ideal storage.
//!
//!     cargo run --release -p mail --example simulation_speed -- [simulated minutes] [threads]

use array::bridge::{ArrayHost, IdealVolumes, IdealVolumesSettings, VolumeFiles};
use array::{SECTOR_BYTES, VolumeId};
use config::{ByteSize, TimeSpan};
use mail::edb_host::DatabaseDirectories;
use mail::plan::MailPlan;
use mail::profile::MailProfile;
use mail::simulation::SimulatedHost;
use measure::result::RunResult;
use runtime::Runtime;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use workload::controller::{NoListener, run_on_virtual_clock};
use workload::progress::StopRequest;

const DATABASES: u32 = 6;
const GB_PER_DATABASE: u64 = 167;

fn profile(minutes: u64, threads: u32) -> MailProfile {
    let mut profile = MailProfile::default();
    profile.mail.databases = DATABASES;
    profile.mail.mailboxes_per_database = 1;
    profile.mail.mailbox_size = ByteSize::mib((GB_PER_DATABASE * 1_000_000_000) >> 20);
    profile.mail.threads = Some(threads);
    profile.run.duration = TimeSpan::seconds(minutes * 60);
    profile.run.warm_up.maximum = Some(TimeSpan::seconds(300));
    profile.run.steady_state.required = false;
    profile
}

/// Peak and present memory of this process in MiB.
fn memory_mib() -> (f64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        kib.unwrap_or(0.0) / 1024.0
    };
    (field("VmHWM:"), field("VmRSS:"))
}

fn main() {
    let argument = |place: usize, default: u64| {
        let given = std::env::args().nth(place);
        given.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let profile = profile(argument(1, 30), argument(2, 8) as u32);
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let storage = ArrayHost::new(
        &handle,
        IdealVolumes::<()>::new(IdealVolumesSettings {
            capacities_sectors: vec![4 * (1 << 40) / SECTOR_BYTES; 2],
            read_ns: 8_000_000,
            write_ns: 1_000_000,
        }),
    );
    let plan = Arc::new(MailPlan::new(&profile, 1));
    let run = plan.run.clone();
    let (clock, volumes) = (handle.clone(), storage.clone());
    let begun = Instant::now();
    let result = runtime.block_on(async move {
        let make = move |shard: usize| {
            let volume = |number| volumes.volume(VolumeId(number));
            let (Some(data), Some(log)) = (volume(0), volume(1)) else {
                panic!("there are two volumes");
            };
            let (data, log) = (VolumeFiles::new(data), VolumeFiles::new(log));
            let places: BTreeMap<usize, _> = plan.run.shards[shard]
                .iter()
                .map(|&database| {
                    let name = format!("database{database}");
                    let (data, log) = (data.directory(&name), log.directory(&name));
                    (database, DatabaseDirectories { data, log })
                })
                .collect();
            SimulatedHost::new(clock.clone(), Arc::clone(&plan), places)
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
    });
    let wall_s = begun.elapsed().as_secs_f64();
    let simulated_s = runtime.handle().now_ns() as f64 / 1e9;
    let requests = storage.requests() as f64;
    let (peak_mib, _) = memory_mib();
    let totals = &result.totals;
    println!("simulated        {simulated_s:10.0} s in {wall_s:.2} s of wall time");
    println!(
        "host requests    {requests:10.0}, {:.0} per simulated second",
        requests / simulated_s
    );
    println!(
        "speed            {:10.0} host requests per second",
        requests / wall_s
    );
    println!("peak memory      {peak_mib:10.0} MiB");
    println!(
        "reads {:.0}/s, writes {:.0}/s of {:.0} bytes, log writes {:.0}/s of {:.0} bytes",
        totals.reads.per_second,
        totals.writes.per_second,
        totals.writes.average_bytes,
        totals.log_writes.per_second,
        totals.log_writes.average_bytes
    );
    for error in &result.errors {
        println!("error: {error:?}");
    }
}
