//! Failures and repairs: a table, marks in the charts over time, the progress of rebuilds.

use maud::{Markup, html};
use measure::display::interruption;
use measure::metric::Metric;
use measure::metric::RowScope;
use measure::result::RunResult;

use super::tables;
use crate::chart::{Chart, ChartEvent as ChartMoment, HorizontalAxis, Mark, Point};
use crate::run::Run;
use crate::table::events_table;

/// The table of events; nothing without any.
pub(super) fn section(result: &RunResult) -> Markup {
    let table = events_table(result);
    html! {
        @if !table.is_empty() {
            h2 { "Failures and repairs" }
            (tables::table(&table))
        }
    }
}

/// Marks for the charts over time. What follows at the same instant shares its mark.
pub(super) fn marks(result: &RunResult) -> Vec<ChartMoment> {
    let mut marks: Vec<ChartMoment> = Vec::new();
    for event in &result.events {
        match marks.last_mut() {
            Some(last) if last.at == event.at_s => {
                last.label = format!("{} {}", last.label, event.text);
            }
            _ => marks.push(ChartMoment {
                at: event.at_s,
                label: event.text.clone(),
            }),
        }
    }
    marks.extend(result.interruptions.iter().map(|one| ChartMoment {
        at: one.last_sample_s,
        label: interruption(one),
    }));
    marks
}

/// The progress of rebuilds, by disk group.
pub(super) fn rebuilds(run: &Run) -> Chart {
    let mut chart = Chart::new("rebuilds", "Rebuild progress", "%", HorizontalAxis::Elapsed);
    chart.top = Some(100.0);
    let mut groups: Vec<&str> = Vec::new();
    for rebuild in &run.result.rebuilds {
        if !groups.contains(&rebuild.group.as_str()) {
            groups.push(&rebuild.group);
        }
    }
    for (index, group) in groups.iter().enumerate() {
        let points: Vec<Point> = run
            .timeline
            .iter()
            .map(|sample| {
                let row = sample.row(RowScope::ArrayGroup, group);
                let done = row.and_then(|row| row.get(Metric::ArrayRebuild));
                (sample.ends_s, done.map_or(f64::NAN, |done| done * 100.0))
            })
            .collect();
        chart.add(group, index, Mark::Line, &points);
    }
    chart
}
