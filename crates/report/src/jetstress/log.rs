//! The test log: lines of a time and a text.

use measure::result::{PhaseResult, RunResult};
use serde_json::Value;

use super::summary::{instance, moment};
use super::{Part, figure};
use crate::run::Run;
use crate::words::samples_of;

/// Lines that a log shows of the kernel's messages.
const MOST_MESSAGES: usize = 50;

/// Section 9 of a Jetstress report: the test log.
pub(super) fn test_log(run: &Run) -> Part {
    let result = &run.result;
    let measured = result.phases.iter().find(|phase| phase.is_measured());
    let (begin, end) = measured.map_or((result.started.as_str(), result.duration_s), |phase| {
        (phase.started.as_str(), phase.duration_s)
    });
    let mut lines = vec![line(
        &result.started,
        0.0,
        &format!("Preparing for testing ({})", result.workload.name),
    )];
    lines.extend(
        result
            .phases
            .iter()
            .filter(|phase| !phase.is_measured())
            .map(phase_line),
    );
    if measured.is_some() {
        lines.push(line(begin, 0.0, &thresholds(result)));
        lines.push(line(begin, 0.0, &mix(result)));
        let interval_ms = (result.samples.interval_s * 1000.0).round();
        let logging = format!("Performance logging started (interval: {interval_ms} ms)");
        lines.push(line(begin, 0.0, &logging));
        lines.push(line(begin, end, "Performance logging ended"));
        let samples = format!("Measured: {}, which are in samples.csv", samples_of(result));
        lines.push(line(begin, end, &samples));
        lines.extend(latencies(result).iter().map(|text| line(begin, end, text)));
    }
    lines.extend(messages(result));
    // The last phases have checked what the load has left, so the verdict comes after them.
    let phases = result.phases.iter();
    let ends = phases.map(|phase| line(&phase.started, phase.duration_s, ""));
    let ended = ends.max().unwrap_or_else(|| line(begin, end, ""));
    let verdict = format!("Result: {}. {}", result.verdict, result.verdict_reason);
    lines.push((ended.0, ended.1 + &verdict));
    lines.sort_by_key(|(at_ns, _)| *at_ns);
    Part {
        title: "Test Log".to_owned(),
        lines: lines.into_iter().map(|(_, text)| text).collect(),
        ..Part::default()
    }
}

/// A line with the time for its order.
fn line(started: &str, later_s: f64, text: &str) -> (i128, String) {
    let start: jiff::Timestamp = started.parse().unwrap_or_default();
    let at_ns = start.as_nanosecond() + (later_s * 1e9) as i128;
    (at_ns, format!("{} -- {text}", moment(started, later_s)))
}

fn phase_line(phase: &PhaseResult) -> (i128, String) {
    let text = format!(
        "Phase {} ({} s)",
        phase.name,
        figure(Some(phase.duration_s))
    );
    line(&phase.started, 0.0, &text)
}

/// A setting in the words of the profile.
fn shown(result: &RunResult, path: &str) -> String {
    match result.workload.settings.get(path) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "?".to_owned(),
    }
}

fn thresholds(result: &RunResult) -> String {
    let level = |name: &str| shown(result, &format!("service_levels.{name}"));
    format!(
        "Database read latency thresholds: (average: {}, maximum: {} strict, {} lenient); log write latency \
         thresholds: (average: {}, maximum: {} strict, {} lenient)",
        level("average_database_read"),
        level("maximum_database_read_strict"),
        level("maximum_database_read_lenient"),
        level("average_log_write"),
        level("maximum_log_write_strict"),
        level("maximum_log_write_lenient"),
    )
}

fn mix(result: &RunResult) -> String {
    let share = |name: &str| shown(result, &format!("mail.mix.{name}_percent"));
    let threads = result
        .throughput
        .threads
        .map_or("?".to_owned(), |count| count.to_string());
    format!(
        "Operation mix: Sessions {threads}, Inserts {}%, Deletes {}%, Replaces {}%, Scans {}%, Lazy Commits {}%",
        share("insert"),
        share("delete"),
        share("replace"),
        share("scan"),
        share("lazy_commit"),
    )
}

/// The averages that decide, by instance.
fn latencies(result: &RunResult) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, database) in result.databases.iter().enumerate() {
        let figures = &database.figures;
        for (io, counter) in [
            (&figures.reads, "I/O Database Reads Average Latency"),
            (&figures.log_writes, "I/O Log Writes Average Latency"),
        ] {
            let average = figure(io.latency.map(|latency| latency.average_ms));
            lines.push(format!(
                "{} ({}) has {average} for {counter}",
                instance(index),
                database.path
            ));
        }
    }
    lines
}

/// What the kernel has reported of the devices, and the errors of the run.
fn messages(result: &RunResult) -> Vec<(i128, String)> {
    let kernel = result.host.kernel_messages.iter().map(|one| {
        let text = format!("Kernel ({}): {}", one.level, one.text);
        line(&result.started, one.at_s, &text)
    });
    let errors = result.errors.iter().map(|one| {
        let text = format!("Error in {}: {}", one.file, one.error);
        line(&result.started, one.at_s, &text)
    });
    kernel
        .take(MOST_MESSAGES)
        .chain(errors.take(MOST_MESSAGES))
        .collect()
}
