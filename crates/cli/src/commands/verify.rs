//! `proofload verify`: the verdict and the hashes of runs, recomputed from what they left.

use std::path::Path;

use measure::display::number::counted;
use measure::recompute::{Agreement, Difference, Verified};
use proofload::WORKLOADS;
use serde_json::json;

use super::run::not_a_run;
use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::VerifyOptions;

/// Columns that a value may take in a line.
const WIDEST_VALUE: usize = 70;

/// Verifies each run and prints what came of it. The worst answer is the exit status.
pub fn verify(options: &VerifyOptions) -> Result<ExitStatus, CommandError> {
    let mut status = ExitStatus::Pass;
    let mut answers = String::new();
    for run in &options.runs {
        let verified = verify_run(run)?;
        answers.push_str(&match options.json {
            true => as_json(&verified),
            false => as_text(&verified),
        });
        status = match (verified.agreement(), status) {
            (Agreement::None, _) | (_, ExitStatus::Integrity) => ExitStatus::Integrity,
            (Agreement::Partial, _) | (_, ExitStatus::Inconclusive) => ExitStatus::Inconclusive,
            (Agreement::Whole, status) => status,
        };
    }
    print_answer(&answers, status)
}

/// Recomputes the run in a directory.
///
/// # Errors
/// When it is none of a run.
pub fn verify_run(directory: &Path) -> Result<Verified, CommandError> {
    proofload::verify::verify(directory, &WORKLOADS).map_err(|error| not_a_run(&error))
}

/// What could not be compared and what differs, one line each.
pub fn findings(verified: &Verified) -> String {
    let mut text = String::new();
    for Difference {
        file,
        field,
        recorded,
        recomputed,
    } in &verified.differences.listed
    {
        let (recorded, recomputed) = (short(recorded), short(recomputed));
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

fn as_text(verified: &Verified) -> String {
    let directory = verified.directory.display();
    let answer = match verified.agreement() {
        Agreement::Whole => "verified".to_owned(),
        Agreement::Partial => "not changed as far as it could be verified".to_owned(),
        Agreement::None => format!(
            "CHANGED: {}",
            counted(verified.differences.count, "difference")
        ),
    };
    let mut text = format!("{directory}: {answer}\n{}", findings(verified));
    if verified.files > 0 {
        text.push_str(&format!(
            "  {} with the recorded SHA-256\n",
            counted(verified.files, "file")
        ));
    }
    if verified.samples > 0 {
        let verdict = verified.result.as_ref().filter(|_| verified.verdict);
        let verdict = verdict.map_or_else(String::new, |result| {
            format!(" and the verdict `{}`", result.verdict)
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

fn short(value: &str) -> String {
    let line = value.replace('\n', " ");
    if line.chars().count() <= WIDEST_VALUE {
        return line;
    }
    let kept: String = line.chars().take(WIDEST_VALUE - 3).collect();
    format!("{kept}...")
}

fn as_json(verified: &Verified) -> String {
    let differences = verified.differences.listed.iter().map(|one| {
        json!({
            "file": one.file,
            "field": one.field,
            "recorded": one.recorded,
            "recomputed": one.recomputed,
        })
    });
    let document = json!({
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
        "verdict_recomputed": verified.verdict,
        "differences": differences.collect::<Vec<_>>(),
        "difference_count": verified.differences.count,
        "not_verified": verified.not_verified,
    });
    format!("{document}\n")
}
