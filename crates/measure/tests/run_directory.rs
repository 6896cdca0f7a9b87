//! The files of a run: made early, never overwritten, readable at any time.

use std::fs;
use std::sync::Arc;

use jiff::Timestamp;
use measure::metric::Stream;
use measure::result::{RunResult, Verdict};
use measure::run_directory::{RunDirectory, load, load_histograms};
use measure::sample::{Collector, Layout, Phase, Recorder, Sample};

fn started() -> Timestamp {
    "2025-03-01T12:00:00Z".parse().expect("a valid time")
}

/// One sample of warm-up and one of the measured phase.
fn samples() -> (Collector, Vec<Sample>) {
    let layout = Arc::new(Layout::new(["db1"], ["insert"]));
    let mut recorder = Recorder::new(Arc::clone(&layout), 0, Phase::WarmUp, 0);
    let mut collector = Collector::new(layout, 1, 1.0, None);
    recorder.io(0, Stream::DatabaseRead, 32_768, 7_000_000);
    let mut samples = collector.accept(recorder.begin_phase(Phase::Measured, 1_000_000_000));
    for latency_ns in [3_000_000, 5_000_000] {
        recorder.io(0, Stream::DatabaseRead, 32_768, latency_ns);
        recorder.operation(0, 0, latency_ns, Some(2 * latency_ns));
    }
    samples.extend(collector.accept(recorder.take(2_000_000_000)));
    samples.extend(collector.finish());
    (collector, samples)
}

#[test]
fn a_run_can_be_read_back() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("new/run");
    let mut directory = RunDirectory::create(Some(&path), "mail", started(), "seed = 1\n").unwrap();

    let (begun, rows) = load(&path).unwrap();
    assert!(
        !begun.complete && rows.is_empty(),
        "readable before the first sample"
    );
    assert_eq!(begun.verdict, Verdict::Inconclusive);
    assert_eq!(begun.started, "2025-03-01T12:00:00Z");

    let (collector, samples) = samples();
    samples.iter().for_each(|s| directory.append(s).unwrap());
    directory.log("the load begins").unwrap();
    let mut result = RunResult::new();
    collector.totals().fill(&mut result);
    result.complete = true;
    result.set_verdict(Verdict::Pass, "All checks passed.");
    directory.write_result(&result).unwrap();

    let (read, rows) = load(&path).unwrap();
    assert_eq!(read, result);
    assert_eq!(load(&path.join("result.json")).unwrap().0, result);
    let phases: Vec<&str> = rows.iter().map(|r| r.phase.name()).collect();
    assert_eq!(
        phases,
        [
            "warm-up", "warm-up", "warm-up", "measured", "measured", "measured"
        ]
    );
    let histograms = load_histograms(&path).unwrap();
    let tags: Vec<(&str, u64)> = histograms
        .iter()
        .map(|h| (h.tag.as_str(), h.histogram.count()))
        .collect();
    let expected = [
        ("db1/database-read", 2),
        ("operation/insert", 2),
        ("operation/insert/response-time", 2),
    ];
    assert_eq!(tags, expected, "the measured phase only");
    assert_eq!(
        fs::read_to_string(path.join("config.toml")).unwrap(),
        "seed = 1\n"
    );
    let log = fs::read_to_string(path.join("log.txt")).unwrap();
    assert!(log.ends_with("Z the load begins\n"), "{log}");
    let leftovers = fs::read_dir(&path).unwrap().filter(|e| {
        e.as_ref()
            .is_ok_and(|e| e.file_name().to_string_lossy().ends_with(".tmp"))
    });
    assert_eq!(leftovers.count(), 0);
}

/// The files of both series.
const SERIES: [&str; 4] = [
    "samples.csv",
    "histograms.hlog",
    "samples-2.csv",
    "histograms-2.hlog",
];

#[test]
fn a_run_goes_on_elsewhere_with_whole_samples_only() {
    let parent = tempfile::tempdir().unwrap();
    let [path, spare] = ["run", "spare"].map(|name| parent.path().join(name));
    fs::create_dir(&spare).unwrap();
    let directory = RunDirectory::create(Some(&path), "mail", started(), "seed = 1\n").unwrap();
    let mut directory = directory.with_second_series(started()).unwrap();
    let (_, samples) = samples();
    directory.append(&samples[0]).unwrap();
    for sample in &samples {
        directory.append_second(sample).unwrap();
    }
    directory.log("before").unwrap();
    // What a write leaves that found no room for all of it.
    for file in SERIES {
        let whole = fs::read(path.join(file)).unwrap();
        let torn = [whole.as_slice(), b"9,measured,1,"].concat();
        fs::write(path.join(file), torn).unwrap();
    }
    let mut moved = directory.continue_in(&spare).unwrap();
    samples[1..]
        .iter()
        .for_each(|sample| moved.append(sample).unwrap());
    moved.append_second(&samples[1]).unwrap();
    moved.log("after").unwrap();
    let mut result = RunResult::new();
    result.complete = true;
    moved.write_result(&result).unwrap();
    assert!(moved.path().starts_with(&spare));
    let (read, rows) = load(moved.path()).unwrap();
    assert_eq!(read, result);
    let one = RunDirectory::create(Some(&parent.path().join("one")), "mail", started(), "");
    let mut one = one.unwrap();
    samples
        .iter()
        .for_each(|sample| one.append(sample).unwrap());
    let twice = RunDirectory::create(Some(&parent.path().join("twice")), "mail", started(), "");
    let mut twice = twice.unwrap();
    for sample in [&samples[0], &samples[1], &samples[1]] {
        twice.append(sample).unwrap();
    }
    let text = |path: &std::path::Path, file: &str| fs::read_to_string(path.join(file)).unwrap();
    for (file, second_file) in [(SERIES[0], SERIES[2]), (SERIES[1], SERIES[3])] {
        let (first, second) = (text(one.path(), file), text(twice.path(), file));
        assert_eq!(text(moved.path(), file), first, "{file}");
        assert_eq!(text(moved.path(), second_file), second, "{second_file}");
    }
    assert_eq!(rows.len(), 6);
    let log = fs::read_to_string(moved.path().join("log.txt")).unwrap();
    assert!(
        log.contains(" before\n") && log.ends_with(" after\n"),
        "{log}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn results_do_not_follow_what_takes_the_place_of_their_directory() {
    let parent = tempfile::tempdir().unwrap();
    let [path, theirs, aside] = ["run", "theirs", "aside"].map(|name| parent.path().join(name));
    fs::create_dir(&theirs).unwrap();
    for name in ["result.json", "precious"] {
        fs::write(theirs.join(name), "of somebody else").unwrap();
    }
    let link = |target: &std::path::Path, at: &std::path::Path| {
        std::os::unix::fs::symlink(target, at).unwrap();
    };
    let directory = RunDirectory::create(Some(&path), "mail", started(), "").unwrap();
    link(&theirs.join("precious"), &path.join("result.json.tmp"));
    let mut result = RunResult::new();
    directory.write_result(&result).unwrap();
    fs::rename(&path, &aside).unwrap();
    link(&theirs, &path);
    result.complete = true;
    directory.write_result(&result).unwrap();
    for name in ["result.json", "precious"] {
        let text = fs::read_to_string(theirs.join(name)).unwrap();
        assert_eq!(text, "of somebody else", "{name}");
    }
    assert!(load(&aside).unwrap().0.complete);
}

#[test]
fn results_are_never_overwritten() {
    let parent = tempfile::tempdir().unwrap();
    let create = |out: &std::path::Path| {
        RunDirectory::create(Some(out), "mail", started(), "")
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    create(parent.path()).unwrap();
    let error = create(parent.path()).unwrap_err();
    assert!(
        error.contains("already holds files") && error.contains("--out"),
        "{error}"
    );
    let file = parent.path().join("log.txt");
    let error = create(&file).unwrap_err();
    assert!(error.contains("is not a directory"), "{error}");
    let error = create(&file.join("below")).unwrap_err();
    assert!(
        error.contains("not a directory") || error.contains("cannot be made"),
        "{error}"
    );
}

#[test]
fn what_a_crash_cut_short_is_left_out() {
    let parent = tempfile::tempdir().unwrap();
    let mut directory = RunDirectory::create(Some(parent.path()), "mail", started(), "").unwrap();
    let (_, samples) = samples();
    samples.iter().for_each(|s| directory.append(s).unwrap());
    drop(directory);
    for (name, cut) in [("samples.csv", 40), ("histograms.hlog", 20)] {
        let path = parent.path().join(name);
        let text = fs::read(&path).unwrap();
        fs::write(&path, &text[..text.len() - cut]).unwrap();
    }
    assert_eq!(load(parent.path()).unwrap().1.len(), 5);
    assert_eq!(load_histograms(parent.path()).unwrap().len(), 2);
    fs::remove_file(parent.path().join("samples.csv")).unwrap();
    fs::remove_file(parent.path().join("histograms.hlog")).unwrap();
    assert!(load(parent.path()).unwrap().1.is_empty());
    assert!(load_histograms(parent.path()).unwrap().is_empty());
}

#[test]
fn a_file_that_cannot_be_read_is_not_taken_for_a_missing_one() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path();
    fs::create_dir(path.join("histograms.hlog")).unwrap();
    let error = load_histograms(path).unwrap_err().to_string();
    assert!(error.contains("histograms.hlog"), "{error}");
    fs::create_dir(path.join("result.json")).unwrap();
    let error = load(path).unwrap_err().to_string();
    assert!(!error.contains("holds no result.json"), "{error}");
    fs::remove_dir(path.join("result.json")).unwrap();
    let text = "{ \"schema\": \"proofload/result/3\" }";
    fs::write(path.join("result.json"), text).unwrap();
    fs::create_dir(path.join("samples.csv")).unwrap();
    let error = load(path).unwrap_err().to_string();
    assert!(error.contains("samples.csv"), "{error}");
}

#[test]
fn what_is_not_a_run_is_refused_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let error = || load(path).unwrap_err().to_string();
    assert!(error().contains("holds no result.json"), "{}", error());
    let write = |text: &str| fs::write(path.join("result.json"), text).unwrap();
    write("{ \"schema\": ");
    assert!(error().contains("is cut off"), "{}", error());
    write("{ \"schema\": no }");
    assert!(error().contains("not a result document"), "{}", error());
    write("{ \"schema\": \"proofload/result/1\" }");
    assert!(error().contains("run the workload again"), "{}", error());
    write("{ \"schema\": \"proofload/result/9\" }");
    assert!(error().contains("`proofload/result/9`"), "{}", error());
    assert!(
        error().contains("use the version that wrote it"),
        "{}",
        error()
    );
    write("{ \"schema\": \"proofload/result/3\", \"verdict\": \"perhaps\" }");
    assert!(error().contains("perhaps"), "{}", error());
    // Fields of a later version are ignored, missing ones are empty.
    write("{ \"schema\": \"proofload/result/3\", \"verdict\": \"pass\", \"array\": {\"a\": 1} }");
    assert_eq!(load(path).unwrap().0.verdict, Verdict::Pass);
    fs::write(path.join("samples.csv"), "a,b\n1,2\n").unwrap();
    assert!(error().contains("samples.csv is damaged"), "{}", error());
}

#[test]
fn a_number_that_json_cannot_hold_is_refused_and_the_old_document_stays() {
    let parent = tempfile::tempdir().unwrap();
    let directory = RunDirectory::create(Some(parent.path()), "mail", started(), "").unwrap();
    let mut result = RunResult::new();
    result.duration_s = f64::NAN;
    assert!(directory.write_result(&result).is_err());
    assert_eq!(
        load(parent.path()).unwrap().0.started,
        "2025-03-01T12:00:00Z"
    );
}

#[test]
fn of_two_runs_that_begin_at_once_one_has_the_directory_with_all_its_files() {
    let parent = tempfile::tempdir().unwrap();
    for number in 0..300 {
        let path = parent.path().join(format!("run-{number}"));
        let both = std::sync::Barrier::new(2);
        let begin = || {
            both.wait();
            RunDirectory::create(Some(&path), "mail", started(), "seed = 1\n").is_ok()
        };
        let begun = std::thread::scope(|scope| {
            let runs = [scope.spawn(begin), scope.spawn(begin)];
            runs.map(|run| run.join().unwrap())
        });
        assert_eq!(begun.iter().filter(|one| **one).count(), 1, "{begun:?}");
        assert!(load(&path).is_ok(), "{number}");
        let files = fs::read_dir(&path).unwrap().count();
        assert_eq!(files, 5, "{number}");
    }
}
