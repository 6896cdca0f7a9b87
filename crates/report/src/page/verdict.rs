//! The top of a report: the verdict and the few numbers that people ask for first.

use maud::{Markup, html};
use measure::metric::Stream;
use measure::metric::{IoMetric, Unit};
use measure::result::{CheckId, RunKind, RunResult};

use crate::number::{
    ABSENT, bounded, bytes, count, counted, duration, figure, in_column, latency, latency_beside,
    latency_or_absent, percent, quantity,
};
use crate::run::Run;
use crate::tone::Tone;
use crate::words::{headline, samples_of};

/// The verdict in a coloured frame, with a sign and a word.
pub(super) fn banner(run: &Run) -> Markup {
    let headline = headline(run);
    let tone = Tone::of_verdict(run.result.verdict);
    html! {
        section class={ "verdict " (tone.class()) } {
            (sign(tone))
            div {
                span.word { (headline.word) }
                h1 { (headline.sentence) }
                @if !headline.reason.is_empty() { p { (headline.reason) } }
            }
        }
    }
}

/// A tick, a cross or a question mark in a circle.
pub(super) fn sign(tone: Tone) -> Markup {
    html! {
        svg.sign viewBox="0 0 64 64" aria-hidden="true" {
            circle cx="32" cy="32" r="28" {}
            @match tone {
                Tone::Pass => path d="M19 33l9 10 17-21" {},
                Tone::Fail => path d="M22 22l20 20M42 22l-20 20" {},
                Tone::Open => path d="M24 26c0-11 17-11 17 0 0 7-9 7-9 13M32 47v.5" {},
            }
        }
    }
}

/// One of the few numbers that people ask for first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tile {
    /// What it is.
    pub name: String,
    /// The number as it is written.
    pub value: String,
    /// Its unit where the number is written without; may be empty.
    pub unit: &'static str,
    /// What the number is held against, or is made of; may be empty.
    pub beside: String,
}

/// The few numbers that people ask for first.
#[must_use]
pub fn tiles(run: &Run) -> Vec<Tile> {
    let result = &run.result;
    let throughput = &result.throughput;
    let target = match (throughput.target_iops, throughput.achieved_fraction) {
        (Some(target), Some(share)) => share_of_target(share, target),
        (Some(target), None) => format!("target {}", bounded(target, Unit::Iops)),
        _ => "no target".to_string(),
    };
    let samples = samples_of(result);
    let half = throughput.achieved_half_width_iops;
    let target = interval(half.map(figure)) + &target;
    let read = worst_average(result, Stream::DatabaseRead);
    let log = worst_average(result, Stream::LogWrite);
    let databases = count(result.databases.len() as u64);
    let achieved = figure(throughput.achieved_iops);
    let lasted = duration(result.duration_s);
    let own = run.contribution.tiles.iter();
    let own = own.map(|own| {
        tile(
            own.name,
            &in_column(own.value, own.unit),
            own.short_unit,
            &own.beside,
        )
    });
    let mut tiles: Vec<Tile> = own.collect();
    if !result.kind.is_of_workload() {
        let verb = if result.kind == RunKind::Trace {
            "Replayed"
        } else {
            "Served"
        };
        tiles.extend([
            tile("Reads and writes", &achieved, "IOPS", ""),
            plain_average("Read latency, average", result, Stream::DatabaseRead),
            plain_average("Write latency, average", result, Stream::DatabaseWrite),
            tile(verb, &lasted, "", &samples),
            tile("Volumes", &databases, "", ""),
        ]);
    } else if !result.has_measured_phase() {
        tiles.push(tile("Databases", &databases, "", &sizes(run)));
    } else {
        let all = figure(result.totals.all_per_second());
        tiles.extend([
            tile("Transactional I/O", &achieved, "IOPS", &target),
            tile("Database read latency, average", &read.0, "", &read.1),
            tile("Log write latency, average", &log.0, "", &log.1),
            tile("All I/O", &all, "IOPS", &all_io(result)),
            tile("Measured phase", &lasted, "", &samples),
            tile("Databases", &databases, "", &sizes(run)),
        ]);
    }
    tiles
}

/// The tiles on the page.
pub(super) fn drawn_tiles(run: &Run) -> Markup {
    html! {
        ul.tiles {
            @for tile in tiles(run) {
                li {
                    span.name { (tile.name) }
                    span.value { (tile.value) @if !tile.unit.is_empty() { span.unit { " " (tile.unit) } } }
                    span.beside { (tile.beside) }
                }
            }
        }
    }
}

/// What all requests move, and the share of reads in database I/O.
fn all_io(result: &RunResult) -> String {
    let moved = quantity(result.totals.all_bytes_per_second(), Unit::BytesPerSecond);
    match result.totals.read_fraction() {
        Some(share) => format!("{moved}; database I/O {} % reads", percent(share)),
        None => moved,
    }
}

/// An average latency that no service level limits, with its p99.
fn plain_average(name: &str, result: &RunResult, stream: Stream) -> Tile {
    let figures = result.totals.stream(stream);
    let average = latency_or_absent(figures.get(IoMetric::Average));
    let p99 = figures.get(IoMetric::P99);
    let beside = p99.map_or_else(String::new, |p99| format!("p99 {}", latency(p99)));
    tile(name, &average, "", &beside)
}

/// The achieved rate against its target: in percent, far beyond it as a multiple.
fn share_of_target(share: f64, target: f64) -> String {
    let target = bounded(target, Unit::Iops);
    if share > 10.0 {
        format!("{} x the target of {target}", figure(share))
    } else {
        format!("{} % of the target of {target}", percent(share))
    }
}

fn tile(name: &str, value: &str, unit: &'static str, beside: &str) -> Tile {
    Tile {
        name: name.to_owned(),
        value: value.to_owned(),
        unit,
        beside: beside.to_owned(),
    }
}

fn sizes(run: &Run) -> String {
    let result = &run.result;
    let size = bytes(result.totals.size_end_bytes as f64);
    match result.throughput.threads {
        Some(clients) => format!(
            "{size}, {}",
            counted(clients, run.contribution.words.client)
        ),
        None => size,
    }
}

/// The average latency of the worst place, and its limit.
fn worst_average(result: &RunResult, stream: Stream) -> (String, String) {
    let level = match stream {
        Stream::LogWrite => CheckId::LogWriteAverage,
        _ => CheckId::DatabaseReadAverage,
    };
    let checks = result.checks.iter().filter(|check| check.id == level);
    let worst = checks
        .filter_map(|check| Some((check.value.filter(|value| value.is_finite())?, check)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((value, check)) = worst {
        let whose = match result.databases.len() {
            0 | 1 => String::new(),
            _ => format!(", worst: {}", check.place),
        };
        return (
            latency(value),
            interval(
                half_width(result, stream, &check.place).map(|half| latency_beside(half, value)),
            ) + &format!("limit {}{whose}", bounded(check.limit, check.unit)),
        );
    }
    let average = result.totals.stream(stream).get(IoMetric::Average);
    (latency_or_absent(average), "not judged".to_string())
}

/// Half-width of the confidence interval of the average of a place.
fn half_width(result: &RunResult, stream: Stream, place: &str) -> Option<f64> {
    let database = result.databases.iter().find(|one| one.name == place)?;
    database.figures.stream(stream).get(IoMetric::HalfWidth)
}

/// The half-width of a confidence interval before further text, where there is one.
fn interval(half_width: Option<String>) -> String {
    let known = half_width.filter(|half| half != ABSENT);
    known.map_or_else(String::new, |half| format!("\u{b1} {half} (95 % CI); "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_beyond_the_target_the_share_is_a_multiple() {
        assert_eq!(
            share_of_target(0.9512, 880.0),
            "95.1 % of the target of 880 IOPS"
        );
        assert_eq!(share_of_target(9.5, 10.0), "950 % of the target of 10 IOPS");
        assert_eq!(
            share_of_target(10.0, 10.0),
            "1,000 % of the target of 10 IOPS"
        );
        assert_eq!(share_of_target(448.9, 10.0), "449 x the target of 10 IOPS");
    }
}
