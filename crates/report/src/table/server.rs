//! A run on a real database: its transactions, what its sessions waited for, its books.

use measure::result::{RunResult, ServerResult, TransactionCounts};

use super::{Cell, Column, Table};
use crate::number::{bytes, count, duration, figure, figure_or_absent, percent};
use crate::tone::Tone;

/// The sentence that every result of this workload carries.
const NOT_COMPARABLE: &str = "This workload is derived in part from the TPC-E benchmark \
specification and is not comparable to published TPC-E results, as it does not comply with that \
specification. TPC and TPC-E are trademarks of the TPC.";

/// What is to be said with every result of a brokerage, on a real database or predicted; `None` for
/// other workloads.
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
    let mut table = Table::new(vec![
        Column::text("transaction"),
        Column::number("done", ""),
        Column::number("of the mix", "%"),
        Column::number("rate", "1/s"),
        Column::number("average", "ms"),
        Column::number("90 %", "ms"),
        Column::number("99 %", "ms"),
        Column::number("longest", "ms"),
        Column::number("conflicts", ""),
    ]);
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
        let latency = operation.service;
        let conflicts = &server.transactions.conflicts_by_operation;
        let conflicts = conflicts.get(&operation.name).copied().unwrap_or(0);
        if operation.count == 0 && conflicts == 0 {
            continue;
        }
        let share = operation.count as f64 / all.max(1) as f64;
        table.push(vec![
            Cell::new(operation.name.clone()),
            Cell::new(count(operation.count)),
            Cell::new(if of_mix(number, &operation.name) {
                percent(share)
            } else {
                crate::number::ABSENT.to_owned()
            }),
            Cell::new(figure(operation.per_second)),
            Cell::new(figure_or_absent(latency.map(|one| one.average_ms))),
            Cell::new(figure_or_absent(latency.map(|one| one.p90_ms))),
            Cell::new(figure_or_absent(latency.map(|one| one.p99_ms))),
            Cell::new(figure_or_absent(latency.map(|one| one.max_ms))),
            Cell::new(count(conflicts)),
        ]);
    }
    table.without_empty_columns()
}

/// What sessions were found doing; waits that were hardly ever seen are left out.
#[must_use]
pub fn waits_table(result: &RunResult) -> Table {
    const RARE_PERCENT: f64 = 0.5;
    let mut table = Table::new(vec![
        Column::text("sessions were found"),
        Column::text("which is"),
        Column::number("of the looks", "%"),
        Column::number("sessions, average", ""),
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

/// What the server counted of its own work.
#[must_use]
pub fn server_counters_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("the server counted"),
        Column::number("", ""),
    ]);
    let Some(server) = &result.server else {
        return table;
    };
    let mut row = |name: &str, value: String| table.push(vec![Cell::new(name), Cell::new(value)]);
    if let Some(io) = &server.io {
        let asked = io.pages_read + io.pages_found;
        row("pages asked for", count(asked));
        if asked > 0 {
            row(
                "of which not in its memory",
                format!("{} %", percent(io.pages_read as f64 / asked as f64)),
            );
        }
        if let Some(average_ms) = io.average_read_ms {
            row(
                "reading a page, average",
                format!("{} ms", figure(average_ms)),
            );
        }
        if let Some(pages) = io.pages_written_by_sessions {
            row("pages that sessions had to write", count(pages));
        }
        if let Some(temporary_bytes) = io.temporary_bytes {
            row("temporary files", bytes(temporary_bytes as f64));
        }
    }
    if let Some(log) = &server.log {
        row("log", bytes(log.bytes as f64));
        if let Some(pages) = log.full_page_images {
            row("whole pages in the log", count(pages));
        }
        if let Some(syncs) = log.syncs {
            row("made durable", format!("{} times", count(syncs)));
        }
        if let Some(average_ms) = log.average_sync_ms {
            row(
                "making it durable, average",
                format!("{} ms", figure(average_ms)),
            );
        }
    }
    if let Some(checkpoints) = &server.checkpoints {
        row(
            "checkpoints",
            format!(
                "{} timed, {} for the log",
                checkpoints.timed, checkpoints.requested
            ),
        );
        row("pages written by checkpoints", count(checkpoints.pages));
    }
    table
}

/// Times without service.
#[must_use]
pub fn outages_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("without service from"),
        Column::number("for", ""),
        Column::text("because"),
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

/// The laws of the books.
#[must_use]
pub fn books_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("the books after the run"),
        Column::text("found"),
        Column::text("result"),
    ]);
    for book in result.server.iter().flat_map(|server| &server.books) {
        let tone = if book.holds { Tone::Pass } else { Tone::Fail };
        table.push(vec![
            Cell::new(book.rule.clone()),
            Cell::new(book.found.clone()),
            Cell::verdict(tone),
        ]);
    }
    table
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
        "{} transactions committed, {} orders rolled back on purpose, {} attempts that another \
         transaction was in the way of (tried again)",
        count(transactions.committed),
        count(transactions.rolled_back_on_purpose),
        count(transactions.conflicts)
    );
    for (number, text) in [
        (transactions.given_up, "given up after too many conflicts"),
        (transactions.lost, "lost with the server"),
        (transactions.without_space, "failed for want of space"),
    ] {
        if number > 0 {
            ends += &format!(", {} {text}", count(number));
        }
    }
    ends + "."
}

fn what(server: &ServerResult) -> String {
    let grown = server.ended_bytes.map_or(String::new(), |ended_bytes| {
        format!(", {} afterwards", bytes(ended_bytes as f64))
    });
    format!(
        "{} {}: {} customers with {} days of trading, {} before the run{grown}. {}",
        server.name,
        server.version,
        count(server.customers),
        count(server.trade_days),
        bytes(server.built_bytes as f64),
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
            service: Some(LatencyFigures::default()),
            ..OperationResult::default()
        };
        RunResult {
            operations: vec![operation("trade-status", 75), operation("market-watch", 25)],
            server: Some(ServerResult {
                name: "PostgreSQL".to_owned(),
                transactions: TransactionCounts {
                    conflicts_by_operation: [("market-watch".to_owned(), 4)].into(),
                    lost: 2,
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
    fn what_was_lost_is_said_and_other_workloads_say_nothing() {
        let measured = RunResult {
            duration_s: 60.0,
            ..result()
        };
        let sentences = server_sentences(&measured);
        assert!(
            sentences[1].contains("2 lost with the server"),
            "{sentences:?}"
        );
        // Where nothing was measured, no transactions were to be.
        let built = server_sentences(&result());
        assert!(!built.concat().contains("committed"), "{built:?}");
        let other = RunResult::default();
        assert!(server_sentences(&other).is_empty());
        assert!(transactions_table(&other).is_empty());
        assert!(books_table(&other).is_empty());
    }
}
