//! Whether a database server has files on another storage than the one that was measured.

use super::evidence::Evidence;
use crate::result::{Cause, CauseId, Check, FilesElsewhere, RunResult, Verdict};

pub(super) const REMEDY: &str = "Move them to the storage under test, or name directories on the storage that \
                                 holds them with --on and --log-on, and run again.";

/// The files, as a sentence.
pub(super) fn files_elsewhere(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let files = &evidence.result.server.as_ref()?.files_elsewhere;
    let one = |one: &FilesElsewhere| {
        format!(
            "{} in {} on {}, and not on that of {}",
            one.what, one.path, one.file_system, one.measured
        )
    };
    let all: Vec<String> = files.iter().map(one).collect();
    (!all.is_empty()).then(|| {
        format!(
            "the server has files on another storage than the one that was measured: {}.",
            all.join("; ")
        )
    })
}

/// Makes a run that passes inconclusive if the server has such files, and names them in one that is inconclusive
/// already.
pub(super) fn attribute_placement(result: &mut RunResult) {
    let Some(text) = files_elsewhere(&Evidence::of(result), &Check::default()) else {
        return;
    };
    let also = match result.verdict {
        Verdict::Pass => "But",
        Verdict::Inconclusive => "Besides,",
        _ => return,
    };
    let reason = format!("{} {also} {text} {REMEDY}", result.verdict_reason);
    result.set_verdict(Verdict::Inconclusive, reason);
    result.causes.insert(
        0,
        Cause {
            id: CauseId::FilesElsewhere,
            text,
            remedy: REMEDY.to_owned(),
        },
    );
}
