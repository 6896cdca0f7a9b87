//! The highest load on real storage, as people ask for it.

mod common;

use std::fs;

use common::{Scratch, WIDE};
use serde_json::Value;

/// A database of 48 MiB under a cache of 8 MiB; steps of less than a second.
const SMALL: &str = "run exchange-2013 --on target --out out --databases 1 \
    --target-size 48MiB --duration 2s --set run.sample_interval=250ms \
    --set engine.cache_size_per_database=8MiB --set engine.checkpoint_depth=4MiB \
    --set run.warm_up.maximum=1s --set run.steady_state.required=false \
    --set tuning.sample_interval=50ms --set tuning.transient_samples=2 \
    --set tuning.stable_samples=6 --set tuning.settle_limit=1s --set tuning.total_limit=4s";

/// A level that no storage meets, so that it is known what stops a search.
const IMPOSSIBLE: &str = "--set service_levels.average_log_write=1us";

fn result(here: &Scratch) -> Value {
    let text = fs::read_to_string(here.path("out/result.json")).expect("a result");
    serde_json::from_str(&text).expect("one document")
}

fn steps<'a>(result: &'a Value, field: &str) -> &'a [Value] {
    result["tuning"][field].as_array().expect("steps")
}

#[test]
fn the_highest_rate_is_found_and_held() {
    let here = Scratch::new();
    here.directory("target");
    let ended = here
        .proofload(&format!(
            "{SMALL} {WIDE} --find max-iops --curve 50,100 --allow-cached"
        ))
        .exits(0)
        .says("finds the highest rate that keeps every service level, then a curve of 2 steps")
        .prints("Search for the load")
        .prints("Response time against load");
    assert!(!ended.stdout.contains("not reached"), "{}", ended.stdout);
    let result = result(&here);
    let tuning = &result["tuning"];
    assert_eq!(tuning["finds_maximum"], true);
    // Storage may be too fast for the search to meet a limit in its time.
    let found = match tuning["ended"] == "service-level" {
        true => "maximum found",
        false => "at least",
    };
    assert!(ended.stdout.contains(found), "{}", ended.stdout);
    let held = result["throughput"]["rate_iops"].as_f64().expect("a rate");
    let kept = steps(&result, "steps")
        .iter()
        .filter(|step| step["kept"] == true);
    let highest = kept
        .filter_map(|step| step["rate_iops"].as_f64())
        .fold(0.0, f64::max);
    assert_eq!(highest, held, "{tuning}");
    assert_eq!(result["throughput"]["target_iops"], held);
    for step in steps(&result, "steps") {
        assert!(step["judged_s"].as_f64() > Some(0.1), "{step}");
        // Storage that stands still for a moment is tried again.
        let has_read = step["achieved_iops"].as_f64() > Some(0.0);
        assert!(
            !has_read || step["p99_database_read_ms"].is_number(),
            "{step}"
        );
    }
    let parts: Vec<Option<f64>> = steps(&result, "curve")
        .iter()
        .map(|step| step["rate_iops"].as_f64())
        .collect();
    assert_eq!(parts, [Some(held / 2.0), Some(held)]);
    let page = fs::read_to_string(here.path("out/report.html")).expect("a report");
    assert!(page.contains("Search for the load") && page.contains("load-curve"));
    here.proofload("verify out").exits(0);
}

#[test]
fn a_target_beyond_the_maximum_is_compared_with_it() {
    let here = Scratch::new();
    here.directory("target");
    let ended = here.proofload(&format!(
        "{SMALL} {WIDE} --find max-iops --rate 30000000 \
         --set service_levels.achieved_margin_fraction=0.05"
    ));
    // Whether it was the storage depends on the machine, a target that is missed does not pass.
    assert!(matches!(ended.status, Some(1 | 5)), "{}", ended.stdout);
    let result = result(&here);
    let reason = result["verdict_reason"].as_str().expect("a reason");
    // A machine that is busy with other work may keep the levels at no load, or need too long for a search.
    let found = [
        "Maximum found ",
        "No load that was tried kept ",
        "At least ",
    ];
    assert!(found.iter().any(|one| reason.starts_with(one)), "{reason}");
    assert!(
        reason.contains("target 30,000,000 IOPS not reached"),
        "{reason}"
    );
    assert_eq!(result["throughput"]["target_iops"], 30e6);
    here.proofload("verify out").exits(0);
}

#[test]
fn a_level_that_nothing_meets_is_named() {
    let here = Scratch::new();
    here.directory("target");
    let ended = here.proofload(&format!("{SMALL} {WIDE} --find max-iops {IMPOSSIBLE}"));
    assert!(matches!(ended.status, Some(1 | 5)), "{}", ended.stdout);
    let result = result(&here);
    let tuning = &result["tuning"];
    assert_eq!(tuning["maximum_iops"], Value::Null);
    let tried = steps(&result, "steps");
    assert!(!tried.is_empty());
    for step in tried {
        // On a busy machine a latency that does not settle ends a step before its levels are judged.
        let named = step["missed"] == "log-write-average";
        let unsettled = step["missed"].is_null() && step["steady"] == false;
        // Nor has a slow step of a second a log write in every case.
        let has_none = step["average_log_write_ms"].is_null();
        let is_expected = named || unsettled || has_none;
        assert!(step["kept"] == false && is_expected, "{step}");
    }
    let checks = result["checks"].as_array().expect("checks");
    let failed = checks.iter().filter(|check| check["passed"] == false);
    let failed: Vec<&Value> = failed.map(|check| &check["id"]).collect();
    assert_eq!(failed, ["log-write-average"]);
}

#[test]
fn a_stopped_search_keeps_its_steps() {
    let here = Scratch::new();
    here.directory("target");
    let long = SMALL
        .replace("--duration 2s", "--duration 1h")
        .replace("total_limit=4s", "total_limit=1h");
    // The rate rises for ever where every level is met at any rate; a small one takes long to get there.
    let line = format!("{long} {WIDE} --find max-iops --set tuning.stable_samples=12");
    here.proofload_stopped_after(12, &line).exits(130);
    let result = result(&here);
    assert_eq!(result["verdict"], "interrupted");
    assert!(!steps(&result, "steps").is_empty());
    here.proofload("report out").exits(0);
}

#[test]
fn the_plan_says_how_long_a_search_takes() {
    let here = Scratch::new();
    here.directory("target");
    here.proofload(
        "run exchange-2013 --on target --target-size 64MiB --databases 1 --duration 2h \
         --find max-iops --curve 10..100:10 --dry-run",
    )
    .exits(0)
    .prints(
        "tuning: finds the highest rate that keeps every service level, then a curve of 10 steps",
    );
    assert!(!here.path("out").exists());
}

#[test]
fn a_throughput_test_fills_its_part_of_the_volume() {
    let here = Scratch::new();
    here.directory("target");
    let line =
        "run exchange-2013 --on target --scenario throughput --capacity-percent 20 --dry-run";
    let whole = here.proofload(line).exits(0);
    assert!(whole.stdout.contains("4 databases of"), "{}", whole.stdout);
    here.proofload(&format!("{line} --target-size 1GiB"))
        .exits(2);
    here.proofload("run exchange-2013 --on target --scenario mailboxes --throughput-percent 80")
        .exits(2)
        .says("not a setting of --scenario mailboxes");
    here.proofload("run exchange-2013 --on target --throughput-percent 80")
        .exits(2)
        .says("nothing looks for that");
}

#[test]
fn a_brokerage_says_what_works_instead() {
    let here = Scratch::new();
    here.directory("target");
    for option in ["--find max-iops", "--curve 10,20", "--scenario throughput"] {
        here.proofload(&format!(
            "run brokerage --on target --database sqlite {option}"
        ))
        .exits(2)
        .says("its users")
        .says("--users");
    }
}

/// A small array, so that its maximum is known by trying every rate.
const MODELLED: &str = "predict exchange-2013 --array msa2050 --databases 1 --mailboxes 100 \
    --target-size 8GB --set engine.cache_size_per_database=16MiB --set engine.checkpoint_depth=4MiB \
    --set array.pool.count=1 --set array.pool.disk_count=4 \
    --duration 60s --set run.warm_up.maximum=60s --set run.steady_state.required=false --settled --json --quiet";

fn document(text: &str) -> Value {
    serde_json::from_str(text).expect("one document")
}

#[test]
fn on_a_model_the_search_finds_what_trying_every_rate_finds() {
    let here = Scratch::new();
    let rates: Vec<u32> = (1..=16).map(|step| step * 100).collect();
    let list: Vec<String> = rates.iter().map(u32::to_string).collect();
    let sweep = format!("--sweep rate={}", list.join(","));
    let margin = "--set service_levels.achieved_margin_fraction=0.02";
    let all = here
        .proofload(&format!("{MODELLED} --out all {margin} {sweep}"))
        .exits(0);
    let all = document(&all.stdout);
    let points = all["points"].as_array().expect("points");
    let passes = points.iter().take_while(|point| point["verdict"] != "fail");
    let highest = passes.filter(|point| point["verdict"] == "pass").last();
    let highest = highest.expect("a rate that passes")["name"].clone();
    assert!(
        points.iter().any(|point| point["verdict"] == "fail"),
        "{points:?}"
    );
    let found = here
        .proofload(&format!("{MODELLED} --out found --find max-iops {sweep}"))
        .exits(0);
    let found = document(&found.stdout);
    assert_eq!(found["answers"][0]["point"], highest, "{found}");
}
