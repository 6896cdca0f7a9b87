//! What was changed in a run directory is found, figure by figure, and nothing else is reported.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use measure::host::{DeviceSample, HostSample};
use measure::metric::{Metric, Stream};
use measure::recompute::{Agreement, Criteria, Verified, verify};
use measure::result::{Check, CheckId, DeviceResult, ErrorRecord, RunKind, RunResult, Verdict};
use measure::run_directory::RunDirectory;
use measure::sample::{DatabaseMeters, Layout, OperationKind, Phase, RunTotals, Sample};
use measure::service_level::{
    Levels, Measured, OperationLevels, PercentileLevel, add_checks, evaluate, judge,
};
use measure::steady::SteadyRule;
use serde_json::Value;

const INTERVAL_S: f64 = 15.0;
/// Samples of the measured phase: as few as are judged.
const SAMPLES: u64 = 5;
const HUNG_AFTER_S: f64 = 30.0;

/// Latencies, counts and counters that differ from sample to sample and from place to place.
fn sample(layout: &Arc<Layout>, number: u64, phase: Phase) -> Sample {
    let mut databases = DatabaseMeters::for_layout(layout);
    for (place, meters) in (1..).zip(&mut databases) {
        // The second database has no log.
        let streams = Stream::ALL.into_iter().take(if place == 1 { 7 } else { 2 });
        for (at, stream) in (1..).zip(streams) {
            let meter = meters.stream_mut(stream);
            for request in 1..=30 + at + place {
                let latency_us = 1_000 * place + 370 * at + 41 * request + 13 * number;
                meter.latency.record(latency_us * 1_000 + 123);
                meter.bytes += 4_096 * at;
            }
            meter.errors = (at + number) % 3;
        }
        for operation in 0..2 {
            let meter = meters.operation_mut(operation);
            for request in 1..=9 + number % 3 + operation as u64 {
                let service_us = 900 * request + 77 * number + 5 * place;
                meter.service.record(service_us * 1_000);
                meter.response_time.record(service_us * 1_200);
            }
            meter.failures = place + number;
        }
        meters.page_fault_stalls = 2 * place + number;
        meters.size_bytes = Some(1_000_000 * place + 4_096 * number);
    }
    // Nothing that would explain a bad figure.
    let value = |at: usize| Some(3.5 + 0.1 * at as f64 + 0.25 * number as f64);
    let host = Metric::HOST.into_iter().enumerate();
    let device = [
        Metric::DeviceReads,
        Metric::DeviceWrites,
        Metric::DeviceReadBytes,
        Metric::DeviceWriteBytes,
        Metric::DeviceReadAverage,
        Metric::DeviceWriteAverage,
        Metric::DeviceQueueDepth,
        Metric::DeviceBusy,
    ];
    let device = device.into_iter().enumerate();
    Sample {
        layout: Arc::clone(layout),
        number,
        phase,
        phase_number: u32::from(phase == Phase::Measured),
        begins_s: INTERVAL_S * number as f64,
        length_s: INTERVAL_S,
        databases,
        host: Some(HostSample {
            length_s: INTERVAL_S,
            values: host.map(|(at, metric)| (metric, value(at))).collect(),
            devices: vec![DeviceSample {
                name: "sda".to_owned(),
                values: device
                    .map(|(at, metric)| (metric, value(at + 20)))
                    .collect(),
            }],
        }),
        array: None,
    }
}

fn criteria() -> Criteria {
    let operations = OperationLevels {
        p90: vec![PercentileLevel {
            operation: "insert".to_owned(),
            p90_ms: 50.0,
        }],
        ..OperationLevels::default()
    };
    let levels = Levels {
        allowed_errors: 1_000,
        ..Levels::default()
    };
    Criteria {
        levels: levels.with(operations),
        planned_s: SAMPLES as f64 * INTERVAL_S,
        hung_after_s: HUNG_AFTER_S,
        steady: SteadyRule::default(),
        settings: BTreeMap::from([("run.seed".to_owned(), Value::from(7))]),
    }
}

/// A run directory, and the result that was written into it.
struct Run {
    directory: tempfile::TempDir,
    result: RunResult,
}

impl Run {
    /// A run of one sample of warm-up and [`SAMPLES`] of the measured phase, judged; `change` has the last
    /// word on its result.
    fn with(change: impl FnOnce(&mut RunResult)) -> Self {
        Self::judged_by(&criteria(), change)
    }

    fn judged_by(criteria: &Criteria, change: impl FnOnce(&mut RunResult)) -> Self {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let started = "2025-03-01T12:00:00Z".parse().unwrap();
        let mut directory = RunDirectory::create(Some(&path), "mail", started, "a = 1\n").unwrap();
        let layout = Arc::new(Layout::new(
            ["db1", "db 2"],
            ["insert".into(), OperationKind::outside_total("commit-lazy")],
        ));
        let mut totals = RunTotals::new(Arc::clone(&layout), INTERVAL_S);
        let measured = (1..=SAMPLES).map(|number| (number, Phase::Measured));
        for (number, phase) in std::iter::once((0, Phase::WarmUp)).chain(measured) {
            let sample = sample(&layout, number, phase);
            directory.append(&sample).unwrap();
            totals.add(&sample);
        }
        let mut result = result_of(&totals, criteria);
        change(&mut result);
        directory.write_final_result(&mut result).unwrap();
        Run {
            directory: parent,
            result,
        }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("run")
    }

    fn verified(&self) -> Verified {
        verified_by(&self.path(), Ok(Some(criteria())))
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap()
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.path().join(file), text).unwrap();
    }

    /// The same run without hashes, so that only what follows from the samples can be compared.
    fn without_hashes(mut self) -> Self {
        self.result.files.clear();
        self.result.document_sha256.clear();
        self.write_document(&serde_json::to_value(&self.result).unwrap());
        self
    }

    fn write_document(&self, document: &Value) {
        self.write("result.json", &document.to_string());
    }
}

fn verified_by(path: &Path, terms: Result<Option<Criteria>, String>) -> Verified {
    verify(path, |_, config| {
        assert_eq!(config, "a = 1\n");
        terms
    })
    .unwrap()
}

fn result_of(totals: &RunTotals, criteria: &Criteria) -> RunResult {
    let mut result = RunResult::new();
    (result.kind, result.complete) = (RunKind::Run, true);
    result.workload.settings.clone_from(&criteria.settings);
    result.throughput.target_iops = Some(4.0);
    result.host.devices.push(DeviceResult {
        name: "sda".to_owned(),
        ..DeviceResult::default()
    });
    totals.fill(&mut result);
    let rates = totals.iops_by_sample();
    result.steady_state = Some(criteria.steady.judge("IOPS", rates, INTERVAL_S));
    let measured = Measured {
        totals,
        planned_s: Some(criteria.planned_s),
        target_iops: Some(4.0),
        errors: &[],
        error_counts: &[],
        hung_after_s: Some(criteria.hung_after_s),
        interrupted: false,
        must_be_steady: result.steady_state.as_ref(),
    };
    let checks = evaluate(&criteria.levels, &measured);
    let judgement = judge(&criteria.levels, &measured, &checks);
    judgement.enter(checks, &mut result);
    let downtime = Check::of_run(CheckId::Downtime, 1.0, Some(0.5), "A rule.".to_owned());
    add_checks(&mut result, vec![downtime]);
    measure::attribution::attribute(&mut result);
    result
}

/// The fields that differ.
fn fields(verified: &Verified) -> Vec<&str> {
    let listed = verified.differences.listed.iter();
    listed.map(|one| one.field.as_str()).collect()
}

#[test]
fn an_unchanged_run_is_verified_as_a_whole() {
    let run = Run::with(|_| ());
    let verified = run.verified();
    assert_eq!(fields(&verified), Vec::<&str>::new());
    assert_eq!(verified.not_verified, Vec::<String>::new());
    assert_eq!(verified.agreement(), Agreement::Whole);
    assert_eq!(run.result.verdict, Verdict::Pass);
    let counted = (verified.samples, verified.checks, verified.verdict);
    assert_eq!(counted, (SAMPLES, run.result.checks.len() as u64, true));
    assert_eq!(verified.files, run.result.files.len() as u64);
    assert!(verified.files >= 4 && verified.figures > 100);
    assert_eq!(verified.document_sha256, run.result.document_sha256);
    let read = verified.result.unwrap();
    assert_eq!(read.checks.len(), run.result.checks.len());
}

/// Calls `visit` with the path of each number and the number.
fn each_number(value: &Value, path: &str, visit: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let separator = if path.is_empty() { "" } else { "." };
                each_number(value, &format!("{path}{separator}{name}"), visit);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                each_number(value, &format!("{path}[{index}]"), visit);
            }
        }
        Value::Number(_) => visit(path, value),
        _ => {}
    }
}

/// The document with the number at a path replaced.
fn replaced(document: &Value, path: &str, number: Value) -> Value {
    let pointer = path.replace('[', ".").replace(']', "");
    let mut document = document.clone();
    *document
        .pointer_mut(&format!("/{}", pointer.replace('.', "/")))
        .unwrap() = number;
    document
}

/// More changes than this at once would not all be listed.
const AT_ONCE: usize = 20;

/// Fields that follow from the samples, except for [`facts`].
const FIGURES: [&str; 10] = [
    "checks[",
    "databases[",
    "duration_s",
    "host.counters",
    "host.devices",
    "operations[",
    "samples.",
    "steady_state.",
    "throughput.",
    "totals.",
];

/// Facts among the figures: what only a workload knows, what a device is, and what was asked for. Of
/// the length of a sample the rules speak, which are compared.
fn facts(result: &RunResult) -> [String; 5] {
    let mut checks = result.checks.iter();
    let downtime = checks.position(|check| check.id == CheckId::Downtime);
    let downtime = downtime.unwrap();
    [
        format!("checks[{downtime}].limit"),
        format!("checks[{downtime}].value"),
        "host.devices[0].size_bytes".to_owned(),
        "samples.interval_s".to_owned(),
        "throughput.target_iops".to_owned(),
    ]
}

#[test]
fn each_figure_that_does_not_follow_from_the_samples_is_found() {
    let run = Run::with(|_| ()).without_hashes();
    let document = serde_json::to_value(&run.result).unwrap();
    let mut figures = Vec::new();
    each_number(&document, "", &mut |path, value| {
        // How many latencies were above an hour is in no sample.
        if FIGURES.iter().any(|begin| path.starts_with(begin)) && !path.ends_with(".saturated") {
            figures.push((path.to_owned(), value.clone()));
        }
    });
    let facts = facts(&run.result);
    let is_fact = |path: &String| facts.contains(path);
    let (alone, others): (Vec<_>, Vec<_>) =
        (figures.iter().cloned()).partition(|(path, _)| is_fact(path));
    assert!(alone.len() == 5 && others.len() > 200, "{}", others.len());
    for figures in alone.chunks(1).chain(others.chunks(AT_ONCE)) {
        let mut changed = document.clone();
        for (path, value) in figures {
            let value = match (value.as_u64(), value.as_f64()) {
                (Some(whole), _) => Value::from(2 * whole + 1),
                // More than any tolerance.
                (_, Some(number)) => (number * 1.2 + 0.1).into(),
                _ => unreachable!("a number"),
            };
            changed = replaced(&changed, path, value);
        }
        run.write_document(&changed);
        let verified = run.verified();
        let found = fields(&verified);
        for (path, _) in figures.iter().filter(|(path, _)| !is_fact(path)) {
            assert!(found.contains(&path.as_str()), "{path} is not in {found:?}");
        }
    }
    // Of many differences the first are listed, and all are counted.
    let mut changed = document.clone();
    for (path, _) in &others {
        changed = replaced(&changed, path, Value::from(12_345));
    }
    run.write_document(&changed);
    let found = run.verified().differences;
    assert_eq!(found.listed.len(), 40);
    assert!(found.count >= others.len() as u64, "{}", found.count);
    // Less than the last digit that is written is no difference.
    let mut near = document.clone();
    for (path, value) in figures.iter().filter(|(path, _)| !is_fact(path)) {
        if let (None, Some(number)) = (value.as_u64(), value.as_f64()) {
            near = replaced(&near, path, (number * (1.0 + 1e-7)).into());
        }
    }
    assert_ne!(near, document);
    run.write_document(&near);
    let verified = run.verified();
    assert_eq!(fields(&verified), Vec::<&str>::new());
}

/// The host is looked at a moment after a sample has ended, so its figures are less exact.
#[test]
fn figures_of_the_host_may_be_off_by_three_percent() {
    let run = Run::with(|_| ()).without_hashes();
    let document = serde_json::to_value(&run.result).unwrap();
    let changed_by = |share: f64| {
        let mut changed = document.clone();
        for path in [
            "host.counters[0].average",
            "host.devices[0].reads_per_second",
        ] {
            each_number(&document, "", &mut |own, value| {
                if own == path {
                    let number = value.as_f64().unwrap() * (1.0 + share);
                    changed = replaced(&changed, path, number.into());
                }
            });
        }
        assert_ne!(changed, document);
        run.write_document(&changed);
        run.verified().differences.count
    };
    assert_eq!(changed_by(0.029), 0);
    assert_eq!(changed_by(0.032), 2);
}

/// The rows of `samples.csv`.
fn rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines();
    lines
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

fn written(rows: &[Vec<String>]) -> String {
    rows.iter().map(|row| row.join(",") + "\n").collect()
}

/// Columns that stand in rows of this scope, but that another row of the sample decides.
fn is_repeated(scope: &str, head: &str) -> bool {
    let is_of_first = scope == "total";
    match head {
        "begins_s" | "length_s" => !is_of_first,
        head => head.starts_with("operation") && scope != "operation",
    }
}

/// Columns that must agree with the histograms of the sample, or with its other rows.
fn is_compared(scope: &str, head: &str) -> bool {
    let is_of_host = Metric::HOST.iter().any(|metric| metric.id() == head);
    let counted = ["_p50_ms", "_p99_ms", "operations_per_second", "iops"];
    let counted = counted.iter().any(|end| head.ends_with(end));
    let is_rate = Stream::ALL
        .iter()
        .any(|stream| head == format!("{stream}_per_second").replace('-', "_"));
    match scope {
        "total" => !is_of_host && !["begins_s", "length_s"].contains(&head),
        "database" | "operation" => counted || is_rate,
        _ => false,
    }
}

#[test]
fn each_value_of_a_sample_that_is_changed_is_found() {
    let run = Run::with(|_| ()).without_hashes();
    let original = rows(&run.read("samples.csv"));
    let heads = &original[0];
    let place = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let (scope, name) = (place("scope"), place("name"));
    let mut compared = Vec::new();
    let mut summed = Vec::new();
    for row in (1..original.len()).filter(|row| original[*row][0] == "4") {
        let cells = original[row].iter().enumerate();
        let numbers = cells.filter(|(column, text)| *column > 1 && text.parse::<f64>().is_ok());
        for (column, _) in numbers {
            let (scope, head) = (original[row][scope].as_str(), heads[column].as_str());
            match is_compared(scope, head) {
                _ if is_repeated(scope, head) => {}
                true => compared.push((row, column)),
                // Seen in the sums only.
                false => summed.push((row, column)),
            }
        }
    }
    assert!(
        compared.len() > 60 && summed.len() > 20,
        "{} {}",
        compared.len(),
        summed.len()
    );
    for cells in compared.chunks(AT_ONCE).chain(summed.chunks(1)) {
        let mut rows = original.clone();
        for &(row, column) in cells {
            let value: f64 = rows[row][column].parse().unwrap();
            rows[row][column] = match value.fract() == 0.0 {
                true => format!("{}", 3.0 * value + 30.0),
                false => format!("{:.6}", 1.5 * value + 0.01),
            };
        }
        run.write("samples.csv", &written(&rows));
        let verified = run.verified();
        let found = fields(&verified);
        for &(row, column) in cells.iter().filter(|_| cells.len() > 1) {
            let field = format!("sample 4, {}, {}", original[row][name], heads[column]);
            assert!(
                found.contains(&field.as_str()),
                "{field} is not in {found:?}"
            );
        }
        let (row, column) = cells[0];
        let cell = format!("{} of {}", heads[column], original[row][name]);
        assert_eq!(verified.agreement(), Agreement::None, "{cell}");
    }
}

#[test]
fn histograms_that_are_gone_or_belong_to_no_sample_are_found() {
    let run = Run::with(|_| ()).without_hashes();
    let original = run.read("histograms.hlog");
    let lines: Vec<&str> = original.lines().collect();
    let is_entry = |line: &&&str| line.starts_with("Tag=");
    let of_first = "Tag=db1/database-read,";
    let first = lines.iter().position(|line| line.starts_with(of_first));
    let first = first.unwrap();
    assert!(lines.iter().filter(is_entry).count() > 50);

    let without: Vec<&str> = [&lines[..first], &lines[first + 1..]].concat();
    run.write("histograms.hlog", &(without.join("\n") + "\n"));
    let verified = run.verified();
    assert!(
        fields(&verified).contains(&"databases[0].reads.count"),
        "{:?}",
        fields(&verified)
    );

    for (line, field) in [
        // Of a database that there is not, of a time without a sample, and after the last sample.
        (
            lines[first].replace("db1", "db7"),
            "db7/database-read at 15.000 s",
        ),
        (
            lines[first].replacen(",15.000,", ",19.000,", 1),
            "db1/database-read at 19.000 s",
        ),
        (
            lines[first].replacen(",15.000,", ",900.000,", 1),
            "db1/database-read at 900.000 s",
        ),
    ] {
        assert_ne!(line, lines[first]);
        let mut all: Vec<&str> = lines.clone();
        let begin = |line: &&str| {
            let number = line.split(',').nth(1).and_then(|text| text.parse().ok());
            number.unwrap_or(0.0_f64)
        };
        let own = begin(&line.as_str());
        let after = all.iter().rposition(|one| begin(one) <= own).unwrap();
        all.insert(after + 1, &line);
        run.write("histograms.hlog", &(all.join("\n") + "\n"));
        assert_eq!(fields(&run.verified()), [field]);
    }

    run.write("histograms.hlog", &original.replacen("HIST", "HISU", 1));
    assert_eq!(fields(&run.verified()), ["the file"]);
}

#[test]
fn a_changed_file_is_found_by_its_hash() {
    let run = Run::with(|_| ());
    run.write("log.txt", "something else\n");
    let verified = run.verified();
    assert_eq!(fields(&verified), ["SHA-256"]);
    let one = &verified.differences.listed[0];
    assert_eq!((one.file.as_str(), one.recorded.len()), ("log.txt", 64));
    assert_eq!(verified.files, run.result.files.len() as u64 - 1);

    // A document that is none any more, but has a hash of another one.
    let run = Run::with(|_| ());
    let text = run.read("result.json");
    run.write(
        "result.json",
        &text.replacen("\"seed\": 0", "\"seed\": 1", 1),
    );
    assert_eq!(fields(&run.verified()), ["document_sha256"]);
    run.write(
        "result.json",
        &text.replacen("\"seed\": 0", "\"seed\": []", 1),
    );
    let verified = run.verified();
    assert_eq!(fields(&verified), ["document_sha256", "the document"]);
    assert!(verified.result.is_none());

    let run = Run::with(|_| ()).without_hashes();
    let text = run.read("result.json");
    run.write(
        "result.json",
        &text.replacen("\"seed\":0", "\"seed\":[]", 1),
    );
    assert!(verify(&run.path(), |_, _| Ok(None)).is_err());
}

/// What cannot be verified is said, and is not taken for a change.
#[test]
fn what_could_not_be_compared_is_said() {
    let begins = |verified: &Verified, beginning: &str| {
        let one = verified.not_verified.iter();
        let mut found = one.filter(|sentence| sentence.starts_with(beginning));
        assert!(
            found.next().is_some(),
            "{beginning}: {:?}",
            verified.not_verified
        );
        assert_eq!(fields(verified), Vec::<&str>::new(), "{beginning}");
        assert_eq!(verified.agreement(), Agreement::Partial, "{beginning}");
    };
    let run = Run::with(|_| ()).without_hashes();
    begins(&run.verified(), "result.json has no hashes");

    let run = Run::with(|one| one.complete = false).without_hashes();
    begins(&run.verified(), "The run did not end");

    let run = Run::with(|_| ());
    let verified = verified_by(&run.path(), Ok(None));
    begins(&verified, "The verdict was not recomputed");
    assert!(!verified.verdict);

    let run = Run::with(|_| ()).without_hashes();
    let heads = run.read("samples.csv").lines().next().unwrap().to_owned();
    run.write("samples.csv", &(heads + "\n"));
    begins(&run.verified(), "There are no samples");

    let run = Run::with(|_| ()).without_hashes();
    fs::remove_file(run.path().join("histograms.hlog")).unwrap();
    begins(&run.verified(), "histograms.hlog cannot be read");

    let run = Run::with(|one| one.samples.interval_s = 0.0);
    begins(&run.verified(), "Nothing was measured");
}

#[test]
fn files_that_cannot_be_read_are_differences() {
    let run = Run::with(|_| ()).without_hashes();
    let verified = verified_by(&run.path(), Err("line 1: unknown key".to_owned()));
    let one = &verified.differences.listed[0];
    assert_eq!(
        (one.file.as_str(), one.recomputed.as_str()),
        ("config.toml", "line 1: unknown key")
    );
    run.write("samples.csv", "a,b\n1,2\n");
    let verified = run.verified();
    assert_eq!(verified.differences.listed[0].file, "samples.csv");
    assert_eq!(verified.differences.count, 1);
}

/// A verdict that says less than the samples may have a reason outside of them; one that says more
/// has none.
#[test]
fn a_verdict_must_follow_from_the_samples_or_say_less() {
    use Verdict::{Built, Error, Fail, Inconclusive, Interrupted, Pass};
    let slow = || {
        let mut criteria = criteria();
        criteria.levels.operations.p90[0].p90_ms = 0.001;
        criteria
    };
    for (recorded, of_samples, may_be) in [
        (Pass, Pass, None),
        (Fail, Pass, Some(false)),
        (Inconclusive, Pass, Some(true)),
        (Error, Pass, Some(true)),
        (Built, Pass, Some(true)),
        (Pass, Fail, Some(false)),
        (Inconclusive, Fail, Some(false)),
        (Error, Fail, Some(false)),
    ] {
        let criteria = if of_samples == Pass {
            criteria()
        } else {
            slow()
        };
        let run = Run::judged_by(&criteria, |one| {
            assert_eq!(one.verdict, of_samples);
            let reason = one.verdict_reason.clone();
            one.set_verdict(recorded, reason);
        });
        let verified = verified_by(&run.path(), Ok(Some(criteria)));
        let case = format!("{recorded} of {of_samples}");
        let differs = fields(&verified).contains(&"verdict");
        assert_eq!(differs, may_be == Some(false), "{case}");
        assert_eq!(
            verified.not_verified.len(),
            usize::from(may_be == Some(true)),
            "{case}"
        );
        assert_eq!(verified.verdict, may_be != Some(true), "{case}");
    }
    // The samples of a run that was stopped say nothing of that.
    let run = Run::with(|one| one.set_verdict(Interrupted, "Stopped."));
    assert_eq!(run.verified().agreement(), Agreement::Whole);
}

/// Causes are looked for only where the checks decide: a run that knew a reason to say less before
/// that has none, whatever its samples would give.
#[test]
fn causes_are_compared_only_where_the_run_looked_for_them() {
    use Verdict::{Error, Inconclusive, Pass};
    for allow_cached in [true, false] {
        let fits_a_cache = |one: &mut RunResult| {
            assert_eq!(one.verdict, Pass);
            one.target.engine_cache_bytes = Some(u64::MAX);
            one.target.allow_cached = allow_cached;
        };
        for verdict in [Inconclusive, Error] {
            let run = Run::with(|one| {
                fits_a_cache(one);
                one.set_verdict(verdict, "The run knew more than its samples.");
            });
            let verified = run.verified();
            assert_eq!(fields(&verified), Vec::<&str>::new(), "{verdict}");
            assert_eq!(verified.agreement(), Agreement::Partial, "{verdict}");
            assert!(!verified.verdict, "{verdict}");
        }
        let attributed = |one: &mut RunResult| {
            fits_a_cache(one);
            measure::attribution::attribute(one);
            assert_eq!(one.verdict == Pass, allow_cached);
            assert_eq!(one.causes.len(), 1);
        };
        let run = Run::with(attributed);
        assert_eq!(run.verified().agreement(), Agreement::Whole);
        // A cause that does not follow is found, and in a run that passed one that is gone.
        let run = Run::with(|one| {
            attributed(one);
            one.causes.push(one.causes[0].clone());
        });
        assert_eq!(fields(&run.verified()), ["causes"]);
    }
    let run = Run::with(|one| {
        one.target.engine_cache_bytes = Some(u64::MAX);
        one.target.allow_cached = true;
        measure::attribution::attribute(one);
        one.causes.clear();
    });
    assert_eq!(fields(&run.verified()), ["causes"]);
}

#[test]
fn facts_that_are_in_no_sample_are_taken_as_recorded() {
    // Nobody looked for hung requests.
    let run = Run::with(|one| one.checks.retain(|check| check.id != CheckId::HungRequests));
    assert_eq!(fields(&run.verified()), Vec::<&str>::new());
    // Latencies of more than an hour are counted in the run alone.
    let run = Run::with(|one| {
        let [first, second] = one.operations.as_mut_slice() else {
            panic!("two operations");
        };
        for latency in [
            &mut one.totals.reads.latency,
            &mut one.databases[0].figures.log_writes.latency,
            &mut first.service_time,
            &mut second.response_time,
        ] {
            latency.as_mut().unwrap().saturated = 3;
        }
    });
    assert_eq!(fields(&run.verified()), Vec::<&str>::new());
    // The variable of the steady state is the one whose rounds were recorded.
    let run = Run::with(|one| {
        let layout = Arc::new(Layout::new(
            ["db1", "db 2"],
            ["insert".into(), OperationKind::outside_total("commit-lazy")],
        ));
        let mut totals = RunTotals::new(Arc::clone(&layout), INTERVAL_S);
        (1..=SAMPLES).for_each(|number| totals.add(&sample(&layout, number, Phase::Measured)));
        let latencies = totals.average_ms_by_sample(Stream::DatabaseRead);
        let state = SteadyRule::default().judge("read latency", &latencies, INTERVAL_S);
        one.steady_state = Some(state);
    });
    assert_eq!(fields(&run.verified()), Vec::<&str>::new());
}

#[test]
fn an_error_that_was_recorded_is_judged_again() {
    let run = Run::with(|one| {
        one.errors.push(ErrorRecord {
            ended_run: true,
            ..ErrorRecord::default()
        });
    });
    // With it the run cannot have passed.
    assert!(fields(&run.verified()).contains(&"verdict"));
}
