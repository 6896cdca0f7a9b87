//! The rules for source files that a machine can check: short files, no leftovers, plain text.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines a source file may have before it must be split.
const MOST_LINES: usize = 500;

/// Words that must not be left in the code.
const LEFTOVERS: [&str; 5] = ["todo!(", "unimplemented!(", "dbg!(", "FIXME", "XXX"];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("workspace")
}

fn files_below(directory: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a readable directory") {
        let path = entry.expect("a directory entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && name != "target" && name != "node_modules" && !name.starts_with('.') {
            files_below(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

fn rust_sources() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    files_below(&workspace().join("crates"), "rs", &mut paths);
    assert!(paths.len() > 30, "the sources were found");
    paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("readable text");
            (path, text)
        })
        .collect()
}

fn assert_none(diagnostics: &[String]) {
    assert!(diagnostics.is_empty(), "\n{}", diagnostics.join("\n"));
}

#[test]
fn files_are_small() {
    let diagnostics: Vec<_> = rust_sources()
        .iter()
        .filter(|(_, text)| text.lines().count() > MOST_LINES)
        .map(|(path, text)| format!("{}: {} lines", path.display(), text.lines().count()))
        .collect();
    assert_none(&diagnostics);
}

#[test]
fn nothing_is_left_undone_in_the_code() {
    let mut diagnostics = Vec::new();
    for (path, text) in rust_sources() {
        if path.ends_with("tests/tidy.rs") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            for leftover in LEFTOVERS {
                if line.contains(leftover) {
                    diagnostics.push(format!("{}:{}: {leftover}", path.display(), number + 1));
                }
            }
        }
    }
    assert_none(&diagnostics);
}

#[test]
fn sources_are_ascii() {
    let diagnostics: Vec<_> = rust_sources()
        .iter()
        .flat_map(|(path, text)| {
            text.lines()
                .enumerate()
                .filter(|(_, line)| !line.is_ascii())
                .map(|(number, line)| format!("{}:{}: {}", path.display(), number + 1, line.trim()))
        })
        .collect();
    assert_none(&diagnostics);
}

#[test]
fn unsafe_code_stays_at_the_edge_and_argues_for_itself() {
    let mut diagnostics = Vec::new();
    for (path, text) in rust_sources() {
        if path.ends_with("tests/tidy.rs") {
            continue;
        }
        let path_text = path.to_string_lossy();
        let edges = [
            "crates/runtime/src",
            "crates/ranks-mpi/src",
            "crates/brokerage/src/database/sqlite/timed_vfs",
        ];
        let at_the_edge = edges.iter().any(|edge| path_text.contains(edge));
        let lines: Vec<_> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if !code.contains("unsafe {") && !code.contains("unsafe impl") {
                continue;
            }
            let argued = lines[number.saturating_sub(8)..number]
                .iter()
                .any(|before| before.contains("SAFETY:"));
            if !at_the_edge || !argued {
                diagnostics.push(format!(
                    "{}:{}: {}",
                    path.display(),
                    number + 1,
                    line.trim()
                ));
            }
        }
    }
    assert_none(&diagnostics);
}

#[test]
fn every_crate_is_documented() {
    let mut diagnostics = Vec::new();
    for (path, text) in rust_sources() {
        if path.ends_with("src/lib.rs") && !text.starts_with("//!") {
            diagnostics.push(format!("{}: no description at the top", path.display()));
        }
    }
    assert_none(&diagnostics);
}

/// Words in backticks of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// A table row names files of tests, and after a file tests in it.
#[test]
fn tests_that_the_page_on_reliability_names_are_there() {
    let page = fs::read_to_string(workspace().join("docs/reliability.md")).expect("the page");
    let sources = rust_sources();
    let is_test_name = |word: &str| {
        let is_letter = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        word.contains('_') && word.chars().all(is_letter)
    };
    let (mut diagnostics, mut names) = (Vec::new(), 0);
    for row in page.lines().filter(|line| line.starts_with('|')) {
        let mut texts: Vec<&str> = Vec::new();
        for word in quoted(row) {
            if word.ends_with(".rs") {
                let found = sources.iter().filter(|(path, _)| path.ends_with(word));
                texts = found.map(|(_, text)| text.as_str()).collect();
                if !texts.iter().any(|text| text.contains("#[test]")) {
                    diagnostics.push(format!("{word} has no test: {row}"));
                }
            } else if !texts.is_empty() && is_test_name(word) {
                names += 1;
                let function = format!("#[test]\nfn {word}(");
                if !texts.iter().any(|text| text.contains(&function)) {
                    diagnostics.push(format!("{word} is no test of that file: {row}"));
                }
            }
        }
    }
    assert!(names > 10, "the rows with names of tests were found");
    assert_none(&diagnostics);
}

/// Cargo does not look for test programs where a manifest names them: a file that is forgotten there would never be run.
#[test]
fn every_file_of_tests_is_compiled() {
    let mut diagnostics = Vec::new();
    let mut programs = 0;
    for (root, modules) in rust_sources() {
        if !root.ends_with("tests/all.rs") {
            continue;
        }
        programs += 1;
        let directory = root.parent().expect("the directory of the tests");
        let manifest = fs::read_to_string(directory.with_file_name("Cargo.toml"));
        let manifest = manifest.expect("the manifest of the crate");
        for entry in fs::read_dir(directory).expect("the tests") {
            let path = entry.expect("a directory entry").path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_file = path.extension().is_some_and(|extension| extension == "rs");
            let is_module = modules.contains(&format!("mod {name};\n"));
            let is_program = manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            let is_named = is_module || is_program;
            if is_file && !is_named || path.join("main.rs").exists() {
                diagnostics.push(format!("{} is in no test program", path.display()));
            }
        }
    }
    assert!(programs > 5, "the test programs were found");
    assert_none(&diagnostics);
}
