//! Invented runs that look like real ones, for the sample reports and the tests.
#![allow(dead_code, reason = "each user of this file takes what it needs")]

mod samples;
mod surroundings;

use measure::display::Contribution;
use measure::histogram::LatencyHistogram;
use measure::metric::IoMetric;
use measure::metric::Stream;
use measure::result::{
    Check, CheckId, DatabaseFigures, DatabaseResult, IoFigures, LatencyFigures, RunResult,
    TargetKind, TargetPath, Verdict,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use report::{Distribution, Run};
use surroundings::{host, operations, phases, settings, steadiness, tuning};

/// What kind of run to invent.
#[derive(Clone, Debug)]
pub struct Story {
    pub name: &'static str,
    pub databases: usize,
    /// Samples of the measured phase, 15 s each.
    pub samples: usize,
    /// Average database read latency at the engine, in ms.
    pub read_ms: f64,
    /// Share of `read_ms` that the device takes.
    pub device_share: f64,
    /// Average log write latency, in ms.
    pub log_ms: f64,
    /// Database reads per second of one database.
    pub reads_per_second: f64,
    /// A database that is three times as slow as the others.
    pub slow_database: Option<usize>,
    /// A spike of this many ms in the middle.
    pub spike_ms: f64,
    pub processor_percent: f64,
    pub stalls_per_second: f64,
    pub target_iops: Option<f64>,
    pub tuned: bool,
    pub seed: u64,
}

impl Default for Story {
    fn default() -> Self {
        Self {
            name: "evaluation",
            databases: 4,
            samples: 480,
            read_ms: 11.8,
            device_share: 0.93,
            log_ms: 1.9,
            reads_per_second: 142.0,
            slow_database: None,
            spike_ms: 0.0,
            processor_percent: 21.0,
            stalls_per_second: 0.0,
            target_iops: Some(880.0),
            tuned: false,
            seed: 7,
        }
    }
}

/// A number between 0 and 1.
pub fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

impl Story {
    pub fn random(&self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.seed)
    }

    pub fn database_name(index: usize) -> String {
        format!("db{:02}", index + 1)
    }

    /// How slow a database is against the average one.
    pub fn slowness(&self, index: usize) -> f64 {
        let usual = 1.0 + 0.06 * ((index as f64) * 2.4).sin();
        if self.slow_database == Some(index) {
            usual * 3.0
        } else {
            usual
        }
    }

    pub fn seconds(&self) -> f64 {
        self.samples as f64 * 15.0
    }

    /// The whole run, judged.
    pub fn run(&self) -> Run {
        let mut result = self.result();
        result.checks = self.checks(&result);
        judge(&mut result);
        Run {
            name: self.name.to_string(),
            timeline: samples::timeline(self),
            distributions: self.distributions(),
            contribution: Contribution {
                has_jetstress_report: true,
                ..Contribution::default()
            },
            result,
        }
    }

    fn result(&self) -> RunResult {
        let mut result = RunResult::new();
        result.complete = true;
        result.workload.name = "exchange-2013".into();
        result.workload.description =
            "A mail server of 2013 with its databases, logs and background maintenance.".into();
        result.workload.settings = settings(self);
        result.seed = 4_711;
        result.started = "2026-03-01T12:00:00Z".into();
        result.duration_s = self.seconds();
        result.samples.count = self.samples as u64;
        result.samples.interval_s = 15.0;
        let place = |path: &str, device: &str| TargetPath {
            path: path.into(),
            kind: TargetKind::Directory,
            file_system: "xfs".into(),
            device: Some(device.into()),
            capacity_bytes: 4_000_787_030_016,
            free_bytes: 2_900_000_000_000,
            unflushed_by: None,
        };
        result.target.databases = vec![place("/mnt/mail", "sdb")];
        result.target.logs = vec![place("/mnt/log", "sdc")];
        result.databases = (0..self.databases)
            .map(|index| self.database(index))
            .collect();
        totals(&mut result);
        let achieved = result.totals.reads.per_second + result.totals.writes.per_second;
        result.throughput.achieved_iops = achieved;
        result.throughput.target_iops = self.target_iops;
        result.throughput.achieved_fraction = self.target_iops.map(|target| achieved / target);
        result.throughput.operations_per_second = achieved * 0.61;
        result.throughput.threads = Some(if self.tuned { 37 } else { 24 });
        result.operations = operations(self);
        result.steady_state = Some(steadiness(achieved));
        result.phases = phases(self);
        host(self, &mut result);
        if self.tuned {
            result.tuning = Some(tuning(self));
        }
        result
    }

    fn database(&self, index: usize) -> DatabaseResult {
        let slowness = self.slowness(index);
        let reads = requests(
            self,
            self.reads_per_second / slowness.sqrt(),
            34_120.0,
            self.read_ms * slowness,
            0.55,
        );
        let writes = requests(
            self,
            self.reads_per_second * 0.62 / slowness.sqrt(),
            39_800.0,
            self.read_ms * 0.4 * slowness,
            0.8,
        );
        let log_writes = requests(
            self,
            self.reads_per_second * 0.31,
            7_210.0,
            self.log_ms * slowness,
            0.5,
        );
        let maintenance = requests(self, 4.6, 262_144.0, self.read_ms * 1.3, 0.4);
        let name = Self::database_name(index);
        DatabaseResult {
            path: format!("/mnt/mail/{name}/{name}.edb"),
            log_path: format!("/mnt/log/{name}"),
            figures: DatabaseFigures {
                size_begin_bytes: 214_748_364_800,
                size_end_bytes: 215_100_686_336,
                reads,
                writes,
                log_writes,
                maintenance_reads: maintenance,
                page_fault_stalls_per_second: self.stalls_per_second / self.databases as f64,
                ..DatabaseFigures::default()
            },
            name,
        }
    }

    fn checks(&self, result: &RunResult) -> Vec<Check> {
        let mut checks = Vec::new();
        let levels: [(CheckId, Stream, IoMetric, f64, &str); 4] = [
            (
                CheckId::DatabaseReadAverage,
                Stream::DatabaseRead,
                IoMetric::Average,
                20.0,
                "Sum of all database read latencies of the measured phase divided by their number, \
                 of each database. Allowed: 20 ms.",
            ),
            (
                CheckId::DatabaseReadMax,
                Stream::DatabaseRead,
                IoMetric::MaxSample,
                100.0,
                "No sample (15 s) has an average database read latency above 100 ms.",
            ),
            (
                CheckId::LogWriteAverage,
                Stream::LogWrite,
                IoMetric::Average,
                10.0,
                "Sum of all log write latencies of the measured phase divided by their number, of \
                 each database. Allowed: 10 ms.",
            ),
            (
                CheckId::LogWriteMax,
                Stream::LogWrite,
                IoMetric::MaxSample,
                100.0,
                "No sample (15 s) has an average log write latency above 100 ms.",
            ),
        ];
        for (id, stream, metric, limit, rule) in levels {
            for database in &result.databases {
                let value = database.figures.stream(stream).get(metric);
                checks.push(Check::of(id, &database.name, limit, value, rule.into()));
            }
        }
        let stalls = Some(result.totals.page_fault_stalls_per_second);
        checks.push(Check::of_run(
            CheckId::PageFaultStalls,
            1.0,
            stalls,
            "Page faults that had to wait for a free page of the cache. Allowed: 1 per second."
                .into(),
        ));
        if let Some(target) = self.target_iops {
            let achieved = Some(result.throughput.achieved_iops);
            let rule =
                "Database reads plus database writes per second. Required: 95 % of the target.";
            let id = CheckId::AchievedIops;
            checks.push(Check::of_run(id, target * 0.95, achieved, rule.into()));
        }
        checks
    }

    fn distributions(&self) -> Vec<Distribution> {
        let mut random = self.random();
        let kinds = [
            (Stream::DatabaseRead, self.read_ms, 0.55),
            (Stream::DatabaseWrite, self.read_ms * 0.4, 0.8),
            (Stream::LogWrite, self.log_ms, 0.5),
        ];
        kinds
            .into_iter()
            .map(|(stream, average_ms, spread)| {
                let mut histogram = LatencyHistogram::new();
                for _ in 0..60_000 {
                    histogram.record((latency_ms(&mut random, average_ms, spread) * 1e6) as u64);
                }
                let points = report::percentiles(&histogram);
                Distribution { stream, points }
            })
            .collect()
    }
}

/// A latency whose logarithm is spread like the sum of four uniform draws, with a heavy tail now and then.
pub fn latency_ms(random: &mut Xoshiro256PlusPlus, average_ms: f64, spread: f64) -> f64 {
    let bell = (0..4).map(|_| uniform(random)).sum::<f64>() - 2.0;
    let tail = if uniform(random) < 0.004 {
        1.0 + 9.0 * uniform(random)
    } else {
        1.0
    };
    average_ms * (bell * spread * 1.7).exp() / (1.0 + spread * spread * 0.45) * tail
}

fn requests(
    story: &Story,
    per_second: f64,
    average_bytes: f64,
    average_ms: f64,
    spread: f64,
) -> IoFigures {
    let count = (per_second * story.seconds()) as u64;
    let wide = |times: f64| average_ms * (times * spread).exp();
    IoFigures {
        count,
        per_second,
        bytes: (count as f64 * average_bytes) as u64,
        average_bytes,
        errors: 0,
        latency: Some(LatencyFigures {
            average_ms,
            average_half_width_ms: Some(average_ms * 0.01),
            p50_ms: average_ms * 0.86,
            p90_ms: wide(1.1),
            p95_ms: wide(1.5),
            p99_ms: wide(2.3),
            p99_9_ms: wide(3.4),
            max_ms: wide(4.6),
            max_sample_average_ms: (average_ms * 1.45).max(story.spike_ms),
            saturated: 0,
        }),
    }
}

fn totals(result: &mut RunResult) {
    let sum = |stream| -> IoFigures {
        let databases = result.databases.iter();
        let all: Vec<&IoFigures> = databases.map(|one| one.figures.stream(stream)).collect();
        let Some(first) = all.first() else {
            return IoFigures::default();
        };
        let per_second: f64 = all.iter().map(|figures| figures.per_second).sum();
        let weighted = |value: &dyn Fn(&IoFigures) -> f64| {
            all.iter()
                .map(|figures| value(figures) * figures.per_second)
                .sum::<f64>()
                / per_second
        };
        let average_ms = weighted(&|figures| figures.latency.map_or(0.0, |l| l.average_ms));
        IoFigures {
            count: all.iter().map(|figures| figures.count).sum(),
            bytes: all.iter().map(|figures| figures.bytes).sum(),
            per_second,
            average_bytes: weighted(&|figures| figures.average_bytes),
            errors: 0,
            latency: first.latency.map(|latency| LatencyFigures {
                average_ms,
                ..latency
            }),
        }
    };
    let (reads, writes) = (sum(Stream::DatabaseRead), sum(Stream::DatabaseWrite));
    let (log_writes, maintenance) = (sum(Stream::LogWrite), sum(Stream::MaintenanceRead));
    let totals = &mut result.totals;
    (totals.reads, totals.writes) = (reads, writes);
    (totals.log_writes, totals.maintenance_reads) = (log_writes, maintenance);
    totals.size_begin_bytes = result
        .databases
        .iter()
        .map(|one| one.figures.size_begin_bytes)
        .sum();
    totals.size_end_bytes = result
        .databases
        .iter()
        .map(|one| one.figures.size_end_bytes)
        .sum();
    totals.page_fault_stalls_per_second = result
        .databases
        .iter()
        .map(|one| one.figures.page_fault_stalls_per_second)
        .sum();
}

fn judge(result: &mut RunResult) {
    let failed = result.failed_checks().count();
    let first = result.failed_checks().next().cloned();
    match first {
        None => {
            let all = result.checks.len();
            result.set_verdict(Verdict::Pass, format!("All {all} service levels were met."));
        }
        Some(first) => {
            let reason = format!(
                "{failed} of {} service levels were not met; the first is the {} of {}.",
                result.checks.len(),
                first.name,
                first.place
            );
            result.set_verdict(Verdict::Fail, reason);
        }
    }
}
