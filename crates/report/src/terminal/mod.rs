//! A run, or several, as text for a terminal of 80 columns or more.
//!
//! The text is the same with and without colour: no meaning depends on colour. `NO_COLOR`
//! and anything that is not a terminal get plain text.

mod draw;
mod fit;
mod style;

pub use style::Style;

use measure::grid::GridResult;
use measure::metric::Unit;
use measure::result::RunResult;

use crate::advice::advice;
use crate::comparison::{Comparison, Shown};
use crate::document::Document;
use crate::grid;
use crate::number::{bytes, count, duration, figure, limit, quantity};
use crate::run::Run;
use crate::table::{
    Detail, Table, checks_table, consistency_sentence, consistency_table, databases_table,
    demerit_table, grouped_checks_table, not_comparable, outages_table, replay_sentence,
    server_sentences, transactions_table, waits_table,
};
use crate::tone::Tone;
use crate::words::{headline, target_text, was_measured, workload_name};
use draw::Text;

/// Up to this many checks are listed one by one; more are grouped by service level.
const MOST_CHECKS: usize = 24;
/// Up to this many databases are listed one by one; more are left to the page.
const MOST_DATABASES: usize = 24;
/// Up to this many runs have their changes beside their values.
const MOST_RUNS_BESIDE: usize = 3;

/// The verdict, the checks, the databases and the findings.
#[must_use]
pub fn terminal(run: &Run, style: &Style) -> String {
    let result = &run.result;
    let mut text = Text::new(style);
    verdict(&mut text, result);
    facts(&mut text, result);
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
    databases(&mut text, result);
    replay(&mut text, result);
    server(&mut text, result);
    not_comparable(result)
        .iter()
        .for_each(|words| text.line(words));
    for error in result.errors.iter().take(5) {
        let page = error
            .page
            .map_or(String::new(), |page| format!(", page {}", count(page)));
        text.item(
            "error:",
            &format!("{}{page}: {}", error.file, error.error),
            Some(Tone::Fail),
        );
    }
    for warning in &result.warnings {
        text.item("warning:", warning, Some(Tone::Open));
    }
    let advice = advice(result);
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
    changes(&mut text, "Results", runs, |shown| {
        comparison.figures_table(shown)
    });
    changes(&mut text, "Transaction latency", runs, |shown| {
        comparison.transactions_table(shown)
    });
    comparison
        .not_comparable()
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
    text.table(&grid::grid_table(grid));
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

fn verdict(text: &mut Text, result: &RunResult) {
    let headline = headline(result);
    text.verdict(&headline, Tone::of_verdict(result.verdict));
}

fn facts(text: &mut Text, result: &RunResult) {
    let mut facts = vec![format!(
        "{} on {}",
        workload_name(result),
        target_text(result)
    )];
    if result.duration_s > 0.0 {
        facts.push(format!("measured for {}", duration(result.duration_s)));
    }
    let databases = result.databases.len();
    if databases > 0 {
        let noun = match (result.trace.is_some(), databases) {
            (false, 1) => "database",
            (false, _) => "databases",
            (true, 1) => "volume",
            (true, _) => "volumes",
        };
        let size = match result.totals.size_end_bytes {
            0 => String::new(),
            size => format!(", {}", bytes(size as f64)),
        };
        facts.push(format!("{} {noun}{size}", count(databases as u64)));
    }
    if !was_measured(result) {
        facts.push("nothing was measured".to_owned());
        text.line(&facts.join("; "));
        return;
    }
    let throughput = &result.throughput;
    if result.server.is_some() {
        let rate = throughput.operations_per_second;
        facts.push(quantity(rate, Unit::TransactionsPerSecond));
    }
    let half = throughput.achieved_half_width_iops;
    let half = half.map_or(String::new(), |half| format!(" (+- {})", figure(half)));
    let target = throughput.target_iops.map_or(String::new(), |target| {
        format!(", target {}", limit(target))
    });
    let achieved = quantity(throughput.achieved_iops, Unit::Iops);
    facts.push(format!("achieved {achieved}{half}{target}"));
    if let Some(threads) = throughput.threads {
        let noun = match (&result.trace, &result.server) {
            (Some(_), _) => " outstanding",
            (None, Some(_)) if threads == 1 => " user",
            (None, Some(_)) => " users",
            (None, None) if threads == 1 => " thread",
            (None, None) => " threads",
        };
        facts.push(format!("{}{noun}", count(threads)));
    }
    text.line(&facts.join("; "));
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

/// A run on a real database: transactions, wait events, downtime, and consistency checks that failed.
fn server(text: &mut Text, result: &RunResult) {
    let Some(server) = &result.server else {
        return;
    };
    let mut part = |title: &str, table: &Table| {
        if !table.is_empty() {
            text.head(title);
            text.table(table);
        }
    };
    part("Transactions", &transactions_table(result));
    part("Wait events", &waits_table(result));
    part("Downtime", &outages_table(result));
    if server.consistency_checks.iter().any(|check| !check.passed) {
        part("Consistency checks", &consistency_table(result));
    }
    text.head("Database server");
    for sentence in server_sentences(result) {
        text.line(&sentence);
    }
    consistency_sentence(server)
        .iter()
        .for_each(|sentence| text.line(sentence));
}

fn databases(text: &mut Text, result: &RunResult) {
    if !was_measured(result) {
        return;
    }
    let mut table: Table = databases_table(result, Detail::Short);
    if table.is_empty() {
        return;
    }
    text.head(if result.trace.is_some() {
        "Volumes"
    } else {
        "Databases"
    });
    let hidden = table.rows.len().saturating_sub(MOST_DATABASES);
    if hidden > 0 {
        table.rows.truncate(MOST_DATABASES);
    }
    text.table(&table);
    if hidden > 0 {
        text.line(&format!("{hidden} more are in report.html."));
    }
}

#[cfg(test)]
mod tests;
