//! The report as one HTML file that needs nothing but itself.
//!
//! The style sheet and the script for the read-outs are built in; a policy in the head of the page
//! forbids the browser to fetch anything. Everything that comes from a run is escaped.

mod array;
mod events;
mod grid;
mod replay;
mod run_charts;
mod sections;
mod tables;
mod tuning;
mod verdict;

pub use grid::html_grid;
pub use verdict::{Tile, tiles};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::advice::advice;
use crate::chart::Chart;
use crate::comparison::{Comparison, Shown, comparison_charts};
use crate::document::Document;
use crate::run::Run;
use crate::words::{headline, target_text, workload_name};

/// The look of the page.
const STYLE: &str = include_str!("style.css");
/// The read-out of the charts.
const SCRIPT: &str = include_str!("charts.js");
/// Nothing is fetched from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The report of one run.
#[must_use]
pub fn html(run: &Run) -> String {
    let result = &run.result;
    let own = &run.contribution;
    let advice = advice(run);
    let title = format!("{}: {}", headline(run).word, workload_name(result));
    let top = html! {
        span { (workload_name(result)) " on " (target_text(result)) }
        @if !result.started.is_empty() { span { "started " (crate::number::moment(&result.started)) } }
        @if !result.host.name.is_empty() { span { "on host " (result.host.name) } }
    };
    let body = html! {
        (verdict::banner(run))
        (verdict::drawn_tiles(run))
        (sections::troubles(result))
        (sections::ranks(result))
        (tables::checks(result))
        (sections::error_bars(result))
        @if !advice.is_empty() {
            h2 id="findings" { "Findings" }
            ol.advice {
                @for advice in &advice {
                    li id={ "finding-" (advice.id.0) } { b { (advice.title) } p { (with_commands(&advice.text)) } }
                }
            }
        }
        (replay::section(result))
        @for section in &own.sections { (sections::own(section)) }
        @if let Some(words) = own.notice { p.quiet { (words) } }
        (events::section(result))
        (charts("Charts", &run_charts::charts(run)))
        (array::section(run))
        (sections::databases(result))
        (sections::verification(result))
        (sections::device_messages(result))
        @if !own.shows_operations { (sections::operations(result)) }
        (tuning::tuning(run))
        (sections::steadiness(result))
        (sections::host(result))
        (sections::phases(result))
        (sections::configuration(result))
    };
    page(&title, &top, &body, &result.version)
}

/// The charts of a report: of the run, and of the modelled array if there is one.
#[must_use]
pub fn run_charts(run: &Run) -> Vec<Chart> {
    let mut charts = run_charts::charts(run);
    let array = run.result.array.iter();
    charts.extend(array.flat_map(|array| array::array_charts(run, array)));
    charts
}

/// Several runs side by side; the first is the base of every change.
#[must_use]
pub fn html_comparison(runs: &[Run]) -> String {
    let comparison = Comparison::new(runs);
    let settings = comparison.settings_table();
    let operations = comparison.operations_table(Shown::Both);
    let title = format!("Comparison of {} runs", runs.len());
    let body = html! {
        h1.lone { (title) }
        h2 { "Runs" }
        (tables::table(&comparison.runs_table()))
        h2 { "Settings that differ" }
        @if settings.is_empty() {
            p { "All settings are the same." }
        } @else {
            (tables::table(&settings))
            p.quiet { "All other settings are the same in all runs." }
        }
        h2 { "Results" }
        @for sentence in comparison.unlike() { p.caution { (sentence) } }
        (tables::table(&comparison.figures_table(Shown::Both)))
        p.quiet { "Changes are against " (comparison.names().first().map_or("", String::as_str))
            ", the first run; \u{b1} is the 95 % confidence interval." }
        @if !operations.is_empty() {
            h2 { (comparison.operations_title()) }
            (tables::table(&operations))
        }
        @if let Some(words) = comparison.notice() { p.quiet { (words) } }
        (charts("Charts", &comparison_charts(&comparison)))
        h2 { "Service levels" }
        @for (run, name) in runs.iter().zip(comparison.names()) {
            h3 { (name) ": " (headline(run).sentence) }
            (tables::grouped_checks(&run.result))
        }
    };
    page(
        &title,
        &html! {},
        &body,
        runs.first().map_or("", |run| run.result.version.as_str()),
    )
}

/// Any other document as a page.
#[must_use]
pub fn html_document(document: &Document) -> String {
    let body = html! {
        h1.lone { (document.title) }
        @for section in &document.sections {
            @if !section.head.is_empty() { h2 { (section.head) } }
            @for text in &section.paragraphs { p { (with_commands(text)) } }
            @if let Some(table) = &section.table { (tables::table(table)) }
            (charts("", &section.charts))
        }
    };
    page(&document.title, &html! {}, &body, &document.version)
}

/// Text in which what stands between backticks is a command.
fn with_commands(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index.is_multiple_of(2) { (with_options(part)) } @else { code { (part) } }
        }
    }
}

/// Text in which options such as `--threads` are not broken at their hyphens.
fn with_options(text: &str) -> Markup {
    html! {
        @for word in text.split_inclusive(' ') {
            @if word.trim_start_matches('(').starts_with("--") {
                span.option { (word.trim_end()) } " "
            } @else { (word) }
        }
    }
}

/// A section of charts; nothing when there are none.
fn charts(title: &str, charts: &[Chart]) -> Markup {
    if charts.is_empty() {
        return html! {};
    }
    html! {
        @if !title.is_empty() { h2 { (title) } }
        div.charts { @for chart in charts { (chart.draw()) } }
    }
}

fn page(title: &str, top: &Markup, body: &Markup, version: &str) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) " - Proofload" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header.top { b { "Proofload" } (top) }
                main {
                    (body)
                    footer {
                        "Written by Proofload"
                        @if !version.is_empty() { " " (version) }
                        ". This file is complete: it needs no network and no other file."
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}
