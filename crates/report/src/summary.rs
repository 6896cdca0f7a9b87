//! One row for each run, for spreadsheets and for collecting many runs in one file.
//!
//! The last part of a column's name is its unit, as in `result.json`. An empty field means "not
//! measured". Columns are only ever added, at the end.

use measure::result::{IoFigures, RunResult};

use crate::run::Run;
use crate::words::target_text;

/// The head row and one row for each run, lines ended by `\n`.
#[must_use]
pub fn csv_summary(runs: &[Run]) -> String {
    let heads = fields(&Run::default())
        .into_iter()
        .map(|(head, _)| head)
        .collect();
    let rows = runs
        .iter()
        .map(|run| fields(run).into_iter().map(|(_, value)| value).collect());
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in std::iter::once::<Vec<String>>(heads).chain(rows) {
        let written = writer.write_record(row);
        assert!(
            written.is_ok(),
            "memory takes every row, and all rows are equally long"
        );
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Names and values of one row.
fn fields(run: &Run) -> Vec<(String, String)> {
    let result = &run.result;
    let throughput = &result.throughput;
    let whole = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    let mut fields = vec![
        named("run", run.name.clone()),
        named("verdict", result.verdict.to_string()),
        named("workload", result.workload.name.clone()),
        named("storage", target_text(result)),
        named("host", result.host.name.clone()),
        named("started", result.started.clone()),
        named("duration_s", number(Some(result.duration_s))),
        named("seed", result.seed.to_string()),
        named("version", result.version.clone()),
        named("databases", result.databases.len().to_string()),
        named(
            "size_begin_bytes",
            result.totals.size_begin_bytes.to_string(),
        ),
        named("size_end_bytes", result.totals.size_end_bytes.to_string()),
        named("threads", whole(throughput.threads)),
        named("rate_iops", number(throughput.rate_iops)),
        named("target_iops", number(throughput.target_iops)),
        named("achieved_iops", number(Some(throughput.achieved_iops))),
        named(
            "operations_per_second",
            number(Some(throughput.operations_per_second)),
        ),
        named("checks", result.checks.len().to_string()),
        named("checks_failed", result.failed_checks().count().to_string()),
    ];
    let totals = &result.totals;
    for (name, figures) in [
        ("database_read", &totals.reads),
        ("database_write", &totals.writes),
        ("log_write", &totals.log_writes),
        ("maintenance_read", &totals.maintenance_reads),
    ] {
        add_requests(&mut fields, name, figures);
    }
    let stalls = Some(totals.page_fault_stalls_per_second);
    fields.push(named("page_fault_stalls_per_second", number(stalls)));
    let read = worst(result, |database| &database.reads);
    fields.push(named("slowest_database_read_average_ms", number(read)));
    let log = worst(result, |database| &database.log_writes);
    fields.push(named("slowest_log_write_average_ms", number(log)));
    fields
}

fn add_requests(fields: &mut Vec<(String, String)>, name: &str, figures: &IoFigures) {
    let latency = figures.latency;
    let mut add = |what: &str, value: Option<f64>| {
        fields.push((format!("{name}_{what}"), number(value)));
    };
    add("per_second", Some(figures.per_second));
    add("average_bytes", Some(figures.average_bytes));
    add("average_ms", latency.map(|latency| latency.average_ms));
    add("p50_ms", latency.map(|latency| latency.p50_ms));
    add("p95_ms", latency.map(|latency| latency.p95_ms));
    add("p99_ms", latency.map(|latency| latency.p99_ms));
    add("max_ms", latency.map(|latency| latency.max_ms));
}

type Pick = fn(&measure::result::DatabaseResult) -> &IoFigures;

/// The highest average among the databases.
fn worst(result: &RunResult, pick: Pick) -> Option<f64> {
    let averages = result
        .databases
        .iter()
        .filter_map(|database| pick(database).latency);
    averages.map(|latency| latency.average_ms).reduce(f64::max)
}

fn named(name: &str, value: String) -> (String, String) {
    (name.to_string(), value)
}

/// Up to six digits after the point; empty when not measured.
fn number(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return String::new();
    };
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_and_rows_fit_the_heads() {
        let mut run = Run {
            name: "a \"b\", c".into(),
            ..Run::default()
        };
        run.result.throughput.achieved_iops = 812.5;
        run.result.throughput.target_iops = Some(f64::NAN);
        let text = csv_summary(&[run]);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heads = reader.headers().expect("heads").clone();
        let row = reader
            .records()
            .next()
            .expect("a row")
            .expect("a row as long as the heads");
        let of = |head: &str| {
            let place = heads
                .iter()
                .position(|known| known == head)
                .expect("a known head");
            row[place].to_string()
        };
        assert_eq!(of("run"), "a \"b\", c");
        assert_eq!(of("verdict"), "inconclusive");
        assert_eq!(of("achieved_iops"), "812.5");
        assert_eq!(of("target_iops"), "");
    }
}
