//! The verdict in words.

use measure::display::samples;
use measure::metric::{Stream, Unit};
use measure::result::{ErrorKind, HostResult, RunKind, RunResult, TuningResult, Verdict};

use measure::service_level::{allowed_errors, describe_counts};
use measure::units;

use crate::number::{duration, quantity};
use crate::run::Run;

/// What stands at the top of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// One word in capitals, such as `PASS`; of a failure with its kind behind it.
    pub word: &'static str,
    /// The answer as a sentence.
    pub sentence: String,
    /// Why, as a sentence; may be empty.
    pub reason: String,
}

/// The highest load of a curve up to which every level was met, and its knee, as sentences.
pub fn of_curve(tuning: &TuningResult) -> String {
    let kept = tuning.curve.iter().take_while(|step| step.kept).last();
    let highest = kept.map_or("No load met every service level.".to_owned(), |step| {
        format!(
            "Highest load that met every service level, with all below it: {}.",
            quantity(step.achieved_iops, Unit::Iops)
        )
    });
    let knee = tuning.knee_iops.map_or(String::new(), |knee| {
        format!(
            " Knee, the highest ratio of rate to average database read latency: {}.",
            quantity(knee, Unit::Iops)
        )
    });
    highest + &knee
}

/// The name of the I/O driver by which requests reached the kernel; `None` where none of our own did.
pub fn io_driver(host: &HostResult) -> Option<&str> {
    match host.io_driver.as_str() {
        "" => None,
        "io-uring" => Some("io_uring"),
        other => Some(other),
    }
}

/// The verdict of a run as a word, a sentence and a reason.
#[must_use]
pub fn headline(run: &Run) -> Headline {
    let result = &run.result;
    if result.kind == RunKind::Trace {
        return headline_of_trace(result);
    }
    let storage = match result.kind {
        RunKind::Prediction => "the modelled array",
        _ => "the storage",
    };
    let meets = format!(
        "{storage} meets the service levels of {}",
        workload_name(result)
    );
    let unknown = |why: &str| format!("{why}, so it does not show whether {meets}.");
    let sentence = match result.verdict {
        Verdict::Pass => match allowed_errors_text(result) {
            None => format!("{}{}.", units::sentence(&meets), load_text(run)),
            Some(errors) => format!("With {errors}, {meets}{}.", load_text(run)),
        },
        Verdict::Built => format!(
            "The databases of {} are built; nothing was measured.",
            workload_name(result)
        ),
        Verdict::Fail => {
            let meets = meets.replacen(" meets", " does not meet", 1);
            format!("{}{}.", units::sentence(&meets), load_text(run))
        }
        Verdict::Inconclusive => format!("This run does not show whether {meets}."),
        Verdict::Interrupted if !result.complete => unknown("The run did not finish"),
        Verdict::Interrupted => unknown("The run was stopped"),
        Verdict::Error => match result.ended_by() {
            Some(ErrorKind::OutOfSpace) => unknown("The run ran out of space"),
            Some(ErrorKind::HalfWritten) => {
                unknown("A volume was full in an earlier run while a page was being written")
            }
            Some(ErrorKind::Inconsistent) => format!(
                "The consistency checks failed: the database lost committed data, or another \
                     program changed it. Neither it nor {storage} can be trusted yet."
            ),
            Some(ErrorKind::Unavailable) => unknown("The database server did not come back"),
            Some(_) => format!("An error ended the run: {storage} cannot be trusted yet."),
            None => {
                let errors = result.error_count().max(1);
                let noun = if errors == 1 {
                    "error was"
                } else {
                    "errors were"
                };
                let errors = crate::number::count(errors);
                format!("{errors} {noun} met: {storage} cannot be trusted yet.")
            }
        },
    };
    let word = measure::headline::word(result);
    let kept = result.headline.strip_prefix(word);
    let kept = kept.and_then(|rest| rest.strip_prefix(": "));
    let sentence = kept.map_or(sentence, str::to_owned);
    Headline {
        word,
        sentence,
        reason: result.verdict_reason.trim().to_string(),
    }
}

/// The errors of a run that passes in spite of them; `None` without any.
fn allowed_errors_text(result: &RunResult) -> Option<String> {
    let errors = result.error_count();
    if errors == 0 {
        return None;
    }
    let noun = if errors == 1 { "error" } else { "errors" };
    let allowed = crate::number::count(allowed_errors(&result.checks));
    let which = match describe_counts(&result.error_counts) {
        which if which.is_empty() => String::new(),
        which => format!(" ({which})"),
    };
    Some(format!(
        "{} {noun} of {allowed} allowed{which}",
        crate::number::count(errors)
    ))
}

/// The load that was judged: ` at 400 IOPS (16 clients), 90 s`; empty when nothing was measured.
fn load_text(run: &Run) -> String {
    let result = &run.result;
    if !was_measured(result) {
        return String::new();
    }
    let load = run.contribution.load.clone();
    let load = load.unwrap_or_else(|| quantity(result.throughput.achieved_iops, Unit::Iops));
    format!(" at {load}, {}", duration(result.duration_s))
}

/// A trace has no service levels, so it neither passes nor fails.
fn headline_of_trace(result: &RunResult) -> Headline {
    let trace = workload_name(result);
    let (word, sentence) = match result.verdict {
        Verdict::Error => ("ERROR", format!("Requests of {trace} failed.")),
        Verdict::Interrupted if !result.complete => (
            "UNFINISHED",
            format!("The replay of {trace} did not finish."),
        ),
        Verdict::Interrupted => ("INTERRUPTED", format!("The replay of {trace} was stopped.")),
        _ => ("REPLAYED", format!("Trace {trace} was replayed.")),
    };
    Headline {
        word,
        sentence,
        reason: result.verdict_reason.trim().to_string(),
    }
}

/// The samples of the measured phase: how many, and of which length.
#[must_use]
pub fn samples_of(result: &RunResult) -> String {
    let taken = &result.samples;
    samples(taken.count, taken.interval_s, result.duration_s)
}

/// How the requests of a stream are called: a trace knows reads and writes, but no databases.
#[must_use]
pub fn stream_name(result: &RunResult, stream: Stream) -> &'static str {
    match (result.kind, stream) {
        (RunKind::Trace, Stream::DatabaseRead) => "reads",
        (RunKind::Trace, Stream::DatabaseWrite) => "writes",
        (_, stream) => stream.label(),
    }
}

/// What a row of [`RunResult::databases`] is: a database, or a volume of a trace.
#[must_use]
pub fn place_noun(result: &RunResult) -> &'static str {
    match result.kind {
        RunKind::Trace => "volume",
        _ => "database",
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

#[cfg(test)]
mod tests {
    use super::*;
    use measure::display::Contribution;
    use measure::result::{Check, CheckId, ErrorCount, ErrorKind, ErrorRecord, IntegrityClass};

    fn sentence_of(result: &RunResult) -> String {
        headline(&Run::from_result("", result.clone())).sentence
    }

    #[test]
    fn every_verdict_has_its_sentence() {
        let mut result = RunResult::default();
        result.workload.name = "exchange-2013".to_string();
        let mut sentence = |verdict| {
            result.verdict = verdict;
            sentence_of(&result)
        };
        assert_eq!(
            sentence(Verdict::Pass),
            "The storage meets the service levels of exchange-2013."
        );
        assert_eq!(
            sentence(Verdict::Fail),
            "The storage does not meet the service levels of exchange-2013."
        );
        assert!(sentence(Verdict::Inconclusive).contains("whether the storage meets"));
        assert!(sentence(Verdict::Interrupted).contains("did not finish"));
        assert!(sentence(Verdict::Error).contains("cannot be trusted"));
        result.complete = true;
        result.verdict = Verdict::Interrupted;
        assert!(sentence_of(&result).contains("stopped"));
        result.verdict = Verdict::Error;
        result.errors.push(ErrorRecord {
            kind: ErrorKind::OutOfSpace,
            ended_run: true,
            ..ErrorRecord::default()
        });
        let sentence = sentence_of(&result);
        assert!(sentence.contains("ran out of space"), "{sentence}");
        assert!(!sentence.contains("trusted"), "{sentence}");
        result.errors[0].kind = ErrorKind::HalfWritten;
        let sentence = sentence_of(&result);
        assert!(sentence.contains("full in an earlier run"), "{sentence}");
        assert!(!sentence.contains("trusted"), "{sentence}");
        result.errors[0].kind = ErrorKind::Inconsistent;
        let sentence = sentence_of(&result);
        assert!(sentence.contains("lost committed data"), "{sentence}");
        result.errors[0].kind = ErrorKind::Unavailable;
        let sentence = sentence_of(&result);
        assert!(sentence.contains("server did not come back"), "{sentence}");
        assert!(!sentence.contains("trusted"), "{sentence}");
    }

    #[test]
    fn a_trace_is_replayed_and_neither_passes_nor_fails() {
        for (verdict, complete, word, sentence) in [
            (Verdict::Pass, true, "REPLAYED", "Trace msn was replayed."),
            (Verdict::Fail, true, "REPLAYED", "Trace msn was replayed."),
            (Verdict::Error, true, "ERROR", "Requests of msn failed."),
            (
                Verdict::Interrupted,
                true,
                "INTERRUPTED",
                "The replay of msn was stopped.",
            ),
            (
                Verdict::Interrupted,
                false,
                "UNFINISHED",
                "The replay of msn did not finish.",
            ),
        ] {
            let mut result = RunResult {
                kind: RunKind::Trace,
                verdict,
                complete,
                verdict_reason: " Why. ".to_owned(),
                ..RunResult::default()
            };
            result.workload.name = "msn".to_owned();
            let headline = headline(&Run::from_result("", result));
            assert_eq!(
                (headline.word, headline.sentence.as_str()),
                (word, sentence)
            );
            assert_eq!(headline.reason, "Why.");
        }
    }

    #[test]
    fn errors_within_the_allowance_are_named_in_the_headline() {
        let mut result = RunResult {
            verdict: Verdict::Pass,
            error_counts: vec![ErrorCount {
                database: "mail-001".to_owned(),
                class: Some(IntegrityClass::Checksum),
                errors: 1,
                times: 12,
            }],
            checks: vec![Check::of_run(
                CheckId::Errors,
                5.0,
                Some(1.0),
                String::new(),
            )],
            ..RunResult::default()
        };
        assert_eq!(
            sentence_of(&result),
            "With 1 error of 5 allowed (wrong checksum in mail-001), the storage meets the service \
             levels of this workload."
        );
        let word = |result: &RunResult| headline(&Run::from_result("", result.clone())).word;
        assert_eq!(word(&result), "PASS");
        result.verdict = Verdict::Fail;
        assert_eq!(word(&result), "FAIL (performance)");
        result.verdict = Verdict::Error;
        assert_eq!(word(&result), "FAIL (data)");
        assert_eq!(
            sentence_of(&result),
            "1 error was met: the storage cannot be trusted yet."
        );
        for (kind, expected) in [
            (ErrorKind::Io, "FAIL (data)"),
            (ErrorKind::Inconsistent, "FAIL (data)"),
            (ErrorKind::OutOfSpace, "ERROR"),
            (ErrorKind::Unavailable, "ERROR"),
            (ErrorKind::Internal, "ERROR"),
        ] {
            result.errors = vec![ErrorRecord {
                kind,
                ended_run: true,
                ..ErrorRecord::default()
            }];
            assert_eq!(word(&result), expected, "{kind:?}");
        }
    }

    #[test]
    fn the_headline_names_the_load() {
        let mut run = Run {
            contribution: Contribution {
                load: Some("400 IOPS (16 clients)".to_owned()),
                ..Contribution::default()
            },
            ..Run::default()
        };
        run.result.verdict = Verdict::Pass;
        run.result.duration_s = 90.0;
        run.result.workload.name = "exchange-2013".to_string();
        assert_eq!(
            headline(&run).sentence,
            "The storage meets the service levels of exchange-2013 at 400 IOPS (16 clients), \
             1 min 30 s."
        );
        run.result.kind = RunKind::Prediction;
        run.result.verdict = Verdict::Fail;
        let sentence = headline(&run).sentence;
        assert!(
            sentence.starts_with("The modelled array does not meet the service levels"),
            "{sentence}"
        );
    }
}
