//! The page of one run: reliability, performance, limits, deviations, evidence.

use measure::headline::of_tests;
use measure::metric::{IoMetric, Stream, Unit};
use measure::recompute::Agreement;
use measure::result::{Bound, IoFigures, RunResult, ServerResult, VerifiedDatabase, WitnessResult};
use measure::run_directory::{HISTOGRAMS_FILE, SAMPLES_FILE};
use measure::service_level::describe_counts;

use super::shared::heading;
use super::{Block, CertifiedRun, Fact, Grid, figures, texts};
use crate::number::{
    ABSENT, beside_limit, bounded, bytes, count, counted, figure, latency_or_absent, quantity,
};
use crate::table::{check_groups, is_of_mix, mix_group};
use crate::words::{samples_of, was_measured, workload_name};

/// Service levels that are listed at most: those of a brokerage, and some more.
const MOST_LEVELS: usize = 20;

/// Deviations that are listed at most.
const MOST_DEVIATIONS: usize = 8;

/// Letters of a remark that are shown at most.
const LONGEST_REMARK: usize = 420;

/// Begin of the settings that are limits.
const LIMITS: &str = "service_levels.";

/// Errors, what was read back, and what was measured.
pub(super) fn results(one: &CertifiedRun) -> Vec<Block> {
    let result = &one.run.result;
    let mut blocks = vec![
        heading("Reliability and data integrity"),
        Block::Facts(integrity(result)),
        heading("Storage performance"),
    ];
    let tests = of_tests(result);
    if was_measured(result) {
        blocks.push(Block::Table(performance(result)));
    } else if tests.is_empty() {
        blocks.push(Block::Text("Nothing was measured.".to_owned()));
    }
    if !tests.is_empty() {
        blocks.push(Block::Facts(vec![Fact::wide("Backup, recovery", tests)]));
    }
    blocks
}

/// The limits with the figures that decided, what was out of the ordinary, and how it can be verified.
pub(super) fn judgement(one: &CertifiedRun) -> Vec<Block> {
    vec![
        heading("Service levels: limits and deciding figures"),
        Block::Table(levels(&one.run.result)),
        heading("Deviations"),
        Block::List(deviations(one)),
        heading("Evidence"),
        Block::Facts(evidence(one)),
    ]
}

fn integrity(result: &RunResult) -> Vec<Fact> {
    let errors = match result.error_count() {
        0 => "none in any phase".to_owned(),
        errors => format!(
            "{}: {}",
            count(errors),
            describe_counts(&result.error_counts)
        ),
    };
    let mut facts = vec![Fact::wide("I/O errors, bad pages", errors)];
    facts.extend(result.witness.as_ref().map(witness));
    if let Some(server) = &result.server {
        facts.push(consistency(server));
    }
    let Some(verification) = &result.verification else {
        if result.server.is_none() {
            let none = "The databases were not verified after the run.";
            facts.push(Fact::wide("Pages read back", none));
        }
        return facts;
    };
    let sum = |part: fn(&VerifiedDatabase) -> u64| -> u64 {
        verification.databases.iter().map(part).sum()
    };
    let pages = sum(|one| one.pages);
    let read = format!(
        "{} ({}) of {} read after the run; every checksum, page number and version compared",
        counted(pages, "page"),
        bytes(sum(|one| one.bytes) as f64),
        counted(verification.databases.len() as u64, "database"),
    );
    facts.push(Fact::wide("Pages verified", read));
    let written = sum(|one| one.pages_written.unwrap_or(0));
    if written > 0 {
        let back = sum(|one| one.pages_read_back.unwrap_or(0));
        facts.push(Fact::wide(
            "Pages read back",
            format!(
                "{} of {} that the run has written were read back from the device ({} %)",
                count(back),
                counted(written, "page"),
                figure(100.0 * back as f64 / written as f64)
            ),
        ));
    }
    if !verification.not_verified.is_empty() {
        facts.push(Fact::wide("Not verified", &verification.not_verified));
    }
    facts
}

/// What the witness has of the run.
fn witness(witness: &WitnessResult) -> Fact {
    let text = match (witness.acknowledged, witness.missed) {
        (Some(all), Some(missed)) => format!(
            "acknowledged {}, missed {}; run {}",
            counted(all, "transaction"),
            count(missed),
            witness.run
        ),
        _ => format!("run {}; it is not known what it has", witness.run),
    };
    Fact::wide("Witness", text)
}

/// The consistency checks of a database after the run.
fn consistency(server: &ServerResult) -> Fact {
    let checks = &server.consistency_checks;
    let passed = checks.iter().filter(|check| check.passed).count();
    let text = match checks.len() {
        0 => "The database was not checked after the run.".to_owned(),
        all => format!("{passed} of {all} passed on the database after the run"),
    };
    Fact::wide("Consistency checks", text)
}

/// The rows of the published results: database disks, then log disks.
fn performance(result: &RunResult) -> Grid {
    let totals = &result.totals;
    let row = |name: &str, figures: &IoFigures| {
        let rate = figures.per_second;
        vec![
            name.to_owned(),
            figure(rate),
            quantity(rate * figures.average_bytes, Unit::BytesPerSecond),
            latency_or_absent(figures.get(IoMetric::Average)),
            latency_or_absent(figures.get(IoMetric::P99)),
            latency_or_absent(figures.get(IoMetric::Max)),
        ]
    };
    let both = totals.reads.bytes + totals.writes.bytes;
    let both_per_second = match result.duration_s {
        seconds if seconds > 0.0 => both as f64 / seconds,
        _ => 0.0,
    };
    let mut rows = vec![vec![
        "Database transfers (transactional I/O)".to_owned(),
        figure(result.throughput.achieved_iops),
        quantity(both_per_second, Unit::BytesPerSecond),
        ABSENT.to_owned(),
        ABSENT.to_owned(),
        ABSENT.to_owned(),
    ]];
    rows.push(row("Database reads", totals.stream(Stream::DatabaseRead)));
    rows.push(row("Database writes", totals.stream(Stream::DatabaseWrite)));
    rows.push(row("Log writes", totals.stream(Stream::LogWrite)));
    for (name, stream) in [
        ("Log replication reads", Stream::LogRead),
        ("Database maintenance reads", Stream::MaintenanceRead),
    ] {
        if totals.stream(stream).count > 0 {
            rows.push(row(name, totals.stream(stream)));
        }
    }
    Grid {
        columns: vec![
            texts("All databases, measured phase", 0.38),
            figures("per second", 0.12),
            figures("throughput", 0.15),
            figures("average", 0.12),
            figures("p99", 0.11),
            figures("max", 0.12),
        ],
        rows,
    }
}

fn levels(result: &RunResult) -> Grid {
    let groups = check_groups(&result.checks);
    let single = groups.iter().filter(|group| !is_of_mix(group.worst()));
    let mix = mix_group(&result.checks);
    let mut all: Vec<_> = single.chain(mix.as_ref()).collect();
    if all.len() > MOST_LEVELS {
        // What did not pass is never left out for lack of space.
        all.sort_by_key(|group| group.not_passed() == 0);
    }
    let mut rows: Vec<Vec<String>> = all
        .iter()
        .take(MOST_LEVELS)
        .map(|group| {
            let check = group.worst();
            let sign = match check.bound {
                Bound::AtMost => "at most",
                Bound::AtLeast => "at least",
            };
            let value = check.value.filter(|value| value.is_finite());
            vec![
                check.name.clone(),
                group.place(),
                format!("{sign} {}", bounded(check.limit, check.unit)),
                value.map_or_else(
                    || ABSENT.to_owned(),
                    |value| beside_limit(value, check.limit, check.unit),
                ),
                group.tone().word().to_owned(),
            ]
        })
        .collect();
    if all.len() > MOST_LEVELS {
        let more = (all.len() - MOST_LEVELS) as u64;
        let mut row = vec![String::new(); 5];
        row[0] = format!("and {} in result.json", counted(more, "level"));
        rows.push(row);
    }
    Grid {
        columns: vec![
            texts("Service level", 0.3),
            texts("Where", 0.24),
            figures("Limit", 0.18),
            figures("Deciding value", 0.16),
            texts("Result", 0.12),
        ],
        rows,
    }
}

fn deviations(one: &CertifiedRun) -> Vec<String> {
    let result = &one.run.result;
    let mut lines = Vec::new();
    if one.verified.agreement() == Agreement::None {
        let differences = counted(one.verified.differences.count, "difference");
        lines.push(format!(
            "Files of the run were changed after it ({differences}); --unverified was given."
        ));
    }
    let (limits, others) = settings(one);
    lines.push(others);
    lines.extend(one.verified.not_verified.iter().cloned());
    lines.extend(result.warnings.iter().cloned());
    let more = lines.len().saturating_sub(MOST_DEVIATIONS);
    lines.truncate(MOST_DEVIATIONS);
    if more > 0 {
        lines.push(format!("{more} further remarks are in report.html."));
    }
    let lines = lines.iter().map(|line| shortened(line));
    // Limits decide the answer, so they stand in full.
    limits.into_iter().chain(lines).collect()
}

/// Which limits and which other settings are not those of the profile.
fn settings(one: &CertifiedRun) -> (Option<String>, String) {
    let name = workload_name(&one.run.result);
    let Some(changed) = &one.deviations else {
        let others = format!("{name} is no bundled profile: all its settings are in config.toml.");
        return (None, others);
    };
    let listed = |of_limits: bool| {
        let changed = changed
            .iter()
            .filter(move |one| one.setting.contains(LIMITS) == of_limits);
        changed
            .map(|one| format!("{} = {} ({})", one.setting, one.of_run, one.of_profile))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let limits = match listed(true).as_str() {
        "" => format!("All limits are those of the profile {name}."),
        limits => format!("Limits that differ from the profile {name} (its value): {limits}."),
    };
    let others = match listed(false).as_str() {
        "" => format!("All other settings are those of the profile {name}."),
        others => format!("Settings that differ from the profile {name} (its value): {others}."),
    };
    (Some(limits), others)
}

fn shortened(line: &str) -> String {
    if line.chars().count() <= LONGEST_REMARK {
        return line.to_owned();
    }
    let kept: String = line.chars().take(LONGEST_REMARK).collect();
    format!("{kept}... (in full in the run directory)")
}

fn evidence(one: &CertifiedRun) -> Vec<Fact> {
    let (result, verified) = (&one.run.result, &one.verified);
    let hash = |file: &str| {
        let found = result.files.iter().find(|hash| hash.file == file);
        found.map_or_else(|| "not recorded".to_owned(), |hash| hash.sha256.clone())
    };
    let document = match verified.document_sha256.as_str() {
        "" => "not recorded",
        hash => hash,
    };
    let answer = match verified.agreement() {
        Agreement::Whole => "recomputed, agrees",
        Agreement::Partial => "recomputed in part, agrees",
        Agreement::None => "CHANGED after the run",
    };
    vec![
        Fact::new("Run directory", &one.run.name),
        Fact::new("Seed", result.seed.to_string()),
        Fact::new("Samples", measure::units::sentence(&samples_of(result))),
        Fact::new("Verified", answer),
        Fact::code("SHA-256, result.json", document),
        Fact::code("SHA-256, samples.csv", hash(SAMPLES_FILE)),
        Fact::code("SHA-256, histograms", hash(HISTOGRAMS_FILE)),
    ]
}
