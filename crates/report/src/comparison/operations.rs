//! The latency of operations that is compared, where the workload says so.

use measure::display::Better;
use measure::metric::IoMetric;
use measure::result::{LatencyFigures, RunResult};

use super::Comparison;
use super::change::Value;
use super::figures::{Shown, heads, is_known, row};
use crate::run::Run;
use crate::table::Table;

/// What is compared of each operation.
const FIGURES: [IoMetric; 2] = [IoMetric::Average, IoMetric::P90];

/// Two rows for each operation of the runs whose workload compares them.
pub(super) fn table(comparison: &Comparison, shown: Shown) -> Table {
    let mut table = Table::new(heads(comparison, shown, noun(comparison)));
    for name in names(comparison) {
        for metric in FIGURES {
            let values = comparison.of_each(|run| latency(run, name)?.get(metric));
            let values: Vec<Value> = values.into_iter().map(Value::from).collect();
            if is_known(&values) {
                let title = format!("{name}, {}", metric.label());
                let unit = metric.unit();
                table.push(row(
                    comparison,
                    &title,
                    (unit, Some(Better::Lower)),
                    &values,
                    shown,
                ));
            }
        }
    }
    table
}

/// What the operations are called.
pub(super) fn noun(comparison: &Comparison) -> &'static str {
    let mut nouns = comparison.runs().iter().filter_map(compared);
    nouns.next().unwrap_or("operation")
}

fn compared(run: &Run) -> Option<&'static str> {
    run.contribution.compared_operation
}

/// The operations of all runs that compare them, in their order.
fn names<'a>(comparison: &Comparison<'a>) -> Vec<&'a str> {
    let mut names = Vec::new();
    let runs = comparison.runs().iter();
    for run in runs.filter(|run| compared(run).is_some()) {
        for operation in &run.result.operations {
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
