//! What `proofload show` prints of every bundled document: its settings and the schema of its kind.

mod common;

use boon::{Compiler, SchemaIndex, Schemas};
use common::Scratch;
use serde_json::{Value, json};

/// What is listed, and the option of `show` for it.
const KINDS: [(&str, &str); 4] = [
    ("workloads", ""),
    ("arrays", "--array"),
    ("disks", "--disk"),
    ("studies", "--study"),
];

/// What `proofload show` prints.
fn shown(here: &Scratch, words: &str) -> String {
    here.proofload(&format!("show {words}")).exits(0).stdout
}

fn names(here: &Scratch, listed: &str) -> Vec<String> {
    let list = here.proofload(&format!("list {listed}")).exits(0).stdout;
    let names = list.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

/// A schema, and the validator that knows it.
struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn of(text: &str) -> Self {
        let schema = serde_json::from_str(text).expect("JSON");
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let url = "mem:///schema.json";
        compiler.add_resource(url, schema).expect("a resource");
        let index = compiler.compile(url, &mut schemas).expect("a schema");
        Self { schemas, index }
    }

    /// What is wrong with a document; nothing if the schema accepts it.
    fn problem(&self, document: &Value) -> Option<String> {
        let valid = self.schemas.validate(document, self.index);
        valid.err().map(|error| format!("{error:#}"))
    }
}

fn of_toml(text: &str) -> Value {
    toml::from_str(text).expect("TOML")
}

/// The JSON pointers of all tables in a document.
fn tables(value: &Value, at: &str, found: &mut Vec<String>) {
    if value.is_object() {
        found.push(at.to_owned());
    }
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, one)| (key.clone(), one)).collect(),
        Value::Array(list) => (0..).map(|n: u32| n.to_string()).zip(list).collect(),
        _ => return,
    };
    for (key, value) in inner {
        tables(value, &format!("{at}/{key}"), found);
    }
}

#[test]
fn schemas_accept_every_bundled_document_and_no_unknown_key() {
    let here = Scratch::new();
    for (listed, option) in KINDS {
        for name in names(&here, listed) {
            let schema = Schema::of(&shown(&here, &format!("{name} {option} --schema")));
            let written = of_toml(&shown(&here, &format!("{name} {option}")));
            let resolved = of_toml(&shown(&here, &format!("{name} {option} --resolved")));
            for document in [&written, &resolved] {
                assert_eq!(schema.problem(document), None, "{listed}: {name}");
            }
            let mut places = Vec::new();
            tables(&resolved, "", &mut places);
            for place in places {
                let mut document = resolved.clone();
                let table = document.pointer_mut(&place).expect("a table");
                table["no_such_key"] = json!(1);
                assert!(schema.problem(&document).is_some(), "{name}: {place}");
            }
        }
    }
}

#[test]
fn schemas_refuse_values_that_do_not_fit() {
    let here = Scratch::new();
    let schema = Schema::of(&shown(&here, "exchange-2013 --schema"));
    for (text, is_right) in [
        ("kind = 'mail'\nextends = 'exchange-2010'", true),
        ("kind = 'mail'\nrun.duration = '90s'", true),
        (
            "kind = 'mail'\n[[event]]\nat = '1m'\nwhat = 'disk-fails'",
            true,
        ),
        ("extends = 'exchange-2010'", false),
        ("kind = 'brokerage'", false),
        ("kind = 'mail'\nextends = 'exchange-2016'", false),
        ("kind = 'mail'\nmail.databases = 0", false),
        ("kind = 'mail'\nrun.duration = 90", false),
        ("kind = 'mail'\n[[event]]\nat = '1m'\nwhat = 'lunch'", false),
    ] {
        let problem = schema.problem(&of_toml(text));
        assert_eq!(problem.is_none(), is_right, "{text}: {problem:?}");
        here.file("mine.toml", text);
        let status = if is_right { 0 } else { 2 };
        // A profile of the other kind is right by itself; an event needs a run that has it.
        if !text.contains("brokerage") && !text.contains("event") {
            here.proofload("show mine.toml").exits(status);
        }
    }
}

#[test]
fn all_settings_of_a_document_read_back_to_the_same() {
    let here = Scratch::new();
    for (listed, option) in KINDS {
        for name in names(&here, listed) {
            let resolved = shown(&here, &format!("{name} {option} --resolved"));
            here.file("resolved.toml", &resolved);
            let again = shown(&here, &format!("resolved.toml {option} --resolved"));
            assert_eq!(again, resolved, "{listed}: {name}");
        }
    }
}

#[test]
fn a_setting_of_any_document_can_be_changed_and_is_checked() {
    let here = Scratch::new();
    for (words, line) in [
        ("msa2050-tier --set pool.ssd_count=4", "ssd_count = 4\n"),
        ("sas-10k-900gb --set title=Ours", "title = \"Ours\"\n"),
        ("s3500 --set defaults.seed=7", "seed = \"7\"\n"),
    ] {
        here.proofload(&format!("show {words}"))
            .exits(0)
            .prints(line);
    }
    for (words, message) in [
        ("msa2050-tier --set pool.ssd_cuont=4", "ssd_count"),
        ("sas-10k-900gb --set titel=Ours", "title"),
        ("msa2040 --study --set figure.0.paper=x", "figure.0.paper"),
        ("nosuch.toml --array", "There is no bundled array"),
        ("nosuch.toml --disk", "There is no bundled disk"),
        ("msa2040 --array --study", "cannot be used with"),
        ("msa2040 --schema --resolved", "cannot be used with"),
    ] {
        here.proofload(&format!("show {words}"))
            .exits(2)
            .prints_nothing()
            .says(message);
    }
}
