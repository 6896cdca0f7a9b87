//! The report of the verification after a test, which Jetstress writes into a file of its own.

use measure::result::{RunKind, VerifiedDatabase};

use super::{Layout, Part, figure, pair, stem};
use crate::run::Run;

const COLUMNS: [&str; 6] = [
    "Database",
    "Seen pages",
    "Bad pages",
    "MB read",
    "Seconds",
    "MB/sec",
];

/// The report; `None` where nothing was verified.
pub(super) fn layout(run: &Run) -> Option<Layout> {
    let verification = run.result.verification.as_ref()?;
    let databases = &verification.databases;
    if databases.is_empty() {
        return None;
    }
    let mut rows: Vec<Vec<String>> = databases.iter().map(row).collect();
    let mut sum = VerifiedDatabase {
        name: "Sum".to_owned(),
        ..VerifiedDatabase::default()
    };
    for one in databases {
        sum.pages += one.pages;
        sum.bytes += one.bytes;
        sum.errors += one.errors;
        // All are read at the same time.
        sum.duration_s = sum.duration_s.max(one.duration_s);
    }
    rows.push(row(&sum));
    let is_complete = verification.not_verified.is_empty();
    let passed = sum.errors == 0 && is_complete;
    let outcome = if passed { "Pass" } else { "Fail" };
    let lines = (!is_complete).then(|| format!("Fail - {}", verification.not_verified));
    Some(Layout {
        title: "Checksum test in the layout of Jetstress".to_owned(),
        stem: stem(run, "DBChecksum"),
        passed,
        version: run.result.version.clone(),
        is_prediction: run.result.kind == RunKind::Prediction,
        parts: vec![
            Part {
                title: "Checksum Statistics - All".to_owned(),
                columns: COLUMNS.map(str::to_owned).to_vec(),
                rows,
                ..Part::default()
            },
            Part {
                title: "Test Summary".to_owned(),
                rows: vec![
                    pair("Overall Test Result", outcome),
                    pair("Machine Name", &run.result.host.name),
                ],
                lines: lines.into_iter().collect(),
                ..Part::default()
            },
        ],
    })
}

fn row(one: &VerifiedDatabase) -> Vec<String> {
    let mebibytes = one.bytes as f64 / f64::from(1 << 20);
    let per_second = (one.duration_s > 0.0).then(|| mebibytes / one.duration_s);
    vec![
        one.name.clone(),
        one.pages.to_string(),
        one.errors.to_string(),
        figure(Some(mebibytes)),
        figure(Some(one.duration_s)),
        figure(per_second),
    ]
}
