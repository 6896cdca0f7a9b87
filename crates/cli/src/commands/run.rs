//! `proofload run`, and what all commands print at the end of a run.

use std::path::Path;

use measure::result::RunResult;
use measure::run_directory::LoadError;
use proofload::Outcome;
use proofload::run::Prepared;
use report::{ReportError, Run, Style};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::report::jetstress_report;
use crate::answer::print_answer;
use crate::diagnostics;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::live;
use crate::options::RunOptions;
use crate::print::{notify, print};
use crate::ranks;

/// Runs a workload on real storage and prints the verdict.
pub fn run(options: &RunOptions) -> Result<ExitStatus, CommandError> {
    raise_limit_of_open_files();
    match ranks::join(options.rank_timeout()) {
        Ok(None) => {}
        joined => return super::ranks::run(options, joined),
    }
    let legacy = options.legacy()?;
    let scenario = options.scenario(legacy.as_ref())?;
    let prepared = Prepared::new(&scenario, &options.storage(legacy.as_ref())?)?;
    let translation = legacy.map_or_else(String::new, |legacy| legacy.to_string());
    if options.dry_run {
        return print(&format!("{translation}{}", prepared.describe()?));
    }
    if !translation.is_empty() && !options.output.quiet {
        notify(translation.trim_end());
    }
    if let Some(sample_warning) = prepared.sample_warning().filter(|_| !options.output.quiet) {
        notify(sample_warning.trim_end());
    }
    if !options.output.quiet {
        notify(prepared.schedule()?.trim_end());
    }
    let outcome = prepared.run(live::view(options.output.quiet), &stop_on_signals()?)?;
    let status = report_outcome(&outcome, options.output.json, options.output.quiet)?;
    if options.jetstress_report {
        jetstress_report_of(&outcome, options.output.quiet);
    }
    Ok(status)
}

/// Writes the result in the layout of Jetstress's reports. The verdict is the exit status, also where this
/// cannot be done.
fn jetstress_report_of(outcome: &Outcome, quiet: bool) {
    let Some(directory) = outcome.directory.as_deref() else {
        return;
    };
    let written = whole_run(directory).map(|run| jetstress_report(&run, directory, quiet));
    if let Some(Err(error)) = written {
        diagnostics::print(&error);
    }
}

/// Lets the process open as many files as it is allowed to. Each file of a database takes two
/// descriptors, one of them for its lock, and the usual limit of 1,024 is meant for programs that use
/// `select`, which this one does not.
fn raise_limit_of_open_files() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum || limit.maximum.is_none() {
        // Where it is refused, the lower limit stays.
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: limit.maximum,
                maximum: limit.maximum,
            },
        );
    }
}

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
        notify(&format!("{problem} The results on disk are incomplete."));
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
fn whole_run(directory: &Path) -> Option<Run> {
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
