//! What is written of settings: TOML that reads back, the reference, JSON Schema, alternatives.

use crate::sample::{Cache, Disk, Disks, Link, Pool, Raid, SERVER, Server};
use config::{
    Document, Source, TimeSpan, from_toml, json_schema, out_of_bounds, reference, reference_of,
    settings_by_path, to_toml,
};
use proptest::prelude::*;
use test_support::{alternatives, set};

fn server() -> Server {
    let text = "title = 'x'\n[[pool]]\ndisk_count = 4\n[[pool]]\ndisk_count = 5\nchunk_kib = 8\n\
                [disks.'a b']\nrpm = 5400\n[link]\nrate_mb_per_s = 12.5\n";
    from_toml(text).expect("the text is right")
}

fn any_pool() -> impl Strategy<Value = Pool> {
    let raid = prop_oneof![Just(Raid::Raid0), Just(Raid::Raid1), Just(Raid::Raid5)];
    let parts = (
        any::<u16>(),
        raid,
        any::<Option<u32>>(),
        any::<Vec<u32>>(),
        any::<u16>(),
    );
    parts.prop_map(
        |(disk_count, raid, chunk_kib, warning_percent, spares)| Pool {
            disks: Disks {
                disk_count,
                raid,
                chunk_kib,
            },
            warning_percent,
            spares,
        },
    )
}

fn any_cache() -> impl Strategy<Value = Cache> {
    let parts = (
        1_u64 << 20..1 << 36,
        any::<u64>(),
        0.0..=100.0,
        prop::option::of(1..=64_u32),
        1_u64..600_000,
    );
    parts.prop_map(|(size, age, dirty_percent, writers, limit)| Cache {
        size: config::ByteSize(size),
        age: TimeSpan(age),
        dirty_percent,
        writers,
        limit_ms: if limit % 5 == 0 {
            f64::INFINITY
        } else {
            limit as f64
        },
    })
}

fn any_server() -> impl Strategy<Value = Server> {
    let disk = (
        any::<u32>(),
        any::<f32>().prop_filter("a number", |factor| !factor.is_nan()),
    )
        .prop_map(|(rpm, factor)| Disk { rpm, factor });
    let link = (prop::num::f64::NORMAL, prop::num::f64::NORMAL).prop_map(
        |(rate_mb_per_s, transfer_us)| Link {
            rate_mb_per_s,
            transfer_us,
        },
    );
    let parts = (
        ".*",
        any::<bool>(),
        any_cache(),
        prop::collection::vec(any_pool(), 0..4),
        prop::collection::btree_map(".{1,8}", disk, 0..3),
        prop::option::of(link),
    );
    parts.prop_map(|(title, enabled, cache, pool, disks, link)| Server {
        title,
        enabled,
        cache,
        pool,
        disks,
        link,
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_to_the_same_settings(server in any_server()) {
        let text = to_toml(&server);
        let again: Result<Server, _> = from_toml(&text);
        prop_assert_eq!(again.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?, server);
    }

    #[test]
    fn no_text_panics(text in "(\\[{0,2}[a-z._]{0,12}\\]{0,2}\n?|[a-z_.]{1,10} ?= ?[^\n]{0,12}\n){0,12}") {
        let sources = [
            Source::file("any", &text),
            Source::value("--set", &text, "1"),
            Source::value("--set", "pool.0.disk_count", &text),
        ];
        if let Err(error) = Document::<Server>::load(&SERVER, &sources) {
            prop_assert!(!error.diagnostics.is_empty());
            for diagnostic in &error.diagnostics {
                if let Some((source, span)) = error.place_of(diagnostic) {
                    prop_assert!(source.text.get(span).is_some());
                }
            }
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn resolved_toml_explains_each_setting() {
    let text = to_toml(&server());
    for part in [
        "# Its name for people.\ntitle = \"x\"\n",
        "\n# What is kept in memory.\n[cache]\n# Memory for data.\nsize = \"64MiB\"\n",
        "writers = \"auto\"\n",
        "latency_limit = \"none\"\n",
        "[[pool]]\n# How many there are.\ndisk_count = 5\n",
        "warning_percent = [50, 75, 95]\n",
        "[disks.\"a b\"]\n",
        "factor = 0.1\n",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

#[test]
fn the_reference_lists_every_setting_with_its_default_and_source() {
    let text = reference::<Server>();
    for part in [
        "\n### Top of the file\n\nWhat this server is.\n",
        "| `title` | required | string | Its name for people. |\n",
        "### `[cache]`\n\nWhat is kept in memory.\n",
        "| `dirty_percent` | `50` | number from 0 to 100; percent | Share of the cache that may be \
         dirty. | Half of it is usual. |\n",
        "### `[pool]`, or several `[[pool]]`",
        "| `chunk_kib` | none | integer, 0 or more; KiB |",
        "`raid0`: Striped; no protection. `raid1`: The same on every disk.",
        "### `[disks.NAME]`",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
    let mut own = server();
    own.cache.dirty_percent = 20.5;
    assert!(reference_of(&own).contains("| `dirty_percent` | `20.5` |"));
}

#[test]
fn the_schema_says_what_may_be_written() {
    let schema = json_schema::<Server>("A server", &[]);
    assert_eq!(schema["required"], serde_json::json!(["title"]));
    let cache = &schema["properties"]["cache"]["properties"];
    assert_eq!(cache["dirty_percent"]["maximum"], 100.0);
    assert_eq!(cache["dirty_percent"]["default"], 50);
    let pool = &schema["properties"]["pool"]["anyOf"][1]["properties"];
    assert_eq!(
        pool["raid"]["enum"],
        serde_json::json!(["raid0", "raid1", "raid5"])
    );
    let disks = &schema["properties"]["disks"]["additionalProperties"];
    assert_eq!(disks["properties"]["rpm"]["type"], "integer");
    let extending = json_schema::<Server>("A server", &["base"]);
    assert_eq!(extending["properties"]["extends"]["enum"][0], "base");
    assert!(extending.get("required").is_none());
}

#[test]
fn settings_are_found_by_their_paths() {
    let found = settings_by_path(&server());
    assert_eq!(found["pool.1.chunk_kib"], 8);
    assert_eq!(found["cache.dirty_percent"], 50);
    assert_eq!(found["link.rate_mb_per_s"], 12.5);
    assert_eq!(
        found["pool.0.warning_percent"],
        serde_json::json!([50, 75, 95])
    );
    assert!(!found.contains_key("pool.0.chunk_kib"));
}

#[test]
fn every_setting_has_valid_alternatives_that_change_it() {
    let server = server();
    let text = to_toml(&server);
    let all = alternatives(&server);
    assert!(
        all.iter()
            .any(|one| one.path == "pool.0.chunk_kib" && one.current.is_none())
    );
    assert!(all.iter().any(|one| one.path == "cache.writers"));
    for one in all.iter().filter(|one| !one.path.contains("a b")) {
        assert!(!one.others.is_empty(), "{}", one.path);
        for assignment in one.assignments() {
            let sources = [Source::file("all", &text), set(&assignment)];
            let changed = Document::<Server>::load(&SERVER, &sources);
            let changed = changed.unwrap_or_else(|error| panic!("{assignment}: {error}"));
            assert_ne!(changed.settings, server, "{assignment}");
        }
    }
}

#[test]
fn what_code_sets_is_compared_with_the_declared_bounds() {
    let mut server = server();
    assert_eq!(out_of_bounds(&server), []);
    server.cache.dirty_percent = f64::NAN;
    server.cache.size = config::ByteSize(1);
    server.cache.writers = Some(65);
    let found = out_of_bounds(&server);
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        ["cache.size", "cache.dirty_percent", "cache.writers"]
    );
    assert!(
        found[1].1.contains("write a number from 0 to 100"),
        "{found:?}"
    );
}

config::settings! {
    /// What an option takes.
    struct Threads {
        /// A number or a word.
        threads: String, as config::number_or_text();
    }
}

#[test]
fn a_number_may_stand_for_a_text() {
    let read = |text: &str| from_toml::<Threads>(text).map(|option| option.threads);
    assert_eq!(read("threads = 8").unwrap(), "8");
    assert_eq!(read("threads = 'auto'").unwrap(), "auto");
    for wrong in ["-1", "1.5", "true", "[]"] {
        let error = read(&format!("threads = {wrong}")).unwrap_err().to_string();
        assert!(error.contains("or a string in quotes"), "{error}");
    }
    let option: Threads = from_toml("threads = 8").unwrap();
    assert_eq!(from_toml(&to_toml(&option)), Ok(option));
}

config::settings! {
    /// What is written in full.
    struct Written {
        /// A number that any program may write, and that has so much said of it that its comment
        /// is broken two times.
        large: u64 = 7;
        /// A number up to the largest of TOML, with a comment of exactly one hundred letters, not more of it.
        half: u64 = 7, as config::within(0..=(1 << 63) - 1);
        silent: bool = true;
        /// A disk.
        disk: Disk = Disk::default();
    }
}

#[test]
fn comments_are_broken_at_a_hundred_letters() {
    let written: Written = from_toml("").unwrap();
    assert_eq!(
        to_toml(&written),
        "# A number that any program may write, and that has so much said of it that its comment is \
         broken\n# two times.\nlarge = 7\n# A number up to the largest of TOML, with a comment of \
         exactly one hundred letters, not more of it.\nhalf = 7\nsilent = true\n\n# A disk.\n[disk]\n\
         # Turns per minute.\nrpm = 7200\n# Factor without bounds.\nfactor = 0.1\n"
    );
}

#[test]
fn the_schema_has_meanings_defaults_and_bounds_where_there_are_any() {
    let schema = json_schema::<Written>("Written", &[]);
    let properties = &schema["properties"];
    assert_eq!(
        properties["half"],
        serde_json::json!({
            "type": "integer", "minimum": 0, "maximum": i64::MAX, "default": 7,
            "description": "A number up to the largest of TOML, with a comment of exactly one \
                            hundred letters, not more of it.",
        })
    );
    assert_eq!(properties["large"].get("maximum"), None);
    assert_eq!(
        properties["silent"],
        serde_json::json!({ "type": "boolean", "default": true })
    );
    assert_eq!(properties["disk"].get("default"), None);
    assert_eq!(properties["disk"]["additionalProperties"], false);
}

config::choice! {
    /// A model.
    pub enum Model default One {
        /// The first.
        One = "one",
        /// Two | or more.
        Two = "two",
        /// Number 3.
        Three = "three",
        /// Number 4.
        Four = "four",
        /// Number 5.
        Five = "five",
        /// Number 6.
        Six = "six",
        /// Number 7.
        Seven = "seven",
        /// Number 8.
        Eight = "eight",
        /// Number 9.
        Nine = "nine",
    }
}

config::settings! {
    /// What a reference must not cut off.
    struct Long {
        /// A whole number of many digits.
        track_sectors: f64 = 12_345_678.0;
        /// A measured number.
        seek_ms: f64 = 8.123_456_789;
        /// The model.
        model: Model = Model::One;
        /// The spare.
        spare: Spare = Spare::default();
    }
}

config::settings! {
    /// What stands by.
    struct Spare {
        /// The model of the spare.
        model: Model = Model::Two;
    }
}

#[test]
fn names_that_have_no_room_in_a_cell_have_a_table_of_their_own() {
    let text = reference::<Long>();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains('`')).collect();
    assert_eq!(
        lines,
        [
            "| `track_sectors` | `12345678` | number; sectors of 512 bytes | A whole number of many digits. |",
            "| `seek_ms` | `8.12346` | number; ms | A measured number. |",
            "| `model` | `\"one\"` | one of the values below | The model. |",
            "Values of `model`:",
            "| `one` | The first. |",
            "| `two` | Two \\| or more. |",
            "| `three` | Number 3. |",
            "| `four` | Number 4. |",
            "| `five` | Number 5. |",
            "| `six` | Number 6. |",
            "| `seven` | Number 7. |",
            "| `eight` | Number 8. |",
            "| `nine` | Number 9. |",
            "### `[spare]`",
            "| `model` | `\"two\"` | one of the values below | The model of the spare. |",
            "The values of `model` are those above.",
        ]
    );
}
