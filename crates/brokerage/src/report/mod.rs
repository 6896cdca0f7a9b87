//! What the brokerage adds to the reports of its runs: the database server with its transactions,
//! wait events and consistency checks, and what to do about them.

mod advice;
mod consistency;
mod storage_times;
pub(crate) mod tables;

use self::storage_times::storage_times;
use crate::operation::{Operation, business_transactions_per_second, rate_of};
use measure::display::number::{count, figure};
use measure::display::{
    Better, Contribution, LoadWords, Medium, Part, ResultMetric, Section, Tile,
};
use measure::metric::Unit;
use measure::result::{Bottleneck, RunKind, RunResult, ServerResult, WaitClass};

/// Must be said with every result of this workload.
const NOT_COMPARABLE: &str = "This workload is derived in part from the TPC-E benchmark \
specification and is not comparable to published TPC-E results, as it does not comply with that \
specification. TPC and TPC-E are trademarks of the TPC.";

const WORDS: LoadWords = LoadWords {
    client: "user",
    fewer: "users",
    to_sustain: "fewer --users",
    to_find_most: "To find the most that this storage sustains, raise --users until a level fails.",
};

/// The same of a prediction, which can be searched.
const WORDS_OF_PREDICTION: LoadWords = LoadWords {
    to_find_most: "--find max-iops finds the most users that pass.",
    ..WORDS
};

/// Customers in the database, in the result of its server.
pub(crate) const CUSTOMERS: &str = "customers";
/// Trading days in the database before the run, in the same place.
pub(crate) const TRADE_DAYS: &str = "trade_days";

/// The metrics of a brokerage; those of a database server have no value in a prediction.
const METRICS: &[ResultMetric] = &[
    ResultMetric {
        id: "business_transactions_per_second",
        label: "business transactions",
        meaning: "Transactions per second that users begin, without trade results and feeds.",
        unit: Unit::TransactionsPerSecond,
        better: Better::Higher,
        value: |result| {
            let has_any = !result.operations.is_empty();
            has_any.then(|| business_transactions_per_second(result))
        },
    },
    ResultMetric {
        id: "trade_results_per_second",
        label: "trade results",
        meaning: "Orders per second that the market carried out.",
        unit: Unit::TransactionsPerSecond,
        better: Better::Higher,
        value: |result| rate_of(Operation::TradeResult, result),
    },
    ResultMetric {
        id: "storage_waits_percent",
        label: "sessions waiting for storage",
        meaning: "Share of the samples of busy sessions that waited for storage.",
        unit: Unit::Percent,
        better: Better::Lower,
        value: |result| {
            let waits = &result.server.as_ref()?.waits;
            let of_storage = waits.iter().filter(|wait| wait.class == WaitClass::Storage);
            (!waits.is_empty()).then(|| of_storage.map(|wait| wait.share_percent).sum())
        },
    },
    ResultMetric {
        id: "serialization_failures_per_1000_transactions",
        label: "serialization failures per 1,000 transactions",
        meaning: "Attempts that ended with a serialization failure or a deadlock.",
        unit: Unit::Count,
        better: Better::Lower,
        value: |result| {
            let transactions = &result.server.as_ref()?.transactions;
            let committed = transactions.committed.max(1) as f64;
            Some(1_000.0 * transactions.serialization_failures as f64 / committed)
        },
    },
    ResultMetric {
        id: "downtime_s",
        label: "downtime",
        meaning: "How long the server was down.",
        unit: Unit::Seconds,
        better: Better::Lower,
        value: |result| Some(result.server.as_ref()?.downtime_s),
    },
];

/// What reports of a result show besides the storage.
pub(crate) fn contribution(result: &RunResult) -> Contribution {
    let mut own = Contribution {
        words: match result.kind {
            RunKind::Prediction => WORDS_OF_PREDICTION,
            _ => WORDS,
        },
        metrics: METRICS,
        compared_operation: Some("transaction"),
        advice: advice::advice(result),
        notice: Some(NOT_COMPARABLE),
        ..Contribution::default()
    };
    if !result.operations.is_empty() {
        own.load = Some(load(result));
        own.tiles = tiles(result);
    }
    if let Some(server) = &result.server {
        let name = format!("{} {}", server.name, server.version);
        own.sections = vec![section(result, server)];
        own.shows_operations = true;
        own.chosen = vec![("database server", name.trim().to_owned())];
    } else if !result.operations.is_empty() {
        own.sections = vec![predicted_transactions(result)];
        own.shows_operations = true;
    }
    own
}

/// The load that was judged.
fn load(result: &RunResult) -> String {
    let rate = figure(business_transactions_per_second(result));
    let unit = Unit::TransactionsPerSecond.text();
    let results = rate_of(Operation::TradeResult, result);
    let results = results.map_or(String::new(), |results| {
        format!(" and {} trade results/s", figure(results))
    });
    let users = result.throughput.threads;
    let users = users.map_or(String::new(), |users| format!(" ({} users)", count(users)));
    format!("{rate} business {unit}{results}{users}")
}

/// The rates that a brokerage is judged by.
fn tiles(result: &RunResult) -> Vec<Tile> {
    let tile = |name, value, beside: &str| Tile {
        name,
        value,
        unit: Unit::TransactionsPerSecond,
        short_unit: "/s",
        beside: beside.to_owned(),
    };
    let limited = result
        .server
        .as_ref()
        .map_or("", |server| bottleneck(server.bottleneck));
    let business = business_transactions_per_second(result);
    let results = rate_of(Operation::TradeResult, result).unwrap_or(f64::NAN);
    vec![
        tile("Business transactions", business, limited),
        tile("Trade results", results, "orders executed"),
    ]
}

/// The server, its transactions, wait events and consistency checks.
fn section(result: &RunResult, server: &ServerResult) -> Section {
    let checks = &server.consistency_checks;
    let checks_shown = match checks.iter().all(|check| check.passed) {
        true => Medium::Page,
        false => Medium::Both,
    };
    let settings = server.settings.clone().into_iter();
    let downtime = tables::downtime(server);
    let transactions = tables::transactions(result);
    let parts = [
        ("Transactions", transactions, Medium::Both),
        ("Downtime", downtime.clone(), Medium::Page),
        ("Wait events", tables::waits(server), Medium::Both),
        ("Downtime", downtime, Medium::Terminal),
        ("Server counters", tables::counters(server), Medium::Page),
        ("Storage times", storage_times(result, server), Medium::Both),
        (
            "Consistency checks",
            tables::consistency(server),
            checks_shown,
        ),
    ];
    let part = |(title, table, medium)| Part {
        title,
        table,
        medium,
    };
    Section {
        id: "database",
        title: "Database server",
        sentences: tables::sentences(result, server),
        parts: parts.map(part).into(),
        folded: (!server.settings.is_empty())
            .then(|| ("Settings of the server", settings.collect())),
    }
}

/// The transactions of a prediction.
fn predicted_transactions(result: &RunResult) -> Section {
    Section {
        id: "workload",
        title: "Workload",
        sentences: Vec::new(),
        parts: vec![Part {
            title: "Transactions",
            table: tables::transactions(result),
            medium: Medium::Both,
        }],
        folded: None,
    }
}

/// What limits the transactions, in few words.
fn bottleneck(by: Bottleneck) -> &'static str {
    match by {
        Bottleneck::Storage => "limited by storage",
        Bottleneck::Locks => "limited by lock waits",
        Bottleneck::Cpu => "limited by CPU",
        Bottleneck::Outage => "limited by downtime",
        Bottleneck::Nothing => "limited by the users or the rate",
        Bottleneck::Unknown => "",
    }
}

#[cfg(test)]
mod tests;
