//! Rules about errors: what to do about the first of them.

use measure::display::Contribution;
use measure::result::{
    CheckId, ErrorKind, ErrorRecord, IntegrityClass, RunKind, RunResult, Verdict,
};
use measure::units;

use super::{Advice, AdviceId};
use crate::number::{count, figure};
use crate::table::measured_value;

/// Errors come before any number.
pub(super) fn errors(result: &RunResult, own: &Contribution) -> Option<Advice> {
    let Some(first) = result.ending_error().or(result.errors.first()) else {
        return failed_requests(result);
    };
    let mut checks = result.checks.iter();
    let few = checks.any(|check| check.id == CheckId::Errors && check.passed == Some(true));
    let title = if result.verdict == Verdict::Pass || (few && result.ending_error().is_none()) {
        "Find the cause of the errors, although they are allowed"
    } else {
        "Resolve the errors first; the figures are not valid"
    };
    let id = match first.kind {
        ErrorKind::OutOfSpace => return Some(out_of_space(result, first)),
        ErrorKind::HalfWritten => return Some(half_written(first)),
        ErrorKind::Settings => return Some(of_settings(first)),
        ErrorKind::Removed => return Some(of_removed(first)),
        ErrorKind::ProcessLimit => return Some(of_process_limit(first)),
        ErrorKind::Unavailable => AdviceId::SERVER_UNAVAILABLE,
        ErrorKind::Inconsistent => AdviceId::INCONSISTENT,
        ErrorKind::ServerSide => AdviceId::SERVER_SIDE,
        _ => AdviceId::ERRORS,
    };
    let page = first
        .page
        .map_or(String::new(), |page| format!(", page {}", count(page)));
    let what = if first.operation.is_empty() {
        "The run"
    } else {
        &first.operation
    };
    let happened = match first.class {
        Some(IntegrityClass::Hung) => "took too long",
        _ => "failed",
    };
    Some(Advice::new(
        id,
        title,
        format!(
            "{} {happened} on {}{page}: {}{}",
            units::sentence(&what),
            first.file,
            sentence(&first.error),
            match result.kind {
                RunKind::Run => where_to_look(own),
                // A model has no logs and no files.
                RunKind::Prediction | RunKind::Trace | RunKind::Served => String::new(),
            }
        ),
    ))
}

/// What the storage does cannot be known before the settings are others.
fn of_settings(first: &ErrorRecord) -> Advice {
    Advice::new(
        AdviceId::SETTINGS,
        "The settings do not let the workload do its work",
        sentence(&first.error),
    )
}

/// Storage does not remove directories.
fn of_removed(first: &ErrorRecord) -> Advice {
    Advice::new(
        AdviceId::ERRORS,
        "Another program removed the files of the run",
        format!(
            "{}: {} Find out which one did, and run again with a directory that nothing else changes.",
            first.file,
            sentence(&first.error)
        ),
    )
}

/// The storage was not asked.
fn of_process_limit(first: &ErrorRecord) -> Advice {
    Advice::new(
        AdviceId::ERRORS,
        "A limit of the system ended the run",
        format!("{}: {}", first.file, sentence(&first.error)),
    )
}

/// Devices that counted errors during the run, give a warning or fail by their own account, whether the
/// run met an error or not.
pub(super) fn device_health(result: &RunResult) -> Option<Advice> {
    let value = |value: Option<f64>| value.map_or("unknown".to_owned(), figure);
    let bad = result.host.health.iter().filter(|one| one.is_bad);
    let bad: Vec<String> = bad
        .map(|one| {
            let (before, after) = (value(one.before), value(one.after));
            format!("{}: {}: {after} ({before} before)", one.device, one.name)
        })
        .collect();
    (!bad.is_empty()).then(|| {
        Advice::new(
            AdviceId::DEVICE_HEALTH,
            "A device reports errors or a failure",
            format!(
                "After the run, {}. Errors that a RAID or the device itself could correct do not show in \
                 the figures of this run. Find out whether the device must be replaced: `smartctl --all \
                 DEVICE` prints all that it says.",
                bad.join("; ")
            ),
        )
    })
}

/// Where real storage says more of an error.
fn where_to_look(own: &Contribution) -> String {
    let check = own.check_command.as_ref();
    let check = check.map_or(String::new(), |check| {
        format!("; `{check}` reads every page again")
    });
    format!(
        " Check the kernel log of this time, the error counters of the device and the event log of the \
         storage{check}."
    )
}

/// A full disk says nothing against the storage.
fn out_of_space(result: &RunResult, error: &ErrorRecord) -> Advice {
    let (title, remedy) = match &result.array {
        Some(_) => (
            "Make the volumes larger, then predict again",
            "Give the data larger volumes, or predict a shorter time.",
        ),
        None => (
            "Free space, then run again",
            "`proofload run --dry-run` shows how much is needed where.",
        ),
    };
    Advice::new(
        AdviceId::OUT_OF_SPACE,
        title,
        format!(
            "No space was left for {}: {} {remedy}",
            error.file,
            sentence(&error.error)
        ),
    )
}

/// What a full disk has left of a page says nothing against the storage either.
fn half_written(error: &ErrorRecord) -> Advice {
    Advice::new(
        AdviceId::OUT_OF_SPACE,
        "Build the databases again, with more room",
        format!(
            "{}: {} With engine.torn_pages = \"log-images\" such pages are restored from the log.",
            error.file,
            sentence(&error.error)
        ),
    )
}

/// Failed requests that were counted, but have no record.
fn failed_requests(result: &RunResult) -> Option<Advice> {
    let mut failed = result.failed_checks();
    let failed = failed.find(|check| check.id == CheckId::Errors)?;
    Some(Advice::new(
        AdviceId::ERRORS,
        "Resolve the errors first; the figures are not valid",
        format!(
            "{} were counted. Check log.txt beside the report, the kernel log of this time and the \
             event log of the storage.",
            measured_value(failed)
        ),
    ))
}

/// An error text ends like a sentence.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) {
        text.to_string()
    } else {
        format!("{text}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_end_like_sentences() {
        assert_eq!(sentence("the disk is full"), "the disk is full.");
        assert_eq!(sentence("Bad page. "), "Bad page.");
    }

    /// The request was carried out.
    #[test]
    fn a_late_answer_is_no_failure() {
        let result = RunResult {
            errors: vec![ErrorRecord {
                class: Some(IntegrityClass::Hung),
                operation: "writing".to_string(),
                file: "mail-001.edb".to_string(),
                error: "the request was answered after 42 s".to_string(),
                ..ErrorRecord::default()
            }],
            ..RunResult::default()
        };
        let advice = errors(&result, &Contribution::default()).expect("advice on the error");
        assert!(
            advice
                .text
                .starts_with("Writing took too long on mail-001.edb: "),
            "{}",
            advice.text
        );
    }
}
