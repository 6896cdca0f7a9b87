//! Failures and repairs in a modelled array.

use measure::result::RunResult;

use super::{Cell, Column, Table};
use crate::number::duration;

/// One row for each event; empty when there was none.
#[must_use]
pub fn events_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::number("mark", ""),
        Column::text("time in measured phase"),
        Column::text("event"),
        Column::text("injected"),
    ]);
    let (mut mark, mut at_s) = (0, f64::NAN);
    for event in &result.events {
        // What follows at the same instant shares its mark in the charts.
        mark += u64::from(event.at_s != at_s);
        at_s = event.at_s;
        table.push(vec![
            Cell::new(mark.to_string()),
            Cell::new(duration(event.measured_at_s)),
            Cell::new(event.text.clone()),
            Cell::new(if event.planned { "yes" } else { "" }),
        ]);
    }
    table
}
