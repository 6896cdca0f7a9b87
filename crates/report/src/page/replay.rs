//! The section of a replayed trace.

use maud::{Markup, html};
use measure::result::{DemeritPoint, MeasuredRequests, RunResult};

use super::{charts, tables};
use crate::chart::{Chart, HorizontalAxis, Mark, Point, VerticalAxis};
use crate::table::{demerit_table, replay_sentence};

/// How the trace was replayed, and model and measurement compared; nothing for a workload.
pub(super) fn section(result: &RunResult) -> Markup {
    if result.trace.is_none() {
        return html! {};
    }
    let table = demerit_table(result);
    html! {
        h2 { "The trace" }
        p { (replay_sentence(result)) }
        @if !table.is_empty() {
            h2 { "Model and measurement" }
            (tables::table(&table))
            p.quiet {
                "The demerit figure (Ruemmler and Wilkes) is the root mean square of the horizontal "
                "distance between the two cumulative latency distributions."
            }
            (charts("", &distributions(result)))
        }
    }
}

/// Both distributions: of all requests, and of reads and writes.
fn distributions(result: &RunResult) -> Vec<Chart> {
    let demerits = result.trace.iter().flat_map(|trace| &trace.demerits);
    let charts = demerits.map(|one| {
        let (identity, title) = match one.of {
            MeasuredRequests::All => ("demerit", "Response times, measured and modelled"),
            MeasuredRequests::Reads => ("demerit-reads", "Response times of reads"),
            MeasuredRequests::Writes => ("demerit-writes", "Response times of writes"),
        };
        let mut chart = Chart::new(identity, title, "ms", HorizontalAxis::Percentile);
        chart.vertical = VerticalAxis::Logarithmic;
        chart.note = "Share of the requests with at most this latency.".to_owned();
        let points = |value: fn(&DemeritPoint) -> f64| -> Vec<Point> {
            one.points
                .iter()
                .map(|point| (point.percentile, value(point)))
                .collect()
        };
        chart.add(
            "measured",
            0,
            Mark::Line,
            &points(|point| point.measured_ms),
        );
        chart.add("model", 1, Mark::Dashed, &points(|point| point.model_ms));
        chart
    });
    charts.filter(|chart| !chart.is_empty()).collect()
}
