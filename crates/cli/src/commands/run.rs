//! `proofload run`, and what all commands print at the end of a run.

use std::fs;
use std::path::Path;

use measure::result::RunResult;
use measure::run_directory::{LoadError, REPORT_FILE};
use proofload::run::Prepared;
use proofload::{Outcome, WORKLOADS};
use report::{Run, Style};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::live;
use crate::options::RunOptions;
use crate::print::{notify, print};

/// Runs a workload on real storage and prints the verdict.
pub fn run(options: &RunOptions) -> Result<ExitStatus, CommandError> {
    let prepared = Prepared::new(&options.scenario()?, &options.storage())?;
    if options.dry_run {
        return print(&prepared.describe()?);
    }
    if let Some(sample_warning) = prepared.sample_warning().filter(|_| !options.output.quiet) {
        notify(sample_warning.trim_end());
    }
    let outcome = prepared.run(live::view(options.output.quiet), &stop_on_signals()?)?;
    report_outcome(&outcome, options.output.json, options.output.quiet)
}

/// Writes the report of a run, and prints the verdict or the result.
pub fn report_outcome(
    outcome: &Outcome,
    json: bool,
    quiet: bool,
) -> Result<ExitStatus, CommandError> {
    let result = &outcome.result;
    let storage = outcome.storage.as_deref().unwrap_or_default();
    if let Some(directory) = &outcome.directory {
        let run = load_run(directory).map_err(|error| {
            CommandError::environment(format!("The results are unreadable: {error}."), "")
        })?;
        let page = directory.join(REPORT_FILE);
        write_page(&page, &report::html(&run))?;
        if !json && !quiet {
            let tables = report::terminal(&run, &Style::of_standard_output());
            let page = page.display();
            print(&format!("{tables}\n{storage}\nReport: {page}\n"))?;
        }
    }
    if json {
        if !quiet {
            notify(storage);
        }
        print_json(result)?;
    }
    Ok(ExitStatus::from(result.verdict))
}

/// The run in a directory, with what its workload adds to the report.
pub fn load_run(path: &Path) -> Result<Run, LoadError> {
    Run::load(path, |result| WORKLOADS.contribution(result))
}

/// Writes the report of the run in a directory beside its results.
pub fn write_report(directory: &Path) -> Result<(), CommandError> {
    let run = load_run(directory).map_err(|error| {
        CommandError::environment(format!("The results are unreadable: {error}."), "")
    })?;
    write_page(&directory.join(REPORT_FILE), &report::html(&run))
}

fn write_page(page: &Path, html: &str) -> Result<(), CommandError> {
    fs::write(page, html).map_err(|error| {
        CommandError::environment(
            format!("The report {} cannot be written: {error}.", page.display()),
            "The results beside it are complete; make the report with 'proofload report'.",
        )
    })
}

/// The result document on standard output, and nothing else.
fn print_json(result: &RunResult) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(result)
        .map_err(|error| CommandError::environment(format!("The result: {error}."), ""))?;
    print(&format!("{text}\n")).map(drop)
}
