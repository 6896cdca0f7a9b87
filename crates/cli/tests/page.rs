//! The predictor in a web page: in real browsers, without a network, with the figures of `proofload predict`.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::Scratch;
use serde_json::Value;

/// Names the page that `scripts/page` has made.
const PAGE: &str = "PROOFLOAD_PAGE";

/// A design that is predicted in a moment.
const DESIGN: &str = "
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
[[event]]
at = '2s'
what = 'disk-fails'
disk = 3
";

fn web() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../page/web")
}

/// A program of one of these names.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path)
        .flat_map(|place| names.iter().map(move |name| place.join(name)));
    places.find(|place| place.is_file())
}

/// What a browser gave: what was seen, and the result and the design that the page has saved.
struct Seen {
    seen: Value,
    result: Value,
    here: Scratch,
}

/// Uses the page in a browser; `None` where something is missing.
fn used(browser: &str, names: &[&str], missing: &str) -> Option<Seen> {
    let Some(page) = std::env::var_os(PAGE) else {
        test_support::skip("scripts/page makes the page for it");
        return None;
    };
    if !web().join("node_modules/puppeteer-core").is_dir() {
        test_support::skip("the packages of the page are not installed");
        return None;
    }
    let Some(executable) = program(names) else {
        test_support::skip(missing);
        return None;
    };
    let here = Scratch::new();
    fs::write(here.path("open.toml"), DESIGN).expect("a design");
    let output = Command::new("node")
        .arg(web().join("test/browser.mjs"))
        .args([browser.as_ref(), executable.as_os_str(), page.as_os_str()])
        .arg(here.path("open.toml"))
        .arg(here.path("."))
        // A browser that is root's runs in the home directory of root.
        .env("HOME", here.path("."))
        .stderr(Stdio::piped())
        .output()
        .expect("node");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{browser}: {errors}");
    let seen = serde_json::from_slice(&output.stdout).expect("what was seen");
    let result = fs::read_to_string(here.path("result.json")).expect("the result");
    let result = serde_json::from_str(&result).expect("a result");
    Some(Seen { seen, result, here })
}

/// The figures of a result by their paths, without what says when and where it was computed. A browser writes 1.0 as 1.
fn figures(value: &Value, path: &str, found: &mut BTreeMap<String, String>) {
    const ELSEWHERE: [&str; 5] = [
        ".started",
        ".wall_seconds",
        ".host",
        ".files",
        ".document_sha256",
    ];
    if ELSEWHERE.contains(&path) || path.starts_with(".phases") && path.ends_with(".started") {
        return;
    }
    match value {
        Value::Object(entries) => entries
            .iter()
            .for_each(|(key, value)| figures(value, &format!("{path}.{key}"), found)),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(number, value)| figures(value, &format!("{path}.{number}"), found)),
        value => {
            let number = value.as_f64().map(|number| format!("{number:e}"));
            found.insert(path.to_owned(), number.unwrap_or_else(|| value.to_string()));
        }
    }
}

/// All figures of both are the same.
fn assert_same_figures(page: &Value, command_line: &Value) {
    let [page, command_line] = [page, command_line].map(|result| {
        let mut found = BTreeMap::new();
        figures(result, "", &mut found);
        found
    });
    assert!(command_line.len() > 500, "{} figures", command_line.len());
    let paths: BTreeSet<&String> = page.keys().chain(command_line.keys()).collect();
    let differ = paths
        .into_iter()
        .filter(|path| page.get(*path) != command_line.get(*path));
    let differ: Vec<_> = differ
        .map(|path| (path, page.get(path), command_line.get(path)))
        .take(5)
        .collect();
    assert!(differ.is_empty(), "page and command line: {differ:?}");
}

fn is_used_without_a_network(used: Seen) {
    let Seen { seen, result, here } = used;
    let predicted = here.proofload("predict design.toml --json --quiet --out out");
    let expected: Value = serde_json::from_str(&predicted.stdout).expect("a result");
    assert_same_figures(&result, &expected);
    let text = |key: &str| {
        seen[key]
            .as_str()
            .unwrap_or_else(|| panic!("{key}: {seen}"))
    };
    assert!(
        ["PASS", "FAIL (performance)", "INCONCLUSIVE"].contains(&text("verdict")),
        "{seen}"
    );
    assert!(
        text("wrongField").contains("write a whole number"),
        "{seen}"
    );
    assert!(text("garbage").contains("This is not TOML"), "{seen}");
    assert_eq!(text("fromAddress"), "16");
    assert!(!text("first").is_empty() && !text("after").is_empty());
    for nothing in ["messages", "fetched"] {
        assert_eq!(seen[nothing], Value::Array(Vec::new()), "{nothing}");
    }
}

#[test]
fn the_page_works_in_chromium_and_has_the_figures_of_the_command_line() {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    if let Some(seen) = used("chrome", &names, "Chromium is not installed") {
        is_used_without_a_network(seen);
    }
}

#[test]
fn the_page_works_in_firefox_and_has_the_figures_of_the_command_line() {
    if let Some(seen) = used(
        "firefox",
        &["firefox-esr", "firefox"],
        "Firefox is not installed",
    ) {
        is_used_without_a_network(seen);
    }
}

#[test]
fn a_program_without_the_page_says_where_it_is() {
    let here = Scratch::new();
    let ran = here.proofload("page --out page.html");
    if cfg!(feature = "page") {
        ran.exits(0).prints("page.html");
        here.proofload("page --out page.html")
            .exits(2)
            .says("--overwrite");
        here.proofload("page --out page.html --overwrite").exits(0);
    } else {
        ran.exits(3)
            .says("built without the page")
            .says("make page");
        assert!(!here.path("page.html").exists());
    }
}
