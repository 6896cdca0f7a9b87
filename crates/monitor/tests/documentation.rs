//! What docs/results.md says of events and metrics is what there is, and the dashboard asks for no other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use measure::result::RunResult;
use monitor::metrics::names::{OWN, documentation, exported};
use monitor::record::Body;
use monitor::serving;
use proofload::Event;
use workload::progress::{ByteProgress, Clients, LiveSample, Phase, Sessions};

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file of the documentation")
}

/// The text between two comments, and what stands around it.
fn between<'a>(text: &'a str, name: &str) -> (&'a str, &'a str, &'a str) {
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let from = text.find(&begin).expect("a place for the table") + begin.len();
    let to = text.find(&end).expect("an end of the table");
    (&text[..from], &text[from..to], &text[to..])
}

#[test]
fn every_metric_is_documented_and_no_other() {
    let path = docs("results.md");
    let mut text = read(&path);
    for (name, wanted) in [
        ("prometheus metrics", documentation()),
        (
            "metrics of a served array",
            serving::metrics::documentation(),
        ),
    ] {
        let (before, table, after) = between(&text, name);
        if std::env::var_os("PROOFLOAD_WRITE_DOCS").is_some() {
            text = format!("{before}{wanted}{after}");
            std::fs::write(&path, &text).expect("it can be written");
            continue;
        }
        let hint = "run this test once with PROOFLOAD_WRITE_DOCS=1";
        assert!(
            table == wanted,
            "the table of {name} is out of date: {hint}"
        );
    }
}

/// The paths of all fields of a document; latencies of clients have the same fields everywhere.
fn fields_of(value: &serde_json::Value, path: &str, fields: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (name, value) in object {
                let dot = if path.is_empty() { "" } else { "." };
                let field = format!("{path}{dot}{name}");
                let is_latency = path == "clients" && value.is_object();
                let inside = if is_latency { "clients.*" } else { &field };
                fields_of(value, inside, fields);
                fields.insert(field);
            }
        }
        serde_json::Value::Array(list) => {
            let one = list.first().expect("one of each");
            fields_of(one, &format!("{path}[]"), fields);
        }
        _ => {}
    }
}

#[test]
fn every_field_of_the_state_of_a_served_array_is_documented_and_no_other() {
    use proofload::serve::state::{
        Controller, Disk, Group, HappenedEvent, PlannedEvent, Pool, Rebuild, ServingState, Tier,
    };
    let state = ServingState {
        controllers: vec![Controller::default()],
        disks: vec![Disk::default()],
        groups: vec![Group::default()],
        rebuilds: vec![Rebuild::default()],
        pools: vec![Pool {
            tiers: vec![Tier::default()],
            ..Pool::default()
        }],
        events: vec![HappenedEvent::default()],
        planned_events: vec![PlannedEvent::default()],
        ..ServingState::default()
    };
    let state = serde_json::to_value(state).expect("JSON");
    let mut fields = BTreeSet::new();
    fields_of(&state, "", &mut fields);
    let text = read(&docs("results.md"));
    let (_, table, _) = between(&text, "state of a served array");
    let rows = table.lines().skip(2);
    let documented = rows.filter_map(|row| row.split('`').nth(1));
    let documented: BTreeSet<String> = documented.map(str::to_owned).collect();
    assert_eq!(documented, fields);
}

/// Words that begin like our metrics.
fn names_in(text: &str) -> BTreeSet<String> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(|letter| !is_of_name(letter));
    let words = words.filter(|word| word.starts_with("proofload_"));
    words.map(str::to_owned).collect()
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let text = read(&docs("grafana-dashboard.json"));
    let dashboard: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut known: BTreeSet<String> = exported().into_iter().map(|one| one.name).collect();
    known.extend(OWN.iter().map(|own| own.0.to_owned()));
    let mut asked = 0;
    for panel in panels {
        for target in panel["targets"].as_array().expect("queries") {
            let query = target["expr"].as_str().expect("a query");
            let names = names_in(query);
            assert!(!names.is_empty(), "{query}");
            for name in names {
                assert!(known.contains(&name), "{name} in {query}");
                // A rate is asked of what is added up, a value of what is not.
                let is_rated = query.contains(&format!("rate({name}"));
                assert_eq!(is_rated, name.ends_with("_total"), "{query}");
                asked += 1;
            }
        }
    }
    assert!(panels.len() >= 10 && asked >= 20, "{asked}");
}

/// The fields of each event that the documentation names.
fn documented() -> Vec<(String, BTreeSet<String>)> {
    let text = read(&docs("results.md"));
    let (_, table, _) = between(&text, "events");
    let rows = table.lines().skip(2);
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let words = |cell: &str| {
            let words = cell.split('`').skip(1).step_by(2);
            words.map(str::to_owned).collect::<BTreeSet<_>>()
        };
        let event = words(cells[1]).pop_first().expect("a name");
        (event, words(cells[2]))
    })
    .collect()
}

#[test]
fn every_event_is_documented_with_its_fields() {
    let live = LiveSample {
        elapsed: Duration::from_secs(1),
        iops: 1.0,
        target_iops: None,
        database_read_ms: None,
        log_write_ms: None,
        sessions: Sessions {
            clients: Clients::THREADS,
            count: 1,
            operations_per_second: 0.0,
        },
        failing: Vec::new(),
        estimate: None,
        without_service: None,
        hung: None,
    };
    let result = RunResult::default();
    let path = Path::new("/out");
    let progress = ByteProgress {
        done_bytes: 1,
        total_bytes: 2,
    };
    let events = [
        Event::Directory(path),
        Event::PhaseBegan {
            phase: Phase::Measuring,
            expected: None,
        },
        Event::Progress(progress),
        Event::Activity("a"),
        Event::Live(&live),
        Event::Replayed {
            requests: 1,
            of: 2,
            elapsed: Duration::ZERO,
            span: None,
        },
        Event::Note("a"),
        Event::Warning("a"),
        Event::RoundBegan { done: 1 },
        Event::PointDone {
            name: "a",
            result: &result,
            directory: None,
        },
    ];
    let mut bodies: Vec<Body<'_>> = events.into_iter().filter_map(Body::of).collect();
    assert_eq!(bodies.len(), 10);
    bodies.extend([
        Body::Start {
            schema: "",
            version: "",
            workload: "",
            storage: "",
        },
        Body::Sample {
            sample: 0,
            phase: "measured",
            begins_s: 0.0,
            length_s: 1.0,
            rows: Vec::new(),
        },
        Body::LeftOut { events: 1 },
        Body::end(&result),
        Body::Failed { error: "a" },
    ]);
    let mut found: Vec<(String, BTreeSet<String>)> = Vec::new();
    for body in bodies {
        let line: serde_json::Value = serde_json::from_str(&body.line()).expect("JSON");
        let object = line.as_object().expect("an object");
        assert!(object["at"].as_str().is_some_and(|at| at.ends_with('Z')));
        let event = object["event"].as_str().expect("a name").to_owned();
        let fields = object
            .keys()
            .filter(|key| !["at", "event"].contains(&key.as_str()));
        found.push((event, fields.cloned().collect()));
    }
    found.sort();
    let mut documented = documented();
    documented.sort();
    assert_eq!(found, documented);
}
