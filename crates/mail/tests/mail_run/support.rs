//! What the tests of whole runs share.

use config::{ByteSize, TimeSpan};
use edb::cache::SpareMemory;
use mail::edb_host::{DatabaseDirectories, EdbHost};
use mail::plan::MailPlan;
use mail::profile::MailProfile;
use measure::result::RunResult;
use measure::sample::Sample;
use runtime::{Handle, Runtime, SimulatedDirectory, SimulatedDisk, SimulatedOptions};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use workload::controller::{InterimResult, RunListener, run_on_virtual_clock};
use workload::progress::{LiveSample, StopRequest};

/// A run and the disk it ran on, one for all databases.
pub struct Outcome {
    pub result: RunResult,
    #[allow(dead_code)] // Not every test looks at them.
    pub samples: Vec<Sample>,
    #[allow(dead_code)] // Not every test looks at the disk afterwards.
    pub disk: SimulatedDisk,
}

/// Keeps the samples of a run.
#[derive(Default)]
struct Samples(Vec<Sample>);

impl RunListener for Samples {
    fn sample(&mut self, sample: &Sample, _: &LiveSample, _: InterimResult<'_>) {
        self.0.push(sample.clone());
    }
}

/// Three small databases of 8 MiB, each with a cache of an eighth of that.
pub fn profile() -> MailProfile {
    let mut profile = MailProfile::default();
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
    profile.run.sample_interval = Some(TimeSpan::seconds(5));
    profile.run.warm_up.maximum = Some(TimeSpan::seconds(120));
    profile
}

pub fn host(
    handle: &Handle,
    disk: &SimulatedDisk,
    shard: usize,
    plan: &Arc<MailPlan>,
) -> EdbHost<SimulatedDirectory> {
    let places: BTreeMap<usize, _> = plan.run.shards[shard]
        .iter()
        .map(|&database| {
            let places = DatabaseDirectories {
                data: disk.directory(&format!("data{database}")),
                log: disk.directory(&format!("log{database}")),
            };
            (database, places)
        })
        .collect();
    let backup = plan.run.tests.backup.as_ref();
    let copies = places.keys().map(|&database| {
        let data = disk.directory(&format!("copy{database}"));
        let log = disk.directory(&format!("copy-log{database}"));
        (database, DatabaseDirectories { data, log })
    });
    let copies: BTreeMap<usize, _> = match backup.is_some_and(|one| !one.copied_to.is_empty()) {
        true => copies.collect(),
        false => BTreeMap::new(),
    };
    let passive = plan.run.tests.replication.iter();
    let passive = passive.flat_map(|_| places.keys().copied());
    let passive = passive.map(|database| {
        let data = disk.directory(&format!("passive{database}"));
        let log = disk.directory(&format!("passive-log{database}"));
        (database, DatabaseDirectories { data, log })
    });
    let passive = passive.collect();
    EdbHost::new(handle.clone(), Arc::clone(plan), places)
        .copying_to(copies)
        .replicating_to(passive)
}

pub fn run(profile: &MailProfile) -> Outcome {
    run_with(profile, |_| {})
}

/// Runs with a disk that `prepare` may have spoiled.
pub fn run_with(profile: &MailProfile, prepare: impl FnOnce(&SimulatedDisk)) -> Outcome {
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

pub fn run_on(runtime: &Runtime, disk: &SimulatedDisk, profile: &MailProfile) -> Outcome {
    carry_out(runtime, disk, MailPlan::new(profile, 2))
}

/// Carries out a plan that is there already.
pub fn carry_out(runtime: &Runtime, disk: &SimulatedDisk, plan: MailPlan) -> Outcome {
    carry_out_with_memory(runtime, disk, plan, Rc::new(|| i64::MAX))
}

/// The same, on a host with this memory to spare.
pub fn carry_out_with_memory(
    runtime: &Runtime,
    disk: &SimulatedDisk,
    plan: MailPlan,
    spare: SpareMemory,
) -> Outcome {
    let handle = runtime.handle();
    let (for_hosts, disk_of_hosts) = (handle.clone(), disk.clone());
    let samples = Rc::new(RefCell::new(Samples::default()));
    let listener = Rc::clone(&samples);
    let result = runtime.block_on(async move {
        let run = plan.run.clone();
        let mut base = RunResult::new();
        base.tests = plan.profile.tests();
        let plan = Arc::new(plan);
        let make = move |shard| {
            let host = host(&for_hosts, &disk_of_hosts, shard, &plan);
            host.following_memory(Rc::clone(&spare))
        };
        let stop = StopRequest::new();
        run_on_virtual_clock(handle, run, base, stop, listener, make).await
    });
    Outcome {
        result,
        samples: samples.take().0,
        disk: disk.clone(),
    }
}
