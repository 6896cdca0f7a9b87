//! The page of many predictions side by side.

use maud::{Markup, html};
use measure::grid::GridResult;
use measure::result::Verdict;

use super::{charts, page, tables, verdict};
use crate::grid::{grid_charts, grid_table, reasons, title, warnings};
use crate::number::{duration, moment};
use crate::table::Detail;
use crate::tone::Tone;

/// The answers, the table, the charts, and why points did not pass.
#[must_use]
pub fn html_grid(grid: &GridResult) -> String {
    let title = title(grid);
    let top = html! {
        span { (grid.workload) " on " (grid.array) }
        @if !grid.started.is_empty() { span { "started " (moment(&grid.started)) } }
    };
    let (reasons, warnings) = (reasons(grid), warnings(grid));
    let body = html! {
        (banner(grid, &title))
        @if grid.answers.len() > 1 {
            h2 { "Answers" }
            ul.plain { @for answer in &grid.answers { li {
                @for (key, value) in &answer.of { b { (key) "=" (value) ": " } }
                (answer.sentence)
            } } }
        }
        (charts("Charts", &grid_charts(grid)))
        h2 { "Points" }
        (tables::table(&grid_table(grid, Detail::Full)))
        p.quiet {
            "Computed in " (duration(grid.wall_seconds)) ". Values after \u{b1} are half-widths of 95 % \
             confidence intervals by batch means. Each point has its own report: "
            @for (index, point) in grid.points.iter().enumerate() {
                @if index > 0 { "; " }
                @if point.verdict.is_some() {
                    a href=(format!("{}/report.html", point.directory)) { (point.name) }
                } @else { (point.name) }
            }
            "."
        }
        @if !reasons.is_empty() {
            h2 { "Points that do not pass" }
            dl.facts { @for (name, reason) in &reasons { dt { (name) } dd { (reason) } } }
        }
        @if !warnings.is_empty() {
            h2 { "Notes on the figures" }
            dl.facts { @for (names, warning) in &warnings { dt { (names) } dd { (warning) } } }
        }
    };
    page(&title, &top, &body, &grid.version)
}

/// The answer in a coloured frame; with several answers how many points pass.
fn banner(grid: &GridResult, title: &str) -> Markup {
    let tone = match grid.exit_status {
        0 => Tone::Pass,
        status if status == Verdict::Fail.exit_status() => Tone::Fail,
        status if status == Verdict::Error.exit_status() => Tone::Fail,
        _ => Tone::Open,
    };
    let sentence = match grid.answers.as_slice() {
        [only] => &only.sentence,
        _ => &grid.summary,
    };
    html! {
        section class={ "verdict " (tone.class()) } {
            (verdict::sign(tone))
            div { span.word { (title) } h1 { (sentence) }
                @if grid.answers.len() == 1 { p { (grid.summary) } }
            }
        }
    }
}
