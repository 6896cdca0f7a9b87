//! A run on a real database: transactions, wait events, server counters, consistency checks.

use measure::metric::{IoMetric, Unit};
use measure::result::{RunResult, ServerResult, TransactionCounts};

use super::{Cell, Column, Table};
use crate::number::{bytes, count, duration, figure, latency, percent, quantity};
use crate::tone::Tone;

/// The notice of every result of this workload.
const NOT_COMPARABLE: &str = "This workload is derived in part from the TPC-E benchmark \
specification and is not comparable to published TPC-E results, as it does not comply with that \
specification. TPC and TPC-E are trademarks of the TPC.";

/// The notice that belongs to every result of a brokerage, on a real database or predicted; `None`
/// for other workloads.
#[must_use]
pub fn not_comparable(result: &RunResult) -> Option<&'static str> {
    let mut operations = result.operations.iter();
    let is_brokerage =
        result.server.is_some() || operations.any(|operation| operation.name == "trade-result");
    is_brokerage.then_some(NOT_COMPARABLE)
}

/// Transactions that are not of the mix have no share in it.
const MIX: usize = 10;

/// How each kind of transaction did, with its share of the mix; empty for other workloads.
#[must_use]
pub fn transactions_table(result: &RunResult) -> Table {
    const SHOWN: [IoMetric; 4] = [
        IoMetric::Average,
        IoMetric::P90,
        IoMetric::P99,
        IoMetric::Max,
    ];
    let mut heads = vec![
        Column::text("transaction"),
        Column::number("count", ""),
        Column::number("of the mix", "%"),
        Column::number("rate", "transactions/s"),
    ];
    heads.extend(SHOWN.map(Column::io));
    heads.push(Column::number("serialization", "failures"));
    let mut table = Table::new(heads);
    let Some(server) = &result.server else {
        return table;
    };
    let of_mix = |number: usize, name: &str| number < MIX || name == "trade-order-rolled-back";
    let numbered = || result.operations.iter().enumerate();
    let all: u64 = numbered()
        .filter(|(number, operation)| of_mix(*number, &operation.name))
        .map(|(_, operation)| operation.count)
        .sum();
    for (number, operation) in numbered() {
        let conflicts = &server.transactions.serialization_failures_by_operation;
        let conflicts = conflicts.get(&operation.name).copied().unwrap_or(0);
        if operation.count == 0 && conflicts == 0 {
            continue;
        }
        let share = operation.count as f64 / all.max(1) as f64;
        let mut row = vec![
            Cell::new(operation.name.clone()),
            Cell::new(count(operation.count)),
            Cell::new(if of_mix(number, &operation.name) {
                percent(share)
            } else {
                crate::number::ABSENT.to_owned()
            }),
            Cell::new(figure(operation.per_second)),
        ];
        row.extend(SHOWN.map(|metric| {
            let value = operation
                .service_time
                .and_then(|latency| latency.get(metric));
            Cell::of(value, metric.unit())
        }));
        row.push(Cell::new(count(conflicts)));
        table.push(row);
    }
    table.without_empty_columns()
}

/// Wait events of busy sessions; those in less than 0.5 % of the samples are left out.
#[must_use]
pub fn waits_table(result: &RunResult) -> Table {
    const RARE_PERCENT: f64 = 0.5;
    let mut table = Table::new(vec![
        Column::text("wait event"),
        Column::text("class"),
        Column::number("of samples", "%"),
        Column::number("sessions", "average"),
    ]);
    let waits = result.server.iter().flat_map(|server| &server.waits);
    for wait in waits.filter(|wait| wait.share_percent >= RARE_PERCENT) {
        table.push(vec![
            Cell::new(wait.name.clone()),
            Cell::new(wait.class.clone()),
            Cell::new(figure(wait.share_percent)),
            Cell::new(figure(wait.average_sessions)),
        ]);
    }
    table
}

/// The server's own counters over the measured phase.
#[must_use]
pub fn server_counters_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![Column::text("counter"), Column::number("value", "")]);
    let Some(server) = &result.server else {
        return table;
    };
    let mut row = |name: &str, value: String| table.push(vec![Cell::new(name), Cell::new(value)]);
    if let Some(io) = &server.io {
        let all = io.buffer_misses + io.buffer_hits;
        row("buffer reads", count(all));
        if all > 0 {
            let misses = io.buffer_misses as f64 / all as f64;
            row("buffer miss ratio", quantity(misses, Unit::Fraction));
        }
        if let Some(average_ms) = io.average_read_ms {
            row("block read time, average", latency(average_ms));
        }
        if let Some(pages) = io.backend_writes {
            row("backend writes", count(pages));
        }
        if let Some(temporary_bytes) = io.temporary_bytes {
            row("temporary files", bytes(temporary_bytes as f64));
        }
    }
    if let Some(log) = &server.log {
        row("WAL generated", bytes(log.bytes as f64));
        if let Some(pages) = log.full_page_images {
            row("full-page images", count(pages));
        }
        if let Some(syncs) = log.syncs {
            row("WAL syncs", count(syncs));
        }
        if let Some(average_ms) = log.average_sync_ms {
            row("WAL sync time, average", latency(average_ms));
        }
    }
    if let Some(checkpoints) = &server.checkpoints {
        row("checkpoints, timed", count(checkpoints.timed));
        row("checkpoints, requested", count(checkpoints.requested));
        row("checkpoint writes", count(checkpoints.pages));
    }
    table
}

/// Times in which the server did not serve.
#[must_use]
pub fn outages_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("from"),
        Column::number("duration", ""),
        Column::text("reason"),
    ]);
    for outage in result.server.iter().flat_map(|server| &server.outages) {
        table.push(vec![
            Cell::new(duration(outage.begins_s)),
            Cell::new(duration(outage.length_s)),
            Cell::new(outage.reason.clone()),
        ]);
    }
    table
}

/// The consistency checks after the run.
#[must_use]
pub fn consistency_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("consistency check"),
        Column::text("found"),
        Column::text("result"),
    ]);
    for check in result
        .server
        .iter()
        .flat_map(|server| &server.consistency_checks)
    {
        let tone = if check.passed { Tone::Pass } else { Tone::Fail };
        table.push(vec![
            Cell::new(check.rule.clone()),
            Cell::new(check.found.clone()),
            Cell::verdict(tone),
        ]);
    }
    table
}

/// How many consistency checks passed, as a sentence; `None` when none were made.
#[must_use]
pub fn consistency_sentence(server: &ServerResult) -> Option<String> {
    let all = server.consistency_checks.len();
    let passed = server
        .consistency_checks
        .iter()
        .filter(|check| check.passed)
        .count();
    (all > 0).then(|| format!("Consistency checks: {passed} of {all} passed."))
}

/// What the server was and how its transactions ended, in sentences; empty for other workloads.
#[must_use]
pub fn server_sentences(result: &RunResult) -> Vec<String> {
    let Some(server) = &result.server else {
        return Vec::new();
    };
    let mut sentences = vec![what(server)];
    if result.duration_s > 0.0 {
        sentences.push(ends(&server.transactions));
    }
    if !server.explanation.is_empty() {
        sentences.push(server.explanation.clone());
    }
    sentences
}

/// How transactions ended.
fn ends(transactions: &TransactionCounts) -> String {
    let mut ends = format!(
        "{} transactions committed, {} intentional rollbacks, {} serialization failures (retried)",
        count(transactions.committed),
        count(transactions.intentional_rollbacks),
        count(transactions.serialization_failures)
    );
    for (number, text) in [
        (transactions.retries_exhausted, "failed after all retries"),
        (
            transactions.connection_failures,
            "failed because the server was down",
        ),
        (transactions.out_of_space, "failed for want of space"),
    ] {
        if number > 0 {
            ends += &format!(", {} {text}", count(number));
        }
    }
    ends + "."
}

fn what(server: &ServerResult) -> String {
    let grown = server.size_end_bytes.map_or(String::new(), |ended_bytes| {
        format!(", {} after it", bytes(ended_bytes as f64))
    });
    format!(
        "{} {}: {} customers, {} trading days, {} before the run{grown}. {}",
        server.name,
        server.version,
        count(server.customers),
        count(server.trade_days),
        bytes(server.size_begin_bytes as f64),
        server.origin
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{LatencyFigures, OperationResult, TransactionCounts, WaitShare};

    fn result() -> RunResult {
        let operation = |name: &str, count| OperationResult {
            name: name.to_owned(),
            count,
            service_time: Some(LatencyFigures::default()),
            ..OperationResult::default()
        };
        RunResult {
            operations: vec![operation("trade-status", 75), operation("market-watch", 25)],
            server: Some(ServerResult {
                name: "PostgreSQL".to_owned(),
                transactions: TransactionCounts {
                    serialization_failures_by_operation: [("market-watch".to_owned(), 4)].into(),
                    connection_failures: 2,
                    ..TransactionCounts::default()
                },
                waits: vec![WaitShare {
                    name: "IO: DataFileRead".to_owned(),
                    share_percent: 80.0,
                    ..WaitShare::default()
                }],
                ..ServerResult::default()
            }),
            ..RunResult::default()
        }
    }

    #[test]
    fn shares_of_the_mix_and_conflicts_stand_beside_each_kind() {
        let table = transactions_table(&result());
        let texts: Vec<&str> = table.rows[0]
            .iter()
            .map(|cell| cell.text.as_str())
            .collect();
        assert_eq!(texts[..3], ["trade-status", "75", "75.0"]);
        assert_eq!(table.rows[1].last().unwrap().text, "4");
        assert_eq!(waits_table(&result()).rows.len(), 1);
    }

    #[test]
    fn failed_attempts_are_listed_and_other_workloads_have_no_such_tables() {
        let measured = RunResult {
            duration_s: 60.0,
            ..result()
        };
        let sentences = server_sentences(&measured);
        assert!(
            sentences[1].contains("2 failed because the server was down"),
            "{sentences:?}"
        );
        // Where nothing was measured, there were no transactions.
        let built = server_sentences(&result());
        assert!(!built.concat().contains("committed"), "{built:?}");
        let other = RunResult::default();
        assert!(server_sentences(&other).is_empty());
        assert!(transactions_table(&other).is_empty());
        assert!(consistency_table(&other).is_empty());
    }
}
