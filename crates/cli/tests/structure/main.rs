//! The structure that ARCHITECTURE.md promises: crates depend downwards only, and modules beside each other
//! do not import each other in a cycle.

mod modules;
mod tokens;

use modules::{Modules, cycles};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("workspace")
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Directories of all crates, by name.
fn crates() -> BTreeMap<String, PathBuf> {
    fs::read_dir(workspace().join("crates"))
        .expect("the crates")
        .map(|entry| entry.expect("a directory entry"))
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            )
        })
        .collect()
}

#[test]
fn crates_depend_on_lower_layers_only() {
    let layers = layers(&text_of(&workspace().join("ARCHITECTURE.md")));
    assert!(layers.len() > 10, "the table of crates was found");
    let mut diagnostics = Vec::new();
    for (name, directory) in crates() {
        let manifest = text_of(&directory.join("Cargo.toml"));
        diagnostics.extend(upward(&name, &dependencies(&manifest), &layers));
    }
    assert!(diagnostics.is_empty(), "\n{}", diagnostics.join("\n"));
}

#[test]
fn modules_beside_each_other_form_no_cycle() {
    let mut diagnostics = Vec::new();
    for (name, directory) in crates() {
        let root = ["src/lib.rs", "src/main.rs"].map(|root| directory.join(root));
        let root = root.iter().find(|root| root.exists()).expect("a root");
        let mut modules = Modules::default();
        modules.read_file(&[name.replace('-', "_")], root);
        let found = cycles(&modules.imports());
        diagnostics.extend(found.iter().map(ToString::to_string));
    }
    assert!(diagnostics.is_empty(), "\n{}", diagnostics.join("\n"));
}

#[test]
fn seeded_bugs_are_for_the_tests_of_crash_tests_alone() {
    const FEATURE: &str = "seeded-bugs";
    for (name, directory) in crates() {
        let manifest = text_of(&directory.join("Cargo.toml"));
        let (shipped, tests) = manifest
            .split_once("[dev-dependencies]")
            .unwrap_or((&manifest, ""));
        match &*name {
            "edb" => assert!(shipped.contains("seeded-bugs = []") && !shipped.contains("default")),
            "crashtest" => assert!(!shipped.contains(FEATURE) && tests.contains(FEATURE)),
            _ => assert!(!manifest.contains(FEATURE), "crate {name} asks for bugs"),
        }
    }
    for script in ["release", "setup", "test"] {
        let script = workspace().join("scripts").join(script);
        assert!(!text_of(&script).contains("--all-features"));
    }
}

/// The row of each crate in the table of ARCHITECTURE.md, counted from the top.
fn layers(architecture: &str) -> BTreeMap<String, usize> {
    let rows = architecture.lines().filter(|line| line.starts_with("| `"));
    rows.enumerate()
        .flat_map(|(row, line)| {
            let cell = line.split('|').nth(1).unwrap_or_default();
            let names: Vec<_> = cell.split('`').skip(1).step_by(2).collect();
            names.into_iter().map(move |name| (name.to_owned(), row))
        })
        .collect()
}

/// Names in the sections of a manifest that hold ordinary dependencies.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = section == "dependencies" || section.ends_with(".dependencies");
        } else if inside {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            found.push(name.to_owned());
        }
    }
    found
}

/// Dependencies of a crate that are not below it. A crate outside the table is a tool: no crate depends on it.
fn upward(name: &str, dependencies: &[String], layers: &BTreeMap<String, usize>) -> Vec<String> {
    let own = layers.get(name);
    let below = |other: &String| layers.get(other) > own;
    dependencies
        .iter()
        .filter(|other| crates().contains_key(*other) && !below(other))
        .map(|other| format!("crate {name} depends on {other}, which is not below it"))
        .collect()
}

/// The cycles among modules whose texts are given, as they are printed.
fn cycles_of(texts: &[(&str, &str)]) -> Vec<String> {
    let mut modules = Modules::default();
    for (path, text) in texts {
        let names: Vec<_> = path.split("::").map(str::to_owned).collect();
        let words = tokens::without_tests(&tokens::tokens(text));
        modules.read(&names, &words, &format!("{}.rs", names.join("/")));
    }
    let found = cycles(&modules.imports());
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn a_cycle_is_shown_with_its_imports() {
    let found = cycles_of(&[
        ("x", "mod a; mod b; mod c;"),
        (
            "x::a",
            "//! Text.\nuse std::fmt;\nuse super::{\n    b::Two,\n};\npub struct One;",
        ),
        (
            "x::b",
            "pub struct Two;\nfn of() -> crate::c::Three { todo() }",
        ),
        ("x::c", "use crate::a::One as First;\npub struct Three;"),
    ]);
    let expected = "x: cycle of a, b, c\n    a -> b  x/a.rs:4 super::b::Two\n    \
                    b -> c  x/b.rs:2 crate::c::Three\n    c -> a  x/c.rs:1 crate::a::One";
    assert_eq!(found, [expected]);
}

#[test]
fn files_count_for_the_directory_beside_the_other_module() {
    let found = cycles_of(&[
        ("x", "mod a; mod b;"),
        ("x::a", "mod deep;"),
        ("x::a::deep", "use crate::b::Two;"),
        ("x::b", "use super::a;"),
    ]);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("a -> b  x/a/deep.rs:1"), "{found:?}");
}

#[test]
fn names_passed_on_by_the_parent_count_for_where_they_come_from() {
    for passed_on in [
        "pub use a::One;",
        "pub use a::*;",
        "use self::a::{One as One};",
    ] {
        let found = cycles_of(&[
            ("x", &format!("mod a; mod b; {passed_on}")),
            ("x::a", "pub struct One; use super::b;"),
            ("x::b", "fn f(_: &crate::One) {}"),
        ]);
        assert_eq!(found.len(), 1, "{passed_on}");
    }
}

#[test]
fn one_direction_tests_and_texts_make_no_cycle() {
    let found = cycles_of(&[
        ("x", "mod a; mod b; pub use b::Two;"),
        (
            "x::a",
            "use crate::Two; const TEXT: &str = \"use crate::b;\";",
        ),
        (
            "x::b",
            "// use crate::a;\npub struct Two;\n#[cfg(test)]\nmod tests { use crate::a; }",
        ),
        (
            "x::c",
            "#[cfg(test)]\n#[allow(unused)]\nuse super::d;\nfn quote() -> char { '\"' }",
        ),
        ("x::d", "use super::c; /* \" */"),
    ]);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_dependency_upwards_is_found() {
    let layers = layers("| crate | content |\n|---|---|\n| `mail`, `cli` | |\n| `edb` | |\n");
    let manifest = "[package]\nname = \"edb\"\n[dependencies]\nmail.workspace = true\n\
                    [dev-dependencies]\ncli = { path = \"\" }\n";
    assert_eq!(dependencies(manifest), ["mail"]);
    assert_eq!(upward("edb", &dependencies(manifest), &layers).len(), 1);
    assert_eq!(upward("mail", &["cli".to_owned()], &layers).len(), 1);
    assert_eq!(upward("cli", &["edb".to_owned()], &layers).len(), 0);
    assert_eq!(upward("bench", &["edb".to_owned()], &layers).len(), 0);
}
