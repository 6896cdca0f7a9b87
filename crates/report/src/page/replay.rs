//! What the report says of a replayed trace.

use maud::{Markup, html};
use measure::result::{DemeritPoint, RunResult};

use super::{charts, tables};
use crate::chart::{Across, Chart, Mark, Point, Upright};
use crate::table::{demerit_table, replay_sentence};

/// How the trace was replayed, and the model against the measurement; nothing for a workload.
pub(super) fn section(result: &RunResult) -> Markup {
    if result.trace.is_none() {
        return html! {};
    }
    let table = demerit_table(result);
    html! {
        h2 { "The trace" }
        p { (replay_sentence(result)) }
        @if !table.is_empty() {
            h2 { "Model against measurement" }
            (tables::table(&table))
            p.quiet {
                "The demerit is the root mean square of the horizontal distance between the two "
                "distributions: how far the model's curve lies from the measured one."
            }
            (charts("", &distributions(result)))
        }
    }
}

/// Both distributions: of all requests, and of reads and writes.
fn distributions(result: &RunResult) -> Vec<Chart> {
    let demerits = result.trace.iter().flat_map(|trace| &trace.demerits);
    let charts = demerits.filter_map(|one| {
        let (identity, title) = match one.of.as_str() {
            "all" => ("demerit", "Response times, measured and modelled"),
            "reads" => ("demerit-reads", "Response times of reads"),
            "writes" => ("demerit-writes", "Response times of writes"),
            _ => return None,
        };
        let mut chart = Chart::new(identity, title, "ms", Across::Percentile);
        chart.upright = Upright::Logarithmic;
        chart.note = "So many percent of the requests took at most so long.".to_owned();
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
        Some(chart)
    });
    charts.filter(|chart| !chart.is_empty()).collect()
}
