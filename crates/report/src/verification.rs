//! The verification of a run and of its report; what came of it, as text and as JSON.

use std::io;
use std::path::Path;

use measure::display::number::counted;
use measure::recompute::{Agreement, Difference, Verified};
use measure::run_directory::{LoadError, REPORT_FILE, read_file};
use proofload::WORKLOADS;
use serde_json::{Value, json};

use crate::files::load_run;
use crate::jetstress::jetstress_files;
use crate::page::html;

/// Columns that a value may take in a line.
const WIDEST_VALUE: usize = 70;
/// How much that is the same is shown before a difference.
const HALF_VALUE: usize = WIDEST_VALUE / 2;

/// Verifies the run in a directory, and whether its reports are those of these results. One that is not
/// may have been made by another version, so it is not called changed.
///
/// # Errors
/// When the directory is none of a run, or of a version that this one does not read.
pub fn verify_run(directory: &Path) -> Result<Verified, LoadError> {
    let mut verified = proofload::verify::verify(directory, &WORKLOADS)?;
    if let Ok(run) = load_run(&verified.directory) {
        let mut compare = |file: &str, text: &str, command: &str| {
            let problem = problem_of(&verified.directory.join(file), text);
            let problem =
                problem.map(|problem| format!("{file} {problem} `{command}` makes it again."));
            verified.not_verified.extend(problem);
        };
        compare(REPORT_FILE, &html(&run), "proofload report");
        // A run of another workload has no report in the layout of Jetstress.
        for (file, text) in jetstress_files(&run).unwrap_or_default() {
            compare(&file, &text, "proofload report --jetstress-report");
        }
    }
    Ok(verified)
}

/// Why a report is not the one that is made of the results; `None` too if there is none, as of a run that was
/// killed.
fn problem_of(path: &Path, text: &str) -> Option<String> {
    match read_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(format!("cannot be read: {error}.")),
        Ok(found) => (found != text.as_bytes()).then(|| {
            "is not what this version makes of these results: it was changed, or made by another version."
                .to_owned()
        }),
    }
}

/// The answer with what it is based on, in lines.
#[must_use]
pub fn verification_text(verified: &Verified) -> String {
    let directory = verified.directory.display();
    let answer = match verified.agreement() {
        Agreement::Whole => "verified".to_owned(),
        Agreement::Partial => "not changed as far as it could be verified".to_owned(),
        Agreement::None => format!(
            "CHANGED: {}",
            counted(verified.differences.count, "difference")
        ),
    };
    let mut text = format!("{directory}: {answer}\n{}", verification_findings(verified));
    if verified.files > 0 {
        text.push_str(&format!(
            "  {} with the recorded SHA-256\n",
            counted(verified.files, "file")
        ));
    }
    if verified.samples > 0 || verified.verdict.is_some() {
        let verdict = verified.verdict.map_or_else(String::new, |verdict| {
            format!(" and the verdict `{verdict}`")
        });
        text.push_str(&format!(
            "  {}, {}{verdict} recomputed from {}\n",
            counted(verified.figures, "figure"),
            counted(verified.checks, "check"),
            counted(verified.samples, "sample")
        ));
    }
    if !verified.document_sha256.is_empty() {
        text.push_str(&format!(
            "  SHA-256 of the result: {}\n",
            verified.document_sha256
        ));
    }
    text
}

/// What could not be compared and what differs, in lines; empty when everything was compared and agrees.
#[must_use]
pub fn verification_findings(verified: &Verified) -> String {
    let mut text = String::new();
    for Difference {
        file,
        field,
        recorded,
        recomputed,
    } in &verified.differences.listed
    {
        let (recorded, recomputed) = beside(recorded, recomputed);
        text.push_str(&format!(
            "  {file}: {field}\n    recorded    {recorded}\n    recomputed  {recomputed}\n"
        ));
    }
    let more = verified.differences.count - verified.differences.listed.len() as u64;
    if more > 0 {
        text.push_str(&format!("  and {} more\n", counted(more, "difference")));
    }
    for sentence in &verified.not_verified {
        text.push_str(&format!("  Not verified: {sentence}\n"));
    }
    text
}

/// The document of `proofload verify --json`.
#[must_use]
pub fn verification_json(verified: &Verified) -> Value {
    let differences = verified.differences.listed.iter().map(|one| {
        json!({
            "file": one.file,
            "field": one.field,
            "recorded": one.recorded,
            "recomputed": one.recomputed,
        })
    });
    json!({
        "directory": verified.directory.display().to_string(),
        "agreement": match verified.agreement() {
            Agreement::Whole => "whole",
            Agreement::Partial => "partial",
            Agreement::None => "none",
        },
        "document_sha256": verified.document_sha256,
        "files": verified.files,
        "figures": verified.figures,
        "checks": verified.checks,
        "samples": verified.samples,
        "verdict_recomputed": verified.verdict.is_some(),
        "differences": differences.collect::<Vec<_>>(),
        "difference_count": verified.differences.count,
        "not_verified": verified.not_verified,
    })
}

/// Two values that differ, each on one line, and of long ones the part in which they do.
fn beside(one: &str, other: &str) -> (String, String) {
    let (one, other) = (one.replace('\n', " "), other.replace('\n', " "));
    let same = one.chars().zip(other.chars());
    let same = same.take_while(|(one, other)| one == other).count();
    let from = match same {
        0..=HALF_VALUE => 0,
        same => same - HALF_VALUE,
    };
    (part(&one, from), part(&other, from))
}

/// At most [`WIDEST_VALUE`] characters of a line, the first of which is `from` if not all have room.
fn part(line: &str, from: usize) -> String {
    let length = line.chars().count();
    if length <= WIDEST_VALUE {
        return line.to_owned();
    }
    let before = if from > 0 { "..." } else { "" };
    let room = WIDEST_VALUE - before.len();
    if length - from <= room {
        let kept: String = line.chars().skip(from).collect();
        return format!("{before}{kept}");
    }
    let kept: String = line.chars().skip(from).take(room - 3).collect();
    format!("{before}{kept}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_shown_in_short() {
        let mut verified = Verified::default();
        verified.differences.count = 1;
        verified.differences.listed.push(Difference {
            file: "result.json".to_owned(),
            field: "verdict".to_owned(),
            recorded: "pass".to_owned(),
            recomputed: format!("fail\n{}", "x".repeat(100)),
        });
        let text = verification_text(&verified);
        let kept = "x".repeat(WIDEST_VALUE - 3 - "fail ".len());
        let expected = format!(
            ": CHANGED: 1 difference\n  result.json: verdict\n    recorded    pass\n    \
             recomputed  fail {kept}...\n"
        );
        assert!(text.starts_with(&expected), "{text}");
        assert_eq!(verification_json(&verified)["agreement"], "none");
        // Long values that begin alike are shown where they differ.
        let long = |digit| {
            format!(
                "{}achieved {digit}08 IOPS{}",
                "a".repeat(90),
                "b".repeat(90)
            )
        };
        let (one, other) = beside(&long(3), &long(4));
        assert!(one.contains("achieved 308 IOPS") && other.contains("achieved 408 IOPS"));
        let lengths = [one, other].map(|one| one.chars().count());
        assert_eq!(lengths, [WIDEST_VALUE; 2]);
        let cut = &long(3)[..100];
        let (_, other) = beside(&long(3), cut);
        assert!(other.ends_with("achieved 3"), "{other}");
    }
}
