//! The sections of a page: those of the workload itself, databases, operations, tuning, host,
//! phases, configuration.

use std::collections::BTreeMap;

use maud::{Markup, html};
use measure::display::{Medium, Section};
use measure::result::{HostResult, RunResult, TargetPath};
use measure::run_directory::REPORT_FILE;

use super::tables;
use crate::number::{bytes, count, duration, figure, percent};
use crate::settings::setting_text;
use crate::table::{
    Detail, Table, counters_table, databases_table, devices_table, error_bars_sentence,
    error_bars_table, error_counts_table, health_table, kernel_messages_table, operations_table,
    phases_table, ranks_table, traffic_table, verification_table,
};
use crate::words::{databases_title, io_driver, place_noun, was_measured};

/// Ranks whose reports are linked.
const MOST_REPORTS: usize = 64;

/// Errors, warnings and notes.
pub(super) fn troubles(result: &RunResult) -> Markup {
    html! {
        @if !result.errors.is_empty() {
            h2 { "Errors" }
            @let counts = error_counts_table(result);
            @if !counts.is_empty() { (tables::table(&counts)) }
            (error_list(result))
        }
        (sentences("Warnings", &result.warnings))
        (sentences("Notes", &result.notes))
    }
}

/// The error bars of a prediction on a calibrated array.
pub(super) fn error_bars(result: &RunResult) -> Markup {
    let table = error_bars_table(result);
    html! {
        @if !table.is_empty() {
            h2 id="error-bars" { "Error bars of the calibration" }
            (tables::table(&table))
            p.quiet { (error_bars_sentence(result)) }
        }
    }
}

/// The errors that are listed, one by one.
fn error_list(result: &RunResult) -> Markup {
    let listed = result.errors.len() as u64;
    html! {
        div.card {
            table {
                thead { tr {
                    th.number { "time" } th { "file" } th.number { "page" } th { "operation" }
                    th { "error" } th.number { "times met" }
                } }
                tbody { @for error in &result.errors { tr {
                    td.number { (duration(error.at_s)) }
                    td.path { (error.file) }
                    td.number { (error.page.map_or("-".to_string(), count)) }
                    td { (error.operation) }
                    td { (error.error) }
                    td.number { (count(error.times.max(1))) }
                } } }
            }
        }
        @if result.error_count() > listed {
            p.quiet { "The first " (count(listed)) " of " (count(result.error_count()))
                " errors are listed; all are counted." }
        }
    }
}

/// What the kernel and the devices said of the devices under test.
pub(super) fn device_messages(result: &RunResult) -> Markup {
    let more = result.host.more_kernel_messages;
    html! {
        (section("Kernel messages during the run", &kernel_messages_table(result)))
        @if more > 0 { p.quiet { (count(more)) " further messages were not kept." } }
        (section("Health of the devices before and after the run", &health_table(result, false)))
    }
}

/// What was read and verified after the run.
pub(super) fn verification(result: &RunResult) -> Markup {
    section("Verification after the run", &verification_table(result))
}

fn sentences(title: &str, list: &[String]) -> Markup {
    html! {
        @if !list.is_empty() {
            h2 { (title) }
            ul.plain { @for sentence in list { li { (sentence) } } }
        }
    }
}

fn section(title: &str, table: &Table) -> Markup {
    html! { @if !table.is_empty() { h2 { (title) } (tables::table(table)) } }
}

/// The databases, and I/O by type.
pub(super) fn databases(result: &RunResult) -> Markup {
    let traffic = format!("I/O by type, all {}s", place_noun(result));
    html! {
        @if was_measured(result) {
            (section(databases_title(result), &databases_table(result, Detail::Full)))
            (section(&traffic, &traffic_table(result)))
        }
        @if !result.databases.is_empty() {
            details {
                summary { "File locations" }
                dl.facts {
                    @for database in &result.databases {
                        dt { (database.name) }
                        dd.path {
                            (database.path) ", "
                            @if !database.log_path.is_empty() { "log in " (database.log_path) ", " }
                            (bytes(database.figures.size_begin_bytes as f64)) " at the start, "
                            (bytes(database.figures.size_end_bytes as f64)) " at the end"
                        }
                    }
                }
            }
        }
    }
}

/// A section that the workload of a run brings: its sentences, tables and facts.
pub(super) fn own(section: &Section) -> Markup {
    html! {
        h2 id=(section.id) { (section.title) }
        @for sentence in &section.sentences { p { (sentence) } }
        @for part in &section.parts {
            @if part.medium != Medium::Terminal && !part.table.is_empty() {
                h3 { (part.title) }
                (tables::table(&part.table))
            }
        }
        @if let Some((title, facts)) = &section.folded {
            details {
                summary { (title) }
                dl.facts {
                    @for (name, value) in facts { dt { (name) } dd { (value) } }
                }
            }
        }
    }
}

/// The operations of the workload.
pub(super) fn operations(result: &RunResult) -> Markup {
    section("Operations of the workload", &operations_table(result))
}

/// Whether the run was in steady state, by which rule.
pub(super) fn steadiness(result: &RunResult) -> Markup {
    let Some(state) = &result.steady_state else {
        return html! {};
    };
    let answer = match state.steady {
        Some(true) => "Steady state was reached.",
        Some(false) => "Steady state was not reached.",
        None => "There were too few samples to judge steady state.",
    };
    let rounds: Vec<String> = state.rounds.iter().map(|round| figure(*round)).collect();
    html! {
        h2 { "Steady state" }
        p { b { (answer) } " " (state.rule) }
        dl.facts {
            dt { "tracked variable" } dd { (state.variable) }
            @if !rounds.is_empty() {
                dt { "rounds" } dd { (rounds.join(", ")) }
                dt { "mean" } dd { (figure(state.mean)) }
                dt { "range" } dd { (percent(state.range_fraction)) " % of the mean" }
                dt { "slope" } dd { (percent(state.slope_fraction)) " % of the mean" }
            }
            @if let Some(at) = state.reached_at_s { dt { "reached after" } dd { (duration(at)) } }
            @if let Some(at) = state.left_at_s { dt { "lost after" } dd { (duration(at)) } }
        }
    }
}

/// The I/O driver, and why it is not io_uring.
fn io_driver_text(host: &HostResult) -> String {
    let name = io_driver(host).unwrap_or_default();
    match &host.io_driver_reason {
        Some(reason) => format!("{name} ({reason})"),
        None => name.to_owned(),
    }
}

/// The machine, its counters and its block devices.
pub(super) fn host(result: &RunResult) -> Markup {
    let host = &result.host;
    let facts = [
        ("name", host.name.clone()),
        ("operating system", host.operating_system.clone()),
        ("kernel", host.kernel.clone()),
        (
            "CPUs",
            if host.cpus == 0 {
                host.cpu_model.clone()
            } else {
                format!("{} x {}", host.cpus, host.cpu_model)
            },
        ),
        (
            "memory",
            if host.memory_bytes == 0 {
                String::new()
            } else {
                bytes(host.memory_bytes as f64)
            },
        ),
        ("I/O driver", io_driver_text(host)),
    ];
    html! {
        h2 { "Host" }
        dl.facts {
            @for (name, value) in facts.iter().filter(|fact| !fact.1.trim().is_empty()) {
                dt { (name) } dd { (value) }
            }
        }
        @let counters = counters_table(result);
        @if !counters.is_empty() { h3 { "Counters" } (tables::table(&counters)) }
        @let devices = devices_table(result);
        @if !devices.is_empty() {
            h3 { "Block devices (/proc/diskstats)" }
            (tables::table(&devices))
        }
    }
}

/// The phases of the run.
pub(super) fn phases(result: &RunResult) -> Markup {
    section("Phases", &phases_table(result))
}

/// The processes of a run on several hosts, with their own reports.
pub(super) fn ranks(result: &RunResult) -> Markup {
    let table = ranks_table(result, Detail::Full);
    let reports = result
        .ranks
        .iter()
        .filter(|rank| !rank.directory.is_empty());
    html! {
        (section("Ranks", &table))
        @if !table.is_empty() {
            p.quiet {
                "Charts, host counters and devices are in the reports of the ranks:"
                @for rank in reports.take(MOST_REPORTS) {
                    " " a href={ (rank.directory) "/" (REPORT_FILE) } { (rank.name()) } "."
                }
            }
        }
    }
}

/// Every setting in force, grouped by the first part of its path, and the places under test.
pub(super) fn configuration(result: &RunResult) -> Markup {
    let mut groups: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
    for (path, value) in &result.workload.settings {
        let (group, name) = path.split_once('.').unwrap_or(("", path));
        groups
            .entry(group)
            .or_default()
            .push((name, setting_text(path, value)));
    }
    html! {
        h2 { "Configuration" }
        @if !result.workload.description.is_empty() { p { (result.workload.description) } }
        dl.facts {
            dt { "workload" } dd { (result.workload.name) }
            dt { "seed" } dd { (result.seed) }
            @for target in &result.target.databases { dt { "databases on" } dd { (place(target)) } }
            @for target in &result.target.logs { dt { "logs on" } dd { (place(target)) } }
            dt { "result schema" } dd { (result.schema) }
        }
        div.columns {
            @for (group, settings) in &groups {
                div {
                    h3 { @if group.is_empty() { "general" } @else { (group) } }
                    dl.facts {
                        @for (name, value) in settings { dt { (name) } dd { (value) } }
                    }
                }
            }
        }
    }
}

/// A place under test in words.
fn place(target: &TargetPath) -> String {
    let mut parts = vec![target.path.clone()];
    parts.push(target.described().to_owned());
    if let Some(device) = &target.device {
        parts.push(format!("device {device}"));
    }
    if target.capacity_bytes > 0 {
        let (all, free) = (target.capacity_bytes as f64, target.free_bytes as f64);
        parts.push(format!(
            "{} capacity, {} free before the run",
            bytes(all),
            bytes(free)
        ));
    }
    parts.join(", ")
}
