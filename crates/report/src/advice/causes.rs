//! What may have decided a run besides its storage.

use measure::result::{Cause, CauseId, RunResult};
use measure::units;

use super::{Advice, AdviceId};

/// All causes together, each with its remedy.
pub(super) fn causes(result: &RunResult) -> Option<Advice> {
    let first = result.causes.first()?;
    let of_cache = matches!(
        first.id,
        CauseId::EngineCache
            | CauseId::HostMemory
            | CauseId::ArrayCache
            | CauseId::FewReadsAtDevice
            | CauseId::BufferedLoop
    );
    let has_failed = result.failed_checks().next().is_some();
    // The finding about a short run says so.
    if first.id == CauseId::TooFewSamples && !has_failed {
        return None;
    }
    let of_mix = |cause: &Cause| cause.id == CauseId::WrongMix;
    let (id, title) = match of_cache {
        _ if first.id == CauseId::FilesElsewhere => (
            AdviceId::NOT_SHOWN,
            "Files of the server lie on another storage",
        ),
        _ if result.causes.iter().all(of_mix) => (
            AdviceId::WRONG_MIX,
            "The transaction mix is not the one asked for",
        ),
        true => (
            AdviceId::CACHED,
            "A cache was measured, not the storage alone",
        ),
        false if !has_failed => (
            AdviceId::NOT_SHOWN,
            "The host may have disturbed the measurement",
        ),
        false => (
            AdviceId::NOT_SHOWN,
            "The figures do not show that it was the storage",
        ),
    };
    let sentence = |cause: &Cause| format!("{} {}", units::sentence(&cause.text), cause.remedy);
    let sentences: Vec<String> = result.causes.iter().map(sentence).collect();
    Some(Advice::new(id, title, sentences.join(" ")))
}
