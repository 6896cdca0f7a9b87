//! Tables of a run on a real database: transactions, wait events, server counters, consistency
//! checks.

use super::{CUSTOMERS, TRADE_DAYS};
use crate::operation::Operation;
use measure::display::number::{bytes, count, duration, figure, latency, quantity};
use measure::display::{Cell, Column, Table, Tone};
use measure::metric::{IoMetric, Unit};
use measure::result::{AcknowledgedWork, RunResult, ServerResult, TransactionCounts};
use measure::units;
use serde_json::Value;

/// How each kind of transaction did, with its share of the mix. A prediction, which has no server, has no
/// serialization failures either.
pub(super) fn transactions(result: &RunResult) -> Table {
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
    let numbered = || result.operations.iter().enumerate();
    // Those that are not of the mix have no share in it.
    let of_mix = |number: usize| number <= Operation::TradeOrderRolledBack as usize;
    let all: u64 = numbered()
        .filter(|(number, _)| of_mix(*number))
        .map(|(_, operation)| operation.count)
        .sum();
    for (number, operation) in numbered() {
        let conflicts = result.server.as_ref().map(|server| {
            let by_operation = &server.transactions.serialization_failures_by_operation;
            by_operation.get(&operation.name).copied().unwrap_or(0)
        });
        if operation.count == 0 && conflicts.unwrap_or(0) == 0 {
            continue;
        }
        let share = operation.count as f64 / all.max(1) as f64;
        let mut row = vec![
            Cell::new(operation.name.clone()),
            Cell::count(operation.count),
            Cell::of(of_mix(number).then_some(share), Unit::Fraction),
            Cell::of(operation.per_second, Unit::TransactionsPerSecond),
        ];
        row.extend(SHOWN.map(|metric| {
            let value = operation
                .service_time
                .and_then(|latency| latency.get(metric));
            Cell::of(value, metric.unit())
        }));
        row.push(Cell::of(conflicts.map(|count| count as f64), Unit::Count));
        table.push(row);
    }
    table.without_empty_columns()
}

/// Wait events of busy sessions; those in less than 0.5 % of the samples are left out.
pub(super) fn waits(server: &ServerResult) -> Table {
    const RARE_PERCENT: f64 = 0.5;
    let mut table = Table::new(vec![
        Column::text("wait event"),
        Column::text("class"),
        Column::number("of samples", "%"),
        Column::number("sessions", "average"),
    ]);
    let waits = server.waits.iter();
    for wait in waits.filter(|wait| wait.share_percent >= RARE_PERCENT) {
        table.push(vec![
            Cell::new(wait.name.clone()),
            Cell::new(wait.class.label()),
            Cell::new(figure(wait.share_percent)),
            Cell::new(figure(wait.average_sessions)),
        ]);
    }
    table
}

/// The server's own counters over the measured phase.
pub(super) fn counters(server: &ServerResult) -> Table {
    let mut table = Table::new(vec![Column::text("counter"), Column::number("value", "")]);
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
pub(super) fn downtime(server: &ServerResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("from"),
        Column::number("duration", ""),
        Column::text("reason"),
    ]);
    for outage in &server.outages {
        table.push(vec![
            Cell::new(duration(outage.begins_s)),
            Cell::new(duration(outage.length_s)),
            Cell::new(outage.reason.clone()),
        ]);
    }
    table
}

/// The consistency checks after the run.
pub(super) fn consistency(server: &ServerResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("consistency check"),
        Column::text("found"),
        Column::text("result"),
    ]);
    for check in &server.consistency_checks {
        let tone = if check.passed { Tone::Pass } else { Tone::Fail };
        table.push(vec![
            Cell::new(check.rule.clone()),
            Cell::new(check.found.clone()),
            Cell::verdict(tone),
        ]);
    }
    table
}

/// What the server was, how its transactions ended and how many consistency checks passed.
pub(super) fn sentences(result: &RunResult, server: &ServerResult) -> Vec<String> {
    let mut sentences = vec![what(server)];
    if result.duration_s > 0.0 {
        sentences.push(ends(&server.transactions));
    }
    if !server.explanation.is_empty() {
        sentences.push(server.explanation.clone());
    }
    let checks = &server.consistency_checks;
    let passed = checks.iter().filter(|check| check.passed).count();
    if !checks.is_empty() {
        sentences.push(format!(
            "Consistency checks: {passed} of {} passed.",
            checks.len()
        ));
    }
    if let Some(other) = server.other_io.as_ref().filter(|other| other.bytes > 0) {
        sentences.push(format!(
            "Other I/O on the volume: {} % of its {}, of {}; {}.",
            figure(other.share_percent),
            if other.requests.is_some() {
                "requests"
            } else {
                "bytes"
            },
            other.processes.join(", "),
            match other.requests {
                Some(_) => "no other figure contains it",
                None => "the figures of the volume contain it",
            }
        ));
    }
    sentences.extend(server.checked_rows.iter().cloned());
    sentences.extend(server.acknowledged.as_ref().map(acknowledged));
    sentences
}

/// How much acknowledged work was compared with the database, as a sentence.
fn acknowledged(work: &AcknowledgedWork) -> String {
    if let Some(why) = &work.not_compared {
        return format!("Acknowledged transactions were not compared with the database: {why}.");
    }
    let missing = work.lost_orders
        + work.lost_submissions
        + work.lost_results
        + work.lost_updates
        + work.lost_maintenance;
    let wrong = work.changed_results
        + work.acknowledged_twice
        + work.unexpected_orders
        + work.unexpected_results
        + work.securities_differing;
    let unknown = match work.unknown_outcomes {
        0 => String::new(),
        unknown => format!("; the outcome of {} is unknown", count(unknown)),
    };
    let wrong = match wrong {
        0 => String::new(),
        wrong => format!(", {} other differences", count(wrong)),
    };
    format!(
        "Acknowledged work compared with the database: {} orders, {} submissions, {} trade results, \
         {} shares traded by market feeds, {} rows changed by trade updates, {} changes by data \
         maintenance: {} missing{wrong}{unknown}.",
        count(work.orders),
        count(work.submissions),
        count(work.results),
        count(work.feed_shares),
        count(work.updated_rows),
        count(work.maintained),
        count(missing),
    )
}

/// How transactions ended, as a sentence.
fn ends(transactions: &TransactionCounts) -> String {
    let mut ends = format!(
        "{} committed, {}, {} (retried)",
        units::count(transactions.committed, "transaction"),
        units::count(transactions.intentional_rollbacks, "intentional rollback"),
        units::count(transactions.serialization_failures, "serialization failure")
    );
    for (number, text) in [
        (transactions.retries_exhausted, "failed after all retries"),
        (
            transactions.connection_failures,
            "failed because the server was down",
        ),
        (transactions.out_of_space, "failed for lack of space"),
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
    let connection = match server.connection.as_str() {
        "" => String::new(),
        connection => format!(" Connection: {connection}."),
    };
    format!(
        "{} {}: {} before the run{grown}. {}{connection}",
        server.name,
        server.version,
        data(server),
        server.origin
    )
}

/// The data that were built: `1,000 customers, 18 trading days, 944 MiB`.
pub(crate) fn data(server: &ServerResult) -> String {
    let scale = |name, noun| {
        let number = server.scale.get(name).and_then(Value::as_u64).unwrap_or(0);
        units::count(number, noun)
    };
    format!(
        "{}, {}, {}",
        scale(CUSTOMERS, "customer"),
        scale(TRADE_DAYS, "trading day"),
        bytes(server.size_begin_bytes as f64)
    )
}
