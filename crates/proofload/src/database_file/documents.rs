//! What was found, as JSON documents.

use edb::check::{Finding, PageCounts, TableInfo, TreeInfo};
use edb::format::database_header::{DatabaseState, LogTime, TimeAndPosition, Writer};
use edb::format::general::{GeneralColumn, GeneralIndex, GeneralTable, KeyColumn};
use edb::integrity::FileFinding;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{FileCheck, FileInfo};

impl FileInfo {
    /// The document of `proofload edb info --json`.
    #[must_use]
    pub fn json(&self) -> Value {
        let found = &self.database;
        let header = &found.header;
        let log = self.log.as_ref().map(|log| {
            let generations: Vec<u32> = log.files.iter().map(|file| file.generation).collect();
            json!({ "directory": log.directory.to_string_lossy(), "generations": generations })
        });
        let counts = found.page_counts.as_ref().map(|counts| {
            let all = counts_by_name(counts).into_iter();
            Value::Object(all.map(|(name, n)| (name.to_owned(), n.into())).collect())
        });
        json!({
            "file": self.path.to_string_lossy(),
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
}

impl FileCheck {
    /// The document of `proofload edb check --json`.
    #[must_use]
    pub fn json(&self) -> Value {
        let report = &self.report;
        let findings: Vec<Value> = report.findings.iter().map(finding).collect();
        let beside: Vec<Value> = self.beside.iter().map(finding_beside).collect();
        json!({
            "file": self.path.to_string_lossy(),
            "sound": self.is_sound(),
            "file_pages": report.file_pages,
            "used_pages": report.used_pages,
            "rows": report.rows,
            "deleted_nodes": report.deleted_nodes,
            "written_by_proofload": report.writer == Writer::Proofload,
            "findings": findings,
            "further_findings": report.further_findings,
            "findings_beside": beside,
        })
    }
}

fn finding(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.name(),
        "page": finding.page,
        "object": finding.object,
        "sentence": finding.sentence,
    })
}

fn finding_beside(finding: &FileFinding) -> Value {
    json!({
        "file": finding.file,
        "kind": finding.class.name(),
        "sentence": finding.to_string(),
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

fn moment(moment: TimeAndPosition) -> Value {
    json!({
        "time": time(moment.time),
        "log_generation": moment.position.generation,
    })
}

fn state_name(state: DatabaseState) -> &'static str {
    match state {
        DatabaseState::JustCreated => "unfinished",
        DatabaseState::Dirty => "dirty",
        DatabaseState::Clean => "clean",
    }
}

pub(super) fn time(time: LogTime) -> Option<String> {
    let millisecond = i64::try_from(time.unix_ms).ok().filter(|&ms| ms > 0)?;
    Some(Timestamp::from_millisecond(millisecond).ok()?.to_string())
}

/// Names and numbers, for people and for programs.
pub(super) fn counts_by_name(counts: &PageCounts) -> [(&'static str, u64); 8] {
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

pub(super) fn type_name(column: &GeneralColumn) -> String {
    match column.column_type() {
        Some(kind) => format!("{kind:?}"),
        None if column.type_code == 0 => "deleted".to_owned(),
        None => format!("unknown type {}", column.type_code),
    }
}

pub(super) fn key_of_index(table: &GeneralTable, index: &GeneralIndex) -> Vec<String> {
    let name = |key: &KeyColumn| {
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
