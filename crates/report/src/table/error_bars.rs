//! What the calibration of a modelled array leaves open.

use measure::metric::{IoMetric, Stream, Unit};
use measure::result::{CalibrationResult, FigureBar, RunResult};

use super::{Cell, Column, Table};
use crate::number::{count, percent, quantity};

/// The error bars: the levels first, then figures of all databases together; empty for an array that was not
/// calibrated.
#[must_use]
pub fn error_bars_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("figure"),
        Column::text("where"),
        Column::number("best", "set"),
        Column::number("90 %", "from"),
        Column::number("90 %", "to"),
        Column::number("limit met", "% of values"),
    ]);
    let Some(calibration) = &result.calibration else {
        return table;
    };
    for check in &result.checks {
        let Some(bar) = calibration.of_level(check) else {
            continue;
        };
        let shown = |value| Cell::new(quantity(value, check.unit));
        table.push(vec![
            Cell::new(check.name.clone()),
            Cell::new(check.place.clone()),
            check.value.map_or_else(|| Cell::new(""), shown),
            shown(bar.low),
            shown(bar.high),
            Cell::new(percent(bar.met_fraction)).notable_when(bar.leaves_open(check)),
        ]);
    }
    for bar in &calibration.figures {
        let unit = unit(bar);
        let shown = |value| Cell::new(quantity(value, unit));
        table.push(vec![
            Cell::new(name(bar)),
            Cell::new("all"),
            shown(bar.value),
            shown(bar.low),
            shown(bar.high),
            Cell::new(""),
        ]);
    }
    table
}

/// What the bars are made of, as a sentence; empty for an array that was not calibrated.
#[must_use]
pub fn error_bars_sentence(result: &RunResult) -> String {
    let sentence = |calibration: &CalibrationResult| {
        format!(
            "The array was calibrated: the same was predicted with {} parameter sets that explain what was \
             measured on it, and each value was changed by the errors of the tests that took no part in the fit.",
            count(calibration.parameter_sets)
        )
    };
    let calibration = result.calibration.as_ref();
    calibration.map_or_else(String::new, sentence)
}

fn unit(bar: &FigureBar) -> Unit {
    let metrics = [IoMetric::Average, IoMetric::P99, IoMetric::Rate];
    let mut metrics = metrics.into_iter();
    let metric = metrics.find(|metric| metric.id() == bar.figure);
    metric.map_or(Unit::Count, IoMetric::unit)
}

fn name(bar: &FigureBar) -> String {
    let mut streams = Stream::ALL.into_iter();
    let stream = streams.find(|stream| stream.column() == bar.stream);
    let metrics = [IoMetric::Average, IoMetric::P99];
    let metric = metrics.into_iter().find(|metric| metric.id() == bar.figure);
    match (stream, metric) {
        (Some(stream), Some(metric)) => format!("{}, {}", stream.label(), metric.label()),
        _ => "reads and writes".to_owned(),
    }
}
