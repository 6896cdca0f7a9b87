//! What all commands print at the end of a run.

use std::path::Path;

use measure::result::RunResult;
use measure::run_directory::LoadError;
use proofload::Outcome;
use report::{ReportError, Run, Style};

use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::print::notify;

/// Writes the report of a run, and prints the verdict or the result. The verdict is printed and is the
/// exit status, whatever could not be written.
pub fn report_outcome(
    outcome: &Outcome,
    json: bool,
    quiet: bool,
) -> Result<ExitStatus, CommandError> {
    let result = &outcome.result;
    let status = ExitStatus::from(result.verdict);
    let storage = outcome.storage.as_deref().unwrap_or_default();
    if let Some(problem) = &outcome.unwritten {
        notify(&format!("{problem} The results there are incomplete."));
    }
    if outcome.directory.is_some() || outcome.unwritten.is_some() {
        let run = outcome.directory.as_deref().and_then(whole_run);
        let run = run.filter(|_| outcome.unwritten.is_none());
        let run = run.unwrap_or_else(|| report::run_of_result(result));
        let page = outcome.directory.as_deref().and_then(|directory| {
            let written = report::write_report_of(&run, directory);
            let written = written.or_else(|error| {
                notify(&error.to_string());
                report::write_report_elsewhere(&run)
            });
            written.ok()
        });
        if !json && !quiet {
            let tables = report::terminal(&run, &Style::of_standard_output());
            let page = page.map_or_else(
                || "none; the results could not be written".to_owned(),
                |page| page.display().to_string(),
            );
            return print_answer(&format!("{tables}\n{storage}\nReport: {page}\n"), status);
        }
    }
    if json {
        if !quiet {
            notify(storage);
        }
        return print_answer(&as_json(result)?, status);
    }
    Ok(status)
}

/// The run in a directory; `None`, with a message, when its files cannot be read.
pub fn whole_run(directory: &Path) -> Option<Run> {
    let run = report::load_run(directory);
    run.map_err(|error| notify(&format!("The results are unreadable: {error}.")))
        .ok()
}

/// What a command that reads runs is to be given.
pub const NAME_A_RUN: &str =
    "Name the directory of a run, such as proofload-runs/exchange-2013-...";

/// A directory that was named and cannot be read as that of a run.
pub fn not_a_run(error: &LoadError) -> CommandError {
    let help = match error {
        LoadError::Sweep { .. } => "Open its report.html, or name directories below its points/.",
        LoadError::CutOff { .. } => "",
        _ => NAME_A_RUN,
    };
    CommandError::usage(format!("{error}."), help)
}

/// The report of a prediction that cannot be written.
pub fn no_report(error: &ReportError) -> CommandError {
    let help = match error {
        ReportError::Load(_) => "",
        ReportError::Write { .. } => {
            "The results beside it are complete; make the report with 'proofload report'."
        }
    };
    CommandError::environment(error.to_string(), help)
}

/// The result document on standard output, and nothing else.
fn as_json(result: &RunResult) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(result)
        .map_err(|error| CommandError::environment(format!("The result: {error}."), ""))?;
    Ok(format!("{text}\n"))
}
