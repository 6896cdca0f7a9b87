//! What was changed in a run directory is found, figure by figure, and nothing else is reported.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

mod changes;

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
    let of_host = |at: usize, metric: Metric| match metric {
        Metric::Paused => Some(0.25 + 0.01 * number as f64),
        _ => value(at),
    };
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
            values: host
                .map(|(at, metric)| (metric, of_host(at, metric)))
                .collect(),
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
        load: None,
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
        if result.headline.is_empty() {
            result.headline = measure::headline::compose(&result, None);
        }
        if result.complete {
            directory.write_final_result(&mut result).unwrap();
        } else {
            directory.write_result(&result).unwrap();
            // It is killed before the document of this sample is written.
            let number = SAMPLES + 1;
            directory
                .append(&sample(&layout, number, Phase::Measured))
                .unwrap();
        }
        Run {
            directory: parent,
            result,
        }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("run")
    }

    fn verified(&self) -> Verified {
        verified_by(&self.path(), &Ok(Some(criteria())))
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

fn verified_by(path: &Path, terms: &Result<Option<Criteria>, String>) -> Verified {
    verify(path, &|_, config| {
        assert_eq!(config, "a = 1\n");
        terms.clone()
    })
    .unwrap()
}

fn result_of(totals: &RunTotals, criteria: &Criteria) -> RunResult {
    let mut result = RunResult::new();
    (result.kind, result.complete) = (RunKind::Run, true);
    result.workload.settings.clone_from(&criteria.settings);
    result.seed = 7;
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
        tests: &[],
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
    let counted = (
        verified.samples,
        verified.checks,
        verified.verdict.is_some(),
    );
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
fn a_headline_that_says_something_else_is_found() {
    let run = Run::with(|result| result.headline = "PASS: for 20 h.".to_owned());
    assert_eq!(fields(&run.verified()), ["headline"]);
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
    // Limits are written with all of their digits.
    let mut result: RunResult = serde_json::from_value(near).unwrap();
    result.headline = measure::headline::compose(&result, None);
    let near = serde_json::to_value(&result).unwrap();
    run.write_document(&near);
    let verified = run.verified();
    assert_eq!(fields(&verified), Vec::<&str>::new());
}
