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
const AVOIDED_PHRASES: [(&str, &str); 33] = [
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
    ("one of a hundred", "p99"),
    ("of hands", "of workers, of clients"),
    ("so many percent of", "share of"),
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

const ENDINGS: [&str; 9] = [
    "css", "html", "js", "json", "md", "rs", "toml", "txt", "yml",
];

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
        if is_hidden || name == "target" || name == "node_modules" || name == "release" {
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

/// The words of a line in lower case: those of `snake_case` and `CamelCase` names one by one, also after
/// an acronym.
fn words(line: &str) -> Vec<String> {
    let letters: Vec<char> = line.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let is_small = |at: usize| letters.get(at).is_some_and(char::is_ascii_lowercase);
        let starts_word =
            letter.is_ascii_uppercase() && (is_small(at.wrapping_sub(1)) || is_small(at + 1));
        if starts_word || !letter.is_ascii_alphabetic() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_ascii_alphabetic(), words.last_mut()) {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words
}

/// A line without the escapes of a string in the source, whose letter is no part of a word.
fn without_escapes(line: &str) -> String {
    line.replace("\\n", " ")
        .replace("\\t", " ")
        .replace("\\r", " ")
}

/// A line without what begins a comment or the text of an attribute, and without what continues a string
/// in the next line: what stands in two lines is read as one.
fn bare(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['/', '!', '#', '*']);
    line.strip_suffix('\\').unwrap_or(line).trim()
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
    let mut line = without_escapes(line);
    for kept in KEPT {
        line = line.replace(kept, "");
    }
    let words = words(&line);
    AVOIDED
        .into_iter()
        .filter(move |(word, _)| words.iter().any(|found| found == word))
        .chain(avoided_phrases(&line))
}

fn avoided_phrases(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
    let plain = plain(line);
    AVOIDED_PHRASES
        .into_iter()
        .filter(move |(phrase, _)| has_phrase(&plain, phrase))
}

/// Everything that is avoided in a text, with the number of the line where it stands or begins.
fn findings(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut findings = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let here = avoided(line).collect::<Vec<_>>();
        let next = lines.get(number + 1).copied().unwrap_or_default();
        let of_next = avoided_phrases(next).collect::<Vec<_>>();
        let both = without_escapes(&format!("{} {}", bare(line), bare(next)));
        let over_the_end = avoided_phrases(&both)
            .filter(|phrase| !here.contains(phrase) && !of_next.contains(phrase));
        let found = here.iter().copied().chain(over_the_end);
        findings.extend(found.map(|(word, instead)| (number + 1, word, instead)));
    }
    findings
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
    assert_eq!(found("struct IOTeller; const IS_TOLD"), ["teller", "told"]);
    assert_eq!(found(r#"print("One line.\ntold")"#), ["told"]);
}

#[test]
fn phrases_are_found_over_the_end_of_a_line() {
    let found = |text: &str| findings(text);
    let max = ("slowest read", "max");
    assert_eq!(found("/// The slowest\n/// read."), [(1, max.0, max.1)]);
    assert_eq!(found("\"the slowest \\\n  read\""), [(1, max.0, max.1)]);
    assert_eq!(found("one\nthe slowest read\ntwo"), [(2, max.0, max.1)]);
    assert_eq!(found("The slowest\n\nread."), []);
}

#[test]
fn sources_profiles_and_documents_use_the_terms_of_the_field() {
    let mut paths = Vec::new();
    texts_below(&workspace(), &mut paths);
    assert!(paths.len() > 600, "{} texts were found", paths.len());
    let is_read = |end: &str| paths.iter().any(|path| path.ends_with(end));
    assert!(is_read(".github/workflows/ci.yml") && is_read(".ci/run"));
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let named = avoided(&name).map(|(word, instead)| (0, word, instead));
        let bytes = fs::read(&path).expect("a readable file");
        let in_text = findings(&String::from_utf8_lossy(&bytes));
        for (line, word, instead) in named.chain(in_text) {
            found.push(format!(
                "{}:{line}: '{word}'; write: {instead}",
                path.display()
            ));
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
