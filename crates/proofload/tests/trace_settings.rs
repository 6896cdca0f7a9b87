//! Every setting of a replay has an effect: a change of it is seen in the response times, in the
//! samples or in the result.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io;
use std::rc::Rc;

use measure::result::{HostResult, RunResult};
use proofload::replay::Prepared;
use proofload::{Event, Scenario, Setting, StopRequest};
use test_support::{Alternatives, alternatives};
use trace::TraceSettings;

const REQUESTS: u64 = 200;

/// The loads that settings need, each with the paths of those settings.
const LOADS: [(&str, &str, &[&str], &[&str]); 7] = [
    (
        "bursts.csv",
        "",
        &[],
        &["format", "mode", "queue_limit", "speed", "sample_interval"],
    ),
    ("bursts.csv", "", &["volume_size=16GiB"], &["volume_size"]),
    ("bursts.csv", "", &["mode=closed"], &["outstanding"]),
    (
        "bursts.csv",
        "",
        &["volume_size=4GiB", "wrap=true"],
        &["wrap"],
    ),
    (
        "bursts.csv",
        "swapped",
        &["sort_window=4"],
        &["sort_window"],
    ),
    ("bursts.csv", "", &["speed=0.05"], &["first_write"]),
    ("events.blkparse", "", &[], &["blkparse_action"]),
];

/// Settings of which some values are refused, because the trace does not go with them.
const REFUSING: [&str; 4] = ["format", "volume_size", "wrap", "sort_window"];

/// Ten requests every 50 ms, all over 8 GiB; `swapped`: with neighbouring bursts in the wrong order.
fn bursts(swapped: bool) -> String {
    let mut text = "time_ms,offset_bytes,size_bytes,operation\n".to_owned();
    for number in 0..REQUESTS {
        let number = if swapped { number ^ 1 } else { number };
        let time_ms = number / 10 * 50 + if swapped { number } else { 0 };
        let offset = number * 0x9E37_79B9 % 2_000_000 * 4096;
        let operation = if number % 3 == 0 { "write" } else { "read" };
        writeln!(text, "{time_ms},{offset},8192,{operation}").unwrap();
    }
    text
}

/// Requests that wait for ever longer times between queueing and issue.
fn events() -> String {
    let mut text = String::new();
    for number in 0..REQUESTS {
        let sector = number * 7_654_321 % 10_000_000 * 8;
        let queued_us = number * 1_000;
        for (action, at_us) in [("Q", queued_us), ("D", queued_us + number * 40)] {
            let at_s = at_us as f64 / 1e6;
            writeln!(
                text,
                "  8,0 1 {number} {at_s:.9} 697 {action} R {sector} + 8 [x]"
            )
            .unwrap();
        }
    }
    text
}

#[derive(Clone, Default)]
struct Text(Rc<RefCell<Vec<u8>>>);

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn figures(mut result: RunResult) -> String {
    result.workload.settings.clear();
    result.started.clear();
    let phases = result.phases.iter_mut();
    phases.for_each(|phase| phase.started.clear());
    result.wall_seconds = None;
    result.host = HostResult::default();
    serde_json::to_string(&result).unwrap()
}

/// Response times, samples and result, without the settings themselves; `None` when the trace is
/// refused.
fn observed(file: &str, text: &str, settings: &[String]) -> Option<String> {
    let mut scenario = Scenario::new(file)
        .with_file(file, text)
        .on_array("msa2050");
    let settings = settings.iter().map(|text| format!("trace.{text}"));
    let settings = settings.map(|text| Setting::parse(&text).unwrap());
    scenario.settings.extend(settings);
    let prepared = Prepared::new(&scenario).ok()?;
    let responses = Text::default();
    let samples = Rc::new(RefCell::new(0));
    let count = Rc::clone(&samples);
    let observer = move |event: Event<'_>| {
        *count.borrow_mut() += u32::from(matches!(event, Event::Sample { .. }));
    };
    let outcome = prepared.run(
        Some(Box::new(responses.clone())),
        Box::new(observer),
        &StopRequest::new(),
    );
    let result = figures(outcome.ok()?.result);
    let responses = String::from_utf8(responses.0.take()).unwrap();
    Some(format!("{responses}\n{}\n{result}", samples.take()))
}

fn has_effect(file: &str, text: &str, load: &[String], setting: &Alternatives) -> bool {
    let before = observed(file, text, load).expect("the load itself is replayed");
    setting.assignments().any(|assignment| {
        let changed = [load, &[assignment]].concat();
        let after = observed(file, text, &changed);
        after.map_or(REFUSING.contains(&setting.path.as_str()), |after| {
            after != before
        })
    })
}

#[test]
fn every_setting_of_a_replay_has_an_effect() {
    let mut seen = Vec::new();
    for (file, kind, load, paths) in LOADS {
        let text = match file {
            "events.blkparse" => events(),
            _ => bursts(kind == "swapped"),
        };
        let load: Vec<String> = load.iter().map(|&text| text.to_owned()).collect();
        let mut settings = TraceSettings::default();
        for (key, value) in load.iter().filter_map(|text| text.split_once('=')) {
            settings.set(key, value).unwrap();
        }
        let all = alternatives(&settings).into_iter();
        for setting in all.filter(|one| paths.contains(&one.path.as_str())) {
            if has_effect(file, &text, &load, &setting) {
                seen.push(setting.path);
            }
        }
    }
    let mut all: Vec<String> = alternatives(&TraceSettings::default())
        .into_iter()
        .map(|one| one.path)
        .collect();
    seen.sort();
    all.sort();
    assert_eq!(seen, all, "an effect was seen of those on the left");
}
