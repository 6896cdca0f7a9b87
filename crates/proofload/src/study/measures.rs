//! The measures: what of a prediction a published figure is.
//!
//! Host and operating system see every request to a volume, so reads of the background maintenance
//! are among the reads there; what a database reports of itself leaves them out.

use std::path::{Path, PathBuf};

use config::choice;
use measure::metric::IoMetric;
use measure::metric::{RowScope, Stream};
use measure::result::{ArrayDisk, ArrayResult, ArrayVolume, IoFigures, RunResult};
use measure::run_directory::{self, LoadError};
use measure::sample::{Phase, SampleRow};

choice! {
    /// A number that every result holds.
    pub enum Measure {
        /// Average latency of database reads of the worst database, ms, as the database reports it.
        HighestDatabaseReadMs = "highest-database-read-ms",
        /// Average latency of all reads of database volumes, ms, as the operating system sees it: a mean
        /// over requests.
        HostReadMs = "host-read-ms",
        /// The same of the volume where it is highest.
        HighestHostReadMs = "highest-host-read-ms",
        /// The same as a mean over samples of equal length, as performance logs are averaged.
        SampledHostReadMs = "sampled-host-read-ms",
        /// Mean over all volumes, those of databases and those of logs, of the mean latency of the
        /// reads of each, ms. A volume without reads counts as 0, as in a performance log.
        VolumesReadMs = "volumes-read-ms",
        /// Average latency of writes of database volumes, ms.
        HostWriteMs = "host-write-ms",
        /// Average latency of reads and writes of database volumes, ms.
        HostTransferMs = "host-transfer-ms",
        /// Average latency of log writes, ms.
        LogWriteMs = "log-write-ms",
        /// The highest of the average latencies of database reads, database writes and log writes, ms.
        HighestLatencyMs = "highest-latency-ms",
        /// Reads of database volumes, 10^6 bytes per second.
        ReadMbPerS = "read-mb-per-s",
        /// Writes of database volumes, 10^6 bytes per second.
        WriteMbPerS = "write-mb-per-s",
        /// Reads and writes of all volumes, 10^6 bytes per second.
        TotalMbPerS = "total-mb-per-s",
        /// Database reads and writes per second, those of the maintenance among them.
        DatabaseIops = "database-iops",
        /// Requests to all volumes per second.
        TotalIops = "total-iops",
        /// Share of reads among the requests to database volumes, percent.
        ReadSharePercent = "read-share-percent",
        /// Operations of the workload per second.
        TransactionsPerS = "transactions-per-s",
        /// Log writes of a log volume, 10^3 bytes per second.
        LogKbPerS = "log-kb-per-s",
        /// Mean time of a request inside a disk, ms.
        DiskLatencyMs = "disk-latency-ms",
        /// Mean number of requests inside a disk.
        DiskQueueDepth = "disk-queue-depth",
        /// Disk requests per second of a disk.
        DiskIops = "disk-iops",
        /// Share of the time a disk was busy, percent.
        DiskBusyPercent = "disk-busy-percent",
        /// Average latency of writes of database volumes inside the array, ms.
        ArrayDatabaseWriteMs = "array-database-write-ms",
        /// Average latency of writes of log volumes inside the array, ms.
        ArrayLogWriteMs = "array-log-write-ms",
        /// Bytes between hosts and array, 10^3 per second.
        ArrayKbPerS = "array-kb-per-s",
        /// Host requests that reach the array per second.
        ArrayRequestsPerS = "array-requests-per-s",
        /// Share of the reads that reach the pools which the SSD read cache serves, percent.
        ReadCacheHitPercent = "read-cache-hit-percent",
        /// Share of the pages in use which lie on the performance tier at the end, percent.
        TierPagesPercent = "tier-pages-percent",
        /// Moved to a higher tier, 10^9 bytes.
        PromotedGb = "promoted-gb",
    }
}

/// What the prediction of a case gave.
#[derive(Clone, Debug, Default)]
pub struct CaseResult {
    /// Result document of the prediction.
    pub result: RunResult,
    /// The samples of the measured phase.
    pub samples: Vec<ReadSample>,
    /// Run directory of the case.
    pub directory: PathBuf,
}

/// The reads of the databases during one sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadSample {
    /// Length of the sample, seconds.
    pub length_s: f64,
    /// Reads of the workload, and those of the maintenance.
    pub reads: [Reads; 2],
}

/// Reads of one kind during one sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reads {
    /// How many per second.
    pub per_second: f64,
    /// Their mean latency, ms; NaN without any.
    pub average_ms: f64,
}

impl CaseResult {
    /// Reads a run directory.
    ///
    /// # Errors
    /// When there is no result, or a file is damaged or of another version.
    pub fn load(directory: &Path) -> Result<Self, LoadError> {
        let (result, rows) = run_directory::load(directory)?;
        Ok(Self {
            result,
            samples: ReadSample::measured(&rows),
            directory: directory.to_owned(),
        })
    }
}

impl ReadSample {
    /// The samples of the measured phase among the rows of a run directory.
    fn measured(rows: &[SampleRow]) -> Vec<Self> {
        let measured = rows
            .iter()
            .filter(|row| row.scope == RowScope::Total && row.phase == Phase::Measured);
        measured.map(Self::of_row).collect()
    }

    fn of_row(row: &SampleRow) -> Self {
        let reads = |stream| {
            let of = |metric| row.io(stream, metric);
            Reads {
                per_second: of(IoMetric::Rate).unwrap_or(0.0),
                average_ms: of(IoMetric::Average).unwrap_or(f64::NAN),
            }
        };
        Self {
            length_s: row.length_s,
            reads: [reads(Stream::DatabaseRead), reads(Stream::MaintenanceRead)],
        }
    }
}

/// The measure of a result; `None` when the result does not hold it. `groups` names the disk
/// groups that measures of disks are about; without any they are about all disks that work.
pub fn value(measure: Measure, run: &CaseResult, groups: &[String]) -> Option<f64> {
    let result = &run.result;
    let totals = &result.totals;
    let database = [&totals.reads, &totals.maintenance_reads, &totals.writes];
    let reads = &database[..2];
    let found = match measure {
        Measure::HighestDatabaseReadMs => {
            let databases = result.databases.iter();
            greatest(databases.map(|database| mean_ms(&[&database.figures.reads])))?
        }
        Measure::HostReadMs => mean_ms(reads)?,
        Measure::HighestHostReadMs => {
            let databases = result.databases.iter();
            let means = databases.map(|database| {
                mean_ms(&[&database.figures.reads, &database.figures.maintenance_reads])
            });
            greatest(means)?
        }
        Measure::SampledHostReadMs => sampled_read_ms(run)?,
        Measure::VolumesReadMs => volumes_read_ms(result)?,
        Measure::HostWriteMs => mean_ms(&[&totals.writes])?,
        Measure::HostTransferMs => mean_ms(&database)?,
        Measure::LogWriteMs => mean_ms(&[&totals.log_writes])?,
        Measure::HighestLatencyMs => {
            let flows = [&totals.reads, &totals.writes, &totals.log_writes];
            greatest(flows.into_iter().map(|flow| mean_ms(&[flow])))?
        }
        Measure::ReadMbPerS => bytes_per_s(reads) / 1e6,
        Measure::WriteMbPerS => bytes_per_s(&[&totals.writes, &totals.header_writes]) / 1e6,
        Measure::TotalMbPerS => bytes_per_s(&all(result)) / 1e6,
        Measure::DatabaseIops => per_s(&database),
        Measure::TotalIops => per_s(&all(result)),
        Measure::ReadSharePercent => 100.0 * per_s(reads) / positive(per_s(&database))?,
        Measure::TransactionsPerS => result.throughput.operations_per_second,
        Measure::LogKbPerS => {
            bytes_per_s(&[&totals.log_writes]) / 1e3 / positive(result.databases.len() as f64)?
        }
        _ => inside(measure, result, result.array.as_ref()?, groups)?,
    };
    found.is_finite().then_some(found)
}

/// The measures of the inside of an array.
fn inside(
    measure: Measure,
    result: &RunResult,
    array: &ArrayResult,
    groups: &[String],
) -> Option<f64> {
    let pools = array.pools.iter();
    Some(match measure {
        Measure::DiskLatencyMs => {
            let disks = disks(array, groups);
            let parts = disks.iter().map(|disk| {
                let rate = disk.reads_per_second + disk.writes_per_second;
                (disk.average_disk_latency_ms.unwrap_or(0.0), rate)
            });
            weighted(parts)?
        }
        Measure::DiskQueueDepth => per_disk(array, groups, |disk| disk.average_disk_queue_depth)?,
        Measure::DiskIops => per_disk(array, groups, |disk| {
            disk.reads_per_second + disk.writes_per_second
        })?,
        Measure::DiskBusyPercent => 100.0 * per_disk(array, groups, |disk| disk.busy_fraction)?,
        Measure::ArrayDatabaseWriteMs => write_ms(array, |name| {
            result
                .databases
                .iter()
                .any(|database| database.path == name)
        })?,
        Measure::ArrayLogWriteMs => {
            let is_log = |name: &str| result.databases.iter().any(|one| one.log_path == name);
            write_ms(array, is_log)?
        }
        Measure::ArrayKbPerS => {
            let volumes = array.volumes.iter();
            let bytes = volumes.map(|one| one.read_bytes_per_second + one.written_bytes_per_second);
            bytes.sum::<f64>() / 1e3
        }
        Measure::ArrayRequestsPerS => {
            let volumes = array.volumes.iter();
            volumes
                .map(|volume| volume.reads_per_second + volume.writes_per_second)
                .sum()
        }
        Measure::ReadCacheHitPercent => {
            let hits: Vec<f64> = pools
                .filter_map(|pool| pool.read_cache_hit_fraction)
                .collect();
            100.0 * hits.iter().sum::<f64>() / positive(hits.len() as f64)?
        }
        Measure::TierPagesPercent => {
            let (mut fast, mut all) = (0, 0);
            for pool in pools {
                fast += pool.performance_pages;
                all += pool.performance_pages + pool.standard_pages + pool.archive_pages;
            }
            100.0 * fast as f64 / positive(all as f64)?
        }
        Measure::PromotedGb => pools.map(|pool| pool.promoted_bytes as f64).sum::<f64>() / 1e9,
        _ => return None,
    })
}

/// Every stream of all databases.
fn all(result: &RunResult) -> [&IoFigures; 7] {
    let totals = &result.totals;
    [
        &totals.reads,
        &totals.writes,
        &totals.maintenance_reads,
        &totals.log_writes,
        &totals.log_reads,
        &totals.header_writes,
        &totals.other_writes,
    ]
}

fn positive(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

fn greatest(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().reduce(f64::max)
}

fn weighted(parts: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (value, weight) in parts {
        sum += value * weight;
        weights += weight;
    }
    Some(sum / positive(weights)?)
}

/// Average latency over the requests of several streams.
fn mean_ms(streams: &[&IoFigures]) -> Option<f64> {
    weighted(streams.iter().filter_map(|stream| {
        let latency = stream.latency.as_ref()?;
        Some((latency.average_ms, stream.count as f64))
    }))
}

/// Mean over the volumes of databases and logs, one of each for each database, of the mean latency
/// of their reads.
fn volumes_read_ms(result: &RunResult) -> Option<f64> {
    let means = result.databases.iter().flat_map(|database| {
        let of_data = mean_ms(&[&database.figures.reads, &database.figures.maintenance_reads]);
        [of_data, mean_ms(&[&database.figures.log_reads])]
    });
    let (sum, volumes) = means.fold((0.0, 0), |(sum, volumes), mean| {
        (sum + mean.unwrap_or(0.0), volumes + 1)
    });
    Some(sum / positive(f64::from(volumes))?)
}

fn bytes_per_s(streams: &[&IoFigures]) -> f64 {
    streams.iter().map(|stream| stream.bytes_per_second()).sum()
}

fn per_s(streams: &[&IoFigures]) -> f64 {
    streams.iter().map(|stream| stream.per_second).sum()
}

/// Mean over the samples of the measured phase of the mean latency of their reads.
fn sampled_read_ms(run: &CaseResult) -> Option<f64> {
    weighted(run.samples.iter().filter_map(|sample| {
        let busy = sample.reads.iter().filter(|reads| reads.per_second > 0.0);
        let mean = weighted(busy.map(|reads| (reads.average_ms, reads.per_second)))?;
        Some((mean, sample.length_s))
    }))
}

fn disks<'a>(array: &'a ArrayResult, groups: &[String]) -> Vec<&'a ArrayDisk> {
    let disks = array.disks.iter();
    disks
        .filter(|disk| disk.online && (groups.is_empty() || groups.contains(&disk.group)))
        .collect()
}

fn per_disk(
    array: &ArrayResult,
    groups: &[String],
    value: impl Fn(&ArrayDisk) -> f64,
) -> Option<f64> {
    let disks = disks(array, groups);
    let sum: f64 = disks.iter().map(|disk| value(disk)).sum();
    Some(sum / positive(disks.len() as f64)?)
}

/// Average write latency of the volumes of these names.
fn write_ms(array: &ArrayResult, is_meant: impl Fn(&str) -> bool) -> Option<f64> {
    let volumes = array.volumes.iter().filter(|volume| is_meant(&volume.name));
    weighted(volumes.filter_map(|volume: &ArrayVolume| {
        Some((volume.average_write_ms?, volume.writes_per_second))
    }))
}

#[cfg(test)]
mod tests;
