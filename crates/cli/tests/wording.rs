//! Words that are not those of storage, databases or Rust stay out of sources, profiles and documents.

use std::fs;
use std::path::{Path, PathBuf};

/// A word and the terms to use instead.
const AVOIDED: [(&str, &str); 35] = [
    ("blame", "cause, reason"),
    ("blamed", "caused by"),
    ("complain", "report"),
    ("complaint", "diagnostic"),
    ("complaints", "diagnostics"),
    ("conductor", "controller"),
    ("crew", "workers"),
    ("crews", "workers"),
    ("fate", "outcome"),
    ("fates", "outcomes"),
    ("foresee", "predict"),
    ("foreseen", "predicted"),
    ("heir", "failover partner"),
    ("heirs", "failover partners"),
    ("house", "brokerage, data set"),
    ("houses", "brokerages, data sets"),
    ("inquiries", "queries"),
    ("inquiry", "query"),
    ("mend", "repair"),
    ("mended", "repaired"),
    ("mends", "repairs"),
    ("patience", "timeout, delay"),
    ("premises", "data set, directory"),
    ("scene", "state"),
    ("scenes", "states"),
    ("seam", "interface"),
    ("seams", "interfaces"),
    ("tell", "report, print, notify"),
    ("teller", "reporter"),
    ("tellers", "reporters"),
    ("telling", "reporting"),
    ("tells", "reports, shows"),
    ("told", "reported"),
    ("twin", "simulation"),
    ("twins", "simulations"),
];

/// Name of a table that databases of every version have, and that is therefore kept.
const KEPT: &str = "proofload_house";

const ENDINGS: [&str; 7] = ["css", "html", "js", "md", "rs", "toml", "yml"];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("workspace")
}

fn texts_below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a readable directory") {
        let path = entry.expect("a directory entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') || name == "target" || name == "release" {
            continue;
        }
        // Scripts, and files such as the Makefile, have no ending.
        let is_text = path
            .extension()
            .is_none_or(|ending| ENDINGS.iter().any(|known| ending == *known));
        if path.is_dir() {
            texts_below(&path, found);
        } else if is_text && !path.ends_with("tests/wording.rs") {
            found.push(path);
        }
    }
}

/// The words of a line in lower case: those of `snake_case` and `CamelCase` names one by one.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for letter in line.chars() {
        let starts_word = letter.is_ascii_uppercase() && after_small;
        if starts_word || !letter.is_ascii_alphabetic() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_ascii_alphabetic(), words.last_mut()) {
            word.push(letter.to_ascii_lowercase());
        }
        after_small = letter.is_ascii_lowercase();
    }
    words
}

fn avoided(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let words = words(&line.replace(KEPT, ""));
    AVOIDED
        .into_iter()
        .filter(move |(word, _)| words.iter().any(|found| found == word))
}

#[test]
fn words_within_names_are_found() {
    let found = |line: &str| avoided(line).map(|(word, _)| word).collect::<Vec<_>>();
    assert_eq!(
        found("fn is_told(&self, house: BrokerageHouse)"),
        ["house", "told"]
    );
    assert_eq!(found("// The storehouse is stolid."), [""; 0]);
    assert_eq!(found("Told."), ["told"]);
}

#[test]
fn sources_profiles_and_documents_use_the_terms_of_the_field() {
    let mut paths = Vec::new();
    texts_below(&workspace(), &mut paths);
    assert!(paths.len() > 600, "{} texts were found", paths.len());
    let mut findings = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).expect("a readable file");
        for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            for (word, instead) in avoided(line) {
                findings.push(format!(
                    "{}:{}: '{word}'; write: {instead}",
                    path.display(),
                    number + 1
                ));
            }
        }
    }
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}
