//! The verdict in plain words.

use measure::result::{CheckKind, ErrorKind, RunResult, Verdict};

/// What stands at the top of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// One word in capitals, such as `PASS`.
    pub word: &'static str,
    /// The answer as a sentence.
    pub sentence: String,
    /// Why, as a sentence; may be empty.
    pub reason: String,
}

/// The verdict of a run as a word, a sentence and a reason.
#[must_use]
pub fn headline(result: &RunResult) -> Headline {
    if result.kind == "trace" {
        return headline_of_trace(result);
    }
    let storage = match result.kind.as_str() {
        "prediction" => "The modelled array",
        _ => "This storage",
    };
    let workload = workload_name(result);
    let (word, sentence) = match result.verdict {
        Verdict::Pass => ("PASS", format!("{storage} carries {workload}.")),
        Verdict::Built => (
            "BUILT",
            format!(
                "The databases of {workload} are ready; nothing was to be measured, so this says \
                 nothing about {}.",
                lower(storage)
            ),
        ),
        Verdict::Fail if only_mix_failed(result) => (
            "FAIL",
            format!(
                "The load was not the one asked for, so this run does not show that {} carries \
                 {workload}.",
                lower(storage)
            ),
        ),
        Verdict::Fail => ("FAIL", format!("{storage} does not carry {workload}.")),
        Verdict::Inconclusive => (
            "INCONCLUSIVE",
            format!(
                "This run does not tell whether {} carries {workload}.",
                lower(storage)
            ),
        ),
        Verdict::Interrupted if !result.complete => (
            "UNFINISHED",
            format!(
                "The run did not come to its end, so it does not tell whether {} carries \
                 {workload}.",
                lower(storage)
            ),
        ),
        Verdict::Interrupted => (
            "INTERRUPTED",
            format!(
                "The run was stopped before it could tell whether {} carries {workload}.",
                lower(storage)
            ),
        ),
        Verdict::Error => {
            let untold = |why: &str| {
                let storage = lower(storage);
                format!("{why}, so the run does not tell whether {storage} carries {workload}.")
            };
            let sentence = match result.ended_by() {
                Some(ErrorKind::OutOfSpace) => untold("The space ran out"),
                Some(ErrorKind::Books) => format!(
                    "The database does not hold what it has confirmed, or somebody else changed \
                     it: neither it nor {} can be trusted yet.",
                    lower(storage)
                ),
                Some(ErrorKind::Unavailable) => untold("The database server did not come back"),
                _ => {
                    let storage = lower(storage);
                    format!("An error ended the run: {storage} cannot be trusted yet.")
                }
            };
            ("ERROR", sentence)
        }
    };
    Headline {
        word,
        sentence,
        reason: result.verdict_reason.trim().to_string(),
    }
}

/// A trace asks no question that could be answered with yes or no.
fn headline_of_trace(result: &RunResult) -> Headline {
    let trace = workload_name(result);
    let (word, sentence) = match result.verdict {
        Verdict::Error => ("ERROR", format!("Not every request of {trace} was served.")),
        Verdict::Interrupted if !result.complete => (
            "UNFINISHED",
            format!("The replay of {trace} did not come to its end."),
        ),
        Verdict::Interrupted => ("INTERRUPTED", format!("The replay of {trace} was stopped.")),
        _ => ("REPLAYED", format!("The trace {trace} was replayed.")),
    };
    Headline {
        word,
        sentence,
        reason: result.verdict_reason.trim().to_string(),
    }
}

/// The name of the workload, or what to call it when it has none.
#[must_use]
pub fn workload_name(result: &RunResult) -> &str {
    let name = result.workload.name.trim();
    if name.is_empty() {
        "this workload"
    } else {
        name
    }
}

/// Whether the run came to its measured phase: without it there are no figures to show.
#[must_use]
pub fn was_measured(result: &RunResult) -> bool {
    result.duration_s > 0.0
}

/// The places under test: databases, and logs where they differ.
#[must_use]
pub fn target_text(result: &RunResult) -> String {
    let join = |paths: &[measure::result::TargetPath]| {
        paths
            .iter()
            .map(|target| target.path.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (databases, logs) = (join(&result.target.databases), join(&result.target.logs));
    match (databases.is_empty(), logs.is_empty() || logs == databases) {
        (true, _) => "unknown storage".to_string(),
        (false, true) => databases,
        (false, false) => format!("{databases}, logs on {logs}"),
    }
}

fn lower(storage: &str) -> String {
    let mut letters = storage.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().collect::<String>() + letters.as_str()
    })
}

/// Whether nothing but shares of the mix was off: that says nothing about the storage.
fn only_mix_failed(result: &RunResult) -> bool {
    let mut failed = result.failed_checks().peekable();
    failed.peek().is_some() && failed.all(|check| check.kind == CheckKind::Mix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{Check, ErrorKind, ErrorRecord};

    #[test]
    fn every_verdict_has_its_sentence() {
        let mut result = RunResult::default();
        result.workload.name = "exchange-2013".to_string();
        let mut sentence = |verdict| {
            result.verdict = verdict;
            headline(&result).sentence
        };
        assert_eq!(
            sentence(Verdict::Pass),
            "This storage carries exchange-2013."
        );
        assert_eq!(
            sentence(Verdict::Fail),
            "This storage does not carry exchange-2013."
        );
        assert!(sentence(Verdict::Inconclusive).contains("whether this storage carries"));
        assert!(sentence(Verdict::Interrupted).contains("did not come to its end"));
        assert!(sentence(Verdict::Error).contains("cannot be trusted"));
        result.complete = true;
        result.verdict = Verdict::Interrupted;
        assert!(headline(&result).sentence.contains("stopped"));
        result.verdict = Verdict::Error;
        result.errors.push(ErrorRecord {
            kind: ErrorKind::OutOfSpace,
            ..ErrorRecord::default()
        });
        let sentence = headline(&result).sentence;
        assert!(sentence.contains("The space ran out"), "{sentence}");
        assert!(!sentence.contains("trusted"), "{sentence}");
        result.errors[0].kind = ErrorKind::Books;
        let sentence = headline(&result).sentence;
        assert!(sentence.contains("what it has confirmed"), "{sentence}");
        result.errors[0].kind = ErrorKind::Unavailable;
        let sentence = headline(&result).sentence;
        assert!(sentence.contains("server did not come back"), "{sentence}");
        assert!(!sentence.contains("trusted"), "{sentence}");
    }

    #[test]
    fn a_mix_that_was_off_is_not_laid_to_the_storage() {
        let failed = |kind| Check {
            kind,
            passed: Some(false),
            ..Check::default()
        };
        let mut result = RunResult {
            verdict: Verdict::Fail,
            checks: vec![failed(CheckKind::Mix)],
            ..RunResult::default()
        };
        let sentence = headline(&result).sentence;
        assert!(
            sentence.starts_with("The load was not the one"),
            "{sentence}"
        );
        result.checks.push(failed(CheckKind::Latency));
        let sentence = headline(&result).sentence;
        assert!(sentence.contains("does not carry"), "{sentence}");
    }
}
