//! What broke and was repaired, as a table, as marks in the charts over time, and how rebuilds went.

use maud::{Markup, html};
use measure::result::RunResult;
use measure::sample::RowScope;

use super::tables;
use crate::chart::{Across, Chart, Mark, Moment as ChartMoment, Point};
use crate::run::Run;
use crate::table::events_table;

/// What happened; nothing when nothing did.
pub(super) fn section(result: &RunResult) -> Markup {
    let table = events_table(result);
    html! {
        @if !table.is_empty() {
            h2 { "What broke and was repaired" }
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
    marks
}

/// How far rebuilds had come, by disk group.
pub(super) fn rebuilds(run: &Run) -> Chart {
    let mut chart = Chart::new("rebuilds", "Rebuilds", "% done", Across::Elapsed);
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
            .map(|moment| {
                let part = moment
                    .array
                    .iter()
                    .find(|part| part.scope == RowScope::ArrayGroup && part.name == **group);
                let done = part.and_then(|part| part.figures.array_rebuild_done_fraction);
                (moment.ends_s, done.map_or(f64::NAN, |done| done * 100.0))
            })
            .collect();
        chart.add(group, index, Mark::Line, &points);
    }
    chart
}
