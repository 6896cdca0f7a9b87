//! The twin against the engine: the same run on the same small storage in virtual time, once with
//! the real engine over real bytes and once with the twin over none. Their I/O must agree.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use array::bridge::{
    ArrayHost, FilePayload, IdealVolumes, IdealVolumesSettings, VolumeFiles, VolumeModel,
};
use array::payload::Bytes;
use array::{SECTOR_BYTES, VolumeId};
use measure::result::{DatabaseResult, IoFigures, RunResult};
use runtime::{Handle, Runtime};
use std::collections::BTreeMap;
use std::sync::Arc;
use workload::controller::host::DatabaseHost;
use workload::controller::{RunPlan, Unheard, run_on_virtual_clock};
use workload::mail::edb_host::{DatabaseDirectories, EdbHost};
use workload::mail::twin::TwinHost;
use workload::profile::{ByteSize, Profile, TimeSpan};
use workload::progress::StopRequest;

type Files<P> = VolumeFiles<P, IdealVolumes<P>>;
type Places<D> = BTreeMap<usize, DatabaseDirectories<D>>;

/// Two volumes, one for data and one for logs.
fn volumes<P: FilePayload>() -> IdealVolumes<P> {
    IdealVolumes::new(IdealVolumesSettings {
        capacities_sectors: vec![(1 << 30) / SECTOR_BYTES; 2],
        read_ns: 6_000_000,
        write_ns: 700_000,
    })
}

fn places<P: FilePayload, M: VolumeModel<P>>(
    host: &ArrayHost<P, M>,
    plan: &RunPlan,
) -> Places<VolumeFiles<P, M>> {
    let files = |volume| VolumeFiles::new(host.volume(VolumeId(volume)).unwrap());
    let (data, log) = (files(0), files(1));
    let databases = plan.profile.mail.databases as usize;
    (0..databases)
        .map(|database| {
            let name = format!("database{database}");
            let directories = DatabaseDirectories {
                data: data.directory(&name),
                log: log.directory(&name),
            };
            (database, directories)
        })
        .collect()
}

fn run<P: FilePayload, H: DatabaseHost>(
    profile: &Profile,
    make: impl Fn(Handle, &Arc<RunPlan>, Places<Files<P>>) -> H + 'static,
) -> RunResult {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let storage = ArrayHost::new(&handle, volumes::<P>());
    let plan = RunPlan::new(profile, 1);
    runtime.block_on(async move {
        let make_host = {
            let handle = handle.clone();
            move |_: usize, plan: &Arc<RunPlan>| make(handle.clone(), plan, places(&storage, plan))
        };
        let stop = StopRequest::new();
        run_on_virtual_clock(handle, plan, RunResult::new(), stop, Unheard, make_host).await
    })
}

fn engine(profile: &Profile) -> RunResult {
    run::<Bytes, EdbHost<_>>(profile, |handle, plan, places| {
        EdbHost::new(handle, Arc::clone(plan), places)
    })
}

fn twin(profile: &Profile) -> RunResult {
    run::<(), TwinHost<_>>(profile, |handle, plan, places| {
        TwinHost::new(handle, Arc::clone(plan), places)
    })
}

fn profile(page: ByteSize) -> Profile {
    let mut profile = Profile::default();
    let mail = &mut profile.mail;
    mail.databases = 1;
    mail.mailboxes_per_database = 64;
    mail.mailbox_size = ByteSize::mib(1);
    mail.iops_per_mailbox = 1.0;
    mail.threads = Some(8);
    profile.engine.page_size = page;
    profile.engine.cache_size_per_database = ByteSize::mib(8);
    profile.engine.checkpoint_depth = ByteSize::mib(8);
    profile.run.duration = TimeSpan::seconds(60);
    profile.run.sample_interval = TimeSpan::seconds(5);
    profile.run.warm_up.minimum = TimeSpan::seconds(20);
    profile.run.steady_state.required = false;
    profile.run.verify_after_run = false;
    profile
}

/// One figure of both, per operation.
struct Compared {
    name: String,
    engine: f64,
    twin: f64,
}

fn operations(result: &RunResult) -> f64 {
    let all = result.operations.iter();
    let rows = all.filter(|operation| !operation.name.starts_with("commit"));
    rows.map(|operation| operation.count as f64).sum()
}

/// A stream of requests of a database.
type Stream = fn(&DatabaseResult) -> &IoFigures;

fn compare(engine: &RunResult, twin: &RunResult) -> Vec<Compared> {
    let streams: [(&str, Stream); 3] = [
        ("database reads", |database| &database.reads),
        ("database writes", |database| &database.writes),
        ("log writes", |database| &database.log_writes),
    ];
    let mut compared = Vec::new();
    for (name, stream) in streams {
        let figures = |result: &RunResult| {
            let (io, done) = (stream(&result.databases[0]), operations(result));
            (
                io.count as f64 / done,
                io.bytes as f64 / done,
                io.average_bytes,
            )
        };
        let (engine, twin) = (figures(engine), figures(twin));
        let mut add = |what: &str, engine: f64, twin: f64| {
            let name = format!("{name} {what}");
            compared.push(Compared { name, engine, twin });
        };
        add("per operation", engine.0, twin.0);
        add("bytes per operation", engine.1, twin.1);
        add("average bytes", engine.2, twin.2);
    }
    let growth = |result: &RunResult| result.databases[0].size_end_bytes as f64;
    compared.push(Compared {
        name: "file size".to_owned(),
        engine: growth(engine),
        twin: growth(twin),
    });
    compared.push(Compared {
        name: "operations".to_owned(),
        engine: operations(engine),
        twin: operations(twin),
    });
    compared
}

fn agree(page: ByteSize) {
    let profile = profile(page);
    let (engine, twin) = (engine(&profile), twin(&profile));
    assert_eq!(
        (engine.errors.len(), twin.errors.len()),
        (0, 0),
        "{:?}",
        twin.errors
    );
    let compared = compare(&engine, &twin);
    let mut table = String::new();
    for Compared { name, engine, twin } in &compared {
        let percent = (twin / engine - 1.0) * 100.0;
        table += &format!("{name:36} {engine:14.4} {twin:14.4} {percent:+7.2} %\n");
    }
    println!("{table}");
    for Compared { name, engine, twin } in compared {
        let ratio = twin / engine;
        assert!((0.95..=1.05).contains(&ratio), "{name} differs:\n{table}");
    }
}

#[test]
fn large_pages_cause_the_engines_requests() {
    agree(ByteSize::kib(32));
}

#[test]
fn small_pages_cause_the_engines_requests() {
    agree(ByteSize::kib(8));
}

#[test]
fn one_seed_is_one_run() {
    let mut profile = profile(ByteSize::kib(32));
    profile.run.duration = TimeSpan::seconds(20);
    profile.mail.databases = 2;
    let json = || serde_json::to_string(&twin(&profile)).unwrap();
    assert_eq!(json(), json());
}

#[test]
fn a_twin_runs_on_directories_that_know_nothing_of_it() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let disk = runtime::SimulatedDisk::new(&handle, runtime::SimulatedOptions::seeded(3));
    let mut profile = profile(ByteSize::kib(8));
    profile.run.duration = TimeSpan::seconds(5);
    profile.run.warm_up.minimum = TimeSpan::seconds(0);
    profile.run.warm_up.maximum = TimeSpan::seconds(1);
    profile.mail.session_pause = TimeSpan::seconds(1);
    let plan = RunPlan::new(&profile, 1);
    let result = runtime.block_on(async move {
        let for_host = handle.clone();
        let make = move |_: usize, plan: &Arc<RunPlan>| {
            let data = disk.directory("data");
            let log = disk.directory("log");
            let places = BTreeMap::from([(0, DatabaseDirectories { data, log })]);
            TwinHost::new(for_host.clone(), Arc::clone(plan), places)
        };
        let stop = StopRequest::new();
        run_on_virtual_clock(handle, plan, RunResult::new(), stop, Unheard, make).await
    });
    assert_eq!(result.errors, []);
    assert!(result.databases[0].reads.count > 0);
}
