//! Paper beside model: the value of a figure, its ratio, and whether it is inside the tolerance.

use std::collections::BTreeMap;

use serde::Serialize;

use super::description::{Aggregate, Bound, Comparison, Figure, Study};
use super::measures::{self, CaseResult, Measure};

/// How far a value may be from the published one, as a share of it.
pub const TOLERANCE: f64 = 0.15;

/// The results of a study's cases by name.
pub type Results = BTreeMap<String, CaseResult>;

/// A figure as it came out: what `study --json` prints, one object for each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedFigure {
    /// Name of the study.
    pub study: String,
    /// Number of the figure.
    pub figure: String,
    /// What it is of.
    pub configuration: String,
    /// Unit of `published`, `predicted` and `blind_predicted`.
    pub unit: String,
    /// The published value, in `unit`.
    pub published: f64,
    /// The predicted value; null when it cannot be modelled.
    pub predicted: Option<f64>,
    /// `predicted` / `published`; null also when the paper says zero.
    pub ratio: Option<f64>,
    /// Whether the prediction counts: there is one, and the publication does not contradict the figure.
    pub is_compared: bool,
    /// Whether the model is inside the tolerance, or on the right side of a bound. A figure that
    /// is not compared is not.
    pub within: bool,
    /// The value of the blind prediction.
    pub blind_predicted: Option<f64>,
    /// `blind_predicted` / `published`; null when either is missing or the paper says zero.
    pub blind_ratio: Option<f64>,
    /// What the figure is, how it is judged, and what is to be known of it.
    pub note: String,
}

impl JudgedFigure {
    /// Whether it does not count because its publication contradicts it.
    #[must_use]
    pub fn is_contradicted(&self) -> bool {
        self.predicted.is_some() && !self.is_compared
    }
}

/// Every figure of a study, in its order.
pub fn judge(name: &str, study: &Study, own: &Results, blind: &Results) -> Vec<JudgedFigure> {
    let figures = study.figure.iter();
    figures
        .map(|figure| {
            let model = model(figure, own);
            let blind_model = model_of(figure, blind);
            let is_compared = model.is_ok() && figure.not_comparable.is_none();
            JudgedFigure {
                study: name.to_owned(),
                figure: figure.id.clone(),
                configuration: figure.configuration.clone(),
                unit: figure.unit.clone(),
                published: figure.published,
                predicted: model.as_ref().ok().copied(),
                ratio: model.as_ref().ok().and_then(|value| ratio(figure, *value)),
                is_compared,
                within: is_compared && model.as_ref().is_ok_and(|value| is_within(figure, *value)),
                blind_predicted: blind_model,
                blind_ratio: blind_model.and_then(|value| ratio(figure, value)),
                note: note(figure, model.as_ref().err()),
            }
        })
        .collect()
}

/// The value, or why there is none.
fn model(figure: &Figure, results: &Results) -> Result<f64, String> {
    if let Some(reason) = &figure.not_modelled {
        return Err(format!("Not modelled: {reason}"));
    }
    model_of(figure, results).ok_or_else(|| "The predictions hold no such value.".to_owned())
}

/// What the predictions say of a figure; `None` when they say nothing.
fn model_of(figure: &Figure, results: &Results) -> Option<f64> {
    let measure = figure.measure?;
    // Measures of time are in milliseconds.
    let scale = if figure.unit == "us" { 1e3 } else { 1.0 };
    let value = |case: &String| {
        let found = measures::value(measure, results.get(case)?, &figure.group)?;
        Some(found * scale)
    };
    let (mut values, mut weights) = (Vec::new(), Vec::new());
    for (index, case) in figure.cases.iter().enumerate() {
        let own = value(case)?;
        let other = figure
            .baseline_cases
            .get(index)
            .or(figure.baseline_cases.first());
        if figure.aggregate == Aggregate::MeanByRequests {
            weights.push(measures::value(
                Measure::DatabaseIops,
                results.get(case)?,
                &[],
            )?);
        }
        values.push(match (figure.comparison, other) {
            (Some(relation), Some(other)) => compared(relation, own, value(other)?)?,
            _ => own,
        });
    }
    match figure.aggregate {
        Aggregate::Mean => Some(values.iter().sum::<f64>() / values.len() as f64),
        Aggregate::MeanByRequests => {
            let parts = values.iter().zip(&weights);
            let sum: f64 = parts.map(|(value, weight)| value * weight).sum();
            let all: f64 = weights.iter().sum();
            (all > 0.0).then(|| sum / all)
        }
        Aggregate::Least => values.into_iter().reduce(f64::min),
        Aggregate::Greatest => values.into_iter().reduce(f64::max),
    }
}

fn compared(relation: Comparison, own: f64, other: f64) -> Option<f64> {
    let value = match relation {
        Comparison::Times => own / other,
        Comparison::TimesLess => other / own,
        Comparison::GainPercent => 100.0 * (own / other - 1.0),
        Comparison::ReductionPercent => 100.0 * (1.0 - own / other),
        Comparison::Difference => own - other,
    };
    value.is_finite().then_some(value)
}

fn ratio(figure: &Figure, value: f64) -> Option<f64> {
    (figure.published != 0.0).then(|| value / figure.published)
}

/// Bounds are judged as bounds, zeros by their own tolerance, everything else by the common one.
fn is_within(figure: &Figure, value: f64) -> bool {
    match (figure.bound, figure.tolerance) {
        (Some(Bound::Upper), _) => value <= figure.published,
        (Some(Bound::Lower), _) => value >= figure.published,
        (None, Some(tolerance)) => (value - figure.published).abs() <= tolerance,
        (None, None) => (value / figure.published - 1.0).abs() <= TOLERANCE,
    }
}

fn note(figure: &Figure, missing: Option<&String>) -> String {
    let mut parts = vec![format!("{}.", figure.metric)];
    match (figure.bound, figure.tolerance) {
        (Some(Bound::Upper), _) => parts.push("The paper gives an upper bound.".to_owned()),
        (Some(Bound::Lower), _) => parts.push("The paper gives a lower bound.".to_owned()),
        (None, Some(tolerance)) => parts.push(format!(
            "Inside when it differs by at most {tolerance} {}.",
            figure.unit
        )),
        (None, None) => {}
    }
    parts.extend(missing.cloned());
    let contradiction = figure.not_comparable.as_ref();
    parts.extend(contradiction.map(|reason| format!("Not comparable: {reason}")));
    parts.extend(figure.note.clone());
    parts.join(" ")
}

#[cfg(test)]
mod tests;
