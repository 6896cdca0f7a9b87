//! What was found and done, in words.

use std::fmt;
use std::path::Path;

use edb::check::{PageCounts, TableInfo};
use edb::format::database_header::{DatabaseState, Writer};
use edb::format::general::GeneralIndex;
use measure::units::{self, count_of};

use super::documents::{counts_by_name, key_of_index, time, type_name};
use super::{AppliedLog, FileCheck, FileInfo, LogFiles, Recovery};

fn state_word(state: DatabaseState) -> &'static str {
    match state {
        DatabaseState::JustCreated => "never finished: its build was interrupted",
        DatabaseState::Dirty => "not closed: in use, or its log must be applied",
        DatabaseState::Clean => "closed properly",
    }
}

fn writer_word(writer: Writer) -> &'static str {
    match writer {
        Writer::Proofload => "Proofload",
        Writer::Other => "another program, such as Windows",
    }
}

/// Lines of "  name        value".
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: impl fmt::Display) {
        self.0.push_str(&format!("  {name:<11} {value}\n"));
    }
}

impl fmt::Display for FileInfo {
    /// Lines of names and values, each with its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe(self))
    }
}

fn describe(info: &FileInfo) -> String {
    let FileInfo {
        path,
        database: found,
        log,
    } = info;
    let mut lines = Lines(format!("{}\n", path.display()));
    let header = &found.header;
    let size = units::size(found.file_size_bytes);
    lines.add(
        "size",
        format!("{size} ({} bytes)", count_of(found.file_size_bytes)),
    );
    lines.add(
        "pages",
        format!(
            "{} of {} bytes, {} free",
            count_of(u64::from(found.pages)),
            count_of(u64::from(header.page_size_bytes)),
            count_of(found.free_pages)
        ),
    );
    lines.add("state", state_word(header.state));
    lines.add(
        "headers",
        if found.headers_agree {
            "both header copies valid and identical"
        } else {
            "one copy is damaged or older"
        },
    );
    lines.add("written by", writer_word(header.writer));
    lines.add("format", format!("0x620, revision {:#x}", header.revision));
    lines.add(
        "last change",
        format!("database time {}", count_of(header.dbtime)),
    );
    lines.add("last object", header.last_object_id);
    for (name, moment) in [("opened", header.attach), ("closed", header.detach)] {
        if let Some(time) = time(moment.time) {
            lines.add(
                name,
                format!("{time}, log generation {}", moment.position.generation),
            );
        }
    }
    if header.highest_log_needed > 0 {
        let (low, high) = (header.lowest_log_needed, header.highest_log_needed);
        lines.add("log needed", format!("generations {low} to {high}"));
    }
    if let Some(log) = log {
        lines.add("log files", describe_log(log));
    }
    if let Some(counts) = &found.page_counts {
        lines.add("page kinds", describe_counts(counts));
    }
    if let Some(problem) = &found.catalog_problem {
        lines.add("tables", format!("cannot be read: {problem}"));
    }
    for table in &found.tables {
        describe_table(table, &mut lines.0);
    }
    lines.0
}

fn describe_log(log: &LogFiles) -> String {
    let generations = || log.files.iter().map(|file| file.generation);
    let first = generations().min().unwrap_or(0);
    let last = generations().max().unwrap_or(0);
    let count = units::count(log.files.len() as u64, "file");
    let place = log.directory.display();
    format!("{count} in {place}, generations {first} to {last}")
}

fn describe_counts(counts: &PageCounts) -> String {
    let all = counts_by_name(counts).into_iter().filter(|(_, n)| *n > 0);
    let all = all.map(|(name, number)| format!("{} {}", count_of(number), name.replace('_', " ")));
    all.collect::<Vec<_>>().join(", ")
}

fn describe_table(info: &TableInfo, text: &mut String) {
    let table = &info.table;
    let rows = info.rows.map(|rows| units::count(rows, "row"));
    let rows = rows.map_or_else(String::new, |rows| format!(", {rows}"));
    text.push_str(&format!("  table {}{rows}\n", table.name));
    for tree in &info.trees {
        text.push_str(&format!(
            "    {}: root {}, {}, {}, {} free\n",
            tree.name,
            tree.root,
            units::count(u64::from(tree.levels), "level"),
            units::count(tree.owned_pages, "page"),
            count_of(tree.free_pages)
        ));
    }
    for column in &table.columns {
        text.push_str(&format!(
            "    column {}: {} (id {})\n",
            column.name,
            type_name(column),
            column.id
        ));
    }
    for index in &table.indexes {
        text.push_str(&format!(
            "    {} {}: {}\n",
            kind_of_index(index),
            index.name,
            key_of_index(table, index).join(", ")
        ));
    }
}

fn kind_of_index(index: &GeneralIndex) -> &'static str {
    match (index.is_primary(), index.is_unique()) {
        (true, _) => "primary index",
        (false, true) => "unique index",
        (false, false) => "index",
    }
}

impl fmt::Display for FileCheck {
    /// A line that says that the file is sound, or one for each finding and their number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe_check(self))
    }
}

fn describe_check(check: &FileCheck) -> String {
    let (shown, report) = (check.path.display(), &check.report);
    if check.is_sound() {
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
    for finding in &check.beside {
        text.push_str(&format!("{}: {finding}\n", finding.file));
    }
    let all = (report.findings.len() + check.beside.len()) as u64 + report.further_findings;
    text.push_str(&format!(
        "{shown}: damaged; {}\n",
        units::count(all, "finding")
    ));
    text
}

impl fmt::Display for Recovery {
    /// A line, and one for each number of what was done.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.applied {
            Some(applied) => f.write_str(&describe_applied(&self.path, applied)),
            None => writeln!(
                f,
                "{}: closed properly by its header, so there is nothing to recover; its pages were not read \
                 ('proofload edb check' reads them)",
                self.path.display()
            ),
        }
    }
}

fn describe_applied(path: &Path, applied: &AppliedLog) -> String {
    let AppliedLog { directory, report } = applied;
    let mut text = format!(
        "{}: recovered in {:.1} s from {} in {}\n",
        path.display(),
        report.seconds,
        units::count(u64::from(report.generations), "log file"),
        directory.display()
    );
    let mut line = |number: u64, what: &str| text.push_str(&format!("  {number:>9} {what}\n"));
    line(report.records, "log records read");
    line(report.redone, "page changes repeated");
    line(report.skipped, "page changes that the pages had already");
    line(report.restored_pages, "pages restored from their images");
    line(
        report.undone_transactions,
        "transactions without a commit taken back",
    );
    let damaged = [
        &report.damaged_header,
        &report.damaged_checkpoint,
        &report.damaged_versions,
        &report.damaged_log,
    ];
    for damaged in damaged.into_iter().flatten() {
        text.push_str(&format!("  {}; it was rewritten\n", damaged.problem));
    }
    text
}
