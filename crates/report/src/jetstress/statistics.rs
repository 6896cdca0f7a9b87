//! The reports of backup and soft recovery: a table of the databases, their average and their sum.

use measure::result::{BackedUpDatabase, RecoveredDatabase, RunKind, Verdict};

use super::summary;
use super::{Layout, Part, figure, stem};
use crate::run::Run;

/// Behind the instance; scripts take the last one.
const BACKUP_COLUMNS: [&str; 4] = [
    "Database Instance",
    "Database Size (MBytes)",
    "Elapsed Backup Time",
    "MBytes Transferred/sec",
];

const RECOVERY_COLUMNS: [&str; 3] = ["Database Instance", "Log files replayed", "Elapsed seconds"];

/// The report of the backup; `None` where there was none.
pub(super) fn backup(run: &Run) -> Option<Layout> {
    let backup = run.result.backup.as_ref()?;
    let mebibytes = |bytes: f64| bytes / f64::from(1 << 20);
    let row = |one: &BackedUpDatabase| {
        let rate = one.bytes_per_second().unwrap_or(0.0);
        [
            mebibytes(one.size_bytes as f64),
            one.duration_s,
            mebibytes(rate),
        ]
    };
    let rows: Vec<[f64; 3]> = backup.databases.iter().map(row).collect();
    let total_rate = mebibytes(backup.bytes_per_second().unwrap_or(0.0));
    let mut sum = sums(&rows);
    // All are read at the same time.
    (sum[1], sum[2]) = (backup.duration_s, total_rate);
    let cells = |row: &[f64; 3]| vec![figure(Some(row[0])), clock(row[1]), figure(Some(row[2]))];
    let table = Table {
        columns: BACKUP_COLUMNS.map(str::to_owned).to_vec(),
        rows: rows.iter().map(cells).collect(),
        average: cells(&averages(&rows)),
        sum: cells(&sum),
    };
    Some(layout(
        run,
        "DatabaseBackup",
        "Database Backup Statistics - All",
        table,
    ))
}

/// The report of the soft recovery; `None` where there was none.
pub(super) fn recovery(run: &Run) -> Option<Layout> {
    let recovery = run.result.recovery.as_ref()?;
    let row = |one: &RecoveredDatabase| [one.log_files as f64, one.duration_s];
    let rows: Vec<[f64; 2]> = recovery.databases.iter().map(row).collect();
    // Log files are counted; their average may have a fraction.
    let count = |count: f64| {
        if count.fract() == 0.0 {
            format!("{count}")
        } else {
            figure(Some(count))
        }
    };
    let cells = |row: &[f64; 2]| vec![count(row[0]), figure(Some(row[1]))];
    let table = Table {
        columns: RECOVERY_COLUMNS.map(str::to_owned).to_vec(),
        rows: rows.iter().map(cells).collect(),
        average: cells(&averages(&rows)),
        sum: cells(&sums(&rows)),
    };
    Some(layout(
        run,
        "SoftRecovery",
        "Soft-Recovery Statistics - All",
        table,
    ))
}

/// A table of databases.
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    average: Vec<String>,
    sum: Vec<String>,
}

fn layout(run: &Run, kind: &str, title: &str, table: Table) -> Layout {
    let result = &run.result;
    let named = |name: String, cells: Vec<String>| std::iter::once(name).chain(cells).collect();
    let databases = table.rows.into_iter().enumerate();
    let mut rows: Vec<Vec<String>> = databases
        .map(|(index, cells)| named(summary::instance(index), cells))
        .collect();
    rows.push(named("Avg".to_owned(), table.average));
    rows.push(named("Sum".to_owned(), table.sum));
    Layout {
        title: format!("{kind} test in the layout of Jetstress"),
        stem: stem(run, kind),
        passed: result.verdict == Verdict::Pass,
        version: result.version.clone(),
        is_prediction: result.kind == RunKind::Prediction,
        parts: vec![
            Part {
                title: title.to_owned(),
                columns: table.columns,
                rows,
                ..Part::default()
            },
            summary::summary(run),
            summary::parameters(result),
            summary::databases(result),
            super::log::test_log(run),
        ],
    }
}

fn sums<const N: usize>(rows: &[[f64; N]]) -> [f64; N] {
    std::array::from_fn(|column| rows.iter().map(|row| row[column]).sum())
}

fn averages<const N: usize>(rows: &[[f64; N]]) -> [f64; N] {
    sums(rows).map(|sum| sum / rows.len().max(1) as f64)
}

/// `00:12:34` of so many seconds.
fn clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    format!(
        "{:02}:{:02}:{:02}",
        whole / 3600,
        whole / 60 % 60,
        whole % 60
    )
}
