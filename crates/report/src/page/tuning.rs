//! How the load was found: the steps of the search, and response time against load.

use maud::{Markup, html};
use measure::display::tuning_outcome;
use measure::result::{TuningResult, TuningStep};
use measure::units::sentence;

use super::{charts, tables};
use crate::chart::{Chart, HorizontalAxis, Mark, Point, VerticalAxis};
use crate::limits;
use crate::number::limit;
use crate::run::Run;
use crate::table::{curve_table, tuning_table};
use crate::words::of_curve;

/// The steps of a search for the load, with charts over the load, and the curve of response times.
pub(super) fn tuning(run: &Run) -> Markup {
    let Some(tuning) = &run.result.tuning else {
        return html! {};
    };
    html! {
        h2 { "Search for the load" }
        p {
            (tuning.goal) " "
            @if tuning.reached { b { "Reached" } } @else { b { "Not reached" } }
            @if !tuning.chosen.is_empty() { ": " (tuning.chosen) }
            "."
            @if let Some(outcome) = tuning_outcome(tuning) { " " (sentence(&outcome)) "." }
            @if let Some(percent) = tuning.held_percent.filter(|percent| *percent < 100.0) {
                " The measured phase holds " (limit(percent)) " % of it."
            }
        }
        @if !tuning.steps.is_empty() {
            (charts("", &step_charts(run, tuning)))
            @let table = tuning_table(&run.result);
            @if !table.is_empty() { (tables::table(&table)) }
        }
        @if !tuning.curve.is_empty() {
            h2 { "Response time against load" }
            p { (of_curve(tuning)) }
            (charts("", &[curve_chart(run, tuning)]))
            (tables::table(&curve_table(&run.result)))
        }
    }
}

/// What a step is drawn over: the rate that was held, else the number of threads.
fn load_of(step: &TuningStep) -> f64 {
    step.rate_iops.unwrap_or(step.threads as f64)
}

fn points<'a>(
    steps: impl Iterator<Item = &'a TuningStep>,
    value: impl Fn(&TuningStep) -> Option<f64>,
) -> Vec<Point> {
    let point = |step: &TuningStep| (load_of(step), value(step).unwrap_or(f64::NAN));
    let mut points: Vec<Point> = steps.map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Rate and latency over the load that was tried.
fn step_charts(run: &Run, tuning: &TuningResult) -> Vec<Chart> {
    let steps = || tuning.steps.iter();
    let holds_rate = steps().any(|step| step.rate_iops.is_some());
    let (axis, by) = match holds_rate {
        true => ("held rate, IOPS", "held rate"),
        false => ("threads", "threads"),
    };
    let axis = || HorizontalAxis::Number(axis.into());
    let title = format!("Transactional I/O by {by}");
    let mut rate = Chart::new("tuning-rate", &title, "IOPS", axis());
    let kept = steps().filter(|step| step.kept);
    let missed = steps().filter(|step| !step.kept);
    let achieved = |step: &TuningStep| Some(step.achieved_iops);
    rate.add(
        "every level met",
        0,
        Mark::LineAndDots,
        &points(kept, achieved),
    );
    rate.add(
        "a level not met",
        1,
        Mark::LineAndDots,
        &points(missed, achieved),
    );
    limits::rate(&run.result).draw(&mut rate, None);
    let title = format!("Latency by {by}");
    let mut latency = Chart::new("tuning-latency", &title, "ms", axis());
    latency.vertical = VerticalAxis::ByLimits;
    add_latencies(&mut latency, run, &tuning.steps);
    [rate, latency]
        .into_iter()
        .filter(|chart| !chart.is_empty())
        .collect()
}

fn add_latencies(chart: &mut Chart, run: &Run, steps: &[TuningStep]) {
    let steps = || steps.iter();
    let mark = Mark::LineAndDots;
    let read = points(steps(), |step| step.average_database_read_ms);
    chart.add("database reads, average", 0, mark, &read);
    let log = points(steps(), |step| step.average_log_write_ms);
    chart.add("log writes, average", 1, mark, &log);
    let p99 = points(steps(), |step| step.p99_database_read_ms);
    chart.add("database reads, p99", 2, mark, &p99);
    limits::database_read(&run.result).draw(chart, Some(0));
    limits::log_write(&run.result).draw(chart, Some(1));
}

/// Latency over the parts of a rate.
fn curve_chart(run: &Run, tuning: &TuningResult) -> Chart {
    let axis = HorizontalAxis::Number("held rate, IOPS".into());
    let mut chart = Chart::new("load-curve", "Response time against load", "ms", axis);
    chart.vertical = VerticalAxis::ByLimits;
    add_latencies(&mut chart, run, &tuning.curve);
    chart
}
