//! A replayed trace: the model held against the measurement.

use measure::result::RunResult;

use super::{Cell, Column, Table};
use crate::number::{count, figure, percent};

/// The demerit figures; empty when nothing was measured.
#[must_use]
pub fn demerit_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("requests"),
        Column::number("measured", ""),
        Column::number("measured, average", "ms"),
        Column::number("model, average", "ms"),
        Column::number("demerit", "ms"),
        Column::number("of the measured average", "%"),
    ]);
    for one in result.trace.iter().flat_map(|trace| &trace.demerits) {
        table.push(vec![
            Cell::new(one.of.clone()),
            Cell::new(count(one.requests)),
            Cell::new(figure(one.measured_average_ms)),
            Cell::new(figure(one.model_average_ms)),
            Cell::new(figure(one.demerit_ms)),
            Cell::new(one.demerit_fraction.map_or("-".to_owned(), percent)),
        ]);
    }
    table
}

/// How the trace was replayed, as a sentence; empty for a workload.
#[must_use]
pub fn replay_sentence(result: &RunResult) -> String {
    let Some(trace) = &result.trace else {
        return String::new();
    };
    let how = match trace.outstanding {
        Some(1) => "in a closed loop of one client".to_owned(),
        Some(clients) => format!("in a closed loop of {} clients", count(clients)),
        None => "by arrival times".to_owned(),
    };
    format!(
        "{} requests were replayed {how}; on average {} of them had arrived and not ended, and at \
         most {} were inside the array at once.",
        count(trace.requests),
        figure(trace.average_queue_depth),
        count(trace.largest_queue_depth)
    )
}
