//! What others see of a run while it lasts: events, metrics, the state in the run directory.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use common::{Running, SMALL, Scratch, WIDE};
use serde_json::Value;

/// The lines of a stream of events.
fn events(text: &str) -> Vec<Value> {
    let line = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    text.lines().map(line).collect()
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|one| one["event"] == kind).collect()
}

/// A port that nobody listens at.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its number").port()
}

fn ask(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

#[test]
fn events_are_written_from_start_to_end() {
    let scratch = Scratch::new();
    scratch.directory("target");
    let line = format!("{SMALL} {WIDE} --allow-cached --events events.ndjson --json");
    let ended = scratch.proofload(&line);
    let result: Value = serde_json::from_str(&ended.stdout).expect("the result alone");
    let text = std::fs::read_to_string(scratch.path("events.ndjson")).expect("events");
    let events = events(&text);
    assert_eq!(events[0]["event"], "start");
    assert_eq!(events[0]["schema"], "proofload/events/1");
    let last = events.last().expect("an end");
    assert_eq!(last["event"], "end");
    assert_eq!(last["verdict"], result["verdict"]);
    assert_eq!(last["exit_status"], result["exit_status"]);
    let directories = of_kind(&events, "directory");
    assert_eq!(directories.len(), 1, "{directories:?}");
    let phases = of_kind(&events, "phase");
    let phases: Vec<&str> = phases
        .iter()
        .filter_map(|one| one["phase"].as_str())
        .collect();
    for phase in ["build", "open", "warm-up", "measured", "close"] {
        assert!(phases.contains(&phase), "{phase} of {phases:?}");
    }
    // Counts of the measured samples add up to those of the result.
    let measured = of_kind(&events, "sample");
    let measured = measured.iter().filter(|one| one["phase"] == "measured");
    let reads: f64 = measured
        .map(|sample| {
            let length_s = sample["length_s"].as_f64().expect("a length");
            let total = &sample["rows"][0];
            assert_eq!(total["scope"], "total");
            length_s
                * total["values"]["database_read_per_second"]
                    .as_f64()
                    .expect("a rate")
        })
        .sum();
    let counted = result["totals"]["reads"]["count"]
        .as_f64()
        .expect("a count");
    assert!((reads - counted).abs() < 1.0, "{reads} and {counted}");
    assert!(!scratch.path("out/status.json").exists());
    // A file that holds something is nobody's to write over.
    let again = line.replace("--out out", "--out again");
    scratch
        .proofload(&again)
        .exits(2)
        .says("holds something already");
    assert!(!scratch.path("again").exists());
    assert_eq!(
        std::fs::read_to_string(scratch.path("events.ndjson")).expect("events"),
        text
    );
}

#[test]
fn events_on_standard_output_are_alone_there() {
    let scratch = Scratch::new();
    let line = "predict exchange-2013 --array msa2050 --out out --duration 1m \
                --set run.warm_up.maximum=1s --databases 1 --target-size 10GB";
    let ended = scratch.proofload(&format!("{line} --threads 2 --events -"));
    let events = events(&ended.stdout);
    assert_eq!(events.last().expect("an end")["event"], "end");
    assert!(!of_kind(&events, "sample").is_empty());
    scratch
        .proofload(&format!("{line} --events - --json").replace("--out out", "--out other"))
        .exits(2)
        .says("Both --events and --json");
    let swept = scratch.proofload(&format!(
        "{} --events - --sweep threads=1,2",
        line.replace("--out out", "--out swept")
    ));
    let swept = self::events(&swept.stdout);
    assert_eq!(of_kind(&swept, "point").len(), 2, "{swept:?}");
    assert_eq!(of_kind(&swept, "end").len(), 1);
}

#[test]
fn a_reader_that_takes_nothing_does_not_hold_up_the_run() {
    let scratch = Scratch::new();
    scratch.directory("target");
    let pipe = scratch.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    // Open for both, so that neither side waits; nobody reads.
    let _held = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&pipe)
        .expect("the pipe");
    let port = free_port();
    let silent = format!("{SMALL} {WIDE} --allow-cached --events pipe --metrics {port} --quiet");
    let mut running = Running::start(&scratch, &silent);
    let until = Instant::now() + Duration::from_secs(60);
    while ask(port).is_none() {
        assert!(running.is_alive() && Instant::now() < until);
        std::thread::sleep(Duration::from_millis(50));
    }
    // Connections that say nothing, and one that asks and reads nothing.
    let mut silent: Vec<TcpStream> = (0..20)
        .filter_map(|_| TcpStream::connect(("127.0.0.1", port)).ok())
        .collect();
    if let Some(first) = silent.first_mut() {
        let _ = first.write_all(b"GET /metrics HTTP/1.1\r\n\r\n");
    }
    let ended = running.end();
    assert!(matches!(ended.status, Some(0 | 5)), "{}", ended.stderr);
    drop(silent);
}

#[test]
fn metrics_follow_the_run_until_it_ends() {
    let scratch = Scratch::new();
    scratch.directory("target");
    let port = free_port();
    let line = SMALL.replace("--duration 2s", "--duration 20s");
    let mut running = Running::start(&scratch, &format!("{line} {WIDE} --metrics {port}"));
    running.wait_until_it_says(&format!("Metrics: http://127.0.0.1:{port}/metrics"));
    let until = Instant::now() + Duration::from_secs(60);
    let text = loop {
        assert!(running.is_alive() && Instant::now() < until);
        let text = ask(port).unwrap_or_default();
        if text.contains("proofload_phase{phase=\"measured\"} 1")
            && text.contains("operations_total")
        {
            break text;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(
        text.contains("# TYPE proofload_io_requests_total counter"),
        "{text}"
    );
    let reads = "proofload_io_requests_total{database=\"mail-001\",stream=\"database-read\"} ";
    let value = |text: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(reads));
        line.expect("database reads").parse().expect("a number")
    };
    let before = value(&text);
    std::thread::sleep(Duration::from_secs(1));
    let after = value(&ask(port).expect("the figures"));
    assert!(before > 0.0 && after > before, "{before} {after}");
    // The port is taken, which another run says before it builds anything.
    scratch.directory("other");
    let other = line.replace("--on target --out out", "--on other --out other-out");
    scratch
        .proofload(&format!("{other} --metrics {port}"))
        .exits(3)
        .says("Metrics cannot be served");
    assert!(!scratch.path("other-out").exists());
    running.signal("INT");
    running.end().exits(130);
    assert!(ask(port).is_none());
}

#[test]
fn the_state_of_a_run_can_be_read_elsewhere() {
    let scratch = Scratch::new();
    scratch.directory("target");
    scratch
        .proofload("attach out")
        .exits(2)
        .says("is no directory");
    scratch.directory("empty");
    scratch
        .proofload("attach empty")
        .exits(2)
        .says("No run writes into");
    let line = SMALL.replace("--duration 2s", "--duration 10s");
    let mut running = Running::start(&scratch, &format!("{line} {WIDE} --allow-cached"));
    running.wait_until_it_says("measuring for");
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let seen = scratch.proofload("attach out").exits(0);
        if seen.stdout.contains("database I/O") {
            assert!(seen.stdout.contains("measuring 0:"), "{}", seen.stdout);
            assert!(seen.stdout.contains("exchange-2013 on"), "{}", seen.stdout);
            break;
        }
        assert!(
            running.is_alive() && Instant::now() < until,
            "{}",
            seen.stdout
        );
    }
    running.signal("INT");
    running.end().exits(130);
    scratch
        .proofload("attach out")
        .exits(0)
        .prints("INTERRUPTED");
    // A run that is killed leaves its last state.
    let killed = line.replace("--out out", "--out killed");
    let mut running = Running::start(&scratch, &killed);
    running.wait_until_it_says("building");
    running.signal("KILL");
    running.end();
    scratch
        .proofload("attach killed")
        .exits(3)
        .says("was killed");
}

#[test]
fn a_dry_run_finds_what_cannot_be_watched() {
    let scratch = Scratch::new();
    scratch.directory("target");
    scratch.directory("directory");
    scratch.file("full", "something");
    let held = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = held.local_addr().expect("its number").port();
    let predicted = "predict exchange-2013 --array msa2040 --threads 2";
    for (command, options, status, words) in [
        (SMALL, "--events full", 2, "holds something already"),
        (SMALL, "--events directory", 3, "is a directory"),
        (
            SMALL,
            "--events missing/events",
            3,
            "events cannot be written",
        ),
        (SMALL, "--metrics nonsense", 2, "not an address"),
        (
            SMALL,
            &format!("--metrics {port}"),
            3,
            "another program listens there",
        ),
        (SMALL, "--live", 2, "--live needs a terminal"),
        (predicted, "--events full", 2, "holds something already"),
        (
            predicted,
            "--sweep threads=1,2 --events full",
            2,
            "holds something already",
        ),
    ] {
        scratch
            .proofload(&format!("{command} {options} --dry-run"))
            .exits(status)
            .says(words);
    }
    let free = free_port();
    scratch
        .proofload(&format!("{SMALL} --events new --metrics {free} --dry-run"))
        .exits(0);
    assert!(!scratch.path("new").exists() && !scratch.path("out").exists());
}
