//! `proofload edb info`: what a database file says of itself.

use std::path::{Path, PathBuf};

use edb::check::{DatabaseInfo, PageCounts, TableInfo, TreeInfo, info};
use edb::database::LOG_PREFIX;
use edb::format::database_header::{
    DatabaseHeader, DatabaseState, LogTime, TimeAndPosition, Writer,
};
use edb::format::general::{GeneralColumn, GeneralIndex, GeneralTable};
use edb::log::{LogFileFacts, log_files};
use jiff::Timestamp;
use measure::units::{self, count_of};
use runtime::host::LockKind;
use runtime::{HostDirectory, Runtime};
use serde_json::{Value, json};

use super::open::{lock, open, unusable};
use super::recover::log_directory;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::print::print;

/// Prints what the header, the catalog and the log of each file say.
pub(super) fn run(
    runtime: &Runtime,
    files: &[PathBuf],
    count: bool,
    json: bool,
) -> Result<ExitStatus, CommandError> {
    for path in files {
        let _lock = lock(path, LockKind::Shared)?;
        let file = open(runtime, path)?;
        let found = runtime.block_on(async move { info(&file, count).await });
        let found = found.map_err(|error| unusable(&error))?;
        let log = log_of(runtime, path, &found.header);
        let text = if json {
            format!("{}\n", as_json(path, &found, log.as_ref()))
        } else {
            describe(path, &found, log.as_ref())
        };
        print(&text)?;
    }
    Ok(ExitStatus::Pass)
}

/// The log files of a database.
struct LogFiles {
    directory: PathBuf,
    files: Vec<LogFileFacts>,
}

/// The log of the database, if it lies where this program keeps it.
fn log_of(runtime: &Runtime, path: &Path, header: &DatabaseHeader) -> Option<LogFiles> {
    let directory = log_directory(path)?;
    let opened = HostDirectory::open_for_reading(&runtime.handle(), &directory).ok()?;
    let found = runtime.block_on(async move { log_files(&opened, LOG_PREFIX).await });
    let mut files = found.ok()?;
    files.retain(|file| file.signature == header.log_signature);
    (!files.is_empty()).then_some(LogFiles { directory, files })
}

fn state_word(state: DatabaseState) -> &'static str {
    match state {
        DatabaseState::JustCreated => "never finished: its build was interrupted",
        DatabaseState::Dirty => "not closed: in use, or its log must be applied",
        DatabaseState::Clean => "closed properly",
    }
}

fn state_name(state: DatabaseState) -> &'static str {
    match state {
        DatabaseState::JustCreated => "unfinished",
        DatabaseState::Dirty => "dirty",
        DatabaseState::Clean => "clean",
    }
}

fn writer_word(writer: Writer) -> &'static str {
    match writer {
        Writer::Proofload => "Proofload",
        Writer::Other => "another program, such as Windows",
    }
}

fn time(time: LogTime) -> Option<String> {
    let millisecond = i64::try_from(time.unix_ms).ok().filter(|&ms| ms > 0)?;
    Some(Timestamp::from_millisecond(millisecond).ok()?.to_string())
}

/// Lines of "  name        value".
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: impl std::fmt::Display) {
        self.0.push_str(&format!("  {name:<11} {value}\n"));
    }
}

fn describe(path: &Path, found: &DatabaseInfo, log: Option<&LogFiles>) -> String {
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

/// Names and numbers, for people and for programs.
fn counts_by_name(counts: &PageCounts) -> [(&'static str, u64); 8] {
    [
        ("row_leaves", counts.row_leaves),
        ("index_leaves", counts.index_leaves),
        ("long_value_leaves", counts.long_value_leaves),
        ("internal", counts.internal),
        ("space", counts.space),
        ("freed", counts.freed),
        ("never_written", counts.never_written),
        ("unreadable", counts.unreadable),
    ]
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

fn type_name(column: &GeneralColumn) -> String {
    match column.column_type() {
        Some(kind) => format!("{kind:?}"),
        None if column.type_code == 0 => "deleted".to_owned(),
        None => format!("unknown type {}", column.type_code),
    }
}

fn key_of_index(table: &GeneralTable, index: &GeneralIndex) -> Vec<String> {
    let name = |key: &edb::format::general::KeyColumn| {
        let column = table.columns.iter().find(|column| column.id == key.id);
        let name = column.map_or_else(|| format!("column {}", key.id), |c| c.name.clone());
        if key.descending {
            format!("{name} descending")
        } else {
            name
        }
    };
    index.columns.iter().map(name).collect()
}

fn moment(moment: TimeAndPosition) -> Value {
    json!({
        "time": time(moment.time),
        "log_generation": moment.position.generation,
    })
}

fn as_json(path: &Path, found: &DatabaseInfo, log: Option<&LogFiles>) -> Value {
    let header = &found.header;
    let log = log.map(|log| {
        let generations: Vec<u32> = log.files.iter().map(|file| file.generation).collect();
        json!({ "directory": log.directory.to_string_lossy(), "generations": generations })
    });
    let counts = found.page_counts.as_ref().map(|counts| {
        let all = counts_by_name(counts).into_iter();
        Value::Object(all.map(|(name, n)| (name.to_owned(), n.into())).collect())
    });
    json!({
        "file": path.to_string_lossy(),
        "size_bytes": found.file_size_bytes,
        "page_size_bytes": header.page_size_bytes,
        "pages": found.pages,
        "free_pages": found.free_pages,
        "state": state_name(header.state),
        "headers_agree": found.headers_agree,
        "written_by_proofload": header.writer == Writer::Proofload,
        "revision": header.revision,
        "database_time": header.dbtime,
        "last_object_id": header.last_object_id,
        "opened": moment(header.attach),
        "closed": moment(header.detach),
        "log_needed": {
            "first": header.lowest_log_needed,
            "last": header.highest_log_needed,
        },
        "log_files": log,
        "page_kinds": counts,
        "catalog_problem": found.catalog_problem,
        "tables": found.tables.iter().map(table_json).collect::<Vec<_>>(),
    })
}

fn table_json(info: &TableInfo) -> Value {
    let table = &info.table;
    let column = |column: &GeneralColumn| {
        json!({
            "name": column.name,
            "id": column.id,
            "type": type_name(column),
            "code_page": (column.code_page > 0).then_some(column.code_page),
        })
    };
    let index = |index: &GeneralIndex| {
        json!({
            "name": index.name,
            "primary": index.is_primary(),
            "unique": index.is_unique(),
            "key": key_of_index(table, index),
        })
    };
    json!({
        "name": table.name,
        "rows": info.rows,
        "trees": info.trees.iter().map(tree_json).collect::<Vec<_>>(),
        "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
        "indexes": table.indexes.iter().map(index).collect::<Vec<_>>(),
    })
}

fn tree_json(tree: &TreeInfo) -> Value {
    json!({
        "name": tree.name,
        "object_id": tree.object_id,
        "root": tree.root,
        "levels": tree.levels,
        "owned_pages": tree.owned_pages,
        "free_pages": tree.free_pages,
    })
}
