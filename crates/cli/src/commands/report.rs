//! `proofload report`: the report of one run, or several side by side.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use measure::run_directory::REPORT_FILE;
use report::{NoJetstressReport, Run, Style};

use super::outcome::{NAME_A_RUN, not_a_run};
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::ReportOptions;
use crate::print::{notify, print};

/// Name of the file that compares runs when no other is given.
const COMPARISON_FILE: &str = "comparison.html";

/// What stands for standard output among file names.
const OUTPUT: &str = "-";

/// Writes the HTML file and what else was asked for, and prints the tables.
pub fn report(options: &ReportOptions) -> Result<ExitStatus, CommandError> {
    if options.fio_json.is_some() && options.runs.len() > 1 {
        return Err(CommandError::usage(
            "--fio-json takes one run, and several were named.",
            "Call 'proofload report' once for each run; --csv takes several.",
        ));
    }
    let to_output = to_output(options);
    if let [first, second, ..] = to_output.as_slice() {
        return Err(CommandError::usage(
            format!("Both {first} and {second} were to go to standard output."),
            "Give one of them the name of a file.",
        ));
    }
    let runs: Vec<Run> = options
        .runs
        .iter()
        .map(|path| load(path))
        .collect::<Result<_, _>>()?;
    let style = Style::of_standard_output();
    let (page, tables, default_path) = match runs.as_slice() {
        [run] => {
            let directory = directory_of(&options.runs[0]);
            let path = directory.join(REPORT_FILE);
            (report::html(run), report::terminal(run, &style), path)
        }
        runs => (
            report::html_comparison(runs),
            report::terminal_comparison(runs, &style),
            PathBuf::from(COMPARISON_FILE),
        ),
    };
    let path = options.out.as_ref().unwrap_or(&default_path);
    match &options.out {
        Some(path) => write(path, "--out", &page)?,
        None => report::replace_document(path, page.as_bytes())
            .map_err(|error| unwritable(path, "--out", &error))?,
    }
    if let Some(path) = &options.csv {
        write(path, "--csv", &report::csv_summary(&runs))?;
    }
    if let (Some(path), [run]) = (&options.fio_json, runs.as_slice()) {
        write(path, "--fio-json", &format!("{}\n", report::fio_json(run)))?;
    }
    if let Some(path) = &options.markdown {
        let text = match runs.as_slice() {
            [run] => report::markdown(run),
            runs => report::markdown_comparison(runs),
        };
        write(path, "--markdown", &text)?;
    }
    if options.jetstress_report {
        for (run, path) in runs.iter().zip(&options.runs) {
            let quiet = options.quiet || !to_output.is_empty();
            jetstress_report(run, &directory_of(path), quiet)?;
        }
    }
    if !options.quiet && to_output.is_empty() {
        print(&format!("{tables}\nReport: {}\n", path.display()))?;
    }
    Ok(ExitStatus::Pass)
}

/// The options whose file is standard output.
fn to_output(options: &ReportOptions) -> Vec<&'static str> {
    let files = [
        ("--csv", &options.csv),
        ("--fio-json", &options.fio_json),
        ("--markdown", &options.markdown),
    ];
    let output = Some(Path::new(OUTPUT));
    let to_output = files
        .into_iter()
        .filter(|(_, path)| path.as_deref() == output);
    to_output.map(|(option, _)| option).collect()
}

/// Writes a run in the layout of Jetstress's reports, and notes where.
pub fn jetstress_report(run: &Run, directory: &Path, quiet: bool) -> Result<(), CommandError> {
    let written = report::write_jetstress_report(run, directory).map_err(|error| match error {
        NoJetstressReport::Write(_) => CommandError::environment(
            error.to_string(),
            "Make the directory of the run writable, or copy it to where you may write.",
        ),
        _ => CommandError::usage(error.to_string(), "Leave out --jetstress-report."),
    })?;
    for path in written.iter().filter(|_| !quiet) {
        notify(&format!("In the layout of Jetstress: {}", path.display()));
    }
    Ok(())
}

/// Writes a file that the user named with `option`.
fn write(path: &Path, option: &str, text: &str) -> Result<(), CommandError> {
    if path == Path::new(OUTPUT) && option != "--out" {
        return print(text).map(drop);
    }
    fs::write(path, text).map_err(|error| unwritable(path, option, &error))
}

fn unwritable(path: &Path, option: &str, error: &io::Error) -> CommandError {
    CommandError::environment(
        format!("{} cannot be written: {error}.", path.display()),
        format!("Name another file with {option}."),
    )
}

fn load(path: &Path) -> Result<Run, CommandError> {
    if !path.exists() {
        let message = format!("{} does not exist.", path.display());
        return Err(CommandError::usage(message, NAME_A_RUN));
    }
    report::load_run(path).map_err(|error| not_a_run(&error))
}

fn directory_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.to_owned();
    }
    path.parent().map(Path::to_owned).unwrap_or_default()
}
