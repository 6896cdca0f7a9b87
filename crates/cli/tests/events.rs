//! What breaks and is repaired in a modelled array, as a user types it and reads it.

mod common;

use std::fmt::Write as _;
use std::fs;

use common::{Ended, Scratch, proofload};
use serde_json::Value;

/// An array of eight little disks in RAID 5 with a spare.
const ARRAY: &str = r#"
title = "Small"

[controllers]
count = 2
ports_per_controller = 1
port = { rate_mb_per_s = 1600.0 }
link = { rate_mb_per_s = 3000.0, transfer_us = 5.0 }
service = { read_us = 5.0, write_us = 5.0 }

[cache]
capacity_mib = 4
line_kib = 4
mirror = true
dirty_limit_percent = 50.0
destage.age_ms = 100.0
destage.high_watermark_percent = 80.0
destage.low_watermark_percent = 60.0
destage.idle_ms = 50.0
destage.in_flight = 8

[backend.rebuild]
rate_mb_per_s = 10.0

[disks.little]
title = "Little"
[disks.little.ideal]
capacity_bytes = 100000000
service_us = 1000.0
distribution = "exponential"

[[group]]
name = "disks"
disk = "little"
disk_count = 8
raid = "raid5"
chunk_kib = 64
spares = 1
"#;

/// Sixty seconds of reads and writes.
fn trace() -> String {
    let mut text = "time_ms,offset_bytes,size_bytes,operation\n".to_owned();
    for number in 0..6_000_u64 {
        let operation = ["read", "read", "write"][number as usize % 3];
        let place = number * 7_919 % 100_000 * 4096;
        let _ = writeln!(text, "{},{place},4096,{operation}", number * 10);
    }
    text
}

fn result(here: &Scratch, out: &str) -> Value {
    let text = fs::read_to_string(here.path(out).join("result.json")).expect("a result");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_disk_fails_and_the_spare_is_filled() {
    let here = Scratch::new();
    here.file("trace.csv", &trace());
    let event = "[[event]]\nat = \"20s\"\nwhat = \"disk-fails\"\ngroup = \"disks\"\ndisk = 2\n";
    here.file("small.toml", &format!("{ARRAY}\n{event}"));
    here.proofload("predict trace.csv --array small.toml --out out")
        .exits(0)
        .says("At 0:00:20.0: disk 2 of group 'disks' fails.")
        .says("The rebuild onto disk 8 of group 'disks' is ")
        .says("the rebuild onto disk 8 of group 'disks' ends after 0:00:");
    let found = result(&here, "out");
    let events: Vec<(&str, bool)> = found["events"]
        .as_array()
        .expect("events")
        .iter()
        .map(|event| {
            let what = event["what"].as_str().expect("a word");
            (what, event["planned"].as_bool().expect("yes or no"))
        })
        .collect();
    assert_eq!(
        events,
        [
            ("disk-fails", true),
            ("group-critical", false),
            ("rebuild-begins", false),
            ("rebuild-ends", false),
            ("group-healthy", false),
        ]
    );
    assert_eq!(found["events"][0]["measured_at_s"], 20.0);
    let rebuild = &found["rebuilds"][0];
    assert_eq!(
        (&rebuild["disk"], &rebuild["completed_fraction"]),
        (&8.into(), &1.0.into())
    );
    let took_s = rebuild["ended_s"].as_f64().expect("an end") - 20.0;
    assert!((9.9..12.0).contains(&took_s), "100 MB at 10 MB/s: {took_s}");
    assert_eq!(found["array"]["disks"][2]["online"], false);
    let log = fs::read_to_string(here.path("out/log.txt")).expect("a log");
    assert!(log.contains("disk 2 of group 'disks' fails"));
    // Its progress is among the samples, and it is in the report.
    let samples = fs::read_to_string(here.path("out/samples.csv")).expect("samples");
    let head: Vec<&str> = samples.lines().next().expect("a head").split(',').collect();
    let column = |name| head.iter().position(|one| *one == name).expect("a column");
    let (done, scope) = (column("array_rebuild_completed_fraction"), column("scope"));
    let mut last = 0.0;
    let mut seen = 0;
    for line in samples.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[scope] == "array-group" && !fields[done].is_empty() {
            let now: f64 = fields[done].parse().expect("a number");
            assert!(now >= last && now <= 1.0);
            (last, seen) = (now, seen + 1);
        }
    }
    assert!(seen >= 5, "{seen} samples");
    let page = fs::read_to_string(here.path("out/report.html")).expect("a report");
    assert!(page.contains("Failures and repairs") && page.contains("class=\"event\""));
    assert!(page.contains("id=\"rebuilds\""));
    // The description in the run directory holds the event: the same comes out again.
    here.proofload("predict trace.csv --array out/array.toml --out again --quiet")
        .exits(0);
    let again = result(&here, "again");
    assert_eq!(found["events"], again["events"]);
    assert_eq!(found["totals"], again["totals"]);
}

#[test]
fn what_the_level_does_not_bear_ends_with_4() {
    let here = Scratch::new();
    here.file("trace.csv", &trace());
    here.file("small.toml", ARRAY);
    let events =
        "event=[{at=\"10s\",what=\"disk-fails\",disk=0},{at=\"11s\",what=\"disk-fails\",disk=1}]";
    let line = format!("predict trace.csv --array small.toml --out out --set {events}");
    here.proofload(&line)
        .exits(4)
        .says("more than RAID 5 tolerates unless the spare has been filled by then")
        .says("group 'disks' has failed, and its data are lost")
        .prints("group-failed");
    let found = result(&here, "out");
    assert_eq!(found["verdict"], "error");
    let failed = found["trace"]["failed_requests"].as_u64().expect("a count");
    assert!(failed > 1_000, "{failed}");
    assert_eq!(found["errors"].as_array().expect("errors").len(), 20);
}

#[test]
fn a_controller_fails_and_the_mail_server_feels_it() {
    let here = Scratch::new();
    let small = "predict mine.toml --array msa2050 --databases 1 --target-size 64MiB --threads 2 \
        --set run.sample_interval=1s --set run.warm_up.maximum=1s \
        --set engine.cache_size_per_database=8MiB --set engine.checkpoint_depth=4MiB \
        --set run.steady_state.required=false --set service_levels.fewest_samples=1 \
        --set array.volumes.database_size_gb=1";
    let profile = "kind = \"mail\"\nextends = \"exchange-2013\"\n\n[[event]]\nat = \"5s\"\n\
        what = \"controller-fails\"\ncontroller = 0\n\n[[event]]\nat = \"12s\"\n\
        what = \"controller-returns\"\ncontroller = 0\n";
    here.file("mine.toml", profile);
    let ended = here.proofload(&format!("{small} --out out --duration 20s"));
    let ended = ended.says("At 0:00:05.0: controller 0 fails.");
    ended.says("controller 1 takes over the volumes of its partner");
    let found = result(&here, "out");
    let whats: Vec<&str> = found["events"]
        .as_array()
        .expect("events")
        .iter()
        .map(|event| event["what"].as_str().expect("a word"))
        .collect();
    assert_eq!(
        whats,
        [
            "controller-fails",
            "controller-takes-over",
            "controller-returns"
        ]
    );
    let begins_s = found["events"][0]["at_s"].as_f64().expect("a time") - 5.0;
    assert!(begins_s > 1.0, "building and warming up came before");
    let longest_ms = found["totals"]["reads"]["latency"]["max_ms"]
        .as_f64()
        .expect("a time");
    assert!((1_000.0..4_000.0).contains(&longest_ms), "{longest_ms}");
    // Behind the end, and on real storage, events are refused.
    here.proofload(&format!("{small} --out late --duration 8s"))
        .exits(2)
        .says("mine.toml:10")
        .says("nothing is measured after 8 s");
    here.directory("target");
    here.proofload("run mine.toml --on target")
        .exits(2)
        .says("does not break on command");
}

/// The program with events beside the words of a line.
fn with_events(here: &Scratch, line: &str, events: &[&str]) -> Ended {
    let mut command = proofload(&here.path("."));
    command.args(line.split_whitespace());
    for event in events {
        command.args(["--event", event]);
    }
    Ended::of(&mut command)
}

#[test]
fn events_are_given_on_the_command_line() {
    let here = Scratch::new();
    here.file("trace.csv", &trace());
    let own = "[[event]]\nat = \"5s\"\nwhat = \"cache-battery-fails\"\ncontroller = 1\n";
    here.file("small.toml", &format!("{ARRAY}\n{own}"));
    let line = "predict trace.csv --array small.toml";
    let events = ["20s disk-slow 5 of disks x20 for 10s", "40s disk-fail 2"];
    with_events(&here, &format!("{line} --dry-run"), &events)
        .exits(0)
        .prints("Event at 30 s: disk 5 of group 'disks' is as fast as before.");
    with_events(&here, &format!("{line} --out out"), &events)
        .exits(0)
        .says("At 0:00:20.0: disk 5 of group 'disks' slows down by a factor of 20.")
        .says("At 0:00:30.0: disk 5 of group 'disks' is as fast as before.")
        .says("At 0:00:40.0: disk 2 of group 'disks' fails.");
    let found = result(&here, "out");
    let events = found["events"].as_array().expect("events");
    let words: Vec<&str> = events
        .iter()
        .filter_map(|one| one["what"].as_str())
        .collect();
    assert_eq!(
        &words[..4],
        [
            "cache-battery-fails",
            "disk-slows",
            "disk-recovers",
            "disk-fails"
        ]
    );
    assert!(events[..4].iter().all(|one| one["planned"] == true));
    for (event, status, words) in [
        ("20s disk-melt 5", 2, "there is no event 'disk-melt'"),
        ("20s disk-slow 5", 2, "by how much"),
        ("20s disk-fail 99", 2, "there is no disk 99"),
        (
            "20s sectors-unreadable 3",
            2,
            "nothing says in how many places",
        ),
        (
            "20s sectors-unreadable 3 x5 for 10s",
            2,
            "nothing ends this event",
        ),
        (
            "20s credits-spent 0",
            2,
            "it is no cloud volume with bursts",
        ),
        ("20h disk-fail 1", 2, "nothing is measured after"),
    ] {
        with_events(&here, &format!("{line} --dry-run"), &[event])
            .exits(status)
            .says(words);
    }
    let line = "predict exchange-2013 --array msa2050 --databases 1 --target-size 2GiB --rate 20 \
                --duration 1m --out mail --quiet";
    with_events(&here, line, &["20s disk-slow 1 x8 for 10s"]);
    let found = result(&here, "mail");
    assert_eq!(found["events"].as_array().map(Vec::len), Some(2));
}

#[test]
fn disks_that_work_have_flaws_and_credits() {
    let here = Scratch::new();
    let line = "predict exchange-2013 --array msa2050 --databases 1 --target-size 2GiB --rate 20 \
                --duration 1m --set array.backend.scrub.enabled=true --quiet";
    let event = ["20s sectors-unreadable 1 x50"];
    with_events(&here, &format!("{line} --out flaws"), &event);
    let found = result(&here, "flaws");
    let text = found["events"][0]["text"].as_str().expect("a sentence");
    assert!(text.contains("cannot read 50 places of 4 KiB"), "{text}");
    assert_eq!(found["events"][0]["what"], "sectors-unreadable");
    assert_eq!(found["events"][0]["planned"], true);
    here.file(
        "places.toml",
        "extends = \"msa2050\"\ntitle = \"Places\"\n[[event]]\nat = \"5s\"\nwhat = \"power-cut\"\nplaces = 3\n",
    );
    with_events(&here, &line.replace("msa2050", "places.toml"), &[])
        .exits(2)
        .says("only sectors that are unreadable or corrupted have places");
    with_events(&here, line, &["20s sectors-corrupted 1 x50"])
        .exits(2)
        .says("A prediction stores no contents");
    // More than the base rate, and less than a burst.
    let line = "predict exchange-2013 --array cloud-burst --databases 1 --target-size 2GiB --rate 900 \
                --duration 1m --quiet --set run.steady_state.required=false";
    let read_ms = |out: &str, events: &[&str]| {
        with_events(&here, &format!("{line} --out {out}"), events);
        let found = result(&here, out);
        let figure = &found["totals"]["reads"]["latency"]["average_ms"];
        figure.as_f64().expect("a latency")
    };
    let (with, without) = (
        read_ms("with", &[]),
        read_ms("without", &["10s credits-spent 0"]),
    );
    assert!(without > 5.0 * with, "{without} {with}");
}
