//! Names, labels and units of what is exported.

use std::fmt::Write;

use measure::metric::{IoMetric, Merge, Metric, RowScope, Unit};

/// What all names begin with.
const PREFIX: &str = "proofload";

/// Whether a figure is added up or is a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only ever rises, until the run ends.
    Counter,
    /// The value that was measured last.
    Gauge,
}

impl Kind {
    /// The word of the text format.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

/// How a value of a sample becomes one of the exported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// It is set, times a factor.
    Set(f64),
    /// It is added, times a factor.
    Add(f64),
    /// A rate: it is added, times the length of the sample and a factor.
    AddOverTime(f64),
    /// A mean over requests: it is added, times their number (from this rate) and a factor.
    AddOverRequests(Metric, f64),
}

/// An exported figure of the registry.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// The metric that it comes from.
    pub metric: Metric,
    /// Name of the metric for Prometheus.
    pub name: String,
    /// Whether it only grows (counter) or not (gauge).
    pub kind: Kind,
    /// How its value is made.
    pub rule: Rule,
    /// The rows that it is taken from.
    pub scope: RowScope,
    /// What it means, as a sentence.
    pub help: String,
}

/// Figures that do not come from samples: name, kind, labels, meaning.
pub const OWN: [(&str, Kind, &str, &str); 13] = [
    (
        "proofload_build_info",
        Kind::Gauge,
        "version",
        "Always 1; the version of the program.",
    ),
    (
        "proofload_run_info",
        Kind::Gauge,
        "workload, storage",
        "Always 1; what runs, and on what.",
    ),
    (
        "proofload_start_time_seconds",
        Kind::Gauge,
        "",
        "When the run began, Unix time.",
    ),
    (
        "proofload_phase",
        Kind::Gauge,
        "phase",
        "1 for the present phase, as in `result.json`; phases before it are 0.",
    ),
    (
        "proofload_phase_elapsed_seconds",
        Kind::Gauge,
        "",
        "Time since the phase began, while the load runs.",
    ),
    (
        "proofload_phase_expected_seconds",
        Kind::Gauge,
        "",
        "Length of the phase, where it is known beforehand.",
    ),
    (
        "proofload_progress_ratio",
        Kind::Gauge,
        "",
        "How much of the bytes the phase has handled, while databases are built or verified.",
    ),
    (
        "proofload_live_transactional_io_per_second",
        Kind::Gauge,
        "",
        "Database reads and writes per second of the last second.",
    ),
    (
        "proofload_target_transactional_io_per_second",
        Kind::Gauge,
        "",
        "The rate that the run has to reach.",
    ),
    (
        "proofload_clients",
        Kind::Gauge,
        "",
        "Sessions or users at work.",
    ),
    (
        "proofload_failing_service_levels",
        Kind::Gauge,
        "",
        "Service levels that would fail if the run ended now.",
    ),
    (
        "proofload_downtime_seconds",
        Kind::Gauge,
        "",
        "For how long the database has been down; 0 while it serves.",
    ),
    (
        "proofload_hung_requests",
        Kind::Gauge,
        "",
        "Requests that the storage has not answered for long.",
    ),
];

/// Every exported figure of the registry, in its order.
#[must_use]
pub fn exported() -> Vec<Exported> {
    Metric::all().into_iter().filter_map(of).collect()
}

/// The label that names a row of this scope; empty of rows of which there is one.
#[must_use]
pub fn label(scope: RowScope) -> &'static str {
    match scope {
        RowScope::Database => "database",
        RowScope::Operation => "operation",
        RowScope::Device => "device",
        _ => "",
    }
}

/// How a metric is exported; `None` of parts of modelled arrays, which no run on real storage has.
fn of(metric: Metric) -> Option<Exported> {
    let scope = scope(metric)?;
    let (stem, kind, rule) = derive(metric)?;
    let io = match metric {
        Metric::Io(..) => "io_",
        _ => "",
    };
    let help = match rule {
        Rule::AddOverTime(_) | Rule::Add(_) => format!("{} Added up.", metric.meaning()),
        Rule::AddOverRequests(..) => {
            format!("{} Added up over all requests.", metric.meaning())
        }
        Rule::Set(_) => format!("{} Of the last sample.", metric.meaning()),
    };
    Some(Exported {
        metric,
        name: format!("{PREFIX}_{io}{stem}"),
        kind,
        rule,
        scope,
        help,
    })
}

/// The finest rows that have a metric: their sum is the total.
fn scope(metric: Metric) -> Option<RowScope> {
    let wanted = [
        RowScope::Operation,
        RowScope::Database,
        RowScope::Device,
        RowScope::Total,
    ];
    let mut wanted = wanted.into_iter();
    wanted.find(|scope| metric.scopes().contains(scope))
}

/// The name without prefix, the kind and the rule, by unit and merge rule of the metric.
fn derive(metric: Metric) -> Option<(String, Kind, Rule)> {
    if metric == Metric::Iops {
        let name = "transactional_io_total".to_owned();
        return Some((name, Kind::Counter, Rule::AddOverTime(1.0)));
    }
    let id = match metric {
        Metric::Io(_, IoMetric::Rate) => "requests_per_second".to_owned(),
        Metric::Io(_, of) if of.unit() == Unit::Milliseconds && of.merge() != Merge::ByRequests => {
            format!("latency_{}", of.id())
        }
        Metric::Io(_, of) => of.id().to_owned(),
        other => other.id().into_owned(),
    };
    let stem = |end: &str| id.strip_suffix(end).unwrap_or(&id).to_owned();
    let without_average = |stem: String| match stem.strip_suffix("average") {
        Some(start) => start.to_owned(),
        None => stem.replace("average_", "") + "_",
    };
    if let Some(rate) = metric.weight() {
        let (end, unit, factor) = match metric.unit() {
            Unit::Milliseconds => ("_ms", "seconds", 1e-3),
            Unit::Bytes => ("_bytes", "bytes", 1.0),
            _ => return None,
        };
        let name = format!("{}{unit}_total", without_average(stem(end)));
        return Some((name, Kind::Counter, Rule::AddOverRequests(rate, factor)));
    }
    let counter = |name: String, rule| Some((name + "_total", Kind::Counter, rule));
    let gauge = |name: String, factor| Some((name, Kind::Gauge, Rule::Set(factor)));
    match (metric.unit(), metric.merge()) {
        (
            Unit::Iops
            | Unit::OperationsPerSecond
            | Unit::StallsPerSecond
            | Unit::TransactionsPerSecond
            | Unit::BytesPerSecond,
            Merge::OverTime,
        ) => counter(stem("_per_second"), Rule::AddOverTime(1.0)),
        (Unit::PercentOfCore, Merge::OverTime) => {
            counter(stem("_percent") + "_seconds", Rule::AddOverTime(1e-2))
        }
        (_, Merge::Sum) => counter(id, Rule::Add(1.0)),
        (Unit::Milliseconds, _) => gauge(stem("_ms") + "_seconds", 1e-3),
        (Unit::Percent, _) => gauge(stem("_percent") + "_ratio", 1e-2),
        (Unit::Fraction, _) => gauge(stem("_fraction") + "_ratio", 1.0),
        _ => gauge(id, 1.0),
    }
}

/// The table of all names for the documentation.
#[must_use]
pub fn documentation() -> String {
    let mut text = String::from("| name | type | labels | meaning |\n|---|---|---|---|\n");
    let mut row = |name: &str, kind: Kind, labels: &str, help: &str| {
        let _ = writeln!(text, "| `{name}` | {} | {labels} | {help} |", kind.word());
    };
    for (name, kind, labels, help) in OWN {
        row(name, kind, labels, help);
    }
    let mut known: Vec<String> = Vec::new();
    for one in exported() {
        if !known.contains(&one.name) {
            let stream = match one.metric {
                Metric::Io(..) => ", stream",
                _ => "",
            };
            let labels = format!("{}{stream}", label(one.scope));
            row(&one.name, one.kind, &labels, &one.help);
            known.push(one.name);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_conventions() {
        let names: Vec<Exported> = exported();
        assert!(names.len() > 60, "{}", names.len());
        for one in &names {
            let name = one.name.as_str();
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(name.chars().all(is_plain) && !name.contains("__"), "{name}");
            assert_eq!(
                name.ends_with("_total"),
                one.kind == Kind::Counter,
                "{name}"
            );
            for unit in [
                "_ms",
                "_percent",
                "_fraction",
                "_per_second",
                "_milliseconds",
            ] {
                assert!(!name.contains(unit), "{name} is not in a base unit");
            }
            let base = match one.metric.unit() {
                Unit::Milliseconds => "_seconds",
                Unit::Bytes | Unit::BytesPerSecond => "_bytes",
                Unit::Percent | Unit::Fraction => "_ratio",
                _ => "",
            };
            assert!(name.trim_end_matches("_total").ends_with(base), "{name}");
        }
    }

    #[test]
    fn a_name_has_one_meaning() {
        let all = exported();
        for (index, one) in all.iter().enumerate() {
            for other in &all[..index] {
                let same = one.name == other.name;
                let of_streams = matches!(
                    (one.metric, other.metric),
                    (Metric::Io(_, a), Metric::Io(_, b)) if a == b
                );
                assert_eq!(same, of_streams, "{} {}", one.name, other.name);
            }
            assert!(OWN.iter().all(|own| own.0 != one.name), "{}", one.name);
        }
    }

    #[test]
    fn each_kind_of_figure_has_its_name_and_rule() {
        let find = |metric| {
            let all = exported().into_iter();
            let mut found = all.filter(|one| one.metric == metric);
            let one = found.next().unwrap();
            (one.name, one.rule)
        };
        let reads = |metric| Metric::Io(measure::metric::Stream::DatabaseRead, metric);
        let rate = reads(IoMetric::Rate);
        for (metric, name, rule) in [
            (rate, "io_requests_total", Rule::AddOverTime(1.0)),
            (
                reads(IoMetric::Average),
                "io_seconds_total",
                Rule::AddOverRequests(rate, 1e-3),
            ),
            (
                reads(IoMetric::AverageBytes),
                "io_bytes_total",
                Rule::AddOverRequests(rate, 1.0),
            ),
            (
                reads(IoMetric::P99),
                "io_latency_p99_seconds",
                Rule::Set(1e-3),
            ),
            (reads(IoMetric::Errors), "io_errors_total", Rule::Add(1.0)),
            (
                Metric::DeviceReadAverage,
                "device_read_seconds_total",
                Rule::AddOverRequests(Metric::DeviceReads, 1e-3),
            ),
            (
                Metric::DeviceReadBytes,
                "device_read_bytes_total",
                Rule::AddOverTime(1.0),
            ),
            (
                Metric::ProcessCpu,
                "process_cpu_seconds_total",
                Rule::AddOverTime(1e-2),
            ),
            (Metric::CpuBusy, "cpu_busy_ratio", Rule::Set(1e-2)),
            (Metric::Size, "size_bytes", Rule::Set(1.0)),
            (
                Metric::OperationAverage,
                "operation_seconds_total",
                Rule::AddOverRequests(Metric::OperationRate, 1e-3),
            ),
            (
                Metric::OperationRate,
                "operations_total",
                Rule::AddOverTime(1.0),
            ),
        ] {
            assert_eq!(find(metric), (format!("{PREFIX}_{name}"), rule));
        }
    }
}
