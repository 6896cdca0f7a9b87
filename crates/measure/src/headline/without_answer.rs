//! What is said of a run that measured nothing, was ended, or met errors.

use crate::result::{ErrorKind, RunKind, RunResult, Verdict};
use crate::units;

/// The sentence of a run whose verdict rests on no measured phase, of one that was ended, and of one with
/// errors. Ends with a full stop.
pub(super) fn sentence(result: &RunResult) -> String {
    let workload = match result.workload.name.trim() {
        "" => "this workload",
        name => name,
    };
    match result.kind {
        RunKind::Trace => of_trace(result, workload),
        RunKind::Served => of_served(result),
        _ => of_workload(result, workload),
    }
}

fn of_workload(result: &RunResult, workload: &str) -> String {
    let storage = match result.kind {
        RunKind::Prediction => "the modelled array",
        _ => "the storage",
    };
    let meets = format!("{storage} meets the service levels of {workload}");
    let unknown = |why: &str| format!("{why}, so it does not show whether {meets}.");
    match result.verdict {
        Verdict::Pass => format!("{}.", units::sentence(&meets)),
        Verdict::Fail => {
            let meets = meets.replacen(" meets", " does not meet", 1);
            format!("{}.", units::sentence(&meets))
        }
        Verdict::Built => format!("The databases of {workload} are built; nothing was measured."),
        Verdict::Inconclusive => format!("This run does not show whether {meets}."),
        Verdict::Interrupted if !result.complete => unknown("The run did not finish"),
        Verdict::Interrupted => unknown("The run was stopped"),
        Verdict::Error => match result.ended_by() {
            Some(ErrorKind::OutOfSpace) => unknown("The run ran out of space"),
            Some(ErrorKind::HalfWritten) => {
                unknown("A volume was full in an earlier run while a page was being written")
            }
            Some(ErrorKind::Unavailable) => unknown("The database server did not come back"),
            Some(ErrorKind::Inconsistent) => format!(
                "The consistency checks failed: the database lost committed data, or another program \
                 changed it. Neither it nor {storage} can be trusted yet."
            ),
            Some(_) => format!("An error ended the run: {storage} cannot be trusted yet."),
            None => {
                let errors = result.error_count().max(1);
                let noun = match errors {
                    1 => "error was",
                    _ => "errors were",
                };
                let errors = crate::display::number::count(errors);
                format!("{errors} {noun} met: {storage} cannot be trusted yet.")
            }
        },
    }
}

/// What programs do with an array is not judged either.
fn of_served(result: &RunResult) -> String {
    let place = result.target.databases.first();
    let array = place.map_or("", |place| place.path.as_str());
    let time = crate::display::number::duration(result.duration_s);
    match result.complete {
        true => format!("The modelled array {array} was served for {time}."),
        false => format!("The serving of the modelled array {array} has no end on record."),
    }
}

/// A trace has no service levels, so it neither passes nor fails.
fn of_trace(result: &RunResult, trace: &str) -> String {
    match result.verdict {
        Verdict::Error => format!("Requests of {trace} failed."),
        Verdict::Interrupted if !result.complete => {
            format!("The replay of {trace} did not finish.")
        }
        Verdict::Interrupted => format!("The replay of {trace} was stopped."),
        _ => format!("Trace {trace} was replayed."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{compose, word};
    use super::*;
    use crate::result::ErrorRecord;

    #[test]
    fn every_verdict_has_its_sentence() {
        let mut result = RunResult::default();
        result.workload.name = "exchange-2013".to_string();
        let mut text = |verdict| {
            result.verdict = verdict;
            compose(&result, None)
        };
        assert_eq!(
            text(Verdict::Pass),
            "PASS: The storage meets the service levels of exchange-2013."
        );
        assert_eq!(
            text(Verdict::Fail),
            "FAIL (performance): The storage does not meet the service levels of exchange-2013."
        );
        assert!(text(Verdict::Inconclusive).contains("whether the storage meets"));
        assert!(text(Verdict::Built).contains("nothing was measured"));
        assert!(text(Verdict::Interrupted).starts_with("UNFINISHED: The run did not finish"));
        assert_eq!(
            text(Verdict::Error),
            "FAIL (data): 1 error was met: the storage cannot be trusted yet."
        );
        result.complete = true;
        result.verdict = Verdict::Interrupted;
        let text = compose(&result, None);
        assert!(
            text.starts_with("INTERRUPTED: The run was stopped"),
            "{text}"
        );
        result.kind = RunKind::Prediction;
        result.verdict = Verdict::Fail;
        let text = sentence(&result);
        assert!(
            text.starts_with("The modelled array does not meet"),
            "{text}"
        );
    }

    #[test]
    fn the_error_that_ended_a_run_is_named() {
        let mut result = RunResult {
            verdict: Verdict::Error,
            complete: true,
            duration_s: 30.0,
            ..RunResult::default()
        };
        for (kind, its_word, text, is_of_storage) in [
            (ErrorKind::Io, "FAIL (data)", "error ended the run", true),
            (
                ErrorKind::Inconsistent,
                "FAIL (data)",
                "lost committed data",
                true,
            ),
            (ErrorKind::OutOfSpace, "ERROR", "ran out of space", false),
            (
                ErrorKind::HalfWritten,
                "ERROR",
                "full in an earlier run",
                false,
            ),
            (
                ErrorKind::Unavailable,
                "ERROR",
                "server did not come back",
                false,
            ),
        ] {
            result.errors = vec![ErrorRecord {
                kind,
                ended_run: true,
                ..ErrorRecord::default()
            }];
            let composed = compose(&result, None);
            assert_eq!(word(&result), its_word, "{kind:?}");
            assert!(composed.starts_with(its_word), "{composed}");
            assert!(composed.contains(text), "{composed}");
            assert_eq!(composed.contains("trusted"), is_of_storage, "{composed}");
        }
    }

    #[test]
    fn a_trace_is_replayed_and_neither_passes_nor_fails() {
        for (verdict, complete, text) in [
            (Verdict::Pass, true, "REPLAYED: Trace msn was replayed."),
            (Verdict::Fail, true, "REPLAYED: Trace msn was replayed."),
            (Verdict::Error, true, "ERROR: Requests of msn failed."),
            (
                Verdict::Interrupted,
                true,
                "INTERRUPTED: The replay of msn was stopped.",
            ),
            (
                Verdict::Interrupted,
                false,
                "UNFINISHED: The replay of msn did not finish.",
            ),
        ] {
            let mut result = RunResult {
                kind: RunKind::Trace,
                verdict,
                complete,
                duration_s: 5.0,
                ..RunResult::default()
            };
            result.workload.name = "msn".to_owned();
            assert_eq!(compose(&result, None), text);
        }
    }
}
