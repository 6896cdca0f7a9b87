//! The top of a report: the verdict and the few numbers that people ask for first.

use maud::{Markup, html};
use measure::result::{CheckKind, RunResult, Scope};

use crate::limits::is_percentile;
use crate::number::{bytes, count, duration, figure, limit, percent};
use crate::tone::Tone;
use crate::words::headline;

/// The verdict in a coloured frame, with a sign and a word.
pub(super) fn banner(result: &RunResult) -> Markup {
    let headline = headline(result);
    let tone = Tone::of_verdict(result.verdict);
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

/// The few numbers that people ask for first.
pub(super) fn tiles(result: &RunResult) -> Markup {
    let throughput = &result.throughput;
    let target = match (throughput.target_iops, throughput.achieved_fraction) {
        (Some(target), Some(share)) => {
            format!("{}, {}", share_of_target(share), limit(target))
        }
        (Some(target), None) => format!("target {}", limit(target)),
        _ => "no target: the maximum was looked for".to_string(),
    };
    let samples = match result.samples.count {
        0 => "no samples".to_string(),
        1 => format!("one sample of {}", duration(result.samples.interval_s)),
        samples => format!(
            "{} samples of {}",
            count(samples),
            duration(result.samples.interval_s)
        ),
    };
    let half = throughput.achieved_half_width_iops;
    let rate = with_half_width(throughput.achieved_iops, half);
    let read = worst_average(result, Scope::Database);
    let log = worst_average(result, Scope::Log);
    html! {
        ul.tiles {
            @if let Some(server) = &result.server {
                (tile("Transactions", &figure(throughput.operations_per_second), "1/s",
                    &held_back(&server.held_back_by)))
            }
            (tile("Transactional I/O", &rate, "1/s", &target))
            (tile("Database reads, average", &read.0, "ms", &read.1))
            (tile("Log writes, average", &log.0, "ms", &log.1))
            (tile("Measured", &duration(result.duration_s), "", &samples))
            (tile("Databases", &count(result.databases.len() as u64), "", &sizes(result)))
        }
    }
}

/// What held the transactions back, in few words.
fn held_back(by: &str) -> String {
    match by {
        "storage" => "held back by storage".to_owned(),
        "locks" => "held back by each other".to_owned(),
        "processor" => "held back by processors".to_owned(),
        "outage" => "held back by times without service".to_owned(),
        "nothing" => "held back by nothing".to_owned(),
        _ => String::new(),
    }
}

/// Beyond ten times the target nobody needs digits.
fn share_of_target(share: f64) -> String {
    if share > 10.0 {
        "more than 10 times the target".to_string()
    } else {
        format!("{} % of the target", percent(share))
    }
}

fn tile(name: &str, value: &str, unit: &str, beside: &str) -> Markup {
    html! {
        li {
            span.name { (name) }
            span.value { (value) @if !unit.is_empty() { span.unit { " " (unit) } } }
            span.beside { (beside) }
        }
    }
}

fn sizes(result: &RunResult) -> String {
    let size = bytes(result.totals.size_end_bytes as f64);
    let noun = match (&result.server, result.throughput.threads) {
        (Some(_), Some(1)) => "user",
        (Some(_), _) => "users",
        (None, Some(1)) => "thread",
        (None, _) => "threads",
    };
    match result.throughput.threads {
        Some(threads) => format!("{size}, {} {noun}", count(threads)),
        None => size,
    }
}

/// The average latency of the worst place, and its limit.
fn worst_average(result: &RunResult, scope: Scope) -> (String, String) {
    let checks = result.checks.iter().filter(|check| {
        check.kind == CheckKind::Latency
            && check.scope == scope
            && check.unit == "ms"
            && !is_percentile(check)
    });
    let worst = checks
        .filter_map(|check| Some((check.value.filter(|value| value.is_finite())?, check)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((value, check)) = worst {
        let whose = match result.databases.len() {
            0 | 1 => String::new(),
            _ => format!(", worst: {}", check.place),
        };
        return (
            with_half_width(value, half_width(result, scope, &check.place)),
            format!("limit {} ms{whose}", limit(check.limit)),
        );
    }
    let figures = match scope {
        Scope::Log => &result.totals.log_writes,
        _ => &result.totals.reads,
    };
    let average = figures
        .latency
        .map_or(f64::NAN, |latency| latency.average_ms);
    (figure(average), "not judged".to_string())
}

/// Half-width of the confidence interval of the average of a place.
fn half_width(result: &RunResult, scope: Scope, place: &str) -> Option<f64> {
    let database = result.databases.iter().find(|one| one.name == place)?;
    let figures = match scope {
        Scope::Log => &database.log_writes,
        _ => &database.reads,
    };
    figures.latency?.average_half_width_ms
}

/// A value with the half-width of its confidence interval, where there is one.
fn with_half_width(value: f64, half_width: Option<f64>) -> String {
    match half_width.filter(|half| half.is_finite()) {
        Some(half) => format!("{} \u{b1} {}", figure(value), figure(half)),
        None => figure(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_above_the_target_no_digits_are_told() {
        assert_eq!(share_of_target(0.9512), "95.1 % of the target");
        assert_eq!(share_of_target(9.5), "950 % of the target");
        assert_eq!(share_of_target(34_103.9), "more than 10 times the target");
    }
}
