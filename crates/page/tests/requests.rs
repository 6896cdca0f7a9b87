//! Requests and their answers: what a page asks for, and what it gets for what is wrong.

use std::cell::RefCell;
use std::rc::Rc;

use page::{Progress, Report, answer};
use proofload::Scenario;
use serde_json::{Value, json};

/// A brokerage and a mail server that are predicted in a moment.
const SMALL: &str = "
kind = 'mail'
extends = 'exchange-2013'
[mail]
databases = 2
mailboxes_per_database = 50
mailbox_size = '8MiB'
threads = 2
[run]
duration = '5s'
sample_interval = '1s'
[run.warm_up]
maximum = '2s'
[run.steady_state]
required = false
[array]
extends = 'msa2050-tier'
";

fn ask(request: &Value) -> Value {
    let quiet: Report = Rc::new(|_| {});
    serde_json::from_str(&answer(&request.to_string(), &quiet)).unwrap()
}

/// The answer to a request that has one.
fn asked(request: &Value) -> Value {
    let mut answered = ask(request);
    assert!(answered.get("fault").is_none(), "{request}: {answered}");
    answered["answer"].take()
}

/// What is wrong with a request.
fn fault(request: &Value) -> String {
    let answered = ask(request);
    let message = answered["fault"]["message"].as_str();
    let message = message.unwrap_or_else(|| panic!("{request}: {answered}"));
    assert!(!message.is_empty(), "{request}");
    format!("{message} {}", answered["fault"]["help"].as_str().unwrap())
}

fn set(toml: &str, path: &str, value: &str) -> Value {
    json!({ "do": "set", "toml": toml, "settings": [[path, value]] })
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key}: {value}"))
}

fn field<'a>(described: &'a Value, path: &str) -> &'a Value {
    let fields = described["fields"].as_array().unwrap();
    let found = fields.iter().find(|field| field["path"] == path);
    found.unwrap_or_else(|| panic!("{path}: {fields:?}"))
}

#[test]
fn every_workload_and_every_array_can_be_chosen() {
    let lists = asked(&json!({ "do": "lists" }));
    let mut toml = text(&lists, "design").to_owned();
    let names = |kind: &str| {
        let list = lists[kind].as_array().unwrap().clone();
        assert!(list.len() > 3, "{kind}");
        list.into_iter().map(|one| text(&one, "name").to_owned())
    };
    for workload in names("workloads") {
        let chosen =
            asked(&json!({ "do": "choose", "toml": toml, "workload": workload, "settings": [] }));
        assert_eq!(text(&chosen, "workload"), workload);
        toml = text(&chosen, "toml").to_owned();
    }
    for array in names("arrays") {
        // Some arrays are smaller than the data of a workload by itself.
        let chosen =
            asked(&json!({ "do": "choose", "toml": SMALL, "array": array, "settings": [] }));
        assert_eq!(text(&chosen, "array"), array);
        let disks = chosen["fields"].as_array().unwrap();
        assert!(
            disks.iter().any(|field| field["label"] == "Disks"),
            "{array}"
        );
    }
}

#[test]
fn a_setting_is_changed_and_taken_back() {
    let described = asked(&json!({ "do": "describe", "toml": SMALL }));
    let count = field(&described, "array.pool.0.disk_count");
    assert_eq!(
        (text(count, "value"), &count["is_set"]),
        ("10", &json!(false))
    );
    assert_eq!(text(count, "expected"), "a whole number from 0 to 65535");
    let changed = asked(&set(SMALL, "array.pool.0.disk_count", "12"));
    let count = field(&changed, "array.pool.0.disk_count");
    assert_eq!(
        (text(count, "value"), &count["is_set"]),
        ("12", &json!(true))
    );
    assert!(
        text(&changed, "plan").contains("12 x sas-10k-1200gb"),
        "{changed}"
    );
    let back = asked(&set(text(&changed, "toml"), "array.pool.0.disk_count", ""));
    assert_eq!(back["toml"], described["toml"]);
}

#[test]
fn a_setting_of_one_of_several_groups_keeps_the_others() {
    let toml = SMALL.replace("msa2050-tier", "eva5000-isolated-vraid1");
    let changed = asked(&set(&toml, "array.group.0.disk_count", "64"));
    assert_eq!(
        text(field(&changed, "array.group.0.disk_count"), "value"),
        "64"
    );
    let described = asked(&json!({ "do": "describe", "toml": toml }));
    let other = "array.group.1.disk_count";
    assert_eq!(
        field(&changed, other)["value"],
        field(&described, other)["value"]
    );
}

#[test]
fn mailboxes_are_those_of_all_databases() {
    let changed = asked(&set(SMALL, "mailboxes", "120"));
    assert_eq!(text(field(&changed, "mailboxes"), "value"), "120");
    assert!(
        text(&changed, "toml").contains("mailboxes_per_database = 60"),
        "{changed}"
    );
}

#[test]
fn ssds_that_get_a_use_are_as_many_as_it_takes() {
    let toml = SMALL.replace("msa2050-tier", "msa2050");
    let path = "array.pool.0.ssd_use";
    for (ssd_use, count) in [("tier", "2"), ("read-cache", "1")] {
        let changed = asked(&set(&toml, path, ssd_use));
        assert_eq!(
            text(field(&changed, "array.pool.0.ssd_count"), "value"),
            count
        );
        assert_eq!(text(field(&changed, path), "value"), ssd_use);
    }
}

#[test]
fn events_are_lines() {
    let lines = "1s disk-fail 3\n2s controller-fail 1 for 1s";
    let changed = asked(&json!({ "do": "events", "toml": SMALL, "lines": lines }));
    assert_eq!(text(&changed, "events"), lines);
    let wrong = json!({ "do": "events", "toml": SMALL, "lines": "1s disk-explodes" });
    assert!(fault(&wrong).contains("there is no event 'disk-explodes'"));
    let none = asked(&json!({ "do": "events", "toml": text(&changed, "toml"), "lines": "" }));
    assert_eq!(text(&none, "events"), "");
}

#[test]
fn what_is_wrong_is_said_in_the_words_of_the_library() {
    for (path, value, words) in [
        (
            "array.pool.0.raid",
            "raid7",
            "is none of the words that fit here",
        ),
        ("array.pool.0.disk_count", "many", "write a whole number"),
        ("mail.mailbox_size", "2 bananas", "size"),
        ("mailboxes", "0", "mailbox"),
        ("nothing.at.all", "1", "nothing"),
        ("array.pool.0.ssd_count", "999999", "65535"),
    ] {
        let found = fault(&set(SMALL, path, value));
        assert!(found.contains(words), "{path}: {found}");
        assert!(!found.contains("design.toml"), "{found}");
    }
    assert!(fault(&json!({ "do": "predict" })).contains("not understood"));
    assert!(fault(&json!({ "do": "describe", "toml": "x = " })).contains("not TOML"));
    let find = json!({ "do": "find", "toml": SMALL, "find": "gold", "axes": [] });
    assert!(fault(&find).contains("gold"));
}

#[test]
fn files_become_designs() {
    let open = |text: &str| json!({ "do": "open", "toml": SMALL, "text": text });
    let design = asked(&open(SMALL));
    assert_eq!(text(&design, "array"), "msa2050-tier");
    let profile = asked(&open(
        "kind = 'mail'\n[mail]\ndatabases = 3\nmailbox_size = '1MiB'",
    ));
    assert_eq!(text(field(&profile, "mail.databases"), "value"), "3");
    assert_eq!(text(&profile, "array"), "msa2050-tier");
    let extending = asked(&open("extends = 'msa2040'\ntitle = 'Ours'"));
    assert_eq!(text(&extending, "title"), "Ours");
    assert_eq!(text(field(&extending, "mail.databases"), "value"), "2");
    let described = proofload::predict::load_array(&Scenario::new("brokerage").on_array("msa2042"));
    let whole = asked(&open(&described.unwrap().to_toml()));
    assert!(text(&whole, "title").contains("MSA 2042"));
    for wrong in [
        "\u{0}\u{1}\u{fffd}",
        "<html>",
        "[[event]]",
        "kind = 7",
        "x = 1",
    ] {
        fault(&open(wrong));
    }
}

#[test]
fn a_prediction_is_that_of_the_library() {
    let steps = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&steps);
    let report: Report =
        Rc::new(move |progress: &Progress| kept.borrow_mut().push(progress.clone()));
    let request = json!({ "do": "predict", "toml": SMALL, "first": false });
    let answered: Value = serde_json::from_str(&answer(&request.to_string(), &report)).unwrap();
    let predicted = &answered["answer"];
    let mut by_library = Scenario::new("design.toml")
        .with_file("design.toml", SMALL)
        .predict()
        .unwrap()
        .result;
    let mut by_page: measure::result::RunResult =
        serde_json::from_value(predicted["result"].clone()).unwrap();
    for result in [&mut by_library, &mut by_page] {
        result.started.clear();
        result.wall_seconds = None;
        let phases = result.phases.iter_mut();
        phases.for_each(|phase| phase.started.clear());
    }
    assert_eq!(by_page, by_library);
    let array = by_page.array.as_ref().unwrap();
    assert_eq!(array.name, "msa2050-tier of design.toml");
    for part in ["controller-0", "ports-1", "pool-a", "group-a-ssd"] {
        let parts = predicted["parts"].as_array().unwrap();
        assert!(parts.iter().any(|one| one["id"] == part), "{part}");
    }
    assert!(
        text(predicted, "busiest").starts_with("Busiest part: disk group"),
        "{predicted}"
    );
    assert!(predicted["charts"].as_array().unwrap().len() > 5);
    assert_eq!(predicted["tables"][0]["title"], "Service levels");
    assert!(
        steps
            .borrow()
            .iter()
            .any(|one| one.what == "Measured phase")
    );
    let report = asked(&json!({ "do": "report", "toml": SMALL }));
    assert!(text(&report, "html").starts_with("<!DOCTYPE html>"));
}

#[test]
fn a_first_answer_says_what_makes_it_one() {
    let toml = SMALL
        .replace("threads = 2\n", "")
        .replace("duration = '5s'", "duration = '2h'");
    let toml = format!("{toml}[[event]]\nat = '1h'\nwhat = 'disk-fails'\ndisk = 3\n");
    let first = asked(&json!({ "do": "predict", "toml": toml, "first": true }));
    let expected = "First answer: 10 s of simulated time after a warm-up of 5 s, without the events, with the target rate held.";
    assert_eq!(text(&first, "first"), expected);
    let measured_s = first["result"]["duration_s"].as_f64().unwrap();
    assert!((measured_s - 10.0).abs() < 1e-6, "{measured_s}");
}

#[test]
fn designs_are_searched_swept_and_compared() {
    let axes = json!(["array.pool.ssd_count=0,2"]);
    let swept = asked(&json!({ "do": "sweep", "toml": SMALL, "axes": axes }));
    assert_eq!(swept["table"]["rows"].as_array().unwrap().len(), 2);
    let axes = json!(["rate=20,40"]);
    let found = json!({ "do": "find", "toml": SMALL, "find": "max-iops", "axes": axes });
    let found = asked(&found);
    assert!(text(&found["grid"], "find") == "max-iops", "{found}");
    let toml = SMALL.replace("-tier", "");
    let found = json!({ "do": "find", "toml": toml, "find": "min-flash", "axes": [] });
    assert!(text(&asked(&found)["grid"], "find") == "min-flash");
    let designs = json!([["one", SMALL], ["two", SMALL.replace("-tier", "")]]);
    let compared = asked(&json!({ "do": "compare", "designs": designs }));
    let titles = compared["tables"].as_array().unwrap().iter();
    let titles: Vec<&str> = titles.map(|table| text(table, "title")).collect();
    assert!(titles.contains(&"Settings that differ"), "{titles:?}");
    assert!(fault(&json!({ "do": "compare", "designs": [["one", SMALL]] })).contains("1 design"));
}
