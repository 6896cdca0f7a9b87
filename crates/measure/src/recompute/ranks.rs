//! The verification of a run on several ranks: each rank by itself, then the whole of them.

use std::path::Path;

use super::samples::totals_of;
use super::{Agreement, TermsOf, Verified, compare, verify_one};
use crate::headline;
use crate::ranks::{Part, combine};
use crate::result::{RankResult, RunResult};
use crate::run_directory::{LoadError, RESULT_FILE, load_result};

/// The part of a rank whose run directory is `directory`. A directory without a result is that of a rank
/// that left none.
///
/// # Errors
/// When a file is damaged.
pub fn load_part(rank: RankResult, directory: &Path) -> Result<Part, LoadError> {
    let mut part = Part {
        rank,
        ..Part::default()
    };
    match load_result(directory) {
        Err(LoadError::NoResult { .. }) => return Ok(part),
        other => part.result = Some(other?),
    }
    let interval_s = part.result.iter().map(|one| one.samples.interval_s).sum();
    part.totals = totals_of(directory, interval_s)?;
    Ok(part)
}

/// Verifies the run directory of each rank, and compares the whole with what they come to.
pub(super) fn compare_ranks(result: &RunResult, terms: TermsOf<'_>, verified: &mut Verified) {
    let mut parts = Vec::new();
    let mut reached = true;
    let is_unfinished = result.document_sha256.is_empty();
    for recorded in &result.ranks {
        let known = facts(recorded);
        let directory = verified.directory.join(&recorded.directory);
        if recorded.directory.is_empty() || (is_unfinished && !directory.exists()) {
            verified.cannot(format!(
                "Nothing of {} has arrived, so its figures were taken as recorded.",
                recorded.name()
            ));
            parts.push(Part {
                rank: known,
                ..Part::default()
            });
            continue;
        }
        if is_unfinished && !recorded.lost.is_empty() {
            // Rank 0 has received its files one after the other.
            verified.cannot(format!(
                "The files of {} are of different moments, as it was lost, and were not compared.",
                recorded.name()
            ));
            continue;
        }
        match verify_one(&directory, terms, true) {
            Ok(own) => {
                reached &= own.verdict.is_some() || own.agreement() == Agreement::Partial;
                take_over(recorded, own, verified);
            }
            Err(error) => {
                let (file, found) = (recorded.directory.as_str(), error.to_string());
                let differences = &mut verified.differences;
                differences.of(file, "the directory", "a run directory", found);
                return;
            }
        }
        match load_part(known, &directory) {
            Ok(part) => parts.push(part),
            Err(error) => {
                let (file, found) = (recorded.directory.as_str(), error.to_string());
                let differences = &mut verified.differences;
                differences.of(file, "the samples", "samples of a run", found);
                return;
            }
        }
    }
    if is_unfinished {
        // It holds what the ranks had said last, which is in no sample.
        verified.cannot("The run of all ranks did not end, so what they come to was not compared.");
        return;
    }
    let mut whole = combine(parts);
    // What the run has added to what follows from the ranks: texts, and the hashes of this directory.
    whole.version.clone_from(&result.version);
    whole.headline = headline::compose(result, None);
    whole.warnings.clone_from(&result.warnings);
    whole.notes.clone_from(&result.notes);
    whole.files.clone_from(&result.files);
    whole.document_sha256.clone_from(&result.document_sha256);
    if result.verification.is_none() {
        // A document may leave the verification to those of the ranks.
        whole.verification = None;
    }
    verified.verdict = reached.then_some(whole.verdict);
    verified.checks += whole.checks.len() as u64;
    compare::compare(result, &whole, verified);
}

/// What is in no document of a rank.
fn facts(recorded: &RankResult) -> RankResult {
    let known = RankResult {
        rank: recorded.rank,
        host: recorded.host.clone(),
        directory: recorded.directory.clone(),
        lost: recorded.lost.clone(),
        clock_offset_ms: recorded.clock_offset_ms,
        clock_offset_end_ms: recorded.clock_offset_end_ms,
        clock_uncertainty_ms: recorded.clock_uncertainty_ms,
        start_skew_ms: recorded.start_skew_ms,
        ..RankResult::default()
    };
    if !recorded.directory.is_empty() {
        return known;
    }
    // What it has said last is nowhere else.
    RankResult {
        verdict_reason: recorded.verdict_reason.clone(),
        achieved_iops: recorded.achieved_iops,
        target_iops: recorded.target_iops,
        worst_average_database_read_ms: recorded.worst_average_database_read_ms,
        worst_average_log_write_ms: recorded.worst_average_log_write_ms,
        ..known
    }
}

/// Adds what came of one rank to what came of all.
fn take_over(recorded: &RankResult, own: Verified, verified: &mut Verified) {
    verified.files += own.files;
    verified.figures += own.figures;
    verified.checks += own.checks;
    verified.samples += own.samples;
    let unlisted = own.differences.count - own.differences.listed.len() as u64;
    verified.differences.count += unlisted;
    for mut difference in own.differences.listed {
        difference.file = format!("{}/{}", recorded.directory, difference.file);
        verified.differences.add(difference);
    }
    for sentence in own.not_verified {
        verified.cannot(format!("{}: {sentence}", recorded.name()));
    }
    let is_known = !recorded.document_sha256.is_empty();
    if is_known && own.document_sha256 != recorded.document_sha256 {
        let (recorded_hash, found) = (recorded.document_sha256.clone(), own.document_sha256);
        let field = format!("document_sha256 of {}", recorded.name());
        verified
            .differences
            .of(RESULT_FILE, &field, recorded_hash, found);
    }
}
