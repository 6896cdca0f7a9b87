//! The first sections: result, sizes, parameters, databases.

use config::TimeSpan;
use measure::result::{CheckKind, RunKind, RunResult, TestKind, Verdict};
use serde_json::Value;

use super::{Part, figure, pair};
use crate::run::Run;
use crate::words::headline;

/// `Performance`, or `Stress` where the lenient limits hold.
pub(super) fn test_type(result: &RunResult) -> &'static str {
    if is_lenient(result) {
        "Stress"
    } else {
        "Performance"
    }
}

fn is_lenient(result: &RunResult) -> bool {
    if result.tests.contains(&TestKind::Stress) {
        return true;
    }
    let above = span(result, "service_levels.lenient_above");
    let planned = span(result, "run.duration");
    let planned_s = planned.unwrap_or(result.duration_s);
    above.is_some_and(|above_s| planned_s > above_s)
}

/// A span of time among the settings, in seconds.
fn span(result: &RunResult, path: &str) -> Option<f64> {
    let text = result.workload.settings.get(path)?.as_str()?;
    Some(TimeSpan::parse(text).ok()?.as_seconds())
}

/// Section 0: the outcome, and every level that was not met.
pub(super) fn summary(run: &Run) -> Part {
    let result = &run.result;
    // Jetstress knows two outcomes; what is not a pass must not be taken for one.
    let outcome = if result.verdict == Verdict::Pass {
        "Pass"
    } else {
        "Fail"
    };
    let measured = result.phases.iter().find(|phase| phase.is_measured());
    let last = result.phases.last();
    let ended = |phase: &measure::result::PhaseResult| moment(&phase.started, phase.duration_s);
    let mut rows = vec![
        pair("Overall Test Result", outcome),
        pair("Machine Name", &result.host.name),
        pair("Test Description", description(result)),
        pair("Test Start Time", moment(&result.started, 0.0)),
        pair("Test End Time", last.map_or(String::new(), ended)),
        pair(
            "Collection Start Time",
            measured.map_or(String::new(), |phase| moment(&phase.started, 0.0)),
        ),
        pair("Collection End Time", measured.map_or(String::new(), ended)),
        pair(
            "Jetstress Version",
            format!("none: written by Proofload {}", result.version),
        ),
        pair(
            "ESE Version",
            format!("none: the engine of Proofload {}", result.version),
        ),
        pair("Operating System", operating_system(result)),
        pair("Performance Log", "samples.csv"),
    ];
    rows.push(pair("Proofload Verdict", headline(run).word.to_string()));
    Part {
        title: "Test Summary".to_owned(),
        rows,
        lines: issues(result),
        ..Part::default()
    }
}

fn description(result: &RunResult) -> String {
    let workload = &result.workload;
    if workload.question.is_empty() {
        return workload.description.clone();
    }
    format!("{}; {}", workload.description, workload.question)
}

fn operating_system(result: &RunResult) -> String {
    if result.kind == RunKind::Prediction {
        return "none: a prediction on a modelled array".to_owned();
    }
    format!(
        "{} (Linux {})",
        result.host.operating_system, result.host.kernel
    )
}

/// Why the test has not passed, a line for each reason.
fn issues(result: &RunResult) -> Vec<String> {
    if result.verdict == Verdict::Pass {
        return Vec::new();
    }
    let mut lines: Vec<String> = result
        .failed_checks()
        .map(|check| {
            let what = if check.kind() == CheckKind::Integrity {
                "Error"
            } else {
                "Fail"
            };
            let value = check
                .value
                .map_or("-".to_owned(), |value| figure(Some(value)));
            format!(
                "{what} - {} of {} is {value}. {}",
                check.name, check.place, check.rule
            )
        })
        .collect();
    if lines.is_empty() {
        lines.push(format!("Fail - {}", result.verdict_reason));
    }
    lines
}

/// `7/17/2015 2:09:16 PM` in UTC, so many seconds after a moment.
pub(super) fn moment(started: &str, later_s: f64) -> String {
    let Ok(start) = started.parse::<jiff::Timestamp>() else {
        return String::new();
    };
    let later = jiff::SignedDuration::try_from_secs_f64(later_s).unwrap_or_default();
    let at = start.checked_add(later).unwrap_or(start);
    at.to_zoned(jiff::tz::TimeZone::UTC)
        .strftime("%-m/%-d/%Y %-I:%M:%S %p")
        .to_string()
}

/// Section 1. The scripts take its fourth row for the size in bytes.
pub(super) fn sizing(result: &RunResult) -> Part {
    let sum = |size: fn(&measure::result::DatabaseFigures) -> u64| {
        result
            .databases
            .iter()
            .map(|one| size(&one.figures))
            .sum::<u64>()
    };
    let target = result.throughput.target_iops.filter(|target| *target > 0.0);
    Part {
        title: "Database Sizing and Throughput".to_owned(),
        rows: vec![
            pair(
                "Achieved Transactional I/O per Second",
                figure(Some(result.throughput.achieved_iops)),
            ),
            pair(
                "Target Transactional I/O per Second",
                target.map_or(String::new(), |target| figure(Some(target))),
            ),
            pair(
                "Initial Database Size (bytes)",
                sum(|one| one.size_begin_bytes).to_string(),
            ),
            pair(
                "Final Database Size (bytes)",
                sum(|one| one.size_end_bytes).to_string(),
            ),
            pair("Database Files (Count)", result.databases.len().to_string()),
        ],
        ..Part::default()
    }
}

/// Section 2 of a Jetstress report: system and test parameters.
pub(super) fn parameters(result: &RunResult) -> Part {
    let setting = |path: &str| result.workload.settings.get(path);
    let number = |path: &str| setting(path).and_then(Value::as_f64);
    let percent = |path: &str| number(path).map_or(String::new(), |share| format!("{share}%"));
    let changes = ["insert", "delete", "replace", "scan"];
    let changes = changes
        .iter()
        .filter_map(|name| number(&format!("mail.mix.{name}_percent")));
    let reads = 100.0 - changes.sum::<f64>();
    let cache_text = |bytes: u64| format!("{:.1} MB", bytes as f64 / f64::from(1 << 20));
    let target = &result.target;
    let largest = target.engine_cache_bytes.map_or(String::new(), cache_text);
    let smallest = target
        .engine_cache_least_bytes
        .map_or_else(|| largest.clone(), cache_text);
    let backup = result.backup.as_ref();
    let has_load = result.has_measured_phase() || backup.is_some_and(|backup| backup.under_load);
    let threads = result.throughput.threads.filter(|_| has_load);
    let threads = threads.map_or(String::new(), |count| count.to_string());
    let of_recovery = !has_load && result.recovery.is_some();
    let maintenance = setting("maintenance.enabled").and_then(Value::as_bool);
    let maintenance = match of_recovery {
        true => setting("recovery.background_maintenance").and_then(Value::as_bool),
        false => maintenance,
    };
    let maintenance = if maintenance == Some(true) {
        "True"
    } else {
        "False"
    };
    Part {
        title: "Jetstress System Parameters".to_owned(),
        rows: vec![
            pair("Thread Count", threads),
            pair("Minimum Database Cache", smallest),
            pair("Maximum Database Cache", largest),
            pair("Insert Operations", percent("mail.mix.insert_percent")),
            pair("Delete Operations", percent("mail.mix.delete_percent")),
            pair("Replace Operations", percent("mail.mix.replace_percent")),
            pair("Read Operations", format!("{reads}%")),
            pair("Lazy Commits", percent("mail.mix.lazy_commit_percent")),
            pair("Run Background Database Maintenance", maintenance),
            pair(
                "Number of Copies per Database",
                number("mail.copies_per_database").map_or(String::new(), |count| count.to_string()),
            ),
        ],
        ..Part::default()
    }
}

/// What an instance is called: a process and its number.
pub(super) fn instance(index: usize) -> String {
    format!("Instance0001.{}", index + 1)
}

/// Section 3 of a Jetstress report: the databases.
pub(super) fn databases(result: &RunResult) -> Part {
    let row = |(index, database): (usize, &measure::result::DatabaseResult)| {
        let value = format!(
            "Log path: {}\nDatabase: {}",
            database.log_path, database.path
        );
        pair(&instance(index), value)
    };
    Part {
        title: "Database Configuration".to_owned(),
        rows: result.databases.iter().enumerate().map(row).collect(),
        ..Part::default()
    }
}
