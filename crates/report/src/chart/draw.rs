//! The drawing itself. Colours, weights and fonts live in the page's style sheet.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

use super::frame::{BOTTOM, Frame, HEIGHT, LEFT, RIGHT, TOP, WIDTH, short, tone};
use super::{Band, Chart, HorizontalAxis, Mark, Point, Scale, Series, data, limits};

/// Lines with at most this many points show every point.
const FEW_POINTS: usize = 30;

impl Chart {
    /// The chart as a figure; nothing at all when there is nothing to draw.
    #[must_use]
    pub fn draw(&self) -> Markup {
        if self.is_empty() {
            return html! {};
        }
        let frame = Frame {
            horizontal: self.horizontal_scale(),
            vertical: self.upright_scale(),
        };
        let logarithmic = matches!(frame.vertical, Scale::Logarithmic { .. });
        let group = if self.horizontal == HorizontalAxis::Elapsed {
            "elapsed"
        } else {
            &*self.identity
        };
        html! {
            figure.chart id=(self.identity) data-group=(group) tabindex="0" {
                figcaption {
                    span.chart-title { (self.title) }
                    span.chart-unit { (self.unit) @if logarithmic { ", logarithmic" } }
                    @if !self.note.is_empty() { span.chart-note { (self.note) } }
                }
                (self.key())
                div.plot {
                    svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
                        aria-label=(self.spoken()) {
                        (self.draw_bands(frame))
                        (self.draw_axes(frame))
                        @for series in &self.series { (draw_series(series, frame)) }
                        (limits::draw(&self.limits, frame))
                        (self.draw_moments(frame))
                        g.cursor {}
                    }
                    div.readout hidden {}
                }
                script type="application/json" {
                    (PreEscaped(data::embedded(self, frame.horizontal, frame.vertical)))
                }
            }
        }
    }

    /// What a reader of screens says of the drawing.
    fn spoken(&self) -> String {
        let names: Vec<&str> = self
            .series
            .iter()
            .map(|series| series.name.as_str())
            .collect();
        let mut text = format!("{} in {}: {}.", self.title, self.unit, names.join(", "));
        for limit in &self.limits {
            let _ = write!(text, " {}.", limit.label);
        }
        text
    }

    /// The key: one entry for each line, with a swatch of its colour and dash.
    fn key(&self) -> Markup {
        html! {
            ul.key {
                @for series in &self.series {
                    li {
                        svg.swatch viewBox="0 0 18 8" aria-hidden="true" {
                            @let class = class_of(series);
                            @if series.mark == Mark::Dots {
                                circle class=(class) cx="9" cy="4" r="3.2" {}
                            } @else {
                                path class=(class) d="M0 4H18" {}
                            }
                        }
                        (series.name)
                    }
                }
            }
        }
    }

    fn draw_bands(&self, frame: Frame) -> Markup {
        let bands = self.bands.iter().filter(|band| band.to > band.from);
        html! {
            @for (index, band) in bands.enumerate() {
                @let (from, to) = (frame.x(band.from), frame.x(band.to));
                @if to - from > 0.5 {
                    @let class = class_of_band(band, index);
                    rect class=(class) x=(short(from)) y=(short(TOP))
                        width=(short(to - from)) height=(short(BOTTOM - TOP)) {
                        title { (band.label) }
                    }
                    @if !band.is_measured && to - from > 6.2 * letters(&band.label) {
                        text.band-label x=(short(from + 4.0)) y=(short(TOP + 10.0)) {
                            (band.label)
                        }
                    }
                }
            }
        }
    }

    /// A line upwards at each instant, with a number at its head; what happened is its title.
    fn draw_moments(&self, frame: Frame) -> Markup {
        html! {
            @for (index, moment) in self.events.iter().enumerate() {
                @let x = frame.x(moment.at);
                @if (LEFT..=RIGHT).contains(&x) {
                    g.event {
                        title { (moment.label) }
                        path d=(format!("M{x:.1} {TOP}V{BOTTOM}")) {}
                        text x=(short(x + 2.0)) y=(short(TOP + 8.0)) { (index + 1) }
                    }
                }
            }
        }
    }

    fn draw_axes(&self, frame: Frame) -> Markup {
        let horizontal = frame
            .horizontal
            .marks(if self.horizontal == HorizontalAxis::Elapsed {
                6
            } else {
                8
            });
        let head = match &self.horizontal {
            HorizontalAxis::Elapsed => self.since,
            HorizontalAxis::Number(name) => name,
            HorizontalAxis::Percentile => "percentile of the requests",
            HorizontalAxis::Names(_) => "",
        };
        html! {
            g.grid {
                @for (value, label) in frame.vertical.marks(5) {
                    @let y = frame.y(value);
                    path d=(format!("M{LEFT} {y:.1}H{RIGHT}")) {}
                    text.vertical x=(short(LEFT - 6.0)) y=(short(y + 3.8)) { (label) }
                }
                @for (value, label) in horizontal {
                    @let x = frame.x(value);
                    path d=(format!("M{x:.1} {BOTTOM}v4")) {}
                    text class=(anchor(x)) x=(short(x)) y=(short(BOTTOM + 17.0)) {
                        (self.mark_name(value, label))
                    }
                }
                path.ground d=(format!("M{LEFT} {BOTTOM}H{RIGHT}")) {}
                text.head x=(short(f64::midpoint(LEFT, RIGHT))) y=(short(HEIGHT - 6.0)) { (head) }
            }
        }
    }

    /// Marks of things side by side are their names, when those are few and short.
    fn mark_name(&self, value: f64, label: String) -> String {
        if let HorizontalAxis::Names(names) = &self.horizontal {
            let room = 78 / names.len().max(1);
            let fits = names.iter().all(|name| name.chars().count() <= room);
            if let (true, Some(name)) = (fits, names.get(value as usize)) {
                return name.clone();
            }
        }
        label
    }
}

fn class_of_band(band: &Band, index: usize) -> &'static str {
    match (band.is_measured, index.is_multiple_of(2)) {
        (true, _) => "band measured",
        (_, true) => "band",
        (_, false) => "band other",
    }
}

fn letters(text: &str) -> f64 {
    text.chars().count() as f64
}

/// Labels at the ends of the axis keep inside the drawing.
fn anchor(x: f64) -> &'static str {
    if x > RIGHT - 18.0 {
        "horizontal end"
    } else {
        "horizontal"
    }
}

fn class_of(series: &Series) -> String {
    let mark = match series.mark {
        Mark::Line | Mark::LineAndDots => "line",
        Mark::Dashed => "line dashed",
        Mark::Dots => "dot",
    };
    format!("{mark} tone-{}", tone(series.tone))
}

fn draw_series(series: &Series, frame: Frame) -> Markup {
    let placed: Vec<Point> = series
        .points
        .iter()
        .map(|(x, y)| {
            (
                frame.x(*x),
                if y.is_finite() { frame.y(*y) } else { f64::NAN },
            )
        })
        .collect();
    let few = series.points.len() <= FEW_POINTS;
    let dots = series.mark == Mark::Dots
        || series.mark == Mark::LineAndDots
        || (few && series.mark == Mark::Line);
    html! {
        @if series.mark != Mark::Dots {
            path class=(class_of(series)) d=(outline(&placed)) {}
        }
        @if dots {
            @let class = format!("dot tone-{}", tone(series.tone));
            @for (x, y) in placed.iter().filter(|point| point.1.is_finite()) {
                circle class=(class) cx=(short(*x)) cy=(short(*y)) r="2.6" {}
            }
        }
    }
}

/// The path through the points; a gap begins a new line.
fn outline(points: &[Point]) -> String {
    let mut path = String::with_capacity(points.len() * 12);
    let mut down = false;
    for (x, y) in points {
        if !y.is_finite() {
            down = false;
            continue;
        }
        let _ = write!(
            path,
            "{}{} {}",
            if down { 'L' } else { 'M' },
            short(*x),
            short(*y)
        );
        down = true;
    }
    path
}
