//! The verdict in words.

use measure::metric::Unit;
use measure::result::{CheckKind, ErrorKind, RunKind, RunResult, Verdict};

use crate::number::{count, duration, quantity};

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
    let unknown = |why: &str| format!("{why}, so the run does not show whether {meets}.");
    let (word, sentence) = match result.verdict {
        Verdict::Pass => ("PASS", format!("{}{}.", capital(&meets), load_text(result))),
        Verdict::Built => (
            "BUILT",
            format!(
                "The databases of {} are built; nothing was measured.",
                workload_name(result)
            ),
        ),
        Verdict::Fail if only_mix_failed(result) => {
            let why = "The transaction mix was not the one asked for";
            ("FAIL", unknown(why))
        }
        Verdict::Fail => {
            let meets = meets.replacen(" meets", " does not meet", 1);
            ("FAIL", format!("{}{}.", capital(&meets), load_text(result)))
        }
        Verdict::Inconclusive => (
            "INCONCLUSIVE",
            format!("This run does not show whether {meets}."),
        ),
        Verdict::Interrupted if !result.complete => {
            ("UNFINISHED", unknown("The run did not finish"))
        }
        Verdict::Interrupted => ("INTERRUPTED", unknown("The run was stopped")),
        Verdict::Error => {
            let sentence = match result.ended_by() {
                Some(ErrorKind::OutOfSpace) => unknown("The run ran out of space"),
                Some(ErrorKind::Inconsistent) => format!(
                    "The consistency checks failed: the database lost committed data, or another \
                     program changed it. Neither it nor {storage} can be trusted yet."
                ),
                Some(ErrorKind::Unavailable) => unknown("The database server did not come back"),
                _ => format!("An error ended the run: {storage} cannot be trusted yet."),
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

/// The load that was judged: ` at 400 IOPS (4,000 mailboxes), 90 s`; empty when nothing was measured.
fn load_text(result: &RunResult) -> String {
    if !was_measured(result) {
        return String::new();
    }
    let throughput = &result.throughput;
    let setting = |path: &str| result.workload.settings.get(path)?.as_u64();
    let mailboxes = setting("mail.mailboxes_per_database")
        .map(|each| each * result.databases.len() as u64)
        .filter(|all| *all > 0);
    let (rate, unit) = match result.server {
        Some(_) => (
            throughput.operations_per_second,
            Unit::TransactionsPerSecond,
        ),
        None => (throughput.achieved_iops, Unit::Iops),
    };
    let size = match (&result.server, throughput.threads, mailboxes) {
        (Some(_), Some(users), _) => format!(" ({} users)", count(users)),
        (None, _, Some(all)) => format!(" ({} mailboxes)", count(all)),
        _ => String::new(),
    };
    let length = duration(result.duration_s);
    format!(" at {}{size}, {length}", quantity(rate, unit))
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

/// The text with a capital at its beginning.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

/// Whether nothing but shares of the mix was off: that says nothing about the storage.
fn only_mix_failed(result: &RunResult) -> bool {
    let mut failed = result.failed_checks().peekable();
    failed.peek().is_some() && failed.all(|check| check.kind() == CheckKind::Mix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{Check, CheckId, DatabaseResult, ErrorKind, ErrorRecord};

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
        assert!(headline(&result).sentence.contains("stopped"));
        result.verdict = Verdict::Error;
        result.errors.push(ErrorRecord {
            kind: ErrorKind::OutOfSpace,
            ..ErrorRecord::default()
        });
        let sentence = headline(&result).sentence;
        assert!(sentence.contains("ran out of space"), "{sentence}");
        assert!(!sentence.contains("trusted"), "{sentence}");
        result.errors[0].kind = ErrorKind::Inconsistent;
        let sentence = headline(&result).sentence;
        assert!(sentence.contains("lost committed data"), "{sentence}");
        result.errors[0].kind = ErrorKind::Unavailable;
        let sentence = headline(&result).sentence;
        assert!(sentence.contains("server did not come back"), "{sentence}");
        assert!(!sentence.contains("trusted"), "{sentence}");
    }

    #[test]
    fn the_headline_names_the_load() {
        let mut result = RunResult {
            verdict: Verdict::Pass,
            duration_s: 90.0,
            databases: vec![DatabaseResult::default(); 16],
            ..RunResult::default()
        };
        result.workload.name = "exchange-2013".to_string();
        result.throughput.achieved_iops = 400.4;
        let settings = &mut result.workload.settings;
        settings.insert("mail.mailboxes_per_database".to_string(), 250.into());
        assert_eq!(
            headline(&result).sentence,
            "The storage meets the service levels of exchange-2013 at 400 IOPS (4,000 mailboxes), \
             1 min 30 s."
        );
        result.kind = RunKind::Prediction;
        result.verdict = Verdict::Fail;
        let sentence = headline(&result).sentence;
        assert!(
            sentence.starts_with("The modelled array does not meet the service levels"),
            "{sentence}"
        );
    }

    #[test]
    fn a_wrong_mix_says_nothing_about_the_storage() {
        let failed = |id| Check {
            id,
            passed: Some(false),
            ..Check::default()
        };
        let mut result = RunResult {
            verdict: Verdict::Fail,
            checks: vec![failed(CheckId::MixDeviation)],
            ..RunResult::default()
        };
        let sentence = headline(&result).sentence;
        assert!(
            sentence.starts_with("The transaction mix was not the one"),
            "{sentence}"
        );
        result.checks.push(failed(CheckId::LogWriteAverage));
        let sentence = headline(&result).sentence;
        assert!(sentence.contains("does not meet"), "{sentence}");
    }
}
