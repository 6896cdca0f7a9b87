//! Holds `docs/results.md` and the code together: a field that is not documented, or documented
//! and not there, fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use measure::grid::{GridAnswer, GridAxis, GridPoint, GridResult};
use measure::metric::{Merge, Metric, RowScope, Stream};
use measure::result::{
    ArrayController, ArrayDisk, ArrayGroup, ArrayPool, ArrayResult, ArrayVolume, BackedUpDatabase,
    BackupCopy, BackupResult, Bound, CalibrationResult, Cause, Check, CheckId, ConsistencyCheck,
    CounterSummary, DatabaseFigures, DatabaseResult, DemeritPoint, DemeritResult, DeviceResult,
    ErrorCount, ErrorRecord, EventResult, FigureBar, FileHash, FilesElsewhere, GoneOnDatabase,
    HealthFigure, IntegrityClass, Interruption, IoFigures, KernelMessage, LatencyFigures, LevelBar,
    OperationResult, OutageResult, PhaseResult, RankResult, RebuildResult, RecoveredDatabase,
    RecoveryResult, ReplicatedDatabase, ReplicationResult, RestoreResult, RestoredDatabase,
    ResumedBuild, RunResult, ServerCheckpoints, ServerFileIo, ServerIo, ServerLog, ServerResult,
    SlowSample, SteadyState, TargetPath, TraceResult, TuningResult, TuningStep, Verdict,
    VerificationResult, VerifiedDatabase, WaitShare, WholeBytes, WitnessResult,
};
use measure::sample::{Phase, SampleRow};
use serde_json::Value;

fn path_of_documentation() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md")
}

fn documentation() -> String {
    std::fs::read_to_string(path_of_documentation())
        .expect("docs/results.md is part of the repository")
}

/// A result in which nothing is empty.
fn full_result() -> RunResult {
    let latency = Some(LatencyFigures::default());
    let reads = IoFigures {
        latency,
        ..IoFigures::default()
    };
    let mut result = RunResult::new();
    result.samples.files_reach = Some(WholeBytes::default());
    result.samples.second_interval_s = Some(5.0);
    result.samples.second_files_reach = Some(WholeBytes::default());
    result.checks.push(Check {
        samples_above: 1,
        slow_samples: vec![SlowSample::default()],
        ..Check::default()
    });
    result.phases.push(PhaseResult::default());
    result.target.databases.push(TargetPath::default());
    result.target.logs.push(TargetPath::default());
    result.databases.push(DatabaseResult {
        figures: DatabaseFigures {
            reads,
            ..DatabaseFigures::default()
        },
        ..DatabaseResult::default()
    });
    result.operations.push(OperationResult {
        service_time: latency,
        ..OperationResult::default()
    });
    result.steady_state = Some(SteadyState::default());
    result.host.counters.push(CounterSummary::default());
    result.host.devices.push(DeviceResult {
        buffered_loops: vec![String::new()],
        ..DeviceResult::default()
    });
    result.host.kernel_messages.push(KernelMessage::default());
    result.host.health.push(HealthFigure::default());
    let steps = vec![TuningStep::default()];
    result.tuning = Some(TuningResult {
        curve: steps.clone(),
        steps,
        ..TuningResult::default()
    });
    result.errors.push(ErrorRecord::default());
    result.error_counts.push(ErrorCount::default());
    result.causes.push(Cause::default());
    result.target.backup_to = "/mnt/copies".to_owned();
    result.interruptions.push(Interruption::default());
    result.resumed_build = Some(ResumedBuild {
        gone_on: vec![GoneOnDatabase::default()],
        ..ResumedBuild::default()
    });
    result.restore = Some(RestoreResult {
        databases: vec![RestoredDatabase::default()],
        ..RestoreResult::default()
    });
    result.backup = Some(BackupResult {
        databases: vec![BackedUpDatabase {
            copy: Some(BackupCopy::default()),
            ..BackedUpDatabase::default()
        }],
        ..BackupResult::default()
    });
    result.recovery = Some(RecoveryResult {
        databases: vec![RecoveredDatabase::default()],
        ..RecoveryResult::default()
    });
    result.replication = Some(ReplicationResult {
        databases: vec![ReplicatedDatabase::default()],
        ..ReplicationResult::default()
    });
    result.verification = Some(VerificationResult {
        databases: vec![VerifiedDatabase::default()],
        ..VerificationResult::default()
    });
    result.array = Some(ArrayResult {
        controllers: vec![ArrayController::default()],
        volumes: vec![ArrayVolume::default()],
        pools: vec![ArrayPool::default()],
        groups: vec![ArrayGroup::default()],
        disks: vec![ArrayDisk {
            checksum_errors: Some(1),
            ..ArrayDisk::default()
        }],
        warp: Some(60),
        ..ArrayResult::default()
    });
    result.calibration = Some(CalibrationResult {
        levels: vec![LevelBar::default()],
        figures: vec![FigureBar::default()],
        ..CalibrationResult::default()
    });
    result.events.push(EventResult::default());
    result.files.push(FileHash::default());
    result.rebuilds.push(RebuildResult::default());
    result.server = Some(ServerResult {
        // What a brokerage says of its data.
        scale: ["customers", "trade_days"]
            .map(|name| (name.to_owned(), 0.into()))
            .into(),
        files_elsewhere: vec![FilesElsewhere::default()],
        waits: vec![WaitShare::default()],
        io: Some(ServerIo::default()),
        file_io: vec![ServerFileIo::default()],
        log: Some(ServerLog::default()),
        checkpoints: Some(ServerCheckpoints::default()),
        outages: vec![OutageResult::default()],
        consistency_checks: vec![ConsistencyCheck::default()],
        ..ServerResult::default()
    });
    result.witness = Some(WitnessResult::default());
    result.ranks.push(RankResult::default());
    result.trace = Some(TraceResult {
        demerits: vec![DemeritResult {
            points: vec![DemeritPoint::default()],
            ..DemeritResult::default()
        }],
        ..TraceResult::default()
    });
    result
}

/// The value at a path such as `databases[].reads`; the empty path is the document.
fn at<'a>(document: &'a Value, path: &str) -> &'a Value {
    path.split('.')
        .filter(|p| !p.is_empty())
        .fold(document, |value, part| {
            let inside = &value[part.trim_end_matches("[]")];
            if part.ends_with("[]") {
                &inside[0]
            } else {
                inside
            }
        })
}

/// The first column of each table, by the heading above it. Names are taken out of backticks.
fn tables(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut heading = String::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("#") {
            heading = title.trim_start_matches('#').trim().replace('`', "");
        } else if let Some(name) = line.strip_prefix("| `").and_then(|r| r.split('`').next()) {
            tables
                .entry(heading.clone())
                .or_default()
                .push(name.to_owned());
        }
    }
    tables
}

/// Every different object in the document, as the path at which it stands first and its fields.
fn objects(value: &Value, path: &str, found: &mut BTreeMap<BTreeSet<String>, String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let names = fields.keys().cloned().collect();
            found.entry(names).or_insert_with(|| path.to_owned());
            for (name, field) in fields {
                let below = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                objects(field, &below, found);
            }
        }
        Value::Array(items) => {
            items
                .iter()
                .for_each(|i| objects(i, &format!("{path}[]"), found));
        }
        _ => {}
    }
}

#[test]
fn every_field_of_the_result_is_documented_and_no_other() {
    let document = serde_json::to_value(full_result()).unwrap();
    let tables = tables(&documentation());
    let fields_at = |path: &str| -> BTreeSet<String> {
        at(&document, path)
            .as_object()
            .map(|o| o.keys().cloned().collect())
            .unwrap_or_default()
    };
    let mut documented: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (heading, names) in &tables {
        let path = if heading == "The document" {
            ""
        } else {
            heading
        };
        let is_path = path.is_empty() || !at(&document, path).is_null();
        if !is_path {
            continue;
        }
        let names: BTreeSet<String> = names.iter().cloned().collect();
        assert_eq!(
            names,
            fields_at(path),
            "fields of `{heading}`: documented, and in the code"
        );
        documented.insert(names);
    }
    let mut found = BTreeMap::new();
    objects(&document, "", &mut found);
    assert!(found.len() > 15, "the walk found the objects");
    for (fields, path) in found {
        assert!(
            documented.contains(&fields),
            "the fields of `{path}` are not documented"
        );
    }
}

#[test]
fn every_field_of_a_grid_is_documented_and_no_other() {
    let grid = GridResult {
        axes: vec![GridAxis::default()],
        points: vec![GridPoint::default()],
        answers: vec![GridAnswer::default()],
        ..GridResult::default()
    };
    let document = serde_json::to_value(grid).unwrap();
    let tables = tables(&documentation());
    for (heading, path) in [
        ("grid.json", ""),
        ("axes[] of a grid", "axes[]"),
        ("points[] of a grid", "points[]"),
        ("answers[] of a grid", "answers[]"),
    ] {
        let documented: BTreeSet<&String> = tables[heading].iter().collect();
        let fields = at(&document, path).as_object().unwrap();
        assert_eq!(documented, fields.keys().collect(), "{heading}");
    }
}

/// How several values become one, in the words of the document.
fn merged(merge: Merge) -> &'static str {
    match merge {
        Merge::Sum => "sum",
        Merge::Max => "max",
        Merge::Last => "last",
        Merge::OverTime => "mean over time",
        Merge::ByRequests => "mean over requests",
        Merge::Histogram => "histograms",
        Merge::BatchMeans => "batch means",
    }
}

fn column_row(column: &str, metric: Metric) -> String {
    let scopes: Vec<&str> = metric.scopes().iter().map(|scope| scope.name()).collect();
    let (scopes, unit, merge) = (
        scopes.join(", "),
        metric.unit().text(),
        merged(metric.merge()),
    );
    format!(
        "| `{column}` | {unit} | {scopes} | {merge} | {} |\n",
        metric.meaning()
    )
}

/// The table of the columns that hold metrics. The columns of all streams are alike.
fn column_table() -> String {
    let mut table = "| column | unit | in rows of scope | samples merge by | meaning |\n\
                     |---|---|---|---|---|\n"
        .to_owned();
    for metric in Metric::all() {
        let column = match metric {
            Metric::Io(stream, figure) if stream == Stream::ALL[0] => {
                format!("STREAM_{}", figure.id())
            }
            Metric::Io(..) => continue,
            _ => metric.id().into_owned(),
        };
        table.push_str(&column_row(&column, metric));
    }
    table
}

#[test]
fn the_columns_of_the_samples_are_documented_and_no_other() {
    let text = documentation();
    let (mark, end) = ("<!-- columns -->\n", "<!-- end of columns -->");
    let (head, rest) = text.split_once(mark).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let right = format!("{head}{mark}{}{end}{tail}", column_table());
    if std::env::var_os("PROOFLOAD_WRITE_DOCS").is_some() {
        std::fs::write(path_of_documentation(), right).unwrap();
        return;
    }
    let help = "run this test once with PROOFLOAD_WRITE_DOCS=1 to bring docs/results.md in step";
    assert_eq!(text, right, "{help}");
    let first = SampleRow::columns().len() - Metric::all().len();
    let documented = &tables(&text)["samples.csv"][..first];
    assert_eq!(documented, &SampleRow::columns()[..first]);
}

#[test]
fn every_word_of_the_documents_is_explained() {
    let text = documentation();
    let word = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let json = |value: &dyn Fn() -> serde_json::Result<Value>| word(value().unwrap());
    let mut words: Vec<String> = Vec::new();
    for id in CheckId::ALL {
        words.push(json(&|| serde_json::to_value(id)));
        words.push(json(&|| serde_json::to_value(id.unit())));
    }
    for bound in [Bound::AtMost, Bound::AtLeast] {
        words.push(json(&|| serde_json::to_value(bound)));
    }
    words.extend(RowScope::ALL.iter().map(|s| s.name().to_owned()));
    words.extend(Stream::ALL.map(|s| s.column().to_owned()));
    words.extend(Stream::ALL.map(|s| format!("DATABASE/{}", s.tag())));
    for class in IntegrityClass::ALL {
        words.push(json(&|| serde_json::to_value(class)));
    }
    let phases = [
        Phase::Build,
        Phase::Seeding,
        Phase::WarmUp,
        Phase::Tuning,
        Phase::Measured,
        Phase::Checksum,
        Phase::Close,
        Phase::Backup,
        Phase::LogWriting,
        Phase::Recovery,
    ];
    words.extend(phases.map(|p| p.name().to_owned()));
    for word in words {
        assert!(
            text.contains(&format!("`{word}`")),
            "`{word}` is not explained"
        );
    }
    let verdicts = [
        Verdict::Pass,
        Verdict::Fail,
        Verdict::Inconclusive,
        Verdict::Interrupted,
        Verdict::Error,
    ];
    for verdict in verdicts {
        let row = format!("| {} | `{verdict}` |", verdict.exit_status());
        assert!(text.contains(&row), "no row `{row}`");
    }
}

#[test]
fn the_example_is_a_result_and_uses_known_fields_only() {
    let text = documentation();
    let example = text
        .split("```json")
        .nth(1)
        .and_then(|t| t.split("```").next())
        .unwrap();
    let result: RunResult = serde_json::from_str(example).unwrap();
    assert_eq!(result.exit_status, result.verdict.exit_status());
    let example: Value = serde_json::from_str(example).unwrap();
    let written = serde_json::to_value(&result).unwrap();
    assert_contains(&written, &example, "");
}

fn assert_contains(whole: &Value, part: &Value, path: &str) {
    match part {
        Value::Object(fields) => {
            for (name, value) in fields {
                assert_contains(&whole[name], value, &format!("{path}.{name}"));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                assert_contains(&whole[index], item, &format!("{path}[{index}]"));
            }
        }
        _ => assert_eq!(whole, part, "{path}"),
    }
}

/// The list of causes in the explanation of the verdict is the one that judges.
#[test]
fn every_cause_is_explained_and_no_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explanation/verdict.md");
    let text = std::fs::read_to_string(&path).expect("the explanation is part of the repository");
    let mut table = String::from("| cause | when |\n|---|---|\n");
    for (id, condition) in measure::attribution::rule_sentences() {
        let id = serde_json::to_value(id).expect("a word");
        let id = id.as_str().expect("a word");
        table += &format!("| `{id}` | {condition} |\n");
    }
    let (begin, end) = ("<!-- causes -->\n", "<!-- end of causes -->");
    let from = text.find(begin).expect("a place for the list") + begin.len();
    let to = text.find(end).expect("an end of the list");
    let wanted = format!("{}{table}{}", &text[..from], &text[to..]);
    if std::env::var_os("PROOFLOAD_WRITE_DOCS").is_some() {
        std::fs::write(&path, &wanted).expect("the explanation can be written");
        return;
    }
    let hint = "run this test once with PROOFLOAD_WRITE_DOCS=1";
    assert!(text == wanted, "the list of causes is out of date: {hint}");
}
