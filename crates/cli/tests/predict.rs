//! Predictions as people make them: every exit status, what is printed, what is left behind.
//!
//! The array is four flash drives and the database small, so that seconds of simulated time are
//! computed in less.

mod common;

use std::fs;
use std::time::{Duration, Instant};

use common::{Running, Scratch, WIDE};
use serde_json::Value;

/// A database of 48 MiB under a cache of 8 MiB, some simulated seconds.
const TINY: &str = "predict exchange-2013 --array nvme-raid10 --out out --databases 1 \
    --target-size 48MiB --duration 3s --set run.sample_interval=250ms \
    --set engine.cache_size_per_database=8MiB --set engine.checkpoint_depth=4MiB \
    --set run.warm_up.maximum=1s";

/// The same with two sessions, and nothing asked of steadiness.
fn tiny(words: &str) -> String {
    format!("{TINY} --threads 2 --set run.steady_state.required=false {words}")
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).expect("one document")
}

#[test]
fn a_prediction_within_its_limits_passes_and_shows_the_inside_of_the_array() {
    let here = Scratch::new();
    here.proofload(&tiny(WIDE))
        .exits(0)
        .prints("PASS")
        .prints("report.html")
        .says("measuring");
    let text = |name: &str| fs::read_to_string(here.path("out").join(name)).expect(name);
    for name in ["histograms.hlog", "log.txt", "config.toml", "array.toml"] {
        assert!(!text(name).is_empty(), "{name}");
    }
    let result = document(&text("result.json"));
    assert_eq!(result["kind"], "prediction");
    assert_eq!(result["array"]["disks"].as_array().map(Vec::len), Some(4));
    assert!(result["array"]["groups"][0]["average_busy_fraction"].as_f64() > Some(0.0));
    assert!(result["throughput"]["achieved_half_width_iops"].as_f64() > Some(0.0));
    assert!(result["simulated_seconds"].as_f64() >= Some(3.0));
    let samples = text("samples.csv");
    for scope in ["controller", "volume", "group", "disk"] {
        assert!(samples.contains(&format!(",array-{scope},")), "{scope}");
    }
    let report = text("report.html");
    assert!(report.contains("Inside the array"));
    assert!(report.contains("Disk utilization, average of each group"));
    here.proofload("predict out/config.toml --array out/array.toml --out again --json --quiet")
        .exits(0)
        .prints("\"verdict\": \"pass\"");
    here.proofload("report out again --out both.html")
        .exits(0)
        .prints("array: disk utilization");
    here.proofload(&tiny(WIDE))
        .exits(2)
        .says("already holds files");
}

#[test]
fn a_missed_level_exits_1_and_json_is_all_there_is() {
    let here = Scratch::new();
    let narrow = "--json --quiet --set service_levels.average_database_read=1us";
    let ended = here.proofload(&tiny(&format!("{WIDE} {narrow}"))).exits(1);
    assert_eq!(document(&ended.stdout)["verdict"], "fail");
    assert_eq!(ended.stderr, "");
}

#[test]
fn what_cannot_be_judged_exits_5_and_says_what_to_do() {
    let here = Scratch::new();
    let few = "--set service_levels.fewest_samples=1000";
    here.proofload(&tiny(&format!("{WIDE} {few}")))
        .exits(5)
        .prints("INCONCLUSIVE")
        .says("will be inconclusive");
    let line = format!("{TINY} --threads 2 {WIDE} --set run.steady_state.max_range_percent=0.001");
    here.proofload(&line.replace("--out out", "--out second"))
        .exits(5)
        .prints("No steady state")
        .prints("--duration")
        .prints("run.warm_up.minimum");
}

/// Reads of a database that the database cache holds as a whole: no transaction takes any time.
const CACHED: &str = "--threads 2 --set engine.cache_size_per_database=64MiB \
    --set mail.mix.insert_percent=0 --set mail.mix.delete_percent=0 \
    --set mail.mix.replace_percent=0";

#[test]
fn a_load_that_nothing_of_reaches_the_array_ends_and_says_why() {
    let here = Scratch::new();
    let end = |words: &str| here.proofload_within(60, &format!("{TINY} {CACHED} {words}"));
    end("")
        .exits(5)
        .prints("INCONCLUSIVE")
        .prints("nothing more")
        .prints("--target-size");
    fs::rename(here.path("out"), here.path("first")).expect("a result to put aside");
    end("--json").exits(5);
    let at = |name: &str| {
        let result = fs::read_to_string(here.path(name).join("result.json")).expect("a result");
        document(&result)["verdict_reason"].clone()
    };
    assert_eq!(at("first"), at("out"), "the same instant every time");
    fs::rename(here.path("out"), here.path("second")).expect("a result to put aside");
    // A rate goes by the clock, so the run has its whole length; only the rate is not achieved.
    end("--rate 100").exits(1).prints("measured for 3 s");
}

#[test]
fn a_prediction_without_end_stops_when_it_is_asked_to() {
    let here = Scratch::new();
    for (name, words) in [
        ("busy", "--threads 2"),
        // More arrivals between two looks than anybody waits for.
        ("crowded", "--rate 1e8 --threads 2"),
    ] {
        let line = format!("{TINY} {words} --set mail.mix.insert_percent=0 --quiet");
        let line = line.replace("--duration 3s", "--duration 365d");
        let line = line.replace("--out out", &format!("--out {name}"));
        let begun = Instant::now();
        here.proofload_stopped_after(3, &line).exits(130);
        let elapsed = begun.elapsed();
        assert!(elapsed >= Duration::from_secs(3), "{name}: {elapsed:?}");
    }
}

#[test]
fn what_was_typed_wrong_exits_2_and_writes_nothing() {
    let here = Scratch::new();
    let array = |words: &str| here.proofload(&format!("predict exchange-2013 {words}"));
    array("--array msa2500")
        .exits(2)
        .says("Did you mean msa2050?");
    array("--array msa2050 --set array.pool.ssd_cuont=2")
        .exits(2)
        .says("ssd_count");
    array("--array msa2050 --set array.pool.disk_count=3 --target-size 1GB")
        .exits(2)
        .says("disk_count=3");
    // Names are not broken at the ends of lines.
    array("--array msa2050 --set array.pool.disk=nix")
        .exits(2)
        .says("sas-15k-600gb")
        .says("ssd-dc-s3500-800gb");
    array("--array msa2050 --duration soon")
        .exits(2)
        .says("--duration");
    array("--array msa2050 --rate fast").exits(2).says("--rate");
    here.proofload("predict exchange-2013")
        .exits(2)
        .says("--array");
    assert!(!here.path("proofload-runs").exists());
}

#[test]
fn surroundings_that_do_not_allow_it_exit_3() {
    let here = Scratch::new();
    here.proofload(&tiny(WIDE).replace("--out out", "--out /proc/results"))
        .exits(3)
        .says("/proc/results");
}

#[test]
fn a_database_that_outgrows_its_volume_exits_4() {
    let here = Scratch::new();
    // The volume has room for the rate of the mailboxes, which two sessions exceed by far.
    here.proofload(&tiny(WIDE).replace("--duration 3s", "--duration 30s"))
        .exits(4)
        .prints("no space is left")
        .prints("are too small for the")
        .prints("--set array.volumes.database_size_gb=");
}

#[test]
fn a_settled_tier_may_have_an_age_of_its_own() {
    let here = Scratch::new();
    let line = "predict exchange-2013 --array msa2050-tier --target-size 500GB --databases 2 \
        --settled --dry-run";
    here.proofload(line)
        .exits(0)
        .prints("Begins as after days of this load: array.pool.tiering.settled_percent=");
    here.proofload(&format!("{line} --set array.pool.tiering.prior_load_h=6"))
        .exits(0)
        .prints("Begins as after 6 h of this load: array.pool.tiering.instant_moves_s=");
}

#[test]
fn a_profile_may_name_its_array_with_what_breaks_in_it() {
    let here = Scratch::new();
    let profile = "kind = 'mail'\nextends = 'exchange-2013'\nsettled = true\n\
        [run]\nduration = '2h'\n[array]\nextends = 'msa2050-tier'\n[array.pool]\ndisk_count = 12\n\
        [[event]]\nat = '1h'\nwhat = 'disk-fails'\ndisk = 3\n";
    fs::write(here.path("design.toml"), profile).expect("a profile");
    let line = "predict design.toml --target-size 500GB --databases 2 --dry-run";
    here.proofload(line)
        .exits(0)
        .prints("group a-disks: 12 x sas-10k-1200gb, RAID 6")
        .prints("Event at 60 min: disk 3 of group 'a-disks' fails.")
        .prints("Begins as after days of this load");
    here.proofload(&format!("{line} --set array.pool.disk_count=14"))
        .exits(0)
        .prints("group a-disks: 14 x");
    // An array that is named takes the place of the table.
    here.proofload(&format!("{line} --array msa2040"))
        .exits(0)
        .prints("group a-disks: 10 x sas-10k-900gb");
    for (from, to, words) in [
        ("disk_count = 12", "disk_count = 'many'", "design.toml:9:14"),
        (
            "'msa2050-tier'",
            "'msa2051'",
            "\"msa2051\" is not a bundled array",
        ),
        (
            "settled = true",
            "settled = 'maybe'",
            "neither true nor false",
        ),
    ] {
        fs::write(here.path("design.toml"), profile.replace(from, to)).expect("a profile");
        here.proofload(line).exits(2).says(words);
    }
    here.proofload("predict exchange-2013")
        .exits(2)
        .says("has no [array] table");
}

#[test]
fn a_dry_run_describes_the_array_and_writes_nothing() {
    let here = Scratch::new();
    here.proofload(&tiny("--dry-run"))
        .exits(0)
        .prints("group raid10: 4 x ssd-nvme-3840gb")
        .prints("2 threads");
    assert!(!here.path("out").exists());
}

#[test]
fn an_interrupted_prediction_keeps_what_it_has() {
    let here = Scratch::new();
    let line = tiny(WIDE).replace("--duration 3s", "--duration 100h");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring 0:0");
    running.signal("INT");
    running
        .end()
        .exits(130)
        .prints("INTERRUPTED")
        .says("Press Ctrl-C again");
    let text = fs::read_to_string(here.path("out").join("result.json")).expect("a result");
    let result = document(&text);
    assert_eq!(result["verdict"], "interrupted");
    assert_eq!(result["complete"], true);
    assert!(result["array"]["disks"].is_array());
}

#[test]
fn a_rate_is_held_and_threads_are_found() {
    let here = Scratch::new();
    // What the rate lacks while the cache is young is made good within some seconds.
    let longer = TINY.replace("--duration 3s", "--duration 12s");
    let held = format!("{longer} {WIDE} --rate 500 --json --quiet");
    let result = document(&here.proofload(&held).exits(0).stdout);
    let achieved = result["throughput"]["achieved_iops"]
        .as_f64()
        .expect("a rate");
    assert!((400.0..600.0).contains(&achieved), "{achieved}");
    let variable = result["steady_state"]["variable"].as_str();
    assert!(
        variable.is_some_and(|text| text.contains("latency")),
        "{variable:?}"
    );
    let auto = format!(
        "{TINY} {WIDE} --threads auto --json --quiet --mailboxes 2000 \
         --set array.volumes.database_size_gb=50"
    );
    let result = document(
        &here
            .proofload(&auto.replace("--out out", "--out auto"))
            .exits(0)
            .stdout,
    );
    assert!(
        result["tuning"]["steps"]
            .as_array()
            .is_some_and(|steps| !steps.is_empty())
    );
}

#[test]
fn one_seed_is_one_result() {
    let here = Scratch::new();
    let predicted = |out: &str, seed: &str| {
        let line = tiny(&format!("{WIDE} --json --quiet --seed {seed}"));
        let line = line.replace("--out out", &format!("--out {out}"));
        let mut result = document(&here.proofload(&line).exits(0).stdout);
        let fields = result.as_object_mut().expect("an object");
        // The hour, the machine, how long it took, and hashes of what has these in it.
        let of_machine = ["started", "wall_seconds", "host", "phases"];
        for name in of_machine.into_iter().chain(["files", "document_sha256"]) {
            fields.remove(name);
        }
        let samples = fs::read_to_string(here.path(out).join("samples.csv"));
        (result, samples.expect("the samples"))
    };
    let first = predicted("first", "7");
    assert!(
        first == predicted("second", "7"),
        "the same seed gave another result"
    );
    assert!(
        first.1 != predicted("third", "8").1,
        "another seed gave the same result"
    );
}

#[test]
fn the_array_of_the_tutorial_can_be_predicted_with_its_failure() {
    let here = Scratch::new();
    let array = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/break-a-disk/small-raid5.toml"
    );
    let mut command = common::proofload(&here.path(""));
    command.args(["predict", "brokerage", "--array", array, "--dry-run"]);
    command.args(["--target-size", "2GB", "--duration", "10m"]);
    command.args(["--event", "5m disk-fail 2"]);
    common::Ended::of(&mut command).exits(0).prints("fails");
}
