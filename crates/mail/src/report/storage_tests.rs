//! Backup and soft recovery in the reports of a run.

use measure::display::number::{bytes, counted, duration};
use measure::display::{Better, Cell, Column, Medium, Part, ResultMetric, Section, Table, Tile};
use measure::metric::Unit;
use measure::result::{
    BackedUpDatabase, BackupResult, RecoveredDatabase, RecoveryResult, RunResult,
};

/// The metrics by which runs with these tests, or with passive copies, are compared.
pub(crate) const METRICS: &[ResultMetric] = &[
    ResultMetric {
        id: "backup_bytes_per_second",
        label: "backup, all databases",
        meaning: "Bytes that the backup reads per second from all databases together.",
        unit: Unit::BytesPerSecond,
        better: Better::Higher,
        value: |result| result.backup.as_ref()?.bytes_per_second(),
    },
    ResultMetric {
        id: "recovery_s_per_log_file",
        label: "soft recovery, time per log file",
        meaning: "Average time to replay one log file, mean of the databases.",
        unit: Unit::Seconds,
        better: Better::Lower,
        value: |result| result.recovery.as_ref()?.s_per_log_file(),
    },
    ResultMetric {
        id: "recovery_bytes_per_second",
        label: "soft recovery, all databases",
        meaning: "Bytes of log files replayed per second by all databases together.",
        unit: Unit::BytesPerSecond,
        better: Better::Higher,
        value: |result| result.recovery.as_ref()?.bytes_per_second(),
    },
    super::replication::SEEDING,
];

/// The sections of these tests; none of a run without them.
pub(super) fn sections(result: &RunResult) -> Vec<Section> {
    let backup = result.backup.as_ref().map(backup_section);
    let recovery = result.recovery.as_ref().map(recovery_section);
    backup.into_iter().chain(recovery).collect()
}

/// The figures of these tests at the top of a report.
pub(super) fn tiles(result: &RunResult) -> Vec<Tile> {
    let backup = result.backup.as_ref().and_then(|backup| {
        let databases = counted(backup.databases.len() as u64, "database");
        Some(Tile {
            name: "Backup",
            value: backup.bytes_per_second()?,
            unit: Unit::BytesPerSecond,
            short_unit: "",
            beside: format!("{databases}, all together"),
        })
    });
    let recovery = result.recovery.as_ref().and_then(|recovery| {
        let log_files = counted(recovery.wanted_log_files, "log file");
        Some(Tile {
            name: "Soft recovery",
            value: recovery.s_per_log_file()? * 1e3,
            unit: Unit::Milliseconds,
            short_unit: "per log file",
            beside: format!("{log_files} or more per database"),
        })
    });
    backup.into_iter().chain(recovery).collect()
}

fn backup_section(backup: &BackupResult) -> Section {
    let how = match backup.under_load {
        true => "while the load ran",
        false => "without load",
    };
    let rate = backup.bytes_per_second().unwrap_or(0.0);
    let read = format!(
        "{} read to the end at the same time, {how}, every page verified: {}/s together.",
        counted(backup.databases.len() as u64, "database"),
        bytes(rate)
    );
    let copied = (!backup.copied_to.is_empty()).then(|| copied(backup));
    let part = |title, table| Part {
        title,
        table,
        medium: Medium::Both,
    };
    Section {
        id: "backup",
        title: "Backup",
        sentences: std::iter::once(read).chain(copied).collect(),
        parts: vec![
            part("Databases read", backup_table(backup)),
            part("Copies", copies_table(backup)),
        ],
        folded: None,
    }
}

fn backup_table(backup: &BackupResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("database"),
        Column::number("size", ""),
        Column::number("pages", ""),
        Column::number("time", ""),
        Column::number("throughput", ""),
        Column::number("errors", ""),
    ]);
    let row = |database: &BackedUpDatabase| {
        vec![
            Cell::new(database.name.clone()),
            Cell::of(database.size_bytes as f64, Unit::Bytes),
            Cell::count(database.pages),
            Cell::new(duration(database.duration_s)),
            Cell::of(database.bytes_per_second(), Unit::BytesPerSecond),
            Cell::count(database.errors).notable_when(database.errors > 0),
        ]
    };
    backup.databases.iter().for_each(|one| table.push(row(one)));
    if table.rows.len() > 1 {
        let databases = &backup.databases;
        table.sums = row(&BackedUpDatabase {
            name: "all".to_owned(),
            size_bytes: databases.iter().map(|one| one.size_bytes).sum(),
            pages: databases.iter().map(|one| one.pages).sum(),
            bytes: databases.iter().map(|one| one.bytes).sum(),
            errors: databases.iter().map(|one| one.errors).sum(),
            duration_s: backup.duration_s,
            copy: None,
        });
    }
    table
}

/// What became of the copies.
fn copied(backup: &BackupResult) -> String {
    let mut problems = backup.databases.iter().filter_map(|one| {
        let problem = match &one.copy {
            None => "its copy was not checked.",
            Some(copy) if copy.problem.is_empty() => return None,
            Some(copy) => &copy.problem,
        };
        Some(format!(" {}: {problem}", one.name))
    });
    let became = match problems.next() {
        Some(first) => first + &problems.collect::<String>(),
        None => " Each copy was read back, compared with what was read, recovered from its log files and \
                 checked."
            .to_owned(),
    };
    format!("Copied to {}.{became}", backup.copied_to)
}

fn copies_table(backup: &BackupResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("database"),
        Column::number("log files", ""),
        Column::number("read back", ""),
        Column::number("wrong pages", ""),
        Column::number("different pages", ""),
        Column::number("recovered in", ""),
        Column::number("findings", ""),
    ]);
    for database in &backup.databases {
        let Some(copy) = &database.copy else {
            continue;
        };
        let recovered = copy.recovered_s.map(duration);
        let count = |number: u64| Cell::count(number).notable_when(number > 0);
        table.push(vec![
            Cell::new(database.name.clone()),
            Cell::count(copy.log_files),
            Cell::of(copy.bytes as f64, Unit::Bytes),
            count(copy.wrong_pages),
            count(copy.different_pages),
            Cell::new(recovered.unwrap_or_else(|| "not recovered".to_owned()))
                .notable_when(copy.recovered_s.is_none()),
            count(copy.findings),
        ]);
    }
    table
}

fn recovery_section(recovery: &RecoveryResult) -> Section {
    let written = format!(
        "Databases left without being closed, each after it had written {} (in {}), and recovered at the same \
         time: {}.",
        counted(recovery.wanted_log_files, "log file"),
        duration(recovery.written_s),
        recovery.databases.len()
    );
    Section {
        id: "recovery",
        title: "Soft recovery",
        sentences: vec![written],
        parts: vec![Part {
            title: "Log files replayed",
            table: recovery_table(recovery),
            medium: Medium::Both,
        }],
        folded: None,
    }
}

fn recovery_table(recovery: &RecoveryResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("database"),
        Column::number("log files", ""),
        Column::number("time", "s"),
        Column::number("per log file", "s"),
        Column::number("throughput", ""),
        Column::number("records", ""),
        Column::number("page changes repeated", ""),
    ]);
    let row = |database: &RecoveredDatabase, s_per_log_file: Option<f64>| {
        vec![
            Cell::new(database.name.clone()),
            Cell::count(database.log_files),
            Cell::figure(database.duration_s),
            Cell::figure(s_per_log_file),
            Cell::of(database.bytes_per_second(), Unit::BytesPerSecond),
            Cell::count(database.records),
            Cell::count(database.redone_changes),
        ]
    };
    for database in &recovery.databases {
        table.push(row(database, database.s_per_log_file()));
    }
    if table.rows.len() > 1 {
        let databases = &recovery.databases;
        let count = databases.len() as u64;
        let sum = |of: fn(&RecoveredDatabase) -> u64| databases.iter().map(of).sum::<u64>();
        let average = RecoveredDatabase {
            name: "average".to_owned(),
            log_files: sum(|one| one.log_files) / count,
            bytes: sum(|one| one.bytes) / count,
            records: sum(|one| one.records) / count,
            redone_changes: sum(|one| one.redone_changes) / count,
            undone_transactions: 0,
            duration_s: databases.iter().map(|one| one.duration_s).sum::<f64>() / count as f64,
        };
        table.push(row(&average, recovery.s_per_log_file()));
        let all = RecoveredDatabase {
            name: "all".to_owned(),
            log_files: sum(|one| one.log_files),
            bytes: sum(|one| one.bytes),
            records: sum(|one| one.records),
            redone_changes: sum(|one| one.redone_changes),
            undone_transactions: 0,
            duration_s: recovery.duration_s,
        };
        table.sums = row(&all, all.s_per_log_file());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(row: &[Cell]) -> Vec<&str> {
        row.iter().map(|cell| cell.text.as_str()).collect()
    }

    #[test]
    fn the_recovery_has_average_and_sum() {
        let database = |name: &str, log_files, duration_s| RecoveredDatabase {
            name: name.to_owned(),
            log_files,
            bytes: log_files << 20,
            duration_s,
            ..RecoveredDatabase::default()
        };
        let recovery = RecoveryResult {
            wanted_log_files: 10,
            duration_s: 8.0,
            databases: vec![database("a", 10, 4.0), database("b", 20, 8.0)],
            ..RecoveryResult::default()
        };
        let table = recovery_table(&recovery);
        assert_eq!(
            texts(&table.rows[2])[..5],
            ["average", "15", "6.00", "0.400", "2.50 MiB/s"]
        );
        assert_eq!(
            texts(&table.sums)[..5],
            ["all", "30", "8.00", "0.267", "3.75 MiB/s"]
        );
        let result = RunResult {
            recovery: Some(recovery),
            ..RunResult::default()
        };
        assert_eq!(sections(&result)[0].id, "recovery");
        assert!(sections(&RunResult::default()).is_empty());
    }

    #[test]
    fn a_copy_that_was_not_recovered_stands_out() {
        let backup = BackupResult {
            copied_to: "/backup".to_owned(),
            duration_s: 2.0,
            databases: vec![BackedUpDatabase {
                name: "a".to_owned(),
                bytes: 4 << 20,
                copy: Some(measure::result::BackupCopy::default()),
                ..BackedUpDatabase::default()
            }],
            ..BackupResult::default()
        };
        let row = &copies_table(&backup).rows[0];
        assert!(row[5].notable && row[5].text == "not recovered");
        let section = backup_section(&backup);
        assert!(
            section.sentences[0].contains("2 MiB/s"),
            "{:?}",
            section.sentences
        );
        assert_eq!(section.parts.len(), 2);
    }

    #[test]
    fn what_became_of_copies_is_said_of_each() {
        let database = |name: &str, problem: Option<&str>| BackedUpDatabase {
            name: name.to_owned(),
            copy: problem.map(|problem| measure::result::BackupCopy {
                problem: problem.to_owned(),
                ..Default::default()
            }),
            ..BackedUpDatabase::default()
        };
        let text = |databases| {
            copied(&BackupResult {
                copied_to: "/b".to_owned(),
                databases,
                ..BackupResult::default()
            })
        };
        let sound = text(vec![database("a", Some(""))]);
        assert!(
            sound.starts_with("Copied to /b. Each copy was read back"),
            "{sound}"
        );
        let bad = text(vec![
            database("a", Some("")),
            database("b", Some("No space is left.")),
            database("c", None),
        ]);
        assert_eq!(
            bad,
            "Copied to /b. b: No space is left. c: its copy was not checked."
        );
    }
}
