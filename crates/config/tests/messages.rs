//! What is said of settings that are wrong, word by word, and where it is shown.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use crate::sample::{Raid, SERVER, Server};
use config::{ConfigError, Diagnostic, Document, Format, Layers, Source, choice, settings, within};
use test_support::set;

settings! {
    /// What is kept.
    struct Store {
        /// Room for it.
        size: config::ByteSize = config::ByteSize::kib(4);
        /// How long.
        age: config::TimeSpan = config::TimeSpan::seconds(1);
        /// How much of it.
        factor: f32 = 0.5, as within(0.25..=0.75);
        /// Threads, or none.
        writers: Option<u32> = None, as config::or_word("auto", within(1..=64));
        /// Its colour.
        colour: Colour = Colour::Red;
        count: u16 = 1;
    }
}

choice! {
    /// A colour.
    pub enum Colour default Red {
        /// The first.
        Red = "red",
        /// The other.
        Yellow = "yellow",
    }
}

static STORE: Format = Format::plain("store");

fn store(text: &str) -> Result<Store, String> {
    let read = Document::load(&STORE, &[Source::file("mine", text)]);
    read.map(|document| document.settings)
        .map_err(|error: ConfigError| error.to_string())
}

fn server(sources: &[Source]) -> Result<Document<Server>, ConfigError> {
    Document::load(&SERVER, sources)
}

fn file(text: &str) -> Source {
    Source::file("mine", text)
}

#[test]
fn numbers_stand_for_sizes_times_and_fractions() {
    let read = store("size = 4096\nage = 0\nfactor = 0.75").unwrap();
    assert_eq!((read.size.0, read.age.0, read.factor), (4096, 0, 0.75));
    let read = store("size = 0\nfactor = 0.25").unwrap();
    assert_eq!((read.size.0, read.factor), (0, 0.25));
}

#[test]
fn each_wrong_value_is_explained_in_one_sentence() {
    for (text, message) in [
        (
            "size = -1",
            "the number -1 does not fit here; write a size from \"0B\" to \
             \"18446744073709551615B\"; Room for it.",
        ),
        (
            "size = '20G'",
            "'G' is not a unit of size; write \"20GiB\" (powers of 1024) or \"20GB\" (powers of \
             1000); Room for it.",
        ),
        (
            "age = -5",
            "the number -5 does not fit here; write a time from \"0s\" to \
             \"18446744073709551615ns\"; How long.",
        ),
        (
            "age = 15",
            "the number 15 has no unit of time, such as \"15s\" or \"15ms\"; write a time from \
             \"0s\" to \"18446744073709551615ns\"; How long.",
        ),
        (
            "factor = 0.8",
            "0.8 is out of range; write a number from 0.25 to 0.75; How much of it.",
        ),
        (
            "writers = 'many'",
            "the text \"many\" does not fit here; write a whole number from 1 to 64, or \
             \"auto\"; Threads, or none.",
        ),
        (
            "colour = 'rad'",
            "\"rad\" is none of the words that fit here; write \"red\" or \"yellow\"; did you \
             mean \"red\"?",
        ),
        (
            "colour = 'jello'",
            "\"jello\" is none of the words that fit here; write \"red\" or \"yellow\"; did you \
             mean \"yellow\"?",
        ),
        (
            "colour = 'blue'",
            "\"blue\" is none of the words that fit here; write \"red\" or \"yellow\"; Its colour.",
        ),
        (
            "count = 'x'",
            "the text \"x\" does not fit here; write a whole number from 0 to 65535",
        ),
        (
            "wxyz = 1",
            "the top of a store has no setting or section 'wxyz'; its settings are size, age, \
             factor, writers, colour, count",
        ),
        (
            "contour = 1",
            "the top of a store has no setting or section 'contour'; did you mean 'colour'?",
        ),
        (
            "cantour = 1",
            "the top of a store has no setting or section 'cantour'; its settings are size, age, \
             factor, writers, colour, count",
        ),
        (
            "cout = 1",
            "the top of a store has no setting or section 'cout'; did you mean 'count'?",
        ),
    ] {
        assert_eq!(store(text), Err(format!("mine:1: {message}")), "{text}");
    }
}

#[test]
fn unknown_keys_are_looked_for_in_other_sections_too() {
    for (text, message) in [
        ("[cache]\ntitel = 'x'", "did you mean 'title'?"),
        (
            "[cache]\nunwritten_percent = 20",
            "'unwritten_percent' was renamed: write 'dirty_percent'",
        ),
        (
            "[pool]\ndisk_count = 1\ntitle = 'x'",
            "'title' belongs in [the top]: title",
        ),
        (
            "[link]\nrate_mb_per_s = 1\nsized = 1",
            "did you mean 'cache.size'?",
        ),
        (
            "[link]\nrate_mb_per_s = 1\nsiz = 1",
            "its settings are rate_mb_per_s, transfer_us",
        ),
        (
            "[cache]\nabcdefgh = 1",
            "its settings are size, age, dirty_percent, writers, latency_limit",
        ),
        (
            "abcdefgh = 1",
            "its settings are title, enabled; the sections are cache, pool, disks, link",
        ),
    ] {
        let error = server(&[file(&format!("title = 'x'\n{text}"))]).unwrap_err();
        let help = error.diagnostics[0].help.as_deref();
        assert_eq!(help, Some(message), "{text}");
    }
}

/// The stretch of text that the only diagnostic is shown at.
fn shown(error: &ConfigError) -> &str {
    let [only] = error.diagnostics.as_slice() else {
        panic!("{error}");
    };
    let (source, span) = error.place_of(only).expect("a place");
    &source.text[span]
}

#[test]
fn a_table_in_place_of_a_value_is_shown_by_its_key() {
    let error = server(&[file("title = 'x'\n[cache]\nsize = { a = 1 }")]).unwrap_err();
    assert_eq!(shown(&error), "size");
    let document = server(&[file("title = 'x'\n[cache]\nage = '1s'")]).unwrap();
    let at = |path: &str| {
        let place = document.diagnostic(path, String::new(), None).location;
        let place = place.expect("a place");
        document.sources()[place.source].text[place.span].to_owned()
    };
    assert_eq!(at("cache.size"), "cache");
    assert_eq!(at("cache.age"), "'1s'");
}

#[test]
fn texts_and_paths_may_have_a_certain_length_and_no_more() {
    let padded = |bytes: usize| {
        let text = "title = 'x'\n#";
        file(&format!("{text}{}", "x".repeat(bytes - text.len())))
    };
    assert!(server(&[padded(1 << 20)]).is_ok());
    let error = server(&[padded((1 << 20) + 1)]).unwrap_err().to_string();
    let message = "mine is too long to be the description of a server";
    assert!(error.contains(message), "{error}");

    let deep = |parts: usize| {
        let path = vec!["a"; parts].join(".");
        let assignment = set(&format!("{path}=1"));
        server(&[file("title = 'x'"), assignment])
            .unwrap_err()
            .to_string()
    };
    let message = "is not the path of a setting; write --set PATH.TO.KEY=VALUE";
    assert!(!deep(16).contains(message), "{}", deep(16));
    assert!(deep(17).contains(message), "{}", deep(17));
}

static LOOP: Format = Format {
    names: || vec!["loop"],
    bundled: |name| (name == "loop").then_some("extends = 'loop'"),
    ..Format::plain("store")
};

#[test]
fn what_extends_itself_is_refused() {
    let read = Document::<Store>::load(&LOOP, &[file("extends = 'loop'")]);
    let error = read.unwrap_err().to_string();
    assert!(error.contains("is not a bundled store"), "{error}");
}

#[test]
fn the_kind_of_a_document_can_be_asked_before_it_is_read() {
    let layers = Layers::join(&SERVER, &[file("[pool]\nraid = 'raid0'\nspares = 1")]);
    assert_eq!(layers.text("pool.raid"), Some("raid0"));
    assert_eq!(layers.text("pool.0.raid"), Some("raid0"));
    assert_eq!(layers.text("pool.1.raid"), None);
    assert_eq!(layers.text("pool.spares"), None);
    assert_eq!(layers.text("title.0"), None);
}

#[test]
fn a_table_that_is_assigned_goes_over_the_keys_it_has() {
    let cache = set("cache={ age = '9s' }");
    let text = "title = 'x'\n[cache]\nage = '1s'\nsize = '2MiB'";
    let cache = server(&[file(text), cache]).unwrap().settings.cache;
    assert_eq!((cache.age.as_seconds(), cache.size.0), (9.0, 2 << 20));
}

/// RAID 5 needs three disks; chunks are small; the numbers of the pool and its chunk are named.
fn rules(document: &Document<Server>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (number, pool) in document.settings.pool.iter().enumerate() {
        let path = |key: &str| format!("pool.{number}.{key}");
        if pool.disks.raid == Raid::Raid5 && pool.disks.disk_count < 3 {
            let message = format!("pool {number}: RAID 5 needs three disks");
            found.push(document.diagnostic(&path("raid"), message, None));
        }
        if let Some(chunk) = pool.disks.chunk_kib.filter(|chunk| *chunk > 32) {
            let message = format!("'{chunk}' is too much");
            let help = Some("take less".to_owned());
            found.push(document.broken_rule(&[&path("chunk_kib")], message, help));
            if chunk > 99 {
                let message = format!("'{chunk}' is far too much");
                found.push(document.broken_rule(&[&path("chunk_kib")], message, None));
            }
        }
    }
    found
}

/// What the rules say of sources, one line each.
fn broken(format: &'static Format, sources: &[Source]) -> String {
    let document = Document::load(format, sources).unwrap();
    let found = document.located(rules(&document), rules);
    document.accept(found).unwrap_err().to_string()
}

/// A server that extends another.
static FAMILY: Format = Format {
    names: || vec!["base", "child"],
    bundled: |name| match name {
        "base" => Some(crate::sample::BASE),
        "child" => Some("extends = 'base'\n"),
        _ => None,
    },
    ..Format::plain("server")
};

#[test]
fn a_fault_that_was_inherited_says_where_the_key_goes() {
    let mine = file("extends = 'base'\n[pool]\nspares = 1");
    assert_eq!(
        broken(&FAMILY, &[mine]),
        "base:5: '64' is too much; take less; `chunk_kib = 64` stands in base, which mine extends; \
         the key in mine goes over it"
    );
    let child = Source::file("child", "extends = 'base'\n");
    assert_eq!(
        broken(&FAMILY, &[child]),
        "base:5: '64' is too much; take less; `chunk_kib = 64` stands in base, which child \
         extends; the key in a file of your own goes over it"
    );
}

#[test]
fn a_fault_within_one_file_stands_by_itself() {
    let text = "extends = 'base'\n[pool]\ndisk_count = 2\nraid = 'raid5' # so be it";
    assert_eq!(
        broken(&FAMILY, &[file(text)]),
        "base:5: '64' is too much; take less; `chunk_kib = 64` stands in base, which mine extends; \
         the key in mine goes over it\nmine:4: pool 0: RAID 5 needs three disks"
    );
}

#[test]
fn each_element_of_a_list_has_its_own_line() {
    let text = "title = 'x'\n[[pool]]\ndisk_count = 3\nraid = 'raid5'\n[[pool]]\ndisk_count = 2\n\
                raid = 'raid5'";
    assert_eq!(
        broken(&SERVER, &[file(text)]),
        "mine:7: pool 1: RAID 5 needs three disks"
    );
    // An assignment reaches all of them, and is named once.
    let text = "title = 'x'\n[[pool]]\ndisk_count = 3\n[[pool]]\ndisk_count = 2\n[[pool]]\n\
                disk_count = 1";
    let raid = set("pool.raid=raid5");
    assert_eq!(
        broken(&SERVER, &[file(text), raid]),
        "--set pool.raid=raid5: pool 1: RAID 5 needs three disks"
    );
    // What differs by more than names and numbers is another fault.
    let text = "title = 'x'\n[pool]\ndisk_count = 3\nchunk_kib = 100";
    assert_eq!(
        broken(&SERVER, &[file(text)]),
        "mine:4: '100' is too much; take less\nmine:4: '100' is far too much"
    );
    let repair = "title = 'x'\n[[pool]]\ndisk_count = 3\nraid = 'raid5'";
    let count = set("pool.0.disk_count=2");
    assert_eq!(
        broken(&SERVER, &[file(repair), count]),
        "--set pool.0.disk_count=2: pool 0: RAID 5 needs three disks; this does not go with `raid = \
         'raid5'` in mine"
    );
}

/// Everything wrong with sources, types and rules.
fn all_wrong(sources: &[Source]) -> String {
    let rules = |rest: &Document<Server>| rest.located(rules(rest), rules);
    let read = Document::load_with_rules(&SERVER, sources, rules);
    read.unwrap_err().to_string()
}

#[test]
fn rules_are_not_looked_at_where_the_text_is_no_toml() {
    let text = "title = 'x'\n[pool]\ndisk_count = 2\nraid = 'raid5'\n";
    let found = all_wrong(&[file(text), Source::file("more", "[pool\n")]);
    assert!(found.starts_with("more:1: this is not TOML"), "{found}");
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn what_is_wrong_in_a_list_is_left_out_to_see_the_rules() {
    let text = "title = 'x'\n[[pool]]\ndisk_count = 2\nraid = 'raid5'\nwarning_percent = [1, 'x']";
    assert_eq!(
        all_wrong(&[file(text)]),
        "mine:4: pool 0: RAID 5 needs three disks\nmine:5: the text \"x\" does not fit here; \
         write a whole number, 0 or more; Levels at which a warning is counted."
    );
}
