//! What the tests of whole runs share.

use measure::result::RunResult;
use runtime::{Handle, Runtime, SimulatedDirectory, SimulatedDisk, SimulatedOptions};
use std::collections::BTreeMap;
use std::sync::Arc;
use workload::controller::{RunPlan, Unheard, run_on_virtual_clock};
use workload::mail::edb_host::{DatabaseDirectories, EdbHost};
use workload::profile::{ByteSize, Profile, TimeSpan};
use workload::progress::StopRequest;

/// A run and the disk it ran on, one for all databases.
pub struct Outcome {
    pub result: RunResult,
    #[allow(dead_code)] // Not every test looks at the disk afterwards.
    pub disk: SimulatedDisk,
}

/// Three small databases of 8 MiB, each with a cache of an eighth of that.
pub fn profile() -> Profile {
    let mut profile = Profile::default();
    let mail = &mut profile.mail;
    mail.databases = 3;
    mail.mailboxes_per_database = 8;
    mail.mailbox_size = ByteSize::mib(2);
    mail.iops_per_mailbox = 5.0;
    mail.threads = Some(6);
    mail.session_pause_factor = 0.0;
    profile.engine.page_size = ByteSize::kib(8);
    profile.engine.cache_size_per_database = ByteSize::mib(4);
    profile.engine.version_store = ByteSize::mib(4);
    profile.run.duration = TimeSpan::seconds(60);
    profile.run.sample_interval = TimeSpan::seconds(5);
    profile.run.warm_up.maximum = TimeSpan::seconds(120);
    profile
}

pub fn host(
    handle: &Handle,
    disk: &SimulatedDisk,
    shard: usize,
    plan: &Arc<RunPlan>,
) -> EdbHost<SimulatedDirectory> {
    let places: BTreeMap<usize, _> = plan.shards[shard]
        .iter()
        .map(|&database| {
            let places = DatabaseDirectories {
                data: disk.directory(&format!("data{database}")),
                log: disk.directory(&format!("log{database}")),
            };
            (database, places)
        })
        .collect();
    EdbHost::new(handle.clone(), Arc::clone(plan), places)
}

pub fn run(profile: &Profile) -> Outcome {
    run_with(profile, |_| {})
}

/// Runs with a disk that `prepare` may have spoiled.
pub fn run_with(profile: &Profile, prepare: impl FnOnce(&SimulatedDisk)) -> Outcome {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let disk = SimulatedDisk::new(&handle, slow_disk());
    prepare(&disk);
    run_on(&runtime, &disk, profile)
}

/// A disk with the latencies of a good array, so that a minute holds a bounded amount of work.
pub fn slow_disk() -> SimulatedOptions {
    SimulatedOptions {
        read_ns: 4_000_000..=8_000_000,
        write_ns: 500_000..=1_500_000,
        sync_ns: 500_000..=1_500_000,
        queue_depth: 16,
        ..SimulatedOptions::seeded(7)
    }
}

pub fn run_on(runtime: &Runtime, disk: &SimulatedDisk, profile: &Profile) -> Outcome {
    carry_out(runtime, disk, RunPlan::new(profile, 2))
}

/// Carries out a plan that is there already.
pub fn carry_out(runtime: &Runtime, disk: &SimulatedDisk, plan: RunPlan) -> Outcome {
    let handle = runtime.handle();
    let (for_hosts, disk_of_hosts) = (handle.clone(), disk.clone());
    let result = runtime.block_on(async move {
        let make = move |shard, plan: &Arc<RunPlan>| host(&for_hosts, &disk_of_hosts, shard, plan);
        let stop = StopRequest::new();
        run_on_virtual_clock(handle, plan, RunResult::new(), stop, Unheard, make).await
    });
    Outcome {
        result,
        disk: disk.clone(),
    }
}
