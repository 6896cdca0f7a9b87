//! Every setting of a study has an effect on its figures, or is for people to read.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

use std::fs;
use std::path::Path;

use config::{Source, to_toml};
use proofload::study::{Prepared, Study};
use proofload::{StopRequest, StudyOptions};
use tempfile::TempDir;
use test_support::{alternatives, set};

const STUDY: &str = r#"
title = "An invented study"
source = "nobody, never"

[defaults]
workload = "exchange-2013"
array = "nvme-raid10"
databases = 1
threads = 2
target_size = "48MiB"
duration = "1s"
set = [
    "run.sample_interval=100ms", "run.warm_up.maximum=200ms", "run.steady_state.required=false",
    "engine.cache_size_per_database=8MiB", "engine.checkpoint_depth=4MiB",
    "mail.growth_reserve_percent=1000", "array.volumes.log_size_gb=8",
]

[case.few]

[case.many]
threads = 8

[[figure]]
id = "F1"
metric = "Rates"
configuration = "both"
unit = "IOPS"
published = 1000.0
kind = "measured"
measure = "database-iops"
cases = ["few", "many"]

[[figure]]
id = "F2"
metric = "More IOPS with more threads"
configuration = "eight against two"
unit = "x"
published = 1.0
kind = "ratio"
measure = "database-iops"
cases = ["many"]
baseline_cases = ["few"]
comparison = "times"

[[figure]]
id = "F3"
metric = "Disks"
configuration = "two"
unit = "IOPS"
published = 10.0
kind = "measured"
measure = "disk-iops"
cases = ["few"]

[[chart]]
title = "Rates"
unit = "IOPS"
axis = "threads"
axis_values = [2.0, 8.0]
line = [{ name = "model", measure = "database-iops", cases = ["few", "many"] }]
"#;

/// What people read, and what only the report draws; no figure depends on it.
const NO_FIGURES: [&str; 6] = [
    "title",
    "source",
    "about",
    "case.title",
    "figure.kind",
    "chart",
];

/// The figures of a study; an error when it, or a case of it, is refused.
fn figures(study: &Study, directory: &Path) -> Result<String, proofload::Error> {
    let path = directory.join("invented.toml");
    fs::write(&path, to_toml(study)).unwrap();
    let options = StudyOptions {
        names: vec![path.display().to_string()],
        no_blind: true,
        out: Some(directory.join("out")),
        ..StudyOptions::default()
    };
    let prepared = Prepared::new(&options)?;
    let outcome = prepared.run(Box::new(|_: proofload::Event<'_>| {}), &StopRequest::new());
    Ok(outcome.unwrap().figures_json().unwrap())
}

/// The setting with elements of lists, and cases, left out of its path.
fn declared(path: &str) -> String {
    let parts = path.split('.').filter(|part| part.parse::<u32>().is_err());
    let parts: Vec<&str> = parts
        .filter(|part| !["few", "many"].contains(part))
        .collect();
    parts.join(".")
}

#[test]
fn every_setting_of_a_study_has_an_effect() {
    let directory = TempDir::new().unwrap();
    let file = Source::file("invented", STUDY);
    let study = Study::load(std::slice::from_ref(&file)).unwrap();
    let base = figures(&study, directory.path());
    let base = base.unwrap_or_else(|error| panic!("the study itself is refused: {error}"));
    assert!(!base.contains("\"model\": null"), "{base}");
    let mut all = alternatives(&study);
    // The cases of figures are predicted already.
    all.sort_by_key(|setting| !setting.path.starts_with("figure"));
    let (mut idle, mut effective) = (Vec::new(), Vec::new());
    for setting in all {
        let path = declared(&setting.path);
        let is_no_figure = NO_FIGURES.iter().any(|begin| {
            let rest = path.strip_prefix(begin);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        if is_no_figure || effective.contains(&path) {
            continue;
        }
        let has_effect = setting.assignments().any(|assignment| {
            let changed = Study::load(&[file.clone(), set(&assignment)]);
            let changed = changed
                .ok()
                .and_then(|one| figures(&one, directory.path()).ok());
            changed.is_none_or(|changed| changed != base)
        });
        if has_effect {
            effective.push(path);
        } else if !idle.contains(&path) {
            idle.push(path);
        }
    }
    idle.retain(|path| !effective.contains(path));
    assert_eq!(idle, [""; 0], "no effect was seen of these");
    assert!(effective.len() > 25, "{effective:?}");
}
