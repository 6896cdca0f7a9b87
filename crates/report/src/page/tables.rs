//! Tables on the page, and the service levels with their rules.

use maud::{Markup, html};
use measure::result::{Bound, Check, RunResult};

use super::verdict::sign;
use crate::number::figure;
use crate::table::{
    Cell, CheckGroup, Column, MIX, Table, check_groups, grouped_checks_table, is_of_mix,
    limit_text, measured_text, mix_group,
};
use crate::tone::Tone;

/// More places than this are folded away under the worst one.
const MOST_PLACES: usize = 6;
/// Tables with more columns are set smaller.
const WIDE: usize = 12;
/// Figures in tables of more columns may take several lines.
const MANY: usize = 6;

/// A table in a card.
pub(super) fn table(table: &Table) -> Markup {
    html! {
        @let groups = table.groups();
        div.card.wide[table.columns.len() > WIDE].many[table.columns.len() > MANY] {
            table {
                thead {
                    @if !groups.is_empty() {
                        tr {
                            @for (group, columns) in &groups {
                                @if group.is_empty() { td colspan=(columns) {} }
                                @else { th.group scope="colgroup" colspan=(columns) { (group) } }
                            }
                        }
                    }
                    tr { @for column in &table.columns { (head(column)) } }
                }
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
    // The mix is one level with many subjects: its worst stands for all.
    let mut groups = check_groups(&result.checks);
    groups.retain(|group| !is_of_mix(group.worst()));
    let mix = mix_group(&result.checks);
    html! {
        h2 id="checks" { "Service levels" }
        @if result.checks.is_empty() {
            p { "No service level was judged." }
        } @else {
            div.card {
                table {
                    thead {
                        tr {
                            th scope="col" { "service level, rule and place" }
                            th.number scope="col" { "limit" }
                            th.number scope="col" { "measured" }
                            th.share scope="col" { "share of the limit" }
                            th scope="col" { "result" }
                        }
                    }
                    @for group in groups.iter().chain(&mix) { (check_rows(group)) }
                }
            }
            @for group in groups.iter().chain(&mix).filter(|group| needs_details(group)) {
                details {
                    summary { (title(group.worst())) ": all " (group.checks.len()) ", each with its rule" }
                    (table(&each_place(group)))
                }
            }
        }
    }
}

/// What a group of checks is called.
fn title(check: &Check) -> &str {
    if is_of_mix(check) { MIX } else { &check.name }
}

/// Whether the first table cannot say everything: too many places, or each with its own rule.
fn needs_details(group: &CheckGroup) -> bool {
    group.checks.len() > MOST_PLACES || !same_rule(group)
}

fn same_rule(group: &CheckGroup) -> bool {
    group
        .checks
        .iter()
        .all(|check| check.rule == group.checks[0].rule)
}

/// Every place of a service level with its own rule.
fn each_place(group: &CheckGroup) -> Table {
    let mut table = Table::new(vec![
        Column::text("where"),
        Column::number("limit", ""),
        Column::number("measured", ""),
        Column::text("result"),
        Column::text("rule"),
    ]);
    for check in &group.checks {
        let tone = Tone::of_check(check);
        table.push(vec![
            Cell::new(
                if is_of_mix(check) {
                    &check.name
                } else {
                    &check.place
                }
                .clone(),
            ),
            Cell::new(limit_text(check)),
            Cell::new(measured_text(check)).notable_when(tone == Tone::Fail),
            Cell::verdict(tone),
            Cell::new(check.rule.clone()),
        ]);
    }
    table
}

/// The rows of one service level: its name and rule, then each place, or the worst one for many.
fn check_rows(group: &CheckGroup) -> Markup {
    let worst = group.worst();
    let many = group.checks.len() > MOST_PLACES || is_of_mix(worst);
    // The rule of the worst place stands for all; where they differ, its place is named.
    let named = !same_rule(group) && !worst.rule.is_empty();
    html! {
        tbody.level {
            tr {
                th colspan="5" scope="rowgroup" {
                    (title(worst))
                    div.rule { @if named { (named_place(worst)) ": " } (worst.rule) }
                }
            }
            @if many {
                (check_row(worst, &group.place(), group.tone()))
            } @else {
                @for check in &group.checks {
                    (check_row(check, &check.place, Tone::of_check(check)))
                }
            }
        }
    }
}

fn named_place(check: &Check) -> &str {
    if is_of_mix(check) {
        &check.subject
    } else {
        &check.place
    }
}

fn check_row(check: &Check, place: &str, tone: Tone) -> Markup {
    html! {
        tr {
            td.place { (place) }
            td.number { (limit_text(check)) }
            td.number.over[tone == Tone::Fail] { (measured_text(check)) }
            td.share { (meter(check, tone)) }
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
