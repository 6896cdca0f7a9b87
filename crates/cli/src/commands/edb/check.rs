//! `proofload edb check`: every page and every tree.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use edb::check::{CheckReport, Finding, check};
use edb::format::database_header::Writer;
use indicatif::{ProgressBar, ProgressStyle};
use measure::units;
use runtime::Runtime;
use runtime::host::LockKind;
use serde_json::{Value, json};

use super::open::{lock, open, unusable};
use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::live::bar_left;

/// Checks each file. Damage in any of them is an integrity failure, reported when all were read.
pub(super) fn run(
    runtime: &Runtime,
    files: &[PathBuf],
    json: bool,
) -> Result<ExitStatus, CommandError> {
    let mut status = ExitStatus::Pass;
    for path in files {
        let _lock = lock(path, LockKind::Shared)?;
        let file = open(runtime, path)?;
        let line = progress_line(path);
        let shown = line.clone();
        let progress = move |done, total| {
            shown.set_length(total);
            shown.set_position(done);
        };
        let found = runtime.block_on(async move { check(&file, progress).await });
        line.finish_and_clear();
        let report = found.map_err(|error| unusable(&error))?;
        let text = if json {
            format!("{}\n", as_json(path, &report))
        } else {
            judge(path, &report)
        };
        if !report.is_sound() {
            status = ExitStatus::Integrity;
        }
        status = print_answer(&text, status)?;
    }
    Ok(status)
}

/// A line in a terminal, nothing elsewhere.
fn progress_line(path: &Path) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "{spinner} checking {prefix} [{bar:20}] {percent} %, {time_left} left";
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = style.with_key("time_left", bar_left);
    ProgressBar::new(0)
        .with_style(style)
        .with_prefix(path.display().to_string())
}

/// What a check found.
fn judge(path: &Path, report: &CheckReport) -> String {
    let shown = path.display();
    if report.is_sound() {
        let by = match report.writer {
            Writer::Proofload => "",
            Writer::Other => "; written by another program, whose keys are not compared",
        };
        let deleted = match report.deleted_nodes {
            0 => String::new(),
            nodes => format!(", {} not removed yet", units::count(nodes, "deleted node")),
        };
        return format!(
            "{shown}: sound; {} in use, {}{deleted}{by}\n",
            units::count(report.used_pages, "page"),
            units::count(report.rows, "row")
        );
    }
    let mut text = String::new();
    for finding in &report.findings {
        text.push_str(&format!("{shown}: {finding}\n"));
    }
    let all = report.findings.len() as u64 + report.further_findings;
    text.push_str(&format!(
        "{shown}: damaged; {}\n",
        units::count(all, "finding")
    ));
    text
}

/// The same for programs: one object a file, on a line of its own.
fn as_json(path: &Path, report: &CheckReport) -> Value {
    let findings: Vec<Value> = report.findings.iter().map(finding).collect();
    json!({
        "file": path.to_string_lossy(),
        "sound": report.is_sound(),
        "file_pages": report.file_pages,
        "used_pages": report.used_pages,
        "rows": report.rows,
        "deleted_nodes": report.deleted_nodes,
        "written_by_proofload": report.writer == Writer::Proofload,
        "findings": findings,
        "further_findings": report.further_findings,
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.name(),
        "page": finding.page,
        "object": finding.object,
        "sentence": finding.sentence,
    })
}
