//! A run, or several, as text for a terminal of 80 columns or more.
//!
//! The text is the same with and without colour: no meaning depends on colour. `NO_COLOR`
//! and anything that is not a terminal get plain text.

mod diagnostics;
mod draw;
mod fit;
mod style;

pub use diagnostics::terminal_faults;
pub use style::Style;

use measure::display::{Medium, Section, Tile};
use measure::grid::GridResult;
use measure::metric::Unit;
use measure::result::{ErrorKind, RunResult};

use crate::advice::advice;
use crate::comparison::{Comparison, Shown};
use crate::document::Document;
use crate::grid;
use crate::number::{bytes, count, counted, duration, figure, in_column, limit, percent, quantity};
use crate::run::Run;
use crate::table::{
    Detail, Table, checks_table, databases_table, demerit_table, error_bars_sentence,
    error_bars_table, error_counts_table, grouped_checks_table, health_table, ranks_table,
    replay_sentence, short_steps_table, verification_table,
};
use crate::tone::Tone;
use crate::words::{
    databases_title, headline, io_driver, of_curve, place_noun, samples_of, target_text,
    was_measured, workload_name,
};
use draw::Text;

/// Up to this many checks are listed one by one; more are grouped by service level.
const MOST_CHECKS: usize = 24;
/// Up to this many rows of a table are listed, such as databases; more are left to the page.
const MOST_ROWS: usize = 24;
/// Up to this many errors are listed one by one.
const MOST_ERRORS: usize = 5;
/// Up to this many runs have their changes beside their values.
const MOST_RUNS_BESIDE: usize = 3;

/// The verdict, the checks, the databases and the findings.
#[must_use]
pub fn terminal(run: &Run, style: &Style) -> String {
    let result = &run.result;
    let mut text = Text::new(style);
    let own = &run.contribution;
    text.verdict(&headline(run), Tone::of_verdict(result.verdict));
    text.line(&facts(run).join("; "));
    if let Some(reason) = &run.result.host.io_driver_reason {
        text.item("I/O driver:", &format!("not io_uring: {reason}"), None);
    }
    if !result.checks.is_empty() {
        let few = result.checks.len() <= MOST_CHECKS;
        let table = if few {
            checks_table
        } else {
            grouped_checks_table
        };
        text.head("Service levels");
        text.table(&table(&result.checks));
    }
    error_bars(&mut text, result);
    ranks(&mut text, result);
    databases(&mut text, result);
    load_search(&mut text, result);
    replay(&mut text, result);
    for section in &own.sections {
        own_section(&mut text, section);
    }
    own.notice.iter().for_each(|words| text.line(words));
    errors(&mut text, result);
    verification(&mut text, result);
    device_messages(&mut text, result);
    for warning in &result.warnings {
        text.item("warning:", warning, Some(Tone::Open));
    }
    let advice = advice(run);
    if !advice.is_empty() {
        text.head("Findings");
        for (index, advice) in advice.iter().enumerate() {
            text.item(
                &format!("{}.", index + 1),
                &format!("{}. {}", advice.title, advice.text),
                None,
            );
        }
    }
    text.finish()
}

/// The error bars of a prediction on a calibrated array.
fn error_bars(text: &mut Text, result: &RunResult) {
    let table = error_bars_table(result);
    if !table.is_empty() {
        text.head("Error bars of the calibration");
        text.table(&table);
        text.line(&error_bars_sentence(result));
    }
}

/// The first errors one by one, without failed consistency checks (what they found is the reason of the
/// verdict), and all of them by class.
fn errors(text: &mut Text, result: &RunResult) {
    let listed = result.errors.iter().take(MOST_ERRORS);
    for error in listed.filter(|error| error.kind != ErrorKind::Inconsistent) {
        let page = error
            .page
            .map_or(String::new(), |page| format!(", page {}", count(page)));
        let times = match error.times {
            0 | 1 => String::new(),
            times => format!(" (met {} times)", count(times)),
        };
        text.item(
            "error:",
            &format!("{}{page}: {}{times}", error.file, error.error),
            Some(Tone::Fail),
        );
    }
    let more = result.error_count().saturating_sub(MOST_ERRORS as u64);
    if more > 0 {
        text.line(&format!(
            "{} more errors are in report.html or counted there.",
            count(more)
        ));
    }
    let table = error_counts_table(result);
    if !table.is_empty() {
        text.head("Errors by class");
        text.table(&table);
    }
}

/// The steps by which the load was found, and the response times at parts of it.
fn load_search(text: &mut Text, result: &RunResult) {
    let Some(tuning) = &result.tuning else {
        return;
    };
    let parts = [
        ("Search for the load", &tuning.steps),
        ("Response time against load", &tuning.curve),
    ];
    for (head, steps) in parts.iter().filter(|(_, steps)| !steps.is_empty()) {
        text.head(head);
        text.table(&short_steps_table(steps));
    }
    if !tuning.curve.is_empty() {
        text.line(&of_curve(tuning));
    }
}

/// The kernel's messages about the devices, and what has changed of their health.
fn device_messages(text: &mut Text, result: &RunResult) {
    let host = &result.host;
    for message in host.kernel_messages.iter().take(MOST_ERRORS) {
        text.item("kernel:", &message.text, Some(Tone::Open));
    }
    let shown = host.kernel_messages.len().min(MOST_ERRORS) as u64;
    let more = host.kernel_messages.len() as u64 + host.more_kernel_messages - shown;
    if more > 0 {
        text.line(&format!(
            "{} more messages of the kernel are in report.html.",
            count(more)
        ));
    }
    let table = health_table(result, true);
    if !table.is_empty() {
        text.head("Health of the devices, what has changed");
        text.table(&table);
    }
}

/// What was read after the run.
fn verification(text: &mut Text, result: &RunResult) {
    let table = verification_table(result);
    if !table.is_empty() {
        text.head("Verification after the run");
        first_rows(text, table);
    }
}

/// Several runs side by side: the settings that differ, the results.
#[must_use]
pub fn terminal_comparison(runs: &[Run], style: &Style) -> String {
    let comparison = Comparison::new(runs);
    let mut text = Text::new(style);
    text.head("Runs");
    text.table(&comparison.runs_table());
    text.head("Settings that differ");
    let settings = comparison.settings_table();
    if settings.is_empty() {
        text.line("All settings are the same.");
    } else {
        text.table(&settings);
    }
    for sentence in comparison.unlike() {
        text.item("note:", &sentence, Some(Tone::Open));
    }
    changes(&mut text, "Results", runs, |shown| {
        comparison.figures_table(shown)
    });
    changes(&mut text, &comparison.operations_title(), runs, |shown| {
        comparison.operations_table(shown)
    });
    comparison
        .notice()
        .iter()
        .for_each(|words| text.line(words));
    text.finish()
}

/// The values of all runs with their changes beside them, or below them where there are many runs.
fn changes(text: &mut Text, title: &str, runs: &[Run], table: impl Fn(Shown) -> Table) {
    let is_beside = runs.len() <= MOST_RUNS_BESIDE;
    let values = table(if is_beside {
        Shown::Both
    } else {
        Shown::Values
    });
    if values.is_empty() {
        return;
    }
    text.head(title);
    text.table(&values);
    if !is_beside {
        text.head("Changes against the first run");
        text.table(&table(Shown::Changes));
    }
}

/// Any other document, without its charts.
#[must_use]
pub fn terminal_document(document: &Document, style: &Style) -> String {
    let mut text = Text::new(style);
    text.head(&document.title);
    for section in &document.sections {
        if !section.head.is_empty() {
            text.head(&section.head);
        }
        for paragraph in &section.paragraphs {
            text.line(paragraph);
        }
        if let Some(table) = &section.table {
            text.table(table);
        }
    }
    text.finish()
}

/// Many predictions: the table, why points did not pass, the answers.
#[must_use]
pub fn terminal_grid(grid: &GridResult, style: &Style) -> String {
    let mut text = Text::new(style);
    text.head(&grid::title(grid));
    text.table(&grid::grid_table(grid, Detail::Short));
    let reasons = grid::reasons(grid);
    if !reasons.is_empty() {
        text.head("Points that do not pass");
        for (name, reason) in reasons.iter().take(MOST_CHECKS) {
            text.item(&format!("{name}:"), reason, None);
        }
        if reasons.len() > MOST_CHECKS {
            text.line(&format!(
                "{} more are in report.html.",
                reasons.len() - MOST_CHECKS
            ));
        }
    }
    let warnings = grid::warnings(grid);
    if !warnings.is_empty() {
        text.head("Notes on the figures");
        for (names, warning) in warnings.iter().take(MOST_CHECKS) {
            text.item(&format!("{names}:"), warning, Some(Tone::Open));
        }
    }
    text.head("Answer");
    for answer in &grid.answers {
        let of: Vec<String> = answer
            .of
            .iter()
            .map(|(k, v)| format!("{k}={v}: "))
            .collect();
        text.line(&format!("{}{}", of.join(""), answer.sentence));
    }
    text.line(&grid.summary);
    text.finish()
}

/// What was run on what, for how long, and the rates that were reached.
pub(crate) fn facts(run: &Run) -> Vec<String> {
    let result = &run.result;
    let mut facts = vec![format!(
        "{} on {}",
        workload_name(result),
        target_text(result)
    )];
    if result.duration_s > 0.0 {
        let measured = duration(result.duration_s);
        facts.push(format!("measured for {measured}, {}", samples_of(result)));
    }
    let databases = result.databases.len();
    if databases > 0 {
        let size = match result.totals.size_end_bytes {
            0 => String::new(),
            size => format!(", {}", bytes(size as f64)),
        };
        facts.push(counted(databases as u64, place_noun(result)) + &size);
    }
    if !was_measured(result) {
        if result.has_measured_phase() {
            facts.push("nothing was measured".to_owned());
        }
        facts.extend(run.contribution.tiles.iter().map(tile));
        return facts;
    }
    let throughput = &result.throughput;
    let tiles = run.contribution.tiles.iter();
    facts.extend(tiles.map(tile));
    let half = throughput.achieved_half_width_iops;
    let half = half.map_or(String::new(), |half| {
        format!(" \u{b1} {} (95 % CI)", figure(half))
    });
    let target = throughput.target_iops.map_or(String::new(), |target| {
        format!(", target {}", limit(target))
    });
    let achieved = quantity(throughput.achieved_iops, Unit::Iops);
    facts.push(format!("achieved {achieved}{half}{target}"));
    facts.extend(all_io(result));
    if let Some(threads) = throughput.threads {
        facts.push(match result.trace {
            Some(_) => format!("{} outstanding", count(threads)),
            None => counted(threads, run.contribution.words.client),
        });
    }
    facts.extend(io_driver(&result.host).map(|name| format!("I/O driver {name}")));
    facts
}

/// All requests, what they move, and the share of reads: `all I/O 950 IOPS, 31.0 MiB/s, database I/O
/// 61.2 % reads`.
fn all_io(result: &RunResult) -> Option<String> {
    let totals = &result.totals;
    let share = totals.read_fraction()?;
    (result.trace.is_none()).then(|| {
        format!(
            "all I/O {}, {}, database I/O {} % reads",
            quantity(totals.all_per_second(), Unit::Iops),
            quantity(totals.all_bytes_per_second(), Unit::BytesPerSecond),
            percent(share)
        )
    })
}

/// A figure of the workload with its name: `228 business transactions/s`.
fn tile(own: &Tile) -> String {
    let value = in_column(own.value, own.unit);
    let name = own.name.to_lowercase();
    match own.short_unit.strip_prefix('/') {
        Some(unit) => format!("{value} {name}/{unit}"),
        None => format!("{name} {value} {}", own.short_unit)
            .trim_end()
            .to_owned(),
    }
}

fn replay(text: &mut Text, result: &RunResult) {
    if result.trace.is_none() {
        return;
    }
    text.line(&replay_sentence(result));
    let table = demerit_table(result);
    if !table.is_empty() {
        text.head("Model and measurement");
        text.table(&table);
    }
}

/// A section that the workload brings: its tables, then its sentences.
fn own_section(text: &mut Text, section: &Section) {
    for part in &section.parts {
        if part.medium != Medium::Page && !part.table.is_empty() {
            text.head(part.title);
            match part.medium {
                Medium::Terminal => text.table(&part.table),
                _ => first_rows(text, part.table.clone()),
            }
        }
    }
    text.head(section.title);
    for sentence in &section.sentences {
        text.line(sentence);
    }
}

/// The processes of a run on several hosts.
fn ranks(text: &mut Text, result: &RunResult) {
    let table = ranks_table(result, Detail::Short);
    if table.is_empty() {
        return;
    }
    text.head("Ranks");
    first_rows(text, table);
}

/// A table with a row for each database, rank or the like; what is not shown is counted.
fn first_rows(text: &mut Text, mut table: Table) {
    let hidden = table.rows.len().saturating_sub(MOST_ROWS);
    table.rows.truncate(MOST_ROWS);
    text.table(&table);
    if hidden > 0 {
        text.line(&format!("{hidden} more are in report.html."));
    }
}

fn databases(text: &mut Text, result: &RunResult) {
    if !was_measured(result) {
        return;
    }
    let table = databases_table(result, Detail::Short);
    if table.is_empty() {
        return;
    }
    text.head(databases_title(result));
    first_rows(text, table);
}

#[cfg(test)]
mod tests;
