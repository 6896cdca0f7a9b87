//! The response times of transactions that are compared.

use measure::metric::IoMetric;
use measure::result::{LatencyFigures, RunResult};

use super::Comparison;
use super::figures::{Better, Shown, heads, is_known, row};
use crate::table::{Table, not_comparable};

/// What is compared of each transaction.
const FIGURES: [IoMetric; 2] = [IoMetric::Average, IoMetric::P90];

/// Two rows for each transaction that any run of a brokerage did.
pub(super) fn table(comparison: &Comparison, shown: Shown) -> Table {
    let mut table = Table::new(heads(comparison, shown, "transaction"));
    for name in names(comparison) {
        for metric in FIGURES {
            let values = comparison.of_each(|run| latency(run, name)?.get(metric));
            if is_known(&values) {
                let title = format!("{name}, {}", metric.label());
                let unit = metric.unit();
                table.push(row(&title, unit, Better::Lower, &values, shown));
            }
        }
    }
    table
}

/// The transactions of all runs of a brokerage, in their order.
fn names<'a>(comparison: &Comparison<'a>) -> Vec<&'a str> {
    let mut names = Vec::new();
    let results = comparison.runs().iter().map(|run| &run.result);
    for result in results.filter(|result| not_comparable(result).is_some()) {
        for operation in &result.operations {
            if !names.contains(&operation.name.as_str()) {
                names.push(operation.name.as_str());
            }
        }
    }
    names
}

fn latency<'a>(run: &'a RunResult, name: &str) -> Option<&'a LatencyFigures> {
    let mut found = run.operations.iter().filter(|one| one.name == name);
    found.next()?.service_time.as_ref()
}
