//! A run as the report sees it: the result, its course over time, its latency distributions.

mod load;

use std::path::Path;

pub use load::{Distributions, load_distributions, percentiles, timeline};

use measure::result::RunResult;
use measure::run_directory::LoadError;
use measure::sample::{ArrayRow, RowScope, SampleRow};

/// One run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What the run is called in a comparison, such as the name of its directory.
    pub name: String,
    /// The result document.
    pub result: RunResult,
    /// The samples, in order of time; empty when they are missing.
    pub timeline: Vec<Moment>,
    /// Latency distributions of the measured phase; empty when they are missing.
    pub distributions: Vec<Distribution>,
}

/// One sample of all databases together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    /// End of the sample, in seconds since the start of the run.
    pub ends_s: f64,
    /// Length of the sample in seconds.
    pub length_s: f64,
    /// The phase it belongs to, such as `warm-up` or `measured`.
    pub phase: String,
    /// Database reads on behalf of the workload.
    pub reads: Flow,
    /// Database writes.
    pub writes: Flow,
    /// Log writes.
    pub log_writes: Flow,
    /// Reads of the background database maintenance.
    pub maintenance_reads: Flow,
    /// Operations of the workload per second.
    pub operations_per_second: f64,
    /// 99th percentile of the time from begin to end of an operation, `NaN` when unknown.
    pub operation_p99_ms: f64,
    /// The same from the moment the operation was due, `NaN` when no rate was held.
    pub operation_from_due_p99_ms: f64,
    /// Page-fault stalls per second.
    pub stalls_per_second: f64,
    /// Processor time of the host in percent, `NaN` when unknown.
    pub processor_percent: f64,
    /// The block devices under the targets.
    pub devices: Vec<DeviceMoment>,
    /// Average latencies of each database.
    pub databases: Vec<DatabaseMoment>,
    /// The parts of a modelled array; none on real storage.
    pub array: Vec<PartMoment>,
}

/// A part of a modelled array during one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct PartMoment {
    /// Whether it is a controller, a volume, a pool, a disk group or a disk.
    pub scope: RowScope,
    /// Its name or number.
    pub name: String,
    /// What was counted.
    pub figures: ArrayRow,
}

/// Requests of one kind during one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Requests per second.
    pub per_second: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Average latency in milliseconds, `NaN` without requests.
    pub average_ms: f64,
    /// 99th percentile of the latency in milliseconds, `NaN` when unknown.
    pub p99_ms: f64,
}

impl Default for Flow {
    fn default() -> Self {
        let (per_second, bytes_per_second) = (0.0, 0.0);
        Self {
            per_second,
            bytes_per_second,
            average_ms: f64::NAN,
            p99_ms: f64::NAN,
        }
    }
}

/// One block device during one sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceMoment {
    /// Kernel name.
    pub name: String,
    /// Mean latency of its reads in milliseconds, `NaN` without reads.
    pub average_read_ms: f64,
    /// Mean latency of its writes in milliseconds, `NaN` without writes.
    pub average_write_ms: f64,
}

/// One database during one sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DatabaseMoment {
    /// Name of the database.
    pub name: String,
    /// Average database read latency in milliseconds, `NaN` without reads.
    pub average_read_ms: f64,
    /// Average log write latency in milliseconds, `NaN` without log writes.
    pub average_log_write_ms: f64,
}

/// The distribution of one latency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// What was measured, such as `database reads`.
    pub name: String,
    /// Percentile and latency in milliseconds, both ascending.
    pub points: Vec<(f64, f64)>,
}

impl Run {
    /// A run from its parts. Without distributions those few percentiles stand in that the result
    /// holds.
    #[must_use]
    pub fn new(
        name: &str,
        result: RunResult,
        rows: &[SampleRow],
        distributions: Vec<Distribution>,
    ) -> Self {
        let mut run = Self::from_result(name, result);
        if !distributions.is_empty() {
            run.distributions = distributions;
        }
        run.timeline = timeline(rows);
        run
    }

    /// A run from its directory, or from the path of the `result.json` in it. The run is called by
    /// the name of the directory.
    ///
    /// # Errors
    /// When there is no result, or a file is damaged or of another version.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        let (result, rows) = measure::run_directory::load(path)?;
        let distributions = load_distributions(path)?;
        let directory = if path.is_file() {
            path.parent().unwrap_or(path)
        } else {
            path
        };
        let whole = directory
            .canonicalize()
            .unwrap_or_else(|_| directory.to_path_buf());
        let name = whole
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok(Self::new(&name, result, &rows, distributions))
    }

    /// A run of which only the result is known. The distributions are then those few percentiles
    /// that the result holds.
    #[must_use]
    pub fn from_result(name: &str, result: RunResult) -> Self {
        let distributions = crate::table::causes(&result)
            .iter()
            .take(3)
            .filter_map(|(name, figures)| {
                let latency = figures.latency?;
                let points = vec![
                    (50.0, latency.p50_ms),
                    (90.0, latency.p90_ms),
                    (95.0, latency.p95_ms),
                    (99.0, latency.p99_ms),
                    (99.9, latency.p99_9_ms),
                ];
                Some(Distribution {
                    name: (*name).to_string(),
                    points,
                })
            })
            .collect();
        Self {
            name: name.to_string(),
            result,
            timeline: Vec::new(),
            distributions,
        }
    }
}
