//! Predictions on an array that was calibrated: error bars from every parameter set.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use array::description::{Description, one_disk_of_file};
use array::disk::bundled_disk;
use config::Source;
use measure::metric::{IoMetric, Stream};
use measure::result::{CalibrationResult, CauseId, RunResult, Verdict};
use proofload::events::ignore;
use proofload::{Axis, Scenario, StopRequest, sweep};

const DISK: &str = "ssd-sata-mlc-256gb";

/// An array that is one disk, whose calibration left these values of its time to read a page open.
fn array(page_read_us: &[f64], more: &str) -> String {
    let disk = bundled_disk(DISK).unwrap();
    let mut sources = one_disk_of_file("probe", disk.toml);
    let sets: Vec<String> = page_read_us
        .iter()
        .map(|one| format!("[{one}, 16384]"))
        .collect();
    let parameters = "calibration.parameters=['disks.probe.solid_state.page_read_us', 'disks.probe.solid_state.stripe_bytes']";
    let sets = format!("calibration.sets=[{}]", sets.join(", "));
    let best = "disks.probe.solid_state.page_read_us=80";
    for assignment in [best, parameters, sets.as_str()]
        .into_iter()
        .chain(more.lines())
    {
        let (path, value) = assignment.split_once('=').unwrap();
        sources.push(Source::value("test", path, value));
    }
    Description::load(&sources).unwrap().to_toml()
}

/// A small mail server on it, some seconds of simulated time.
fn scenario(array: &str) -> Scenario {
    Scenario::new("exchange-2013")
        .on_array("my.toml")
        .with_file("my.toml", array)
        .with("mail.databases", 1)
        .with("mail.mailboxes_per_database", 10)
        .with("mail.mailbox_size", "5MiB")
        .with("mail.threads", 2)
        .with("run.duration", "3s")
        .with("run.sample_interval", "250ms")
        .with("run.warm_up.maximum", "1s")
        .with("engine.cache_size_per_database", "8MiB")
        .with("engine.checkpoint_depth", "4MiB")
}

fn predicted(scenario: &Scenario) -> RunResult {
    scenario.predict().unwrap().result
}

fn read_bar(result: &RunResult) -> (f64, f64, f64) {
    let bars = result.calibration.as_ref().unwrap();
    let bar = bars.of_figure(Stream::DatabaseRead, IoMetric::Average);
    let bar = bar.unwrap();
    (bar.low, bar.value, bar.high)
}

#[test]
fn bars_reach_as_far_as_the_parameter_sets() {
    let calibrated = scenario(&array(&[40.0, 80.0, 160.0], ""));
    let result = predicted(&calibrated);
    assert_eq!(result.calibration.as_ref().unwrap().parameter_sets, 3);
    let (low, _, high) = read_bar(&result);
    let alone = |page_read_us: f64| {
        let path = "array.disks.probe.solid_state.page_read_us";
        let result = predicted(&scenario(&array(&[], "")).with(path, page_read_us));
        assert_eq!(result.calibration, None);
        result.totals.reads.latency.unwrap().average_ms
    };
    assert_eq!((low, high), (alone(40.0), alone(160.0)));
    // The same bits again, however the threads took turns.
    let again = predicted(&calibrated);
    assert_eq!(
        (again.calibration, again.totals),
        (result.calibration, result.totals)
    );
}

#[test]
fn what_somebody_sets_counts_more_than_a_parameter_set() {
    let path = "array.disks.probe.solid_state.page_read_us";
    let result = predicted(&scenario(&array(&[40.0, 160.0], "")).with(path, 80.0));
    let (low, value, high) = read_bar(&result);
    assert_eq!((low, high), (value, value));
}

#[test]
fn errors_of_tests_widen_the_bars_of_what_they_are_about() {
    let bars = |more: &str| -> CalibrationResult {
        let result = predicted(&scenario(&array(&[80.0], more)));
        result.calibration.unwrap()
    };
    let none = bars("");
    let figure = |bars: &CalibrationResult, number: usize| {
        let bar = &bars.figures[number];
        (bar.low / bar.value, bar.high / bar.value)
    };
    let latencies = bars("calibration.latency_ratios=[0.5, 2]\ncalibration.p99_ratios=[0.25, 4]");
    for (number, one) in none.figures.iter().enumerate() {
        assert_eq!((one.low, one.high), (one.value, one.value));
        let expected = match one.figure.as_str() {
            "average_ms" => (0.5, 2.0),
            "p99_ms" => (0.25, 4.0),
            _ => (1.0, 1.0),
        };
        assert_eq!(figure(&latencies, number), expected, "{}", one.figure);
    }
    let rates = bars("calibration.rate_ratios=[0.5, 2]");
    // A rate that is asked for is none of the storage's.
    let last = rates.figures.len() - 1;
    assert_eq!(figure(&rates, last), (1.0, 1.0));
}

#[test]
fn a_limit_within_a_bar_is_not_passed() {
    let array = array(&[80.0], "calibration.latency_ratios=[0.9, 1e3]");
    let result = predicted(&scenario(&array));
    assert_eq!(result.verdict, Verdict::Inconclusive);
    let causes: Vec<CauseId> = result.causes.iter().map(|cause| cause.id).collect();
    assert_eq!(causes, [CauseId::Calibration]);
}

#[test]
fn points_of_a_sweep_have_bars() {
    let axis = Axis::parse("threads=1,2").unwrap();
    let prepared = sweep::Prepared::new(&scenario(&array(&[40.0, 160.0], "")), &[axis], Some(1));
    let outcome = prepared.unwrap().run(ignore(), &StopRequest::new());
    for point in outcome.unwrap().grid.points {
        let (low, high) = (point.database_read_low_ms, point.database_read_high_ms);
        assert!(low.unwrap() < high.unwrap(), "{low:?} {high:?}");
    }
}

#[test]
fn a_replay_has_bars() {
    let rows =
        (0..200).map(|row| format!("{},r,{},4096\n", row * 1_000, row * 7_919 % 4_096 * 4_096));
    let trace = format!(
        "time_us,operation,offset_bytes,size_bytes\n{}",
        rows.collect::<String>()
    );
    let replay = Scenario::new("trace.csv")
        .on_array("my.toml")
        .with_file("my.toml", array(&[40.0, 160.0], ""))
        .with_file("trace.csv", trace);
    let result = replay.replay().unwrap().result;
    let (low, value, high) = read_bar(&result);
    assert!(low < high && value < high, "{low} {value} {high}");
}
