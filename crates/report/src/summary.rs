//! One row for each run, for spreadsheets and for collecting many runs in one file.
//!
//! The last part of a column's name is its unit, as in `result.json`. An empty field means "not
//! measured". Columns are only ever added, at the end.

use measure::metric::Stream;
use measure::metric::{IoMetric, Metric};
use measure::result::{BackupResult, RecoveryResult};

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
    written(std::iter::once(heads).chain(rows))
}

/// Rows of equal length as CSV, lines ended by `\n`.
pub(crate) fn written(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
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
    for stream in [
        Stream::DatabaseRead,
        Stream::DatabaseWrite,
        Stream::LogWrite,
        Stream::MaintenanceRead,
    ] {
        for metric in STREAM_COLUMNS {
            let value = totals.stream(stream).get(metric);
            fields.push((Metric::Io(stream, metric).id().into_owned(), number(value)));
        }
    }
    let stalls = Some(totals.page_fault_stalls_per_second);
    fields.push(named("page_fault_stalls_per_second", number(stalls)));
    let worst = |stream| number(result.worst_average_ms(stream));
    let read = worst(Stream::DatabaseRead);
    fields.push(named("worst_database_read_average_ms", read));
    let log = worst(Stream::LogWrite);
    fields.push(named("worst_log_write_average_ms", log));
    let (backup, recovery) = (result.backup.as_ref(), result.recovery.as_ref());
    let rate = backup.and_then(BackupResult::bytes_per_second);
    fields.push(named("backup_bytes_per_second", number(rate)));
    let time = recovery.and_then(RecoveryResult::s_per_log_file);
    fields.push(named("recovery_s_per_log_file", number(time)));
    let rate = recovery.and_then(RecoveryResult::bytes_per_second);
    fields.push(named("recovery_bytes_per_second", number(rate)));
    fields
}

/// The columns of each stream.
const STREAM_COLUMNS: [IoMetric; 7] = [
    IoMetric::Rate,
    IoMetric::AverageBytes,
    IoMetric::Average,
    IoMetric::P50,
    IoMetric::P95,
    IoMetric::P99,
    IoMetric::Max,
];

fn named(name: &str, value: String) -> (String, String) {
    (name.to_string(), value)
}

/// Up to six digits after the point; empty when not measured.
pub(crate) fn number(value: Option<f64>) -> String {
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
        assert_eq!(of("database_read_p99_ms"), "");
    }

    #[test]
    fn measured_columns_hold_the_figures() {
        let mut run = Run::default();
        let figures = &mut run.result.totals.log_writes;
        (figures.count, figures.per_second, figures.average_bytes) = (10, 0.5, 4096.0);
        figures.latency = Some(measure::result::LatencyFigures {
            average_ms: 1.25,
            p50_ms: 1.0,
            p95_ms: 2.0,
            p99_ms: 3.0,
            max_ms: 4.0,
            ..Default::default()
        });
        run.result.databases.push(measure::result::DatabaseResult {
            figures: run.result.totals.clone(),
            ..Default::default()
        });
        run.result.recovery = Some(measure::result::RecoveryResult {
            duration_s: 4.0,
            databases: vec![measure::result::RecoveredDatabase {
                log_files: 8,
                bytes: 8_000,
                duration_s: 4.0,
                ..Default::default()
            }],
            ..Default::default()
        });
        let text = csv_summary(&[run]);
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let (heads, row) = (lines.next().expect("heads"), lines.next().expect("a row"));
        let of = |head: &str| {
            let place = heads.iter().position(|known| *known == head);
            row[place.expect("a known head")]
        };
        for (head, value) in [
            ("log_write_per_second", "0.5"),
            ("log_write_average_bytes", "4096"),
            ("log_write_average_ms", "1.25"),
            ("log_write_p50_ms", "1"),
            ("log_write_p95_ms", "2"),
            ("log_write_p99_ms", "3"),
            ("log_write_max_ms", "4"),
            ("worst_log_write_average_ms", "1.25"),
            ("worst_database_read_average_ms", ""),
            ("backup_bytes_per_second", ""),
            ("recovery_s_per_log_file", "0.5"),
            ("recovery_bytes_per_second", "2000"),
        ] {
            assert_eq!(of(head), value, "{head}");
        }
    }
}
