//! The verdict in words.

use measure::display::samples;
use measure::metric::{Stream, Unit};
use measure::result::{HostResult, RunKind, RunResult, TuningResult};

use crate::number::quantity;
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
    let word = measure::headline::word(result);
    let after_word = |text: &str| {
        text.strip_prefix(word)?
            .strip_prefix(": ")
            .map(str::to_owned)
    };
    // A run in progress has none, nor has the result of an earlier version of a run that was ended.
    let sentence = after_word(&result.headline).unwrap_or_else(|| {
        let composed = measure::headline::compose(result, run.contribution.load.as_deref());
        after_word(&composed).unwrap_or(composed)
    });
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
        (RunKind::Trace | RunKind::Served, Stream::DatabaseRead) => "reads",
        (RunKind::Trace | RunKind::Served, Stream::DatabaseWrite) => "writes",
        (_, stream) => stream.label(),
    }
}

/// The title of the table of [`RunResult::databases`].
#[must_use]
pub fn databases_title(result: &RunResult) -> &'static str {
    match result.kind.is_of_workload() {
        true => "Databases",
        false => "Volumes",
    }
}

/// What a row of [`RunResult::databases`] is: a database, or a volume of a trace.
#[must_use]
pub fn place_noun(result: &RunResult) -> &'static str {
    match result.kind {
        RunKind::Trace | RunKind::Served => "volume",
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
    use measure::result::Verdict;

    #[test]
    fn the_kept_headline_is_shown_and_one_is_made_where_none_is_kept() {
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
        run.result.verdict_reason = " Why. ".to_owned();
        let made = headline(&run);
        assert_eq!((made.word, made.reason.as_str()), ("PASS", "Why."));
        let expected = "exchange-2013: 400 IOPS, 16 clients, for 1 min 30 s";
        assert!(made.sentence.starts_with(expected), "{}", made.sentence);
        run.result.headline = "PASS: all is well.".to_owned();
        assert_eq!(headline(&run).sentence, "all is well.");
        // Another verdict than the headline has it was put into the file.
        run.result.verdict = Verdict::Fail;
        let made = headline(&run);
        assert_eq!(made.word, "FAIL (performance)");
        assert!(made.sentence.starts_with(expected), "{}", made.sentence);
    }
}
