//! `grid.json`: several predictions side by side, and what was looked for among them.
//!
//! Every field is described in `docs/results.md`; a test holds the two together. The rules are
//! those of [`crate::result`]: units at the end of names, `null` for "not measured", fields only
//! ever added within one version of the schema.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metric::{IoMetric, Stream};
use crate::result::{CheckId, IoFigures, RunResult, Verdict};

/// The schema that this version writes.
pub const GRID_SCHEMA: &str = "proofload/grid/1";

/// The document in the directory of a sweep or a search.
pub const GRID_FILE: &str = "grid.json";

/// Many predictions: the whole of `grid.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GridResult {
    /// Always [`GRID_SCHEMA`] when written by this version.
    pub schema: String,
    /// Version of the program that wrote the document.
    pub version: String,
    /// Whether every point that was asked for has ended.
    pub complete: bool,
    /// What a search looks for, `max-iops` or `min-flash`; empty for a sweep.
    pub find: String,
    /// Exit status of the program.
    pub exit_status: u8,
    /// The answer in one sentence.
    pub summary: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the array.
    pub array: String,
    /// When the first point started, RFC 3339 in UTC.
    pub started: String,
    /// Time that passed while computing, all points together.
    pub wall_seconds: f64,
    /// What was varied, in the order given; the last varies fastest.
    pub axes: Vec<GridAxis>,
    /// Every prediction that was made.
    pub points: Vec<GridPoint>,
    /// What was looked for and found; empty when nothing was looked for.
    pub answers: Vec<GridAnswer>,
}

/// A setting that was varied.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GridAxis {
    /// The setting, as it was given.
    pub key: String,
    /// Its values, in the order given.
    pub values: Vec<String>,
}

/// A name for a setting among several that were varied: the last part of its path, or the whole path
/// where another one ends alike.
pub fn short_key<'a>(key: &'a str, all: impl Iterator<Item = &'a str>) -> &'a str {
    let last_of = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
    let last = last_of(key);
    match all.filter(|other| last_of(other) == last).count() {
        0 | 1 => last,
        _ => key,
    }
}

impl GridAxis {
    /// [`short_key`] among all axes of a grid.
    pub fn short_key<'a>(&'a self, all: &'a [Self]) -> &'a str {
        short_key(&self.key, all.iter().map(|axis| axis.key.as_str()))
    }

    /// The values as numbers; `None` when any of them is something else.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let numbers = self.values.iter().map(|value| value.parse().ok());
        numbers.collect()
    }
}

/// One prediction of a grid.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GridPoint {
    /// What the point is called: its values with their settings.
    pub name: String,
    /// The value of each setting that was varied.
    pub values: BTreeMap<String, String>,
    /// The verdict; null when the point was not computed.
    pub verdict: Option<Verdict>,
    /// Why the verdict is what it is, as a sentence; empty without a verdict.
    pub verdict_reason: String,
    /// What a reader of the figures must know, as in the result.
    pub warnings: Vec<String>,
    /// Directory of the results, below that of the grid.
    pub directory: String,
    /// Sessions that drove the load.
    pub threads: Option<u64>,
    /// Database reads plus writes per second.
    pub achieved_iops: Option<f64>,
    /// Half-width of its 95 % confidence interval.
    pub achieved_half_width_iops: Option<f64>,
    /// What was wanted of `achieved_iops`.
    pub target_iops: Option<f64>,
    /// Mean database read latency.
    pub database_read_ms: Option<f64>,
    /// Half-width of its 95 % confidence interval.
    pub database_read_half_width_ms: Option<f64>,
    /// On a calibrated array: 5 % of the values of the mean database read latency are lower; null otherwise.
    pub database_read_low_ms: Option<f64>,
    /// On a calibrated array: 5 % of the values of the mean database read latency are higher; null otherwise.
    pub database_read_high_ms: Option<f64>,
    /// 99th percentile of the database read latency.
    pub database_read_p99_ms: Option<f64>,
    /// The limit of the mean database read latency.
    pub database_read_limit_ms: Option<f64>,
    /// Mean database write latency.
    pub database_write_ms: Option<f64>,
    /// Average log write latency.
    pub log_write_ms: Option<f64>,
    /// Half-width of its 95 % confidence interval.
    pub log_write_half_width_ms: Option<f64>,
    /// Share of the time that the busiest disk was busy.
    pub busiest_disk_fraction: Option<f64>,
    /// Share of the reads that reached the pools which the SSD read caches served.
    pub read_cache_hit_fraction: Option<f64>,
    /// Share of the pages that lay on performance tiers at the end.
    pub performance_tier_fraction: Option<f64>,
    /// Flash in the array.
    pub flash_bytes: u64,
    /// Time that passed on the simulated clock.
    pub simulated_seconds: Option<f64>,
    /// Time that passed while computing.
    pub wall_seconds: Option<f64>,
}

/// What was looked for and found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GridAnswer {
    /// What was looked for: `max-iops` or `min-flash`.
    pub find: String,
    /// The other settings that it holds for; empty when nothing else was varied.
    pub of: BTreeMap<String, String>,
    /// The setting that was searched over.
    pub key: String,
    /// Name of the point that is the answer; null when none passes.
    pub point: Option<String>,
    /// Name of the next point, which does not pass any more; null when there is none.
    pub next: Option<String>,
    /// Name of the point that the answer depends on and that could not be judged; null when the answer
    /// is certain.
    pub unjudged: Option<String>,
    /// The answer in words, with the reason why the next point does not pass.
    pub sentence: String,
}

impl GridPoint {
    /// Takes over the figures of a prediction.
    pub fn fill(&mut self, result: &RunResult) {
        let (totals, throughput) = (&result.totals, &result.throughput);
        let mean = |figures: &IoFigures| figures.latency.map(|latency| latency.average_ms);
        let half = |figures: &IoFigures| figures.latency.and_then(|l| l.average_half_width_ms);
        self.verdict = Some(result.verdict);
        self.verdict_reason.clone_from(&result.verdict_reason);
        self.warnings.clone_from(&result.warnings);
        self.threads = throughput.threads;
        if result.duration_s > 0.0 {
            self.achieved_iops = Some(throughput.achieved_iops);
        }
        self.achieved_half_width_iops = throughput.achieved_half_width_iops;
        self.target_iops = throughput.target_iops;
        self.database_read_ms = mean(&totals.reads);
        self.database_read_half_width_ms = half(&totals.reads);
        let bar = result
            .calibration
            .as_ref()
            .and_then(|calibration| calibration.of_figure(Stream::DatabaseRead, IoMetric::Average));
        self.database_read_low_ms = bar.map(|bar| bar.low);
        self.database_read_high_ms = bar.map(|bar| bar.high);
        self.database_read_p99_ms = totals.reads.latency.map(|latency| latency.p99_ms);
        self.database_read_limit_ms = read_limit_ms(result);
        self.database_write_ms = mean(&totals.writes);
        self.log_write_ms = mean(&totals.log_writes);
        self.log_write_half_width_ms = half(&totals.log_writes);
        self.simulated_seconds = result.simulated_seconds;
        self.wall_seconds = result.wall_seconds;
        if let Some(array) = &result.array {
            self.busiest_disk_fraction = array.busiest_disk_fraction();
            self.read_cache_hit_fraction = array.read_cache_hit_fraction();
            self.performance_tier_fraction = array.performance_tier_fraction();
        }
    }
}

fn read_limit_ms(result: &RunResult) -> Option<f64> {
    let average = CheckId::DatabaseReadAverage;
    let check = result.checks.iter().find(|check| check.id == average);
    check.map(|check| check.limit)
}
