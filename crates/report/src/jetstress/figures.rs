//! The sections of figures: I/O by instance, the host, errors, and what is published of a test.

use measure::metric::Metric;
use measure::result::{
    BackupResult, DatabaseFigures, DatabaseResult, IoFigures, RecoveryResult, RunResult,
};

use super::summary::instance;
use super::{Part, figure, pair};
use crate::run::Run;

/// The columns of a section of I/O behind the instance. Scripts take them by their number.
const IO_COLUMNS: [&str; 12] = [
    "I/O Database Reads Average Latency (msec)",
    "I/O Database Writes Average Latency (msec)",
    "I/O Database Reads/sec",
    "I/O Database Writes/sec",
    "I/O Database Reads Average Bytes",
    "I/O Database Writes Average Bytes",
    "I/O Log Reads Average Latency (msec)",
    "I/O Log Writes Average Latency (msec)",
    "I/O Log Reads/sec",
    "I/O Log Writes/sec",
    "I/O Log Reads Average Bytes",
    "I/O Log Writes Average Bytes",
];

const INSTANCE: &str = "MSExchange Database ==> Instances";

/// Requests of several streams together.
#[derive(Clone, Copy, Default)]
struct Requests {
    count: f64,
    per_second: f64,
    bytes: f64,
    latency_ms: f64,
}

impl Requests {
    fn of(streams: &[&IoFigures]) -> Self {
        let mut all = Self::default();
        for stream in streams {
            let count = stream.count as f64;
            all.count += count;
            all.per_second += stream.per_second;
            all.bytes += stream.bytes as f64;
            all.latency_ms += count * stream.latency.map_or(0.0, |latency| latency.average_ms);
        }
        all
    }

    fn average(self, sum: f64) -> Option<f64> {
        (self.count > 0.0).then(|| sum / self.count)
    }

    fn average_latency_ms(self) -> String {
        figure(self.average(self.latency_ms))
    }

    fn average_bytes(self) -> String {
        figure(self.average(self.bytes))
    }
}

fn io_part(
    title: &str,
    result: &RunResult,
    of: impl Fn(&DatabaseFigures) -> [Requests; 4],
) -> Part {
    let row = |(index, database): (usize, &DatabaseResult)| {
        let [reads, writes, log_reads, log_writes] = of(&database.figures);
        let mut cells = vec![instance(index)];
        for [a, b] in [[reads, writes], [log_reads, log_writes]] {
            cells.extend([a.average_latency_ms(), b.average_latency_ms()]);
            cells.extend([figure(Some(a.per_second)), figure(Some(b.per_second))]);
            cells.extend([a.average_bytes(), b.average_bytes()]);
        }
        cells
    };
    Part {
        title: title.to_owned(),
        columns: columns(&IO_COLUMNS),
        rows: result.databases.iter().enumerate().map(row).collect(),
        ..Part::default()
    }
}

fn columns(names: &[&str]) -> Vec<String> {
    let first = std::iter::once(INSTANCE);
    first
        .chain(names.iter().copied())
        .map(str::to_owned)
        .collect()
}

/// Section 4: what the workload has asked for.
pub(super) fn transactional(result: &RunResult) -> Part {
    io_part("Transactional I/O Performance", result, |one| {
        [
            Requests::of(&[&one.reads]),
            Requests::of(&[&one.writes]),
            Requests::default(),
            Requests::of(&[&one.log_writes]),
        ]
    })
}

/// Section 5: the scan that verifies pages.
pub(super) fn maintenance(result: &RunResult) -> Part {
    let names = [
        "Database Maintenance IO Reads/sec",
        "Database Maintenance IO Reads Average Bytes",
    ];
    reads_part(
        "Background Database Maintenance I/O Performance",
        result,
        &names,
        |one| &one.maintenance_reads,
    )
}

/// Section 6: the reads of further copies.
pub(super) fn replication(result: &RunResult) -> Part {
    let names = ["I/O Log Reads/sec", "I/O Log Reads Average Bytes"];
    reads_part("Log Replication I/O Performance", result, &names, |one| {
        &one.log_reads
    })
}

fn reads_part(
    title: &str,
    result: &RunResult,
    names: &[&str; 2],
    of: impl Fn(&DatabaseFigures) -> &IoFigures,
) -> Part {
    let row = |(index, database): (usize, &DatabaseResult)| {
        let reads = Requests::of(&[of(&database.figures)]);
        vec![
            instance(index),
            figure(Some(reads.per_second)),
            reads.average_bytes(),
        ]
    };
    Part {
        title: title.to_owned(),
        columns: columns(names),
        rows: result.databases.iter().enumerate().map(row).collect(),
        ..Part::default()
    }
}

/// Section 7: all of it.
pub(super) fn total(result: &RunResult) -> Part {
    io_part("Total I/O Performance", result, |one| {
        [
            Requests::of(&[&one.reads, &one.maintenance_reads]),
            Requests::of(&[&one.writes, &one.header_writes]),
            Requests::of(&[&one.log_reads]),
            Requests::of(&[&one.log_writes]),
        ]
    })
}

/// Section 8: counters of the host. Linux has none of some that Windows has.
pub(super) fn host(run: &Run) -> Part {
    let of = |metric: Metric, unit: f64| {
        let counter = run.result.host.counter(metric);
        let values = counter.map(|one| [one.average, one.minimum, one.maximum]);
        values.map_or(none(), |values| {
            values.map(|value| figure(Some(value / unit)))
        })
    };
    let mebibyte = f64::from(1 << 20);
    let rows = [
        ("% Processor Time", of(Metric::CpuBusy, 1.0)),
        ("Available MBytes", of(Metric::AvailableMemory, mebibyte)),
        ("Free System Page Table Entries", none()),
        ("Transition Pages RePurposed/sec", none()),
        ("Pool Nonpaged Bytes", none()),
        ("Pool Paged Bytes", none()),
        ("Database Page Fault Stalls/sec", stalls(run)),
    ];
    let rows = rows.map(|(counter, values)| {
        let mut row = vec![counter.to_owned()];
        row.extend(values);
        row
    });
    Part {
        title: "Host System Performance".to_owned(),
        columns: ["Counter", "Average", "Minimum", "Maximum"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.to_vec(),
        ..Part::default()
    }
}

/// A counter that does not exist here.
fn none() -> [String; 3] {
    ["n/a"; 3].map(str::to_owned)
}

fn stalls(run: &Run) -> [String; 3] {
    let samples = run.timeline.iter();
    let measured = samples.filter(|sample| sample.phase == measure::sample::Phase::Measured);
    let values: Vec<f64> = measured
        .map(|sample| sample.get(Metric::PageFaultStalls))
        .filter(|value| value.is_finite())
        .collect();
    let average = run.result.totals.page_fault_stalls_per_second;
    let minimum = values.iter().copied().reduce(f64::min).unwrap_or(average);
    let maximum = values.iter().copied().reduce(f64::max).unwrap_or(average);
    [average, minimum, maximum].map(|value| figure(Some(value)))
}

/// Errors by the volume that they came from.
pub(super) fn errors(result: &RunResult) -> Part {
    let targets = result.target.databases.iter().chain(&result.target.logs);
    let mut volumes: Vec<&str> = targets.map(|target| target.path.as_str()).collect();
    volumes.sort_unstable();
    volumes.dedup();
    let volume_of = |file: &str| {
        let above = volumes
            .iter()
            .filter(|volume| std::path::Path::new(file).starts_with(volume));
        above.max_by_key(|volume| volume.len()).copied()
    };
    let count = |volume: Option<&str>| {
        let records = result.errors.iter().filter(|error| error.kind.is_of_data());
        let listed = records.filter(|error| volume_of(&error.file) == volume);
        let of_volume = result
            .databases
            .iter()
            .filter(|one| volume_of(&one.path) == volume);
        listed.count() as u64
            + of_volume
                .map(|one| unlisted(result, &one.name))
                .sum::<u64>()
    };
    let mut rows: Vec<Vec<String>> = volumes
        .iter()
        .map(|volume| pair(volume, count(Some(volume)).to_string()))
        .collect();
    let elsewhere = count(None);
    if elsewhere > 0 {
        rows.push(pair("no volume", elsewhere.to_string()));
    }
    Part {
        title: "Error Counts per Volume".to_owned(),
        columns: ["Volume", "Errors"].map(str::to_owned).to_vec(),
        rows,
        ..Part::default()
    }
}

/// Errors of the data of a database beyond those that are in the list of errors.
fn unlisted(result: &RunResult, database: &str) -> u64 {
    let counts = result.error_counts.iter();
    let counts = counts.filter(|count| count.database == database && count.class.is_some());
    let listed = result.errors.iter();
    let listed = listed.filter(|error| error.database == database && error.class.is_some());
    let all: u64 = counts.map(|count| count.errors).sum();
    all.saturating_sub(listed.count() as u64)
}

/// The figures that people publish of a test: averages over the databases, as their scripts make them.
pub(super) fn esrp(result: &RunResult) -> Part {
    let databases = result.databases.len().max(1) as f64;
    let mean = |of: &dyn Fn(&DatabaseFigures) -> f64| {
        let sum: f64 = result.databases.iter().map(|one| of(&one.figures)).sum();
        figure(Some(sum / databases))
    };
    let latency = |io: &IoFigures| io.latency.map_or(0.0, |latency| latency.average_ms);
    let size_bytes: u64 = result
        .databases
        .iter()
        .map(|one| one.figures.size_end_bytes)
        .sum();
    let capacity_bytes: u64 = result
        .target
        .databases
        .iter()
        .map(|one| one.capacity_bytes)
        .sum();
    let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let used = (capacity_bytes > 0).then(|| {
        format!(
            "{:.1} of {:.1} GiB = {:.1} %",
            gibibytes(size_bytes),
            gibibytes(capacity_bytes),
            size_bytes as f64 * 100.0 / capacity_bytes as f64
        )
    });
    let untested = |test: &str| format!("not tested: it comes from a {test} test");
    let per_server = result
        .backup
        .as_ref()
        .and_then(BackupResult::bytes_per_second);
    let backup_rates = result.backup.iter().flat_map(|one| &one.databases);
    let backup_rates: Vec<f64> = backup_rates
        .filter_map(measure::result::BackedUpDatabase::bytes_per_second)
        .collect();
    let per_database = (!backup_rates.is_empty())
        .then(|| backup_rates.iter().sum::<f64>() / backup_rates.len() as f64);
    let rate = |value: Option<f64>| {
        value.map_or_else(
            || untested("database backup"),
            |bytes| figure(Some(bytes / f64::from(1 << 20))),
        )
    };
    let play = result
        .recovery
        .as_ref()
        .and_then(RecoveryResult::s_per_log_file);
    Part {
        title: "ESRP Summary (averages per database)".to_owned(),
        rows: vec![
            pair(
                "Database Capacity Utilization",
                used.unwrap_or_else(|| format!("{:.1} GiB", gibibytes(size_bytes))),
            ),
            pair("Database Disk Reads/sec", mean(&|one| one.reads.per_second)),
            pair(
                "Database Disk Writes/sec",
                mean(&|one| one.writes.per_second),
            ),
            pair(
                "Average Database Disk Read Latency (ms)",
                mean(&|one| latency(&one.reads)),
            ),
            pair(
                "Average Database Disk Write Latency (ms)",
                mean(&|one| latency(&one.writes)),
            ),
            pair(
                "Log Disk Writes/sec",
                mean(&|one| one.log_writes.per_second),
            ),
            pair(
                "Average Log Disk Write Latency (ms)",
                mean(&|one| latency(&one.log_writes)),
            ),
            pair("MB Read/sec per database", rate(per_database)),
            pair("MB Read/sec per server", rate(per_server)),
            pair(
                "Average Time to play one log file (s)",
                play.map_or_else(
                    || untested("soft recovery"),
                    |seconds| figure(Some(seconds)),
                ),
            ),
        ],
        ..Part::default()
    }
}
