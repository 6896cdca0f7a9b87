//! The simulation against the engine: the same run on the same small storage in virtual time, once with
//! the real engine over real bytes and once with the simulation over none. Their I/O must agree, on volumes
//! whose latencies never change and on those of a small array with disks, RAID and a cache.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use array::bridge::{
    ArrayHost, FilePayload, IdealVolumes, IdealVolumesSettings, VolumeFiles, VolumeModel,
};
use array::description::{DatabaseDemand, Description};
use array::payload::Bytes;
use array::{Array, SECTOR_BYTES, VolumeId};
use config::{ByteSize, Source, TimeSpan};
use mail::edb_host::{DatabaseDirectories, EdbHost};
use mail::plan::MailPlan;
use mail::profile::MailProfile;
use mail::simulation::SimulatedHost;
use measure::result::{DatabaseResult, IoFigures, RunResult};
use runtime::{Handle, Runtime};
use std::collections::BTreeMap;
use std::sync::Arc;
use workload::controller::host::DatabaseHost;
use workload::controller::{NoListener, run_on_virtual_clock};
use workload::progress::StopRequest;

/// A small array: data on RAID 5, logs on a mirror, two controllers that mirror their writes.
const ARRAY: &str = r#"
title = "A small array"
[controllers]
count = 2
ports_per_controller = 1
port = { rate_mb_per_s = 800.0, command_us = 5.0 }
link = { rate_mb_per_s = 800.0, transfer_us = 20.0 }
service = { read_us = 20.0, write_us = 30.0 }
[cache]
capacity_mib = 8
line_kib = 32
mirror = true
dirty_limit_percent = 50.0
destage = { age_ms = 2000.0, high_watermark_percent = 80.0, low_watermark_percent = 60.0, idle_ms = 500.0, in_flight = 16 }
[[group]]
name = "data"
disk = "sas-10k-600gb"
disk_count = 5
raid = "raid5"
chunk_kib = 64
[[group]]
name = "logs"
disk = "sas-10k-600gb"
disk_count = 2
raid = "raid1"
[volumes]
databases_on = ["data"]
logs_on = ["logs"]
database_volumes = "one"
log_volumes = "one"
database_size_gb = 1.0
log_size_gb = 1.0
"#;

/// The volumes of the array: that of the data, then that of the logs.
fn array_volumes<P: FilePayload>() -> Array<P> {
    let description = Description::load(&[Source::file("test", ARRAY)]).unwrap();
    let demand = DatabaseDemand {
        name: "database".to_owned(),
        data_bytes: 1 << 20,
        log_bytes: 1 << 20,
    };
    let planned = description.plan(&[demand]).unwrap();
    let place = planned.placement[0];
    assert_eq!((place.data, place.log), (VolumeId(0), VolumeId(1)));
    Array::new(&planned.settings, 1).unwrap()
}

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
    plan: &MailPlan,
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

fn run<P: FilePayload, M: VolumeModel<P>, H: DatabaseHost>(
    profile: &MailProfile,
    model: M,
    make: impl Fn(Handle, &Arc<MailPlan>, Places<VolumeFiles<P, M>>) -> H + 'static,
) -> RunResult {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let storage = ArrayHost::new(&handle, model);
    let plan = Arc::new(MailPlan::new(profile, 1));
    let run = plan.run.clone();
    runtime.block_on(async move {
        let make_host = {
            let (handle, plan) = (handle.clone(), Arc::clone(&plan));
            move |_| make(handle.clone(), &plan, places(&storage, &plan))
        };
        let stop = StopRequest::new();
        run_on_virtual_clock(
            handle,
            run,
            RunResult::new(),
            stop,
            workload::controller::shared(NoListener),
            make_host,
        )
        .await
    })
}

fn engine<M: VolumeModel<Bytes>>(profile: &MailProfile, model: M) -> RunResult {
    run::<Bytes, M, EdbHost<_>>(profile, model, |handle, plan, places| {
        EdbHost::new(handle, Arc::clone(plan), places)
    })
}

fn simulation<M: VolumeModel<()>>(profile: &MailProfile, model: M) -> RunResult {
    run::<(), M, SimulatedHost<_>>(profile, model, |handle, plan, places| {
        SimulatedHost::new(handle, Arc::clone(plan), places)
    })
}

fn profile(page: ByteSize) -> MailProfile {
    let mut profile = MailProfile::default();
    let mail = &mut profile.mail;
    mail.databases = 1;
    mail.mailboxes_per_database = 64;
    mail.mailbox_size = ByteSize::mib(1);
    mail.iops_per_mailbox = 1.0;
    mail.threads = Some(8);
    mail.session_pause_factor = 0.0;
    // Timers of milliseconds and constant latencies bring sessions into step: then chance decides how
    // many commits share a log write.
    mail.mix.lazy_commit_window = TimeSpan::seconds(1);
    profile.engine.page_size = page;
    profile.engine.cache_size_per_database = ByteSize::mib(8);
    profile.engine.checkpoint_depth = ByteSize::mib(8);
    profile.run.duration = TimeSpan::seconds(60);
    profile.run.sample_interval = Some(TimeSpan::seconds(5));
    profile.run.warm_up.minimum = Some(TimeSpan::seconds(20));
    profile.run.steady_state.required = false;
    profile.run.verify_after_run = false;
    profile
}

/// One figure of both, per operation.
struct Compared {
    name: String,
    engine: f64,
    simulation: f64,
}

fn operations(result: &RunResult) -> f64 {
    let all = result.operations.iter();
    let rows = all.filter(|operation| !operation.name.starts_with("commit"));
    rows.map(|operation| operation.count as f64).sum()
}

/// A stream of requests of a database.
type Stream = fn(&DatabaseResult) -> &IoFigures;

fn compare(engine: &RunResult, simulation: &RunResult) -> Vec<Compared> {
    let streams: [(&str, Stream); 3] = [
        ("database reads", |database| &database.figures.reads),
        ("database writes", |database| &database.figures.writes),
        ("log writes", |database| &database.figures.log_writes),
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
        let (engine, simulation) = (figures(engine), figures(simulation));
        let mut add = |what: &str, engine: f64, simulation: f64| {
            let name = format!("{name} {what}");
            compared.push(Compared {
                name,
                engine,
                simulation,
            });
        };
        add("per operation", engine.0, simulation.0);
        add("bytes per operation", engine.1, simulation.1);
        add("average bytes", engine.2, simulation.2);
    }
    let growth = |result: &RunResult| result.databases[0].figures.size_end_bytes as f64;
    compared.push(Compared {
        name: "file size".to_owned(),
        engine: growth(engine),
        simulation: growth(simulation),
    });
    compared.push(Compared {
        name: "operations".to_owned(),
        engine: operations(engine),
        simulation: operations(simulation),
    });
    compared
}

fn agree(engine: &RunResult, simulation: &RunResult) {
    assert_eq!(
        (engine.errors.len(), simulation.errors.len()),
        (0, 0),
        "{:?} {:?}",
        engine.errors,
        simulation.errors
    );
    within_five_percent(&compare(engine, simulation));
}

fn within_five_percent(compared: &[Compared]) {
    let mut table = String::new();
    for Compared {
        name,
        engine,
        simulation,
    } in compared
    {
        let percent = (simulation / engine - 1.0) * 100.0;
        table += &format!("{name:36} {engine:14.4} {simulation:14.4} {percent:+7.2} %\n");
    }
    println!("{table}");
    for Compared {
        name,
        engine,
        simulation,
    } in compared
    {
        let ratio = simulation / engine;
        assert!((0.95..=1.05).contains(&ratio), "{name} differs:\n{table}");
    }
}

#[test]
fn large_pages_cause_the_engines_requests() {
    let profile = profile(ByteSize::kib(32));
    agree(
        &engine(&profile, volumes()),
        &simulation(&profile, volumes()),
    );
}

#[test]
fn small_pages_cause_the_engines_requests() {
    let profile = profile(ByteSize::kib(8));
    agree(
        &engine(&profile, volumes()),
        &simulation(&profile, volumes()),
    );
}

#[test]
fn an_index_causes_the_engines_requests() {
    let mut profile = profile(ByteSize::kib(32));
    profile.mail.item.indexed = true;
    profile.mail.item.read_by_index_percent = 50.0;
    agree(
        &engine(&profile, volumes()),
        &simulation(&profile, volumes()),
    );
}

#[test]
fn scans_cause_the_engines_requests() {
    let mut profile = profile(ByteSize::kib(32));
    profile.mail.mix.scan_percent = 10.0;
    profile.run.duration = TimeSpan::seconds(40);
    agree(
        &engine(&profile, volumes()),
        &simulation(&profile, volumes()),
    );
}

#[test]
fn the_same_requests_reach_an_array_of_disks() {
    // Sessions on few disks fall into step for a while; the mean of several runs shows less of it.
    let mut means: Vec<Compared> = Vec::new();
    for seed in 1..=3 {
        let mut profile = profile(ByteSize::kib(32));
        profile.run.seed = seed;
        profile.run.duration = TimeSpan::seconds(30);
        let compared = compare(
            &engine(&profile, array_volumes()),
            &simulation(&profile, array_volumes()),
        );
        if means.is_empty() {
            means = compared;
            continue;
        }
        for (mean, one) in means.iter_mut().zip(compared) {
            mean.engine += one.engine;
            mean.simulation += one.simulation;
        }
    }
    within_five_percent(&means);
}

#[test]
fn log_replication_reads_full_files_once_for_each_further_copy() {
    let mut profile = profile(ByteSize::kib(32));
    profile.mail.copies_per_database = 3;
    let (engine, simulation) = (engine(&profile, volumes()), simulation(&profile, volumes()));
    agree(&engine, &simulation);
    let reads = |result: &RunResult| result.totals.log_reads.clone();
    for result in [&engine, &simulation] {
        let (read, written) = (reads(result), &result.totals.log_writes);
        assert_eq!(read.average_bytes, 256.0 * 1024.0);
        // Two further copies; a file that began before the measured minute or was not full at its end
        // shifts the reads by up to one file for each of them. The header is read and not written as log.
        let off_bytes = read.bytes as f64 - 2.0 * written.bytes as f64;
        let file_bytes = profile.engine.log_file_size.bytes() as f64;
        let unwritten = 2.0 * 4096.0 * (written.bytes as f64 / file_bytes + 1.0);
        assert!(
            off_bytes.abs() <= 2.0 * file_bytes + unwritten,
            "{off_bytes}"
        );
    }
    let ratio = reads(&simulation).bytes as f64 / reads(&engine).bytes as f64;
    assert!((0.95..=1.05).contains(&ratio), "{ratio}");
}

#[test]
fn one_seed_is_one_run() {
    let mut profile = profile(ByteSize::kib(32));
    profile.run.duration = TimeSpan::seconds(20);
    profile.mail.databases = 2;
    let json = || serde_json::to_string(&simulation(&profile, volumes())).unwrap();
    assert_eq!(json(), json());
}

#[test]
fn a_simulation_runs_on_directories_that_know_nothing_of_it() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let disk = runtime::SimulatedDisk::new(&handle, runtime::SimulatedOptions::seeded(3));
    let mut profile = profile(ByteSize::kib(8));
    profile.run.duration = TimeSpan::seconds(5);
    profile.run.warm_up.minimum = Some(TimeSpan::seconds(0));
    profile.run.warm_up.maximum = Some(TimeSpan::seconds(1));
    profile.mail.session_pause = TimeSpan::seconds(1);
    let plan = Arc::new(MailPlan::new(&profile, 1));
    let run = plan.run.clone();
    let result = runtime.block_on(async move {
        let for_host = handle.clone();
        let make = move |_| {
            let data = disk.directory("data");
            let log = disk.directory("log");
            let places = BTreeMap::from([(0, DatabaseDirectories { data, log })]);
            SimulatedHost::new(for_host.clone(), Arc::clone(&plan), places)
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
    assert_eq!(result.errors, []);
    assert!(result.databases[0].figures.reads.count > 0);
}
