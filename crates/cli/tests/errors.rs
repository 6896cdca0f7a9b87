//! Runs under which pages are damaged: they go their full length, verify everything, and say what they
//! have met.

mod common;

use std::fs;

use common::{Running, SMALL, Scratch, WIDE, damage};
use serde_json::Value;

const DATABASE: &str = "target/mail-001/mail-001.edb";
/// Length of the measured phase, seconds.
const LENGTH_S: f64 = 6.0;

/// A run in the middle of which pages are damaged; its result.
fn run_on_damage(
    here: &Scratch,
    more: &str,
    status: i32,
    slots: impl Iterator<Item = u64>,
) -> (common::Ended, Value) {
    here.directory("target");
    let line = format!("{SMALL} {WIDE} {more}").replace("--duration 2s", "--duration 6s");
    let mut running = Running::start(here, &line);
    running.wait_until_it_says("measuring 0:0");
    damage(&here.path(DATABASE), slots);
    let ended = running.end().exits(status);
    let text = fs::read(here.path("out").join("result.json")).expect("a result");
    (ended, serde_json::from_slice(&text).expect("one document"))
}

/// The run went its full length, and the database was verified to its end.
fn assert_whole(result: &Value) {
    let length_s = result["duration_s"].as_f64().expect("a length");
    assert!(length_s > LENGTH_S - 0.1, "{length_s} s");
    let verification = &result["verification"];
    assert_eq!(verification["not_verified"], "");
    let pages = verification["databases"][0]["pages"].as_u64();
    assert!(pages.is_some_and(|pages| pages > 1_400), "{verification}");
    for error in result["errors"].as_array().expect("errors") {
        assert_eq!(error["class"], "checksum", "{error}");
        assert_eq!(error["ese_error"], -1018);
        assert_eq!(
            (&error["database"], &error["ended_run"]),
            (&"mail-001".into(), &false.into())
        );
    }
}

#[test]
fn damaged_pages_within_the_allowance_do_not_end_a_run() {
    let here = Scratch::new();
    // A page that is written once more after it was damaged is whole again; not all of five are.
    let slots = (400..1_400).step_by(200);
    let allowed = "--set service_levels.allowed_errors=5";
    let (ended, result) = run_on_damage(&here, allowed, 0, slots);
    assert_whole(&result);
    let errors = result["errors"].as_array().map_or(0, Vec::len);
    assert!((1..=5).contains(&errors), "{result}");
    let headline = match errors {
        1 => "with 1 error that was allowed: ".to_owned(),
        _ => format!("with {errors} errors that were allowed: "),
    };
    let ended = ended
        .prints(&headline)
        .prints("PASS")
        .prints("Verification after the run");
    ended.prints("Errors by class").says("verifying checksums");
    let page = fs::read_to_string(here.path("out").join("report.html")).expect("a report");
    for text in [
        headline.as_str(),
        "Verification after the run",
        "wrong checksum",
    ] {
        assert!(page.contains(text), "'{text}' is not in the report");
    }
    let log = fs::read_to_string(here.path("out").join("log.txt")).expect("a log");
    assert!(
        log.contains("error: ") && log.contains("mail-001.edb: page"),
        "{log}"
    );
}

#[test]
fn sixty_damaged_pages_are_all_found_and_fail() {
    let here = Scratch::new();
    let (ended, result) = run_on_damage(&here, "", 4, (20..1_520).step_by(25));
    assert_whole(&result);
    assert_eq!(
        (&result["verdict"], &result["exit_status"]),
        (&"error".into(), &4.into())
    );
    let errors = result["errors"].as_array().map_or(0, Vec::len);
    assert!((40..=60).contains(&errors), "{errors} errors");
    let found = result["verification"]["databases"][0]["errors"].as_u64();
    assert!(found.is_some_and(|found| found >= 40), "{found:?}");
    ended
        .prints("FAIL (data)")
        .prints("Databases kept in target");
}

#[test]
fn a_run_goes_on_whatever_the_number_of_errors_when_asked_to() {
    let here = Scratch::new();
    let more = "--set run.stop_after_errors=0 --continue-on-errors";
    let (_, result) = run_on_damage(&here, more, 4, (20..1_520).step_by(25));
    assert_whole(&result);
    assert_eq!(
        result["workload"]["settings"]["run.stop_after_errors"],
        "never"
    );
}
