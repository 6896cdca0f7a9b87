//! `proofload study` as a user types it, on an invented study of some simulated seconds.

mod common;

use std::fs;

use common::Scratch;

/// A small database on four flash drives; `FIGURES` stands for its figures.
const STUDY: &str = r#"
title = "An invented study"
source = "nobody, never"

[defaults]
workload = "exchange-2013"
databases = 1
target_size = "48MiB"
threads = 2
duration = "1s"
set = [
    "run.sample_interval=100ms", "run.warm_up.maximum=500ms", "run.steady_state.required=false",
    "engine.cache_size_per_database=8MiB", "engine.checkpoint_depth=4MiB",
    "mail.growth_reserve_percent=1000", "array.volumes.log_size_gb=8",
]

[case.few]
title = "Two threads"
array = "nvme-raid10"

[case.many]
title = "Eight threads"
array = "nvme-raid10"
threads = 8

[[chart]]
title = "Rates"
unit = "IOPS"
axis = "threads"
axis_values = [2.0, 8.0]
line = [{ name = "model", measure = "database-iops", cases = ["few", "many"] }]

[[figure]]
id = "F1"
metric = "More IOPS with more threads"
configuration = "eight against two"
unit = "x"
published = 1.0
kind = "ratio"
bound = "lower"
measure = "database-iops"
cases = ["many"]
baseline_cases = ["few"]
comparison = "times"

[[figure]]
id = "F2"
metric = "Price"
configuration = "two"
unit = "USD"
published = 10
kind = "measured"
not_modelled = "it is a price."
"#;

/// A figure that no drive of this kind reaches.
const TOO_SLOW: &str = r#"
[[figure]]
id = "F3"
metric = "Read latency"
configuration = "two"
unit = "ms"
published = 500
kind = "measured"
measure = "host-read-ms"
cases = ["few"]
"#;

#[test]
fn a_study_ends_as_its_figures_say_and_keeps_its_cases() {
    let here = Scratch::new();
    here.file("good.toml", STUDY);
    here.proofload("study good.toml --out out")
        .exits(0)
        .prints("An invented study")
        .prints("not modelled")
        .prints("Report: out/report.html");
    let page = fs::read_to_string(here.path("out/report.html")).expect("the report");
    assert!(page.contains("Rates") && page.contains("Two threads"));
    assert!(!page.contains("://"), "the report works offline");
    let result = here.path("out/cases/good-few/result.json");
    let written = fs::metadata(&result).and_then(|file| file.modified());
    let written = written.expect("a result of the case");

    // One more figure, the same cases: what is there is used again.
    here.file("good.toml", &format!("{STUDY}{TOO_SLOW}"));
    here.proofload("study good.toml --out out --quiet")
        .exits(1)
        .prints_nothing();
    let again = fs::metadata(&result).and_then(|file| file.modified());
    assert_eq!(again.expect("the same result"), written);

    // Another length of time is another prediction.
    here.proofload("study good.toml --out out --quiet --duration 2s")
        .exits(1);
    let rewritten = fs::metadata(&result).and_then(|file| file.modified());
    assert_ne!(rewritten.expect("another result"), written);
}

#[test]
fn a_blind_prediction_does_without_what_the_study_assumes() {
    let here = Scratch::new();
    let assumption =
        "\n[[assumption]]\nkey = \"mail.session_pause\"\nblind = \"50ms\"\nfrom = \"nothing\"\n";
    here.file("good.toml", &format!("{STUDY}{assumption}"));
    let ended = here.proofload("study good.toml --out out --json").exits(0);
    let figures: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON alone");
    assert_ne!(figures[0]["predicted"], figures[0]["blind_predicted"]);
    let pause_of = |case: &str| {
        let path = here.path("out/cases").join(case).join("config.toml");
        let text = fs::read_to_string(path).expect("the settings of the case");
        let line = text
            .lines()
            .find(|line| line.starts_with("session_pause ="));
        line.expect("the setting").to_owned()
    };
    assert!(pause_of("good-few-blind").contains("50ms"));
    assert!(!pause_of("good-few").contains("50ms"));
}

#[test]
fn a_figure_that_contradicts_itself_decides_nothing() {
    let here = Scratch::new();
    let contradicted = TOO_SLOW.replace(
        "measure =",
        "not_comparable = \"the publication says two things.\"\nmeasure =",
    );
    here.file("good.toml", &format!("{STUDY}{contradicted}"));
    here.proofload("study good.toml --out out")
        .exits(0)
        .prints("Not comparable: 1.")
        .prints("Not modelled: 1.");
}

#[test]
fn the_json_has_one_object_for_each_figure() {
    let here = Scratch::new();
    here.file("good.toml", &format!("{STUDY}{TOO_SLOW}"));
    let ended = here.proofload("study good.toml --out out --json").exits(1);
    let figures: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON alone");
    let figures = figures.as_array().expect("a list");
    assert_eq!(figures.len(), 3);
    assert_eq!(figures[0]["study"], "good");
    assert_eq!(figures[0]["figure"], "F1");
    assert_eq!(figures[0]["within"], true);
    assert!(
        figures[0]["predicted"]
            .as_f64()
            .is_some_and(|gain| gain > 1.0)
    );
    assert_eq!(
        figures[0]["predicted"], figures[0]["blind_predicted"],
        "nothing is assumed"
    );
    assert!(figures[1]["predicted"].is_null() && figures[1]["ratio"].is_null());
    assert_eq!(figures[2]["within"], false);
    let kept = fs::read_to_string(here.path("out/figures.json")).expect("the figures");
    assert_eq!(kept, ended.stdout);
}

#[test]
fn what_was_to_be_steady_and_was_not_decides_nothing() {
    let here = Scratch::new();
    let demanding = "run.steady_state.required=true\", \"run.steady_state.max_range_percent=0.0001";
    here.file(
        "good.toml",
        &STUDY.replace("run.steady_state.required=false", demanding),
    );
    here.proofload("study good.toml --out out --quiet --no-blind")
        .exits(5);
}

#[test]
fn wrong_words_are_refused_before_anything_runs() {
    let here = Scratch::new();
    here.proofload("study msa2044").exits(2).says("msa2042");
    here.file("bad.toml", &STUDY.replace("nvme-raid10", "nvme-raid11"));
    here.proofload("study bad.toml --out out")
        .exits(2)
        .says("nvme-raid11");
    here.file(
        "worse.toml",
        &STUDY.replace("published = 10", "publisht = 10"),
    );
    here.proofload("study worse.toml").exits(2).says("publisht");
    here.directory("full");
    here.file("full/letter.txt", "not ours");
    here.file("good.toml", STUDY);
    here.proofload("study good.toml --out full")
        .exits(2)
        .says("no study has written");
    assert!(!here.path("out").exists());
}

#[test]
fn studies_are_listed_and_shown() {
    let here = Scratch::new();
    let listed = here.proofload("list studies").exits(0).prints("eva5000");
    assert_eq!(listed.stdout.lines().count(), 5);
    here.proofload("show s3500").exits(0).prints("[[figure]]");
    here.proofload("show msa2040")
        .exits(0)
        .prints("[controllers]");
    here.proofload("show msa2040 --study")
        .exits(0)
        .prints("[[figure]]");
    here.proofload("show s3500 --resolved")
        .exits(0)
        .prints("[defaults]");
}
