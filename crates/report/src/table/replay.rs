//! A replayed trace: the model compared with the measurement.

use measure::result::RunResult;

use super::{Cell, Column, Table};
use crate::number::{ABSENT, count, figure, latency, percent};

/// The demerit figures; empty when nothing was measured.
#[must_use]
pub fn demerit_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("requests"),
        Column::number("count", ""),
        Column::number("measured", "average"),
        Column::number("model", "average"),
        Column::number("demerit figure", ""),
        Column::number("demerit figure", "% of measured average"),
    ]);
    for one in result.trace.iter().flat_map(|trace| &trace.demerits) {
        table.push(vec![
            Cell::new(one.of.label()),
            Cell::new(count(one.requests)),
            Cell::new(latency(one.measured_average_ms)),
            Cell::new(latency(one.model_average_ms)),
            Cell::new(latency(one.demerit_ms)),
            Cell::new(one.demerit_fraction.map_or(ABSENT.to_owned(), percent)),
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
        Some(1) => "in a closed loop with one request outstanding".to_owned(),
        Some(clients) => format!(
            "in a closed loop with {} requests outstanding",
            count(clients)
        ),
        None => "at their arrival times (open loop)".to_owned(),
    };
    format!(
        "{} requests were replayed {how}; average queue depth {}, max queue depth inside the array \
         {}.",
        count(trace.requests),
        figure(trace.average_queue_depth),
        count(trace.largest_queue_depth)
    )
}
