//! From the files that a run leaves behind to its report.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use measure::display::Contribution;
use measure::metric::{IoMetric, Metric};
use measure::metric::{RowScope, Stream};
use measure::result::{RunResult, Verdict};
use measure::run_directory::{LoadError, RunDirectory};
use measure::sample::{Collector, Layout, Phase, Recorder, SampleRow};
use report::{Run, html};

fn load(path: &Path) -> Result<Run, LoadError> {
    Run::load(path, |_| Contribution::default())
}

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

/// Counts one second: `db1` reads in 5 ms, `db2` in 9 ms, logs take 1 ms.
fn count(recorder: &mut Recorder) {
    for _ in 0..100 {
        recorder.io(0, Stream::DatabaseRead, 32_768, 5 * MILLISECOND);
        recorder.io(1, Stream::DatabaseRead, 32_768, 9 * MILLISECOND);
        recorder.io(0, Stream::LogWrite, 4_096, MILLISECOND);
        recorder.operation(0, 0, 12 * MILLISECOND, None);
    }
}

/// A run directory with one warm-up sample and three measured ones.
fn write(path: &std::path::Path) {
    let layout = Arc::new(Layout::new(["db1", "db2"], ["read"]));
    let mut directory =
        RunDirectory::create(Some(path), "exchange-2013", Timestamp::UNIX_EPOCH, "")
            .expect("a run directory");
    let mut recorder = Recorder::new(Arc::clone(&layout), 0, Phase::WarmUp, 0);
    let mut collector = Collector::new(layout, 1, 1.0, None);
    let mut samples = Vec::new();
    count(&mut recorder);
    samples.extend(collector.accept(recorder.begin_phase(Phase::Measured, SECOND)));
    for second in 2..=4 {
        count(&mut recorder);
        samples.extend(collector.accept(recorder.take(second * SECOND)));
    }
    samples.extend(collector.finish());
    for sample in &samples {
        directory.append(sample).expect("a run directory");
    }
    let mut result = RunResult::new();
    result.workload.name = "exchange-2013".into();
    result.set_verdict(Verdict::Pass, "Everything is well.");
    directory.write_result(&result).expect("a run directory");
}

#[test]
fn a_run_directory_becomes_a_report() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("first-run");
    write(&path);
    let run = load(&path).unwrap();
    assert_eq!(run.name, "first-run");
    let phases: Vec<&str> = run.timeline.iter().map(|one| one.phase.name()).collect();
    assert_eq!(phases, ["warm-up", "measured", "measured", "measured"]);
    let last = run.timeline.last().unwrap();
    let read = |metric| last.io(Stream::DatabaseRead, metric);
    assert_eq!(read(IoMetric::Rate), 200.0);
    assert_eq!(read(IoMetric::Throughput), 200.0 * 32_768.0);
    assert!((read(IoMetric::Average) - 7.0).abs() < 1e-6);
    let databases: Vec<&SampleRow> = last.of(RowScope::Database).collect();
    assert_eq!(databases.len(), 2);
    let second = databases[1].io(Stream::DatabaseRead, IoMetric::Average);
    assert!((second.unwrap() - 9.0).abs() < 1e-6);
    assert_eq!(last.get(Metric::OperationRate), 100.0);
    assert_eq!(last.ends_s, 4.0);

    let names: Vec<&str> = run
        .distributions
        .iter()
        .map(|one| one.stream.label())
        .collect();
    assert_eq!(names, ["database reads", "log writes"]);
    let reads = &run.distributions[0].points;
    assert!(
        (reads.last().unwrap().1 - 9.0).abs() < 0.02,
        "the maximum was 9 ms"
    );

    let page = html(&run);
    for chart in ["latency", "iops", "distribution", "throughput", "databases"] {
        assert!(
            page.contains(&format!("<figure class=\"chart\" id=\"{chart}\"")),
            "{chart}"
        );
    }
    let by_file = load(&path.join("result.json")).unwrap();
    assert!(
        html(&by_file) == page,
        "the path of the result is as good as the directory"
    );
}

#[test]
fn a_run_without_samples_still_has_a_report() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    write(&path);
    std::fs::remove_file(path.join("samples.csv")).unwrap();
    std::fs::remove_file(path.join("histograms.hlog")).unwrap();
    let run = load(&path).unwrap();
    assert!(run.timeline.is_empty() && run.distributions.is_empty());
    assert!(html(&run).contains("The storage meets the service levels of exchange-2013"));
    assert!(load(parent.path()).is_err(), "a directory without a result");
}
