//! Words that are not those of storage, databases or Rust stay out of sources, profiles and documents.

use std::fs;
use std::path::{Path, PathBuf};

/// A word and the terms to use instead.
const AVOIDED: [(&str, &str); 67] = [
    ("blame", "cause, reason"),
    ("blamed", "caused by"),
    ("blames", "causes, reasons"),
    ("blaming", "attributing"),
    ("books", "accounts, counters"),
    ("complain", "report"),
    ("complained", "reported"),
    ("complaining", "reporting"),
    ("complains", "reports"),
    ("complaint", "diagnostic"),
    ("complaints", "diagnostics"),
    ("conductor", "controller"),
    ("conductors", "controllers"),
    ("course", "sequence"),
    ("courses", "sequences"),
    ("crew", "workers"),
    ("crews", "workers"),
    ("cushion", "reserve, extra frames"),
    ("fate", "outcome"),
    ("fates", "outcomes"),
    ("feet", "footers"),
    ("floor", "lower limit, reserve"),
    ("floors", "lower limits"),
    ("foresee", "predict"),
    ("foreseeing", "predicting"),
    ("foreseen", "predicted"),
    ("foresees", "predicts"),
    ("heir", "failover partner"),
    ("heirs", "failover partners"),
    ("house", "brokerage, data set"),
    ("houses", "brokerages, data sets"),
    ("hurry", "urgent, needed now"),
    ("incredible", "implausible"),
    ("inheritor", "extending file"),
    ("inquiries", "queries, requests"),
    ("inquiry", "query, request"),
    ("keeper", "checkpointer, lock thread"),
    ("keepers", "parts, threads"),
    ("laws", "invariants, checks"),
    ("mend", "repair"),
    ("mended", "repaired"),
    ("mending", "repairing"),
    ("mends", "repairs"),
    ("mildest", "fewest, least"),
    ("patience", "timeout"),
    ("pen", "writer"),
    ("pens", "writers"),
    ("premises", "data set, directory"),
    ("roomiest", "with most free space"),
    ("scene", "state"),
    ("scenes", "states"),
    ("seam", "interface"),
    ("seams", "interfaces"),
    ("senseless", "invalid"),
    ("struck", "injected, affected"),
    ("suspicion", "read problem"),
    ("suspicions", "read problems"),
    ("taker", "reader, output"),
    ("takers", "readers, outputs"),
    ("tell", "report, print, notify"),
    ("teller", "reporter"),
    ("tellers", "reporters"),
    ("telling", "reporting"),
    ("tells", "reports, shows"),
    ("told", "reported"),
    ("twin", "simulation"),
    ("twins", "simulations"),
];

/// Words that are avoided only beside each other: as figures of speech, or where the field has a shorter
/// term. They are looked for in a line of text, spaces and case apart.
const AVOIDED_PHRASES: [(&str, &str); 31] = [
    ("1/s", "IOPS, transactions/s"),
    ("a look at", "a check of, a read of"),
    ("all hands", "workers, clients"),
    ("cargo of", "in-flight buffer of"),
    ("each look", "each sample"),
    ("every look", "every sample"),
    ("idle hands", "workers, clients"),
    ("its cargo", "its buffer"),
    ("last look", "last sample"),
    ("law holds", "check passed"),
    ("laws hold", "consistency checks passed"),
    ("longest latency", "largest latency, max"),
    ("longest read", "max"),
    ("longest request", "max"),
    ("longest response", "max"),
    ("longest service", "max"),
    ("longest single", "max"),
    ("longest transaction", "max"),
    ("longest write", "max"),
    ("looks were", "samples were"),
    ("next look", "next sample"),
    ("of hands", "of workers, of clients"),
    ("random choice", "random number"),
    ("slowest latency", "max"),
    ("slowest one", "max"),
    ("slowest read", "max"),
    ("slowest request", "max"),
    ("slowest transaction", "max"),
    ("slowest write", "max"),
    ("the hands", "the workers, the clients"),
    ("whole and the same", "valid and identical"),
];

/// Names that are kept: a table that databases of every version have, the rounding of a number, and
/// words of a data set.
const KEPT: [&str; 5] = [
    "proofload_house",
    "floor(",
    "f64::floor",
    "open floor",
    "\"Pen\"",
];

/// Directories that begin with a dot and hold texts of the project.
const DOTTED: [&str; 2] = [".ci", ".github"];

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
        let is_hidden = name.starts_with('.') && !DOTTED.contains(&name.as_ref());
        if is_hidden || name == "target" || name == "release" {
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

/// A line in lower case with single spaces.
fn plain(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// Whether a phrase stands in a line, not as the end or the beginning of longer words.
fn has_phrase(line: &str, phrase: &str) -> bool {
    let is_part = |letter: Option<char>| letter.is_some_and(|one| one.is_ascii_alphanumeric());
    line.match_indices(phrase).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !is_part(before) && !is_part(line[at + phrase.len()..].chars().next())
    })
}

fn avoided(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut line = line.to_owned();
    for kept in KEPT {
        line = line.replace(kept, "");
    }
    let (words, plain) = (words(&line), plain(&line));
    let words = AVOIDED
        .into_iter()
        .filter(move |(word, _)| words.iter().any(|found| found == word));
    let phrases = AVOIDED_PHRASES
        .into_iter()
        .filter(move |(phrase, _)| has_phrase(&plain, phrase));
    words.chain(phrases)
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
    assert_eq!(
        found("The Slowest  one took 9 ms at 38 1/s."),
        ["1/s", "slowest one"]
    );
    assert_eq!(found("11/s; value.floor(); the longest seek"), [""; 0]);
}

#[test]
fn sources_profiles_and_documents_use_the_terms_of_the_field() {
    let mut paths = Vec::new();
    texts_below(&workspace(), &mut paths);
    assert!(paths.len() > 600, "{} texts were found", paths.len());
    let is_read = |end: &str| paths.iter().any(|path| path.ends_with(end));
    assert!(is_read(".github/workflows/ci.yml") && is_read(".ci/run"));
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
