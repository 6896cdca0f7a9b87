//! Many predictions side by side, as people ask for them.

mod common;

use std::fs;

use common::{Running, Scratch, WIDE};
use serde_json::Value;

/// A small database, two simulated seconds, limits that hold.
const TINY: &str = "predict exchange-2013 --array nvme-raid10 --out out --databases 1 \
    --target-size 48MiB --duration 2s --set run.sample_interval=250ms \
    --set engine.cache_size_per_database=8MiB --set engine.checkpoint_depth=4MiB \
    --set run.warm_up.maximum=1s --set run.steady_state.required=false";

fn tiny(words: &str) -> String {
    format!("{TINY} {WIDE} {words}")
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).expect("one document")
}

fn names(grid: &Value) -> Vec<&str> {
    let points = grid["points"].as_array().expect("points");
    points
        .iter()
        .filter_map(|point| point["name"].as_str())
        .collect()
}

#[test]
fn a_grid_is_computed_in_its_order_with_a_report_for_each_point() {
    let here = Scratch::new();
    let sweep = "--sweep array.group.disk_count=4,6 --sweep threads=1..3:2";
    here.proofload(&tiny(sweep))
        .exits(0)
        .prints("disk_count")
        .prints("4 of 4 points pass")
        .prints("report.html")
        .says("disk_count=4, threads=1: pass");
    let text = |name: &str| fs::read_to_string(here.path("out").join(name)).expect(name);
    let grid = document(&text("grid.json"));
    let expected = [
        "disk_count=4, threads=1",
        "disk_count=4, threads=3",
        "disk_count=6, threads=1",
        "disk_count=6, threads=3",
    ];
    assert_eq!(names(&grid), expected);
    assert_eq!(grid["complete"], true);
    let rates: Vec<f64> = grid["points"]
        .as_array()
        .expect("points")
        .iter()
        .filter_map(|point| point["achieved_iops"].as_f64())
        .collect();
    assert!(rates[1] > rates[0] && rates[3] > rates[2], "{rates:?}");
    let csv = text("grid.csv");
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert!(
        csv.starts_with("array.group.disk_count,threads,verdict,"),
        "{csv}"
    );
    let page = text("report.html");
    assert!(page.contains("Transactional I/O by threads"), "a chart");
    for point in grid["points"].as_array().expect("points") {
        let directory = point["directory"].as_str().expect("a directory");
        assert!(page.contains(&format!("{directory}/report.html")));
        let result = text(&format!("{directory}/result.json"));
        assert_eq!(
            document(&result)["throughput"]["achieved_iops"],
            point["achieved_iops"]
        );
        assert!(text(&format!("{directory}/report.html")).contains("Inside the array"));
    }
}

#[test]
fn every_point_is_checked_before_the_first_is_computed() {
    let here = Scratch::new();
    let wrong = |words: &str| here.proofload(&tiny(words)).exits(2);
    wrong("--threads 1 --sweep array.group.disk_count=4,5")
        .says("the point disk_count=5 cannot be predicted")
        .says("nothing was computed");
    wrong("--sweep threads=1,many").says("the point threads=many");
    wrong("--sweep threads=1 --sweep threads=2").says("threads twice");
    wrong("--sweep threads").says("has no values");
    wrong("--sweep threads=9..1").says("contains nothing");
    wrong("--threads 1 --sweep array.no.such=1").says("the point such=1");
    wrong("--threads 1 --find min-flash").says("ssd_count");
    wrong("--threads 1 --find everything").says("max-iops");
    assert!(!here.path("out").exists());
}

#[test]
fn a_dry_run_lists_the_points() {
    let here = Scratch::new();
    here.proofload(&tiny("--sweep threads=1,2 --dry-run"))
        .exits(0)
        .prints("2 points:\n  threads=1\n  threads=2\n");
    here.proofload(&tiny("--find max-iops --dry-run"))
        .exits(0)
        .prints("from rate=10.0 to rate=");
    assert!(!here.path("out").exists());
}

#[test]
fn the_most_load_that_passes_is_found() {
    let here = Scratch::new();
    let words = "--find max-iops --sweep rate=100,200,400,800 --json --quiet";
    let ended = here.proofload(&tiny(words)).exits(0);
    assert_eq!(ended.stderr, "");
    let grid = document(&ended.stdout);
    let answer = &grid["answers"][0];
    assert_eq!(answer["point"], "rate=800", "{answer}");
    assert_eq!(answer["next"], Value::Null);
    assert!(
        answer["sentence"]
            .as_str()
            .is_some_and(|text| text.contains("highest"))
    );
}

#[test]
fn that_nothing_passes_is_said_plainly() {
    let here = Scratch::new();
    let words = "--find max-iops --sweep threads=1,2,3 \
        --set service_levels.average_database_read=1us";
    here.proofload(&tiny(words))
        .exits(1)
        .prints("No tested load passes: threads=1 does not:")
        .prints("average database read latency");
    let doubtful = "--find max-iops --sweep threads=1,2 --set service_levels.fewest_samples=999";
    here.proofload(&tiny(doubtful).replace("--out out", "--out second"))
        .exits(5)
        .prints("The answer depends on threads=1, which could not be judged");
}

#[test]
fn the_least_flash_is_found_over_the_ssds_of_the_pools() {
    let here = Scratch::new();
    let words = "--threads 1 --find min-flash --sweep array.pool.ssd_count=0,2";
    let line = tiny(words).replace("nvme-raid10", "msa2050-tier");
    here.proofload(&line)
        .exits(0)
        .prints("passes with the least flash that was tested: ssd_count=0 (no flash)");
    let words = "--threads 1 --find min-flash --sweep array.pool.ssd_count=1,2";
    let line = tiny(words).replace("nvme-raid10", "msa2050-tier");
    here.proofload(&line.replace("--out out", "--out second"))
        .exits(0)
        .prints("ssd_count=1 (2 SSDs, 1 in each of 2")
        .prints("one that fails loses data");
}

#[test]
fn an_interrupted_sweep_keeps_what_it_has() {
    let here = Scratch::new();
    let line = tiny("--jobs 1 --sweep duration=2s,100h").replace("--duration 2s", "--threads 1");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("duration=2s: pass");
    running.signal("INT");
    running
        .end()
        .exits(130)
        .prints("1 of 2 points pass")
        .says("Stopping");
    let grid = fs::read_to_string(here.path("out").join("grid.json")).expect("a grid");
    assert_eq!(document(&grid)["complete"], false);
}
