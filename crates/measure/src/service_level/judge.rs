//! From checks to one verdict with a reason.

use super::rules::error_count;
use super::{Measured, ServiceLevels};
use crate::display::number::{beside_limit, bounded, count, percent};
use crate::result::{
    Bound, Check, CheckId, CheckKind, ErrorCount, ErrorKind, ErrorRecord, RunResult, Verdict,
    has_measured_phase,
};
use crate::units::end_sentence;

/// Classes and places of errors that a sentence names at most.
const MOST_NAMED: usize = 5;

/// The verdict and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the run met its service levels, or why that cannot be said.
    pub verdict: Verdict,
    /// One sentence or two.
    pub reason: String,
}

impl Judgement {
    /// Puts the judgement and its checks into the result document.
    pub fn enter(self, checks: Vec<Check>, result: &mut RunResult) {
        result.checks = checks;
        result.set_verdict(self.verdict, self.reason);
    }
}

/// Gives the verdict. The first that holds decides:
///
/// 1. more errors than allowed, or one after which the run could not go on: `error`;
///    `inconclusive` if the latter is for a reason in the settings, or because another program removed the files, or by a limit of
///    the process;
/// 2. stopped before its end: `interrupted`;
/// 3. a level not met: `fail`;
/// 4. too few samples, not steady though that is required, or a level that could not be judged:
///    `inconclusive`;
/// 5. otherwise `pass`.
pub fn judge(levels: &ServiceLevels, measured: &Measured<'_>, checks: &[Check]) -> Judgement {
    let errors = error_count(measured);
    if errors <= levels.allowed_errors
        && let Some(reason) = cause_of_its_own(measured)
    {
        return judgement(Verdict::Inconclusive, end_sentence(reason));
    }
    if is_error(errors, levels, measured) {
        return judgement(Verdict::Error, error_reason(errors, levels, measured));
    }
    let failed: Vec<&Check> = checks.iter().filter(|c| c.passed == Some(false)).collect();
    if measured.interrupted {
        let so_far = match failed.len() {
            0 => "no check had failed until then".to_owned(),
            _ => fail_reason(&failed, checks.len()),
        };
        let after_s = measured.totals.measured_s();
        let when = match has_measured_phase(measured.tests) {
            true => format!("after {after_s:.0} s of the measured phase"),
            false => "before its end".to_owned(),
        };
        let reason = format!("Stopped {when}: {so_far}");
        return judgement(Verdict::Interrupted, end_sentence(reason));
    }
    if !failed.is_empty() {
        return judgement(
            Verdict::Fail,
            end_sentence(fail_reason(&failed, checks.len())),
        );
    }
    if let Some(reason) = doubt(levels, measured, checks) {
        return judgement(Verdict::Inconclusive, reason);
    }
    let passed = all_passed(checks.len());
    let allowed = errors_within_allowance(errors, levels.allowed_errors, measured.error_counts);
    judgement(Verdict::Pass, format!("{passed}{allowed}"))
}

/// Why the run ended early or was not verified, where neither the storage nor a server has caused it.
fn cause_of_its_own(measured: &Measured<'_>) -> Option<String> {
    measured.errors.iter().find_map(|error| match error.kind {
        ErrorKind::Settings if error.ended_run => {
            Some(format!("The run ended early: {}", error.error))
        }
        ErrorKind::Removed | ErrorKind::ProcessLimit => {
            Some(format!("{}: {}", error.file, error.error))
        }
        _ => None,
    })
}

fn is_error(errors: u64, levels: &ServiceLevels, measured: &Measured<'_>) -> bool {
    errors > levels.allowed_errors || measured.errors.iter().any(|error| error.ended_run)
}

/// The errors of a run that passes in spite of them, as a sentence; empty without any.
fn errors_within_allowance(errors: u64, allowed: u64, counts: &[ErrorCount]) -> String {
    if errors == 0 {
        return String::new();
    }
    let noun = match errors {
        1 => "was 1 error".to_owned(),
        errors => format!("were {} errors", count(errors)),
    };
    let which = match describe_counts(counts) {
        which if which.is_empty() => String::new(),
        which => format!(": {which}"),
    };
    format!(" There {noun} of {} allowed{which}.", count(allowed))
}

/// How many errors are allowed, by the check that has judged them.
pub fn allowed_errors(checks: &[Check]) -> u64 {
    let check = checks.iter().find(|check| check.id == CheckId::Errors);
    check.map_or(0, |check| check.limit as u64)
}

/// The classes of errors with their numbers and databases, such as `2 x wrong checksum in mail-001`.
pub fn describe_counts(counts: &[ErrorCount]) -> String {
    let part = |one: &ErrorCount| {
        let what = one.class.unwrap_or_default().label();
        let times = match one.errors {
            1 => String::new(),
            errors => format!("{} x ", count(errors)),
        };
        match one.database.as_str() {
            "" => format!("{times}{what}"),
            database => format!("{times}{what} in {database}"),
        }
    };
    let parts: Vec<String> = counts.iter().take(MOST_NAMED).map(part).collect();
    let more = counts.len().saturating_sub(MOST_NAMED);
    let more = (more > 0).then(|| format!("and {more} further kinds or places"));
    parts.into_iter().chain(more).collect::<Vec<_>>().join(", ")
}

fn judgement(verdict: Verdict, reason: String) -> Judgement {
    Judgement { verdict, reason }
}

fn error_reason(errors: u64, levels: &ServiceLevels, measured: &Measured<'_>) -> String {
    let ending = measured.errors.iter().find(|error| error.ended_run);
    let first = ending.or(measured.errors.first());
    match first.map(|error| (error.kind, error)) {
        Some((ErrorKind::OutOfSpace, error)) => {
            return format!("No space was left for {}.", error.file);
        }
        Some((ErrorKind::Inconsistent, error)) => return end_sentence(error.error.clone()),
        Some((ErrorKind::HalfWritten, error)) => {
            return end_sentence(format!("{}: {}", error.file, error.error));
        }
        Some((ErrorKind::Unavailable, error)) => {
            let (doing, why) = (&error.operation, &error.error);
            return end_sentence(format!("It ended while {doing}: {why}"));
        }
        _ => {}
    }
    let place = |error: &ErrorRecord| match error.file.as_str() {
        "" => String::new(),
        file => format!(" in {file}"),
    };
    if let Some(error) = ending.filter(|_| errors <= levels.allowed_errors) {
        let text = format!(
            "The run could not go on after an error{}: {}",
            place(error),
            error.error
        );
        return end_sentence(text);
    }
    let which = match describe_counts(measured.error_counts) {
        which if which.is_empty() => String::new(),
        which => format!(" ({which})"),
    };
    let first = match first {
        Some(e) if e.file.is_empty() => format!(": {}", e.error),
        Some(e) if ending.is_some() && errors > 1 => {
            format!(
                ", and could not go on after the one{}: {}",
                place(e),
                e.error
            )
        }
        Some(e) => format!(", the first{}: {}", place(e), e.error),
        None => String::new(),
    };
    let noun = if errors == 1 { "error" } else { "errors" };
    end_sentence(format!(
        "The storage or the engine reported {} {noun}{which}{first}",
        count(errors)
    ))
}

/// Adds checks of what only the caller knows to a result that is judged already. One that fails
/// makes a run fail that nothing worse has ended.
pub fn add_checks(result: &mut RunResult, checks: Vec<Check>) {
    result.checks.extend(checks);
    let all = result.checks.len();
    let failed: Vec<&Check> = result.failed_checks().collect();
    let (verdict, reason) = match result.verdict {
        Verdict::Pass | Verdict::Fail | Verdict::Inconclusive if !failed.is_empty() => {
            (Verdict::Fail, end_sentence(fail_reason(&failed, all)))
        }
        Verdict::Pass => {
            let allowed = errors_within_allowance(
                result.error_count(),
                allowed_errors(&result.checks),
                &result.error_counts,
            );
            (Verdict::Pass, format!("{}{allowed}", all_passed(all)))
        }
        _ => return,
    };
    result.set_verdict(verdict, reason);
}

fn all_passed(all: usize) -> String {
    format!("All {all} checks passed.")
}

/// What matters most comes first: a service that was out explains everything else, and a mix that
/// is off says little about the storage.
fn weight(check: &Check) -> u8 {
    match check.kind() {
        CheckKind::Service => 0,
        CheckKind::Mix => 2,
        _ => 1,
    }
}

/// The one of the checks that failed which the reason of the verdict names; `None` without any.
#[must_use]
pub fn deciding_check<'a>(failed: &[&'a Check]) -> Option<&'a Check> {
    let first = failed.iter().min_by_key(|check| weight(check))?;
    let alike = failed.iter().filter(|check| check.id == first.id);
    alike
        .max_by(|a, b| a.excess().total_cmp(&b.excess()))
        .copied()
}

fn fail_reason(failed: &[&Check], all: usize) -> String {
    let first = deciding_check(failed).unwrap_or(failed[0]);
    let value = first.value.map_or("nothing".to_owned(), |value| {
        beside_limit(value, first.limit, first.unit)
    });
    let limit = bounded(first.limit, first.unit);
    let at = if first.scope() == crate::result::Scope::Run {
        String::new()
    } else {
        format!(" of {}", first.place)
    };
    let bound = match first.bound {
        Bound::AtMost => "limit",
        Bound::AtLeast => "required",
    };
    let detail = format!("{}{at} is {value} ({bound} {limit})", first.name);
    format!("{} of {all} checks failed: {detail}", failed.len())
        + match failed.len() {
            1 => "",
            _ if failed.iter().all(|check| check.id == first.id) => ", the worst of them",
            _ => ", one of them",
        }
}

/// Why a run without failure says nothing yet.
fn doubt(levels: &ServiceLevels, measured: &Measured<'_>, checks: &[Check]) -> Option<String> {
    if !has_measured_phase(measured.tests) {
        return None;
    }
    let samples = measured.totals.full_samples();
    if samples < levels.fewest_samples as usize {
        return Some(format!(
            "Only {samples} {} taken and {} are needed: run longer, or sample more often.",
            if samples == 1 {
                "sample was"
            } else {
                "samples were"
            },
            levels.fewest_samples
        ));
    }
    if measured.totals.completed_operations() == Some(0) {
        return Some(
            "No transaction was completed in the measured phase: run longer (--duration), or use smaller \
             transactions."
                .to_owned(),
        );
    }
    let allowed = levels.allowed_maximum_violations as usize;
    let unjudged = checks
        .iter()
        .find(|c| c.passed.is_none() && c.kind() != CheckKind::Integrity);
    if let Some(check) = unjudged.filter(|one| one.kind() == CheckKind::Spike && allowed >= samples)
    {
        return Some(format!(
            "The {} of {} could not be judged, because each of {samples} samples may be above its limit \
             (service_levels.allowed_maximum_violations is {allowed}): run longer, or sample more often.",
            check.name, check.place
        ));
    }
    if let Some(check) = unjudged {
        return Some(format!(
            "The {} of {} could not be judged, because there was no such I/O: use databases larger \
             than the cache, or run longer, unless a warning gives another reason.",
            check.name, check.place
        ));
    }
    let state = measured.must_be_steady?;
    match state.steady {
        Some(true) => None,
        Some(false) => Some(format!(
            "No steady state: {} has a range of {} % and a slope of {} % of the mean; run \
             longer (--duration), or warm up longer (--set run.warm_up.minimum=20m).",
            state.variable,
            percent(state.range_fraction),
            percent(state.slope_fraction)
        )),
        None => Some(format!(
            "There were too few samples to judge the steady state of {}: run longer, or sample \
             more often.",
            state.variable
        )),
    }
}
