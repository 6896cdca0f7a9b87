//! Charts as inline SVG, drawn for both a light and a dark page.
//!
//! A [`Chart`] says what to show: lines over an axis, the limits they are held against, bands for
//! the phases of a run. [`Chart::draw`] turns it into a figure: title, key, drawing, and the same
//! values once more as data for the page's script, which gives the read-out under the pointer.
//! Without the script the figure is whole. Long lines are thinned ([`thin`]); peaks are kept.

mod data;
mod draw;
mod frame;
mod limits;
mod scale;
mod thin;

use std::borrow::Cow;

pub use scale::Scale;
pub use thin::{Point, thin};

/// One chart of a page.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Name of the element on the page, unique there: small letters, digits and `-`.
    pub identity: Cow<'static, str>,
    /// What is shown, as the head of the chart.
    pub title: String,
    /// The unit of the vertical axis.
    pub unit: Cow<'static, str>,
    /// What the horizontal axis stands for.
    pub horizontal: HorizontalAxis,
    /// Whether the vertical axis may switch to a logarithmic scale to hold lines and limits.
    pub vertical: VerticalAxis,
    /// The value at the top of a linear vertical axis, where there is a natural one.
    pub top: Option<f64>,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
    /// The limits drawn across the chart.
    pub limits: Vec<Limit>,
    /// Spans of the horizontal axis with a name.
    pub bands: Vec<Band>,
    /// Instants of the horizontal axis at which something happened.
    pub events: Vec<ChartEvent>,
    /// A sentence under the title.
    pub note: String,
    /// The head of an axis of elapsed time.
    pub since: &'static str,
}

/// The horizontal axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub enum HorizontalAxis {
    /// Elapsed seconds (see [`Chart::since`]). Charts of this kind share one crosshair on the page.
    Elapsed,
    /// A number with this name and unit, from zero.
    Number(Cow<'static, str>),
    /// Percentiles of a distribution.
    Percentile,
    /// Things side by side, by name.
    Names(Vec<String>),
}

/// The vertical axis of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerticalAxis {
    /// Evenly divided, from zero.
    Linear,
    /// Always logarithmic, so without zero.
    Logarithmic,
    /// Linear, unless the lines would lie flat on the ground under the lowest limit.
    ByLimits,
}

/// A line of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the key.
    pub name: String,
    /// Which of the page's eight colours.
    pub tone: usize,
    /// How it is drawn.
    pub mark: Mark,
    /// The points, ordered by their place on the horizontal axis; a `NaN` breaks the line.
    pub points: Vec<Point>,
}

/// How a series is drawn. Lines differ by more than colour, so that nobody needs to distinguish colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A full line through the points.
    Line,
    /// A thin dashed line, for a quantity that goes with another (a maximum, a percentile).
    Dashed,
    /// Separate dots, not joined by a line.
    Dots,
    /// Dots joined by a line, for few points.
    LineAndDots,
}

/// A limit drawn across a chart.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The label at the line.
    pub label: String,
    /// The value of the limit in the unit of the chart.
    pub value: f64,
    /// Which line of the chart is held against it, if it is one of several colours.
    pub tone: Option<usize>,
}

/// A named span of the horizontal axis.
#[derive(Clone, Debug)]
pub struct Band {
    /// What happened in the span.
    pub label: String,
    /// Whether it is the measured phase, which counts: the others are shaded.
    pub is_measured: bool,
    /// Where it starts, in the unit of the horizontal axis.
    pub from: f64,
    /// Where it ends, in the unit of the horizontal axis.
    pub to: f64,
}

/// An instant at which something happened.
#[derive(Clone, Debug)]
pub struct ChartEvent {
    /// What happened, as a sentence.
    pub label: String,
    /// When, in the unit of the horizontal axis.
    pub at: f64,
}

/// How many pairs of points a line keeps at most.
const BUCKETS: usize = 240;
/// No measurement has such a size in any unit used here; such a value is taken as not measured.
const PLAUSIBLE_MAX: f64 = 1e18;

impl Chart {
    /// A chart with no lines yet.
    #[must_use]
    pub fn new(
        identity: impl Into<Cow<'static, str>>,
        title: &str,
        unit: impl Into<Cow<'static, str>>,
        horizontal: HorizontalAxis,
    ) -> Self {
        Self {
            identity: identity.into(),
            title: title.to_string(),
            unit: unit.into(),
            horizontal,
            vertical: VerticalAxis::Linear,
            top: None,
            series: Vec::new(),
            limits: Vec::new(),
            bands: Vec::new(),
            events: Vec::new(),
            note: String::new(),
            since: "time since the start of the run",
        }
    }

    /// Adds a line, thinned to what the eye can see; a line without any value is left out.
    pub fn add(&mut self, name: &str, tone: usize, mark: Mark, points: &[Point]) {
        let is_plausible = |value: &f64| value.abs() < PLAUSIBLE_MAX;
        let points: Vec<Point> = points
            .iter()
            .filter(|point| is_plausible(&point.0))
            .map(|point| {
                (
                    point.0,
                    if is_plausible(&point.1) {
                        point.1
                    } else {
                        f64::NAN
                    },
                )
            })
            .collect();
        if points.iter().any(|point| point.1.is_finite()) {
            let points = thin(&points, BUCKETS);
            self.series.push(Series {
                name: name.to_string(),
                tone,
                mark,
                points,
            });
        }
    }

    /// Breaks every line at a place of the horizontal axis where nothing was measured.
    pub fn break_lines(&mut self, at: f64) {
        for series in &mut self.series {
            let after = series.points.partition_point(|point| point.0 <= at);
            if (1..series.points.len()).contains(&after) {
                series.points.insert(after, (at, f64::NAN));
            }
        }
    }

    /// Adds a limit; one that is not a number is left out.
    pub fn limit(&mut self, label: &str, value: f64, tone: Option<usize>) {
        if value.abs() < PLAUSIBLE_MAX {
            self.limits.push(Limit {
                label: label.to_string(),
                value,
                tone,
            });
        }
    }

    /// Whether there is anything to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Every measured point of every line.
    fn measured(&self) -> impl Iterator<Item = Point> + '_ {
        let all = self
            .series
            .iter()
            .flat_map(|series| series.points.iter().copied());
        all.filter(|point| point.0.is_finite() && point.1.is_finite())
    }

    /// The horizontal scale, wide enough for every point.
    fn horizontal_scale(&self) -> Scale {
        let highest = self
            .measured()
            .map(|point| point.0)
            .fold(f64::NEG_INFINITY, f64::max);
        let lowest = self
            .measured()
            .map(|point| point.0)
            .fold(f64::INFINITY, f64::min);
        match &self.horizontal {
            HorizontalAxis::Elapsed => {
                let low = self
                    .bands
                    .iter()
                    .map(|band| band.from)
                    .fold(lowest, f64::min)
                    .max(0.0);
                let start = if low < highest * 0.2 { 0.0 } else { low };
                Scale::elapsed(start, highest)
            }
            HorizontalAxis::Number(_) => Scale::from_zero(highest),
            HorizontalAxis::Percentile => {
                let nines = -(1.0 - highest.clamp(0.0, 99.999_999) / 100.0).log10();
                Scale::Percentile {
                    nines: nines.max(2.0),
                }
            }
            HorizontalAxis::Names(names) => Scale::Category { count: names.len() },
        }
    }

    /// The scale upwards, chosen so that the lines and the limits near them are visible.
    fn upright_scale(&self) -> Scale {
        let highest = self.measured().map(|point| point.1).fold(0.0, f64::max);
        let positive = self
            .measured()
            .map(|point| point.1)
            .filter(|value| *value > 0.0);
        let lowest = positive.fold(f64::INFINITY, f64::min);
        let first_limit = self
            .limits
            .iter()
            .map(|limit| limit.value)
            .fold(f64::INFINITY, f64::min);
        let flat = first_limit.is_finite() && highest > 0.0 && first_limit > highest * 8.0;
        let logarithmic = match self.vertical {
            VerticalAxis::Linear => false,
            VerticalAxis::Logarithmic => true,
            VerticalAxis::ByLimits => flat,
        };
        if logarithmic {
            let top = self
                .limits
                .iter()
                .map(|limit| limit.value)
                .fold(highest, f64::max);
            return Scale::logarithmic(lowest.max(highest / 1e6), top);
        }
        if let Some(high) = self.top.filter(|top| *top >= highest) {
            return Scale::Linear { low: 0.0, high };
        }
        let near = self.limits.iter().map(|limit| limit.value);
        let near = near.filter(|value| *value <= first_limit || *value <= highest * 2.0);
        Scale::from_zero(near.fold(highest, f64::max))
    }
}

#[cfg(test)]
mod tests;
