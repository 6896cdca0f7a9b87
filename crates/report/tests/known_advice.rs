//! What is advised at each limit of each rule and beyond it, word by word.

use crate::expected::expect;
use measure::metric::Metric;
use measure::result::{
    ArrayResult, Cause, CauseId, Check, CheckId, CounterSummary, DatabaseFigures, DatabaseResult,
    DeviceResult, ErrorKind, ErrorRecord, IoFigures, LatencyFigures, OperationResult, RunResult,
    ServerResult, SteadyState, Verdict,
};
use report::Run;
use report::advice::advice;

type Change = fn(&mut RunResult);

fn latency(average_ms: f64) -> LatencyFigures {
    LatencyFigures {
        average_ms,
        p99_ms: 4.0 * average_ms,
        max_sample_average_ms: 7.0 * average_ms,
        ..LatencyFigures::default()
    }
}

fn requests(average_ms: f64) -> IoFigures {
    IoFigures {
        count: 6_000,
        per_second: 100.0,
        average_bytes: 32_768.0,
        latency: Some(latency(average_ms)),
        ..IoFigures::default()
    }
}

/// A run of four databases on one device about which there is nothing to say.
fn quiet() -> RunResult {
    let mut result = RunResult {
        verdict: Verdict::Fail,
        complete: true,
        duration_s: 7_200.0,
        ..RunResult::default()
    };
    result.samples.count = 480;
    result.host.cpus = 4;
    result.databases = (1..=4)
        .map(|number| DatabaseResult {
            name: format!("db{number}"),
            path: format!("/mnt/a/db{number}.edb"),
            log_path: "/mnt/a/logs".into(),
            figures: DatabaseFigures {
                reads: requests(5.0),
                log_writes: requests(1.0),
                ..DatabaseFigures::default()
            },
        })
        .collect();
    result.totals.reads = requests(5.0);
    result.host.devices = vec![DeviceResult {
        name: "sda".into(),
        targets: vec!["/mnt/a".into()],
        average_read_ms: Some(4.0),
        average_queue_depth: 2.5,
        busy_fraction: 0.75,
        ..DeviceResult::default()
    }];
    result
}

/// Adds a check of db2 that failed, or one of the whole run.
fn failed(result: &mut RunResult, id: CheckId, value: f64, limit: f64) {
    let rule = String::new();
    let check = match id {
        CheckId::AchievedIops | CheckId::Errors => Check::of_run(id, limit, Some(value), rule),
        _ => Check::of(id, "db2", limit, Some(value), rule),
    };
    assert_eq!(check.passed, Some(false), "{id:?}");
    result.checks.push(check);
}

/// Slow reads of db2, of which the device takes so much.
fn slow_reads(result: &mut RunResult, device_ms: f64) {
    result.databases[1].figures.reads = requests(30.0);
    result.databases[2].figures.reads = requests(30.0);
    result.host.devices[0].average_read_ms = Some(device_ms);
    failed(result, CheckId::DatabaseReadAverage, 30.0, 20.0);
}

fn counter(result: &mut RunResult, metric: Metric, average: f64) {
    result.host.counters.push(CounterSummary {
        id: metric.id().into_owned(),
        unit: metric.unit(),
        average,
        ..CounterSummary::default()
    });
}

fn error(result: &mut RunResult, kind: ErrorKind) {
    result.errors.push(ErrorRecord {
        kind,
        file: "/mnt/a/db1.edb".into(),
        error: "it broke".into(),
        ..ErrorRecord::default()
    });
}

fn missed(result: &mut RunResult, busy: f64, own: f64) {
    failed(result, CheckId::AchievedIops, 95.0, 100.0);
    counter(result, Metric::CpuBusy, busy);
    counter(result, Metric::ProcessCpu, own);
}

fn above(result: &mut RunResult, share: f64) {
    result.throughput.achieved_fraction = Some(share);
    result.throughput.target_iops = Some(200.0);
    result.throughput.achieved_iops = share * 200.0;
}

fn late(result: &mut RunResult, service_ms: f64, response_ms: f64) {
    result.throughput.rate_iops = Some(900.0);
    let p99 = |p99_ms| {
        Some(LatencyFigures {
            p99_ms,
            ..LatencyFigures::default()
        })
    };
    result.operations.push(OperationResult {
        name: "insert".into(),
        service_time: p99(service_ms),
        response_time: p99(response_ms),
        ..OperationResult::default()
    });
}

fn unsteady(result: &mut RunResult, rounds: &[f64], range_fraction: f64, slope_fraction: f64) {
    result.steady_state = Some(SteadyState {
        steady: Some(false),
        variable: "IOPS".into(),
        rounds: rounds.to_vec(),
        range_fraction,
        slope_fraction,
        ..SteadyState::default()
    });
}

/// Bytes per second of the device and of the run.
fn traffic(result: &mut RunResult, seen: f64, own: f64) {
    for database in &mut result.databases {
        database.figures = DatabaseFigures::default();
    }
    let reads = &mut result.databases[0].figures.reads;
    (reads.per_second, reads.average_bytes) = (1.0, own);
    result.host.devices[0].read_bytes_per_second = seen / 4.0;
    result.host.devices[0].write_bytes_per_second = seen * 3.0 / 4.0;
}

fn maintenance(result: &mut RunResult, bytes: f64) {
    slow_reads(result, 28.0);
    result.totals.reads.average_bytes = 10_000.0;
    result.totals.maintenance_reads = IoFigures {
        per_second: 100.0,
        average_bytes: bytes,
        ..IoFigures::default()
    };
}

fn passed(result: &mut RunResult, value: f64) {
    result.verdict = Verdict::Pass;
    let rule = String::new();
    let check = Check::of(CheckId::DatabaseReadAverage, "db2", 20.0, Some(value), rule);
    result.checks.push(check);
    // A rate above its least value is no headroom of a latency.
    let rate = Check::of_run(CheckId::AchievedIops, 10.0, Some(500.0), String::new());
    result.checks.push(rate);
}

const CASES: &[(&str, Change)] = &[
    ("nothing", |_| ()),
    ("errors of no kind", |one| error(one, ErrorKind::Unknown)),
    ("a failed request", |one| {
        error(one, ErrorKind::Io);
        one.errors[0].page = Some(12_345);
        one.errors[0].operation = "database read".into();
    }),
    ("an error that was allowed", |one| {
        error(one, ErrorKind::Io);
        one.verdict = Verdict::Pass;
    }),
    ("no space", |one| error(one, ErrorKind::OutOfSpace)),
    ("no space in a prediction", |one| {
        error(one, ErrorKind::OutOfSpace);
        one.array = Some(ArrayResult::default());
    }),
    ("a server that is gone", |one| {
        error(one, ErrorKind::Unavailable);
    }),
    ("lost data", |one| error(one, ErrorKind::Inconsistent)),
    ("an error of the server", |one| {
        error(one, ErrorKind::ServerSide);
    }),
    ("settings that no transaction fits", |one| {
        error(one, ErrorKind::Settings);
    }),
    ("the error that ended the run", |one| {
        error(one, ErrorKind::Io);
        error(one, ErrorKind::Unavailable);
        one.errors[1].ended_run = true;
    }),
    ("errors without a record", |one| {
        failed(one, CheckId::Errors, 3.0, 0.0);
    }),
    ("stopped", |one| one.verdict = Verdict::Interrupted),
    ("stopped early", |one| {
        (one.verdict, one.duration_s) = (Verdict::Interrupted, 0.0);
    }),
    ("causes", |one| {
        for id in [CauseId::CpuSteal, CauseId::EngineCache] {
            one.causes.push(Cause {
                id,
                text: format!("{id:?} was seen."),
                remedy: "Change it.".into(),
            });
        }
    }),
    ("a cache", |one| {
        one.causes.push(Cause {
            id: CauseId::FewReadsAtDevice,
            text: "few reads.".into(),
            remedy: "Use more data.".into(),
        });
    }),
    ("one of three databases is slow", |one| {
        one.databases.truncate(3);
        one.databases[0].figures.reads = requests(500.0);
    }),
    ("one of four databases is slow", |one| {
        one.databases[0].figures.reads = requests(7.6);
    }),
    ("one of four databases is nearly slow", |one| {
        one.databases[0].figures.reads = requests(7.5);
    }),
    ("one of four databases is slow and still fast", |one| {
        for database in &mut one.databases {
            database.figures.reads = requests(0.5);
        }
        one.databases[0].figures.reads = requests(1.5);
    }),
    ("one of four databases is slow and not that fast", |one| {
        for database in &mut one.databases {
            database.figures.reads = requests(0.5);
        }
        one.databases[0].figures.reads = requests(1.6);
    }),
    ("two of eight databases are slow", |one| {
        one.databases.extend(one.databases.clone());
        one.databases[0].figures.reads = requests(50.0);
        one.databases[5].figures.reads = requests(60.0);
    }),
    ("two of four databases are slow", |one| {
        one.databases[0].figures.reads = requests(50.0);
        one.databases[1].figures.reads = requests(60.0);
    }),
    ("no device", |one| {
        slow_reads(one, 1.0);
        one.host.devices.clear();
    }),
    ("a device with most of the latency", |one| {
        slow_reads(one, 18.0);
        one.host.devices[0].rotational = Some(true);
    }),
    ("a flash device", |one| {
        slow_reads(one, 28.0);
        one.host.devices[0].rotational = Some(false);
    }),
    ("a device with less of the latency", |one| {
        slow_reads(one, 17.9);
        one.host.devices[0].scheduler = "mq-deadline".into();
    }),
    ("a fast device below a busy host", |one| {
        slow_reads(one, 2.0);
        counter(one, Metric::CpuBusy, 85.0);
    }),
    ("a fast device below an idle host", |one| {
        slow_reads(one, 2.0);
        counter(one, Metric::CpuBusy, 84.9);
    }),
    ("a slow log", |one| {
        failed(one, CheckId::LogWriteAverage, 18.0, 10.0);
        one.databases[1].figures.log_writes = requests(18.0);
    }),
    ("a slow log beside spikes of reads", |one| {
        failed(one, CheckId::LogWriteAverage, 18.0, 10.0);
        failed(one, CheckId::DatabaseReadMax, 118.0, 100.0);
    }),
    ("a slow log on the device of slow reads", |one| {
        slow_reads(one, 28.0);
        failed(one, CheckId::LogWriteAverage, 18.0, 10.0);
    }),
    ("a slow log on another device", |one| {
        slow_reads(one, 28.0);
        failed(one, CheckId::LogWriteAverage, 18.0, 10.0);
        one.databases[1].log_path = "/mnt/b".into();
        let mut other = one.host.devices[0].clone();
        other.name = "sdb".into();
        other.targets = vec!["/mnt/b".into()];
        one.host.devices.push(other);
    }),
    ("stalls", |one| {
        failed(one, CheckId::PageFaultStalls, 3.0, 1.0);
    }),
    ("a target missed with few threads", |one| {
        failed(one, CheckId::AchievedIops, 95.0, 100.0);
        one.throughput.threads = Some(1_200);
    }),
    ("a target missed by slow storage", |one| {
        missed(one, 99.0, 10.0);
        failed(one, CheckId::DatabaseReadP99, 61.0, 50.0);
    }),
    ("a target missed on a host that is not busy", |one| {
        missed(one, 84.9, 10.0);
    }),
    ("a target missed on a host of others", |one| {
        missed(one, 85.0, 159.0);
    }),
    ("a target missed on a host of our own", |one| {
        missed(one, 85.0, 160.0);
    }),
    ("a target missed beside a server", |one| {
        missed(one, 85.0, 10.0);
        one.server = Some(ServerResult::default());
    }),
    ("more than the target", |one| above(one, 1.49)),
    ("far more than the target", |one| above(one, 1.5)),
    ("far more than the target at a held rate", |one| {
        above(one, 1.5);
        one.throughput.rate_iops = Some(200.0);
    }),
    ("late by three times", |one| late(one, 20.0, 60.0)),
    ("late by more than three times", |one| late(one, 20.0, 60.1)),
    ("late by less than 20 ms", |one| late(one, 5.0, 24.9)),
    ("late by 20 ms", |one| late(one, 5.0, 25.0)),
    ("spikes of reads", |one| {
        failed(one, CheckId::DatabaseReadMax, 118.0, 100.0);
        failed(one, CheckId::LogWriteMax, 119.0, 100.0);
    }),
    ("spikes of log writes", |one| {
        failed(one, CheckId::LogWriteMax, 119.0, 100.0);
    }),
    ("spikes of a database that is not there", |one| {
        failed(one, CheckId::LogWriteMax, 119.0, 100.0);
        one.checks[0].place = "gone".into();
    }),
    ("a slow tail of reads", |one| {
        failed(one, CheckId::DatabaseReadP99, 61.0, 50.0);
        failed(one, CheckId::LogWriteP99, 62.0, 50.0);
    }),
    ("a slow tail of log writes", |one| {
        failed(one, CheckId::LogWriteP99, 62.0, 50.0);
    }),
    ("other traffic of less than a fifth", |one| {
        traffic(one, 124.9e6, 100e6);
    }),
    ("other traffic of a fifth", |one| {
        traffic(one, 125e6, 100e6);
    }),
    ("other traffic of less than one MiB", |one| {
        traffic(one, 1.9 * 1_048_576.0, 1_048_576.0);
    }),
    ("other traffic of one MiB", |one| {
        traffic(one, 2.0 * 1_048_576.0, 1_048_576.0);
    }),
    ("traffic beside a run without any", |one| {
        traffic(one, 126e6, 0.0);
    }),
    ("traffic that is not known", |one| {
        traffic(one, f64::INFINITY, 100e6);
    }),
    ("a falling rate", |one| {
        unsteady(one, &[9.0, 5.0, 8.0], 0.5, 0.25);
    }),
    ("a rising rate", |one| {
        unsteady(one, &[8.0, 5.0, 9.0], 0.5, -0.25);
    }),
    ("a rate that ends as it began", |one| {
        unsteady(one, &[8.0, 5.0, 8.0], 0.5, 0.25);
    }),
    ("a rate that goes up and down", |one| {
        unsteady(one, &[8.0, 5.0, 9.0], 0.5, 0.24);
    }),
    ("a rate without a name", |one| {
        unsteady(one, &[8.0, 9.0], 0.5, 0.24);
        if let Some(state) = &mut one.steady_state {
            state.variable.clear();
        }
    }),
    ("no sample", |one| one.samples.count = 0),
    ("one sample", |one| one.samples.count = 1),
    ("a few samples", |one| one.samples.count = 19),
    ("enough samples", |one| one.samples.count = 20),
    ("a few samples of a run that was stopped", |one| {
        (one.samples.count, one.verdict) = (19, Verdict::Interrupted);
    }),
    ("a few samples of a run that ended with an error", |one| {
        (one.samples.count, one.verdict) = (19, Verdict::Error);
    }),
    ("as much maintenance as other I/O", |one| {
        maintenance(one, 10_000.0);
    }),
    ("more maintenance than other I/O", |one| {
        maintenance(one, 10_001.0);
    }),
    ("more maintenance than other I/O of a good run", |one| {
        maintenance(one, 20_000.0);
        one.checks.clear();
    }),
    ("nothing but maintenance", |one| {
        maintenance(one, 20_000.0);
        one.totals.reads.per_second = 0.0;
    }),
    ("much headroom", |one| passed(one, 16.0)),
    ("little headroom", |one| passed(one, 16.1)),
    ("headroom of a limit of nothing", |one| {
        passed(one, 4.0);
        one.checks[0].limit = 0.0;
    }),
];

#[test]
fn each_rule_speaks_beyond_its_limit_and_not_at_it() {
    let mut text = String::new();
    for (name, change) in CASES {
        let mut result = quiet();
        change(&mut result);
        text += &format!("{name}\n");
        for one in advice(&Run::from_result("", result)) {
            text += &format!("  {}: {}\n    {}\n", one.id.0, one.title, one.text);
        }
    }
    expect("advice.txt", &text);
}
