//! Tables on the page, and the service levels with their rules.

use maud::{Markup, html};
use measure::result::{Bound, Check, RunResult};

use super::verdict::sign;
use crate::number::{figure, figure_or_absent};
use crate::table::{Cell, CheckGroup, Column, Table, check_groups, grouped_checks_table};
use crate::tone::Tone;

/// More places than this are folded away under the worst one.
const MOST_PLACES: usize = 6;

/// A table in a card.
pub(super) fn table(table: &Table) -> Markup {
    html! {
        div.card {
            table {
                thead { tr { @for column in &table.columns { (head(column)) } } }
                tbody { @for cells in &table.rows { (row(table, cells)) } }
                @if !table.sums.is_empty() { tfoot { (row(table, &table.sums)) } }
            }
        }
    }
}

fn head(column: &Column) -> Markup {
    html! {
        th.number[column.numeric] scope="col" {
            (column.head)
            @if !column.unit.is_empty() { span.unit { (column.unit) } }
        }
    }
}

fn row(table: &Table, cells: &[Cell]) -> Markup {
    html! {
        tr {
            @for (index, (column, cell)) in table.columns.iter().zip(cells).enumerate() {
                @if index == 0 && !column.numeric {
                    th scope="row" { (cell.text) }
                } @else if let Some(tone) = cell.tone {
                    td { (mark(tone, &cell.text)) }
                } @else {
                    td.number[column.numeric].over[cell.notable] {
                        (cell.text)
                        @if cell.notable { span title="beyond its limit" { " !" } }
                    }
                }
            }
        }
    }
}

/// Pass or fail as sign and word.
fn mark(tone: Tone, word: &str) -> Markup {
    html! { span class={ "mark " (tone.class()) } { (sign(tone)) (word) } }
}

/// The service levels, each with its rule in words.
pub(super) fn checks(result: &RunResult) -> Markup {
    let groups = check_groups(&result.checks);
    html! {
        h2 id="checks" { "Service levels" }
        @if groups.is_empty() {
            p { "No service level was judged." }
        } @else {
            div.card {
                table {
                    thead {
                        tr {
                            th scope="col" { "service level and rule" }
                            th scope="col" { "where" }
                            th.number scope="col" { "limit" }
                            th.number scope="col" { "measured" }
                            th scope="col" { "unit" }
                            th scope="col" { "share of the limit" }
                            th scope="col" { "result" }
                        }
                    }
                    @for group in &groups { (check_rows(group)) }
                }
            }
            @for group in groups.iter().filter(|group| group.checks.len() > MOST_PLACES) {
                details {
                    summary { (group.worst().name) ": all " (group.checks.len()) " places" }
                    (table(&crate::table::checks_table(&owned(group))))
                }
            }
        }
    }
}

fn owned(group: &CheckGroup) -> Vec<Check> {
    group.checks.iter().map(|check| (*check).clone()).collect()
}

/// The rows of one service level: each place, or the worst one for many.
fn check_rows(group: &CheckGroup) -> Markup {
    let many = group.checks.len() > MOST_PLACES;
    let worst = group.worst();
    let first = group.checks[0];
    html! {
        tbody {
            @if many {
                (check_row(worst, &group.place(), group.tone(), Some(first), 1))
            } @else {
                @for (index, check) in group.checks.iter().enumerate() {
                    @let named = (index == 0).then_some(first);
                    (check_row(check, &check.place, Tone::of_check(check), named,
                        group.checks.len()))
                }
            }
        }
    }
}

fn check_row(check: &Check, place: &str, tone: Tone, named: Option<&Check>, rows: usize) -> Markup {
    html! {
        tr {
            @if let Some(first) = named {
                th scope="rowgroup" rowspan=(rows) {
                    (first.name)
                    @if !first.rule.is_empty() { div.rule { (first.rule) } }
                }
            }
            td { (place) }
            td.number { (check.bound.sign()) " " (figure(check.limit)) }
            td.number.over[tone == Tone::Fail] { (figure_or_absent(check.value)) }
            td { (check.unit) }
            td { (meter(check, tone)) }
            td { (mark(tone, tone.word())) }
        }
    }
}

/// A bar from zero to the value, with a line at the limit.
fn meter(check: &Check, tone: Tone) -> Markup {
    const WIDTH: f64 = 130.0;
    let value = check
        .value
        .filter(|value| value.is_finite() && *value >= 0.0);
    let Some(value) = value.filter(|_| check.limit.is_finite() && check.limit > 0.0) else {
        return html! {};
    };
    let share = value / check.limit;
    let full = 1.35;
    let bar = (share / full).min(1.0) * WIDTH;
    let bound = WIDTH / full;
    let side = if check.bound == Bound::AtMost {
        "at most"
    } else {
        "at least"
    };
    html! {
        svg class={ "meter " (tone.class()) } viewBox=(format!("0 0 {WIDTH} 14")) role="img"
            aria-label=(format!("{} % of the limit, {side}", figure(share * 100.0))) {
            rect.ground x="0" y="3" width=(WIDTH) height="8" rx="2" {}
            rect.bar x="0" y="3" width=(format!("{bar:.1}")) height="8" rx="2" {}
            path.bound d=(format!("M{bound:.1} 0V14")) {}
        }
    }
}

/// The service levels of a run in few rows.
pub(super) fn grouped_checks(result: &RunResult) -> Markup {
    if result.checks.is_empty() {
        return html! { p { "No service level was judged." } };
    }
    table(&grouped_checks_table(&result.checks))
}
