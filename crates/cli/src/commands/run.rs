//! `proofload run`, and what all commands print at the end of a run.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use measure::result::RunResult;
use measure::run_directory::{LoadError, REPORT_FILE};
use proofload::run::Prepared;
use proofload::{Outcome, WORKLOADS};
use report::{Run, Style};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::live;
use crate::options::RunOptions;
use crate::print::{notify, print};

/// Runs a workload on real storage and prints the verdict.
pub fn run(options: &RunOptions) -> Result<ExitStatus, CommandError> {
    raise_limit_of_open_files();
    let prepared = Prepared::new(&options.scenario()?, &options.storage()?)?;
    if options.dry_run {
        return print(&prepared.describe()?);
    }
    if let Some(sample_warning) = prepared.sample_warning().filter(|_| !options.output.quiet) {
        notify(sample_warning.trim_end());
    }
    if !options.output.quiet {
        notify(prepared.schedule()?.trim_end());
    }
    let outcome = prepared.run(live::view(options.output.quiet), &stop_on_signals()?)?;
    report_outcome(&outcome, options.output.json, options.output.quiet)
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
    if let Some(trouble) = &outcome.unwritten {
        notify(&format!("{trouble} The results on disk are incomplete."));
    }
    if outcome.directory.is_some() || outcome.unwritten.is_some() {
        let run = outcome.directory.as_deref().and_then(whole_run);
        let run = run.filter(|_| outcome.unwritten.is_none());
        let run = run.unwrap_or_else(|| run_without_files(result));
        let page = outcome.directory.as_deref().and_then(|directory| {
            let page = directory.join(REPORT_FILE);
            match write_page(&page, &report::html(&run)) {
                Ok(()) => Some(page),
                Err(error) => page_elsewhere(&run, &page, &error),
            }
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
    let run = load_run(directory);
    run.map_err(|error| notify(&format!("The results are unreadable: {error}.")))
        .ok()
}

/// A run of which only the result is left.
fn run_without_files(result: &RunResult) -> Run {
    let mut run = Run::from_result(&result.workload.name, result.clone());
    run.contribution = WORKLOADS.contribution(result);
    run
}

/// Writes a report that has no room beside its results into the directory for temporary files.
fn page_elsewhere(run: &Run, wanted: &Path, error: &io::Error) -> Option<PathBuf> {
    notify(&format!(
        "The report {} cannot be written: {error}.",
        wanted.display()
    ));
    let name = format!("proofload-{}-{}", std::process::id(), REPORT_FILE);
    let page = std::env::temp_dir().join(name);
    // Others may write there, too: a name that is taken is not overwritten.
    let mut file = fs::File::create_new(&page).ok()?;
    file.write_all(report::html(run).as_bytes()).ok()?;
    Some(page)
}

/// The run in a directory, with what its workload adds to the report.
pub fn load_run(path: &Path) -> Result<Run, LoadError> {
    Run::load(path, |result| WORKLOADS.contribution(result))
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

/// Writes the report of the run in a directory beside its results.
pub fn write_report(directory: &Path) -> Result<(), CommandError> {
    let run = load_run(directory).map_err(|error| {
        CommandError::environment(format!("The results are unreadable: {error}."), "")
    })?;
    let page = directory.join(REPORT_FILE);
    write_page(&page, &report::html(&run)).map_err(|error| {
        CommandError::environment(
            format!("The report {} cannot be written: {error}.", page.display()),
            "The results beside it are complete; make the report with 'proofload report'.",
        )
    })
}

/// Writes a report in one step. A link in its place is replaced, and not followed.
fn write_page(page: &Path, html: &str) -> io::Result<()> {
    let temporary = page.with_extension("html.tmp");
    let write = || {
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::File::create_new(&temporary)?.write_all(html.as_bytes())?;
        fs::rename(&temporary, page)
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// The result document on standard output, and nothing else.
fn as_json(result: &RunResult) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(result)
        .map_err(|error| CommandError::environment(format!("The result: {error}."), ""))?;
    Ok(format!("{text}\n"))
}
