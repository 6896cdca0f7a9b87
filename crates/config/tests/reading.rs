//! Settings as people write them, right and wrong.

use crate::sample::{Raid, SERVER, Server};
use config::{ConfigError, Diagnostic, Document, Layers, Source, TimeSpan, Value, from_toml};
use test_support::set;

fn load(sources: &[Source]) -> Result<Document<Server>, ConfigError> {
    Document::load(&SERVER, sources)
}

fn with(text: &str, assignments: &[&str]) -> Result<Document<Server>, ConfigError> {
    let mut sources = vec![Source::file("mine.toml", text)];
    sources.extend(assignments.iter().map(|text| set(text)));
    load(&sources)
}

/// What is wrong with a text, one line each.
fn faults(text: &str) -> String {
    let text = format!("title = 'x'\n{text}");
    with(&text, &[]).map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn what_is_left_out_has_its_default() {
    let server = with("title = 'x'", &[]).unwrap().settings;
    assert!(server.enabled && server.link.is_none() && server.pool.is_empty());
    assert_eq!(server.cache, crate::sample::Cache::default());
    assert!(server.cache.limit_ms.is_infinite());
}

#[test]
fn a_single_table_stands_for_a_list_of_one() {
    let text = "title = 'x'\n[pool]\ndisk_count = 4\nchunk_kib = 8\nwarning_percent = 80";
    let pool = with(text, &[]).unwrap().settings.pool.remove(0);
    assert_eq!((pool.disks.disk_count, pool.disks.chunk_kib), (4, Some(8)));
    assert_eq!(pool.warning_percent, [80]);
    let two = "title = 'x'\n[[pool]]\ndisk_count = 4\n[[pool]]\ndisk_count = 5\n";
    let loaded = with(two, &["pool.raid=raid0", "pool.1.spares=2"]).unwrap();
    let pools = loaded.settings.pool;
    assert!(pools.iter().all(|pool| pool.disks.raid == Raid::Raid0));
    assert_eq!((pools[0].spares, pools[1].spares), (0, 2));
}

#[test]
fn a_part_of_a_document_is_a_document_of_its_own() {
    let text = "kind = 'mail'\n[server]\nextends = 'base'\n[server.cache]\nage = '7s'\n";
    let part = |text: &str| load(&[Source::part("mine.toml", "server", text)]);
    let server = part(text).unwrap().settings;
    assert_eq!(server.title, "base");
    assert_eq!(server.cache.age, TimeSpan::seconds(7));
    let wrong = |text: &str| part(text).unwrap_err().to_string();
    let found = wrong(&text.replace("'7s'", "7"));
    assert!(found.starts_with("mine.toml:5: "), "{found}");
    let found = wrong("server = 'base'");
    assert!(
        found.contains("is no table; write [server] and its settings below it"),
        "{found}"
    );
}

#[test]
fn later_sources_go_over_earlier_ones() {
    let text = "extends = 'base'\n[cache]\nage = '7s'\n[disks.fast]\nrpm = 15000\n[[event]]\nx = 1";
    let sources = [
        Source::file("mine.toml", text),
        Source::table("disk.toml", &["disks", "own"], "rpm = 10000"),
        set("pool.0.disk_count=8"),
        Source::option("--size", "cache.size", "1GiB"),
    ];
    let document = load(&sources).unwrap();
    let server = &document.settings;
    assert_eq!(
        (server.title.as_str(), server.pool[0].disks.disk_count),
        ("base", 8)
    );
    assert_eq!(
        (server.cache.age, server.cache.size.0),
        (TimeSpan::seconds(7), 1 << 30)
    );
    assert_eq!(
        (server.disks["fast"].rpm, server.disks["own"].rpm),
        (15_000, 10_000)
    );
    assert!(document.is_given_by_option("cache.size"));
    assert!(!document.is_given_by_option("cache.age"));
    let again: Server = from_toml(&document.written_toml()).unwrap();
    assert_eq!(again, *server);
}

#[test]
fn a_base_gives_what_nobody_says() {
    let mut base = with("title = 'kind'", &[]).unwrap().settings;
    base.cache.age = TimeSpan::seconds(60);
    base.link = Some(crate::sample::Link {
        rate_mb_per_s: 100.0,
        transfer_us: 3.0,
    });
    let sources = [Source::file(
        "mine.toml",
        "[cache]\nsize = '2MiB'\n[link]\ntransfer_us = 4",
    )];
    let read = Layers::join(&SERVER, &sources).read(Some(&base)).unwrap();
    let server = read.settings;
    assert_eq!(
        (server.title.as_str(), server.cache.age),
        ("kind", TimeSpan::seconds(60))
    );
    let link = server.link.unwrap();
    assert_eq!((link.rate_mb_per_s, link.transfer_us), (100.0, 4.0));
}

#[test]
fn every_fault_is_shown_at_its_line() {
    for (text, line, words) in [
        (
            "enabled = 'no'",
            2,
            "the text \"no\" does not fit here; write true or false",
        ),
        ("enabeld = true", 2, "did you mean 'enabled'?"),
        ("[cahce]\nsize = 1\nage = 2", 2, "did you mean 'cache'?"),
        (
            "cache = 3",
            2,
            "'cache' is a section, not a setting; write [cache]",
        ),
        (
            "pool = 3",
            2,
            "the number 3 does not fit here; write a table",
        ),
        (
            "[cache]\nsize = true",
            3,
            "write a size from \"1MiB\" to \"64GiB\"; Memory for data.",
        ),
        ("[cache]\nsize = '1KiB'", 3, "\"1KiB\" is out of range"),
        ("[cache]\nsize = '20G'", 3, "\"20GiB\" (powers of 1024)"),
        ("[cache]\nage = 15", 3, "no unit of time"),
        ("[cache]\ndirty_percent = 101", 3, "a number from 0 to 100"),
        ("[cache]\ndirty_percent = nan", 3, "does not fit here"),
        ("[cache]\nwriters = 0", 3, "from 1 to 64, or \"auto\""),
        ("[cache]\nlatency_limit = 3", 3, "or \"none\""),
        ("[cache]\nagee = '1s'", 3, "did you mean 'cache.age'?"),
        (
            "[cache]\nrpm = 3",
            3,
            "'rpm' belongs in [disks.NAME]: disks.NAME.rpm",
        ),
        (
            "[cache]\nwxyz = 3",
            3,
            "its settings are size, age, dirty_percent",
        ),
        ("wxyz = 3", 2, "the sections are cache, pool, disks, link"),
        (
            "[pool]\ndisk_cuont = 3\ndisk_count = 4",
            3,
            "did you mean 'disk_count'?",
        ),
        (
            "[pool]\nspares = 1",
            2,
            "the key 'disk_count' is missing in [pool]",
        ),
        (
            "[pool]\ndisk_count = 70000",
            3,
            "a whole number from 0 to 65535",
        ),
        ("[pool]\ndisk_count = -1", 3, "-1 is out of range"),
        (
            "[pool]\ndisk_count = 4\nraid = 'raid7'",
            4,
            "\"raid7\" is none of the words",
        ),
        (
            "[pool]\ndisk_count = 4\nchunk_kib = 5000000000",
            4,
            "from 0 to 4294967295",
        ),
        (
            "[pool]\ndisk_count = 4\nwarning_percent = [1, 'x']",
            4,
            "the text \"x\"",
        ),
        (
            "[disks.mine]\nrpm = 1.5",
            3,
            "the number 1.5 does not fit here",
        ),
        (
            "extends = 'nothing'",
            2,
            "is not a bundled server; extend one of base",
        ),
        ("[pool\n", 2, "this is not TOML"),
    ] {
        let found = faults(text);
        let wanted = format!("mine.toml:{line}: ");
        let has = |one: &str| one.starts_with(&wanted) && one.contains(words);
        assert!(found.lines().any(has), "{text}\ngives\n{found}");
        assert_eq!(found.lines().count(), 1, "{text}\ngives\n{found}");
    }
    let missing = with("enabled = true", &[]).unwrap_err().to_string();
    assert!(
        missing.contains("the key 'title' is missing; Its name"),
        "{missing}"
    );
}

#[test]
fn all_faults_are_found_at_once_in_the_order_of_the_lines() {
    let found =
        faults("x = 1\nenabled = 2\n[pool]\ndisk_count = 'x'\nspares = 'y'\n[cache]\nage = 1");
    let lines: Vec<&str> = found
        .lines()
        .filter_map(|line| line.split(':').nth(1))
        .collect();
    assert_eq!(lines, ["2", "3", "5", "6", "8"], "{found}");
}

#[test]
fn assignments_that_fit_nowhere_are_refused() {
    for (assignment, words) in [
        ("cache.siez=1", "did you mean 'cache.size'?"),
        ("cache..size=1", "not the path of a setting"),
        ("title.x=1", "has no key 'x'"),
        ("extends=base", "what a server extends is not a setting"),
        ("cache=1", "write --set cache.SETTING=VALUE"),
        ("pool.7.spares=1", "has no key '7'"),
    ] {
        let found = with("title = 'x'", &[assignment]);
        let found = found.map_or_else(|error| error.to_string(), |_| String::new());
        let begin = format!("--set {assignment}: ");
        let is_expected = found.starts_with(&begin) && found.contains(words);
        assert!(
            is_expected || assignment.starts_with("pool"),
            "{assignment}: {found}"
        );
    }
}

/// Rules: RAID 5 needs three disks, and a chunk.
fn rules(document: &Document<Server>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (number, pool) in document.settings.pool.iter().enumerate() {
        if pool.disks.raid == Raid::Raid5 && pool.disks.disk_count < 3 {
            let path = format!("pool.{number}.raid");
            found.push(document.diagnostic(&path, "RAID 5 needs three disks".into(), None));
        }
    }
    if document.settings.cache.writers > Some(32) {
        let paths = ["cache.size", "cache.writers"];
        found.push(document.broken_rule(&paths, "so many writers need memory".into(), None));
    }
    found
}

#[test]
fn a_broken_rule_is_shown_at_the_line_to_change() {
    let check = |text: &str, assignments: &[&str]| {
        let document = with(text, assignments).unwrap();
        let found = document.located(rules(&document), rules);
        document.accept(found).unwrap_err().to_string()
    };
    let found = check("extends = 'base'\n[pool]\ndisk_count = 2", &[]);
    assert!(
        found.starts_with("mine.toml:3: RAID 5 needs three disks; this does not go with `raid = ")
            && found.ends_with("in base"),
        "{found}"
    );
    let found = check(
        "extends = 'base'",
        &["pool.disk_count=1", "cache.writers=40"],
    );
    let lines: Vec<&str> = found.lines().collect();
    assert!(
        lines[0].starts_with("--set pool.disk_count=1: RAID 5"),
        "{found}"
    );
    assert!(
        lines[1].starts_with("--set cache.writers=40: so many"),
        "{found}"
    );
    assert!(
        with("extends = 'base'", &[])
            .unwrap()
            .accept(Vec::new())
            .is_ok()
    );
}

#[test]
fn wrong_types_and_broken_rules_are_reported_in_one_go() {
    let text = "extends = 'base'\n[pool]\nspares = 'x'\ndisk_count = 2";
    let sources = [Source::file("mine.toml", text)];
    let error = Document::<Server>::load_with_rules(&SERVER, &sources, |rest| {
        rest.located(rules(rest), rules)
    });
    let found = error.unwrap_err().to_string();
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 2, "{found}");
    assert!(
        lines[0].starts_with("mine.toml:3: the text \"x\""),
        "{found}"
    );
    assert!(lines[1].starts_with("mine.toml:4: RAID 5"), "{found}");
}

#[test]
fn a_list_of_another_document_is_appended() {
    let sources = [
        Source::file("mine.toml", "title = 'x'\n[pool]\ndisk_count = 1"),
        Source::list("more.toml", "pool", "other = 1\n[[pool]]\ndisk_count = 2"),
    ];
    let pools = load(&sources).unwrap().settings.pool;
    let counts: Vec<u16> = pools.iter().map(|pool| pool.disks.disk_count).collect();
    assert_eq!(counts, [1, 2]);
}

#[test]
fn values_are_found_by_their_keys() {
    let server = with("title = 'x'", &[]).unwrap().settings;
    let value = config::Settings::to_value(&server);
    let cache = value.get("cache").unwrap();
    assert_eq!(cache.get("writers"), Some(&Value::Text("auto".to_owned())));
    assert_eq!(value.get("link"), None);
}
