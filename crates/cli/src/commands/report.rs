//! `proofload report`: the report of one run, or several side by side.

use std::fs;
use std::path::{Path, PathBuf};

use measure::run_directory::REPORT_FILE;
use report::{NoJetstressReport, Run, Style};

use super::outcome::{NAME_A_RUN, not_a_run, whole_run};
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::ReportOptions;
use crate::print::{self, notify, print};
use proofload::Outcome;
use proofload::new_file::{is_file, refused};

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
    check_files(options)?;
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
            .map_err(|error| refused(path, "--out", &error))?,
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

/// The files that options name, each with its option.
fn files(options: &ReportOptions) -> impl Iterator<Item = (&'static str, &Path)> {
    let files = [
        ("--out", &options.out),
        ("--csv", &options.csv),
        ("--fio-json", &options.fio_json),
        ("--markdown", &options.markdown),
    ];
    let named = files.into_iter();
    named.filter_map(|(option, path)| Some((option, path.as_deref()?)))
}

/// Whether what an option writes goes to standard output.
fn is_output((option, path): &(&str, &Path)) -> bool {
    *path == Path::new(OUTPUT) && *option != "--out"
}

/// The options whose file is standard output.
fn to_output(options: &ReportOptions) -> Vec<&'static str> {
    let to_output = files(options).filter(is_output);
    to_output.map(|(option, _)| option).collect()
}

/// Before anything is written: no file is written twice, and none that is there already unless that was
/// asked for; of those in the directory of a run only its report.
fn check_files(options: &ReportOptions) -> Result<(), CommandError> {
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for file in files(options).filter(|file| !is_output(file)) {
        let (option, path) = file;
        let place = absolute(path);
        if let Some((other, _)) = seen.iter().find(|(_, other)| *other == place) {
            return Err(CommandError::usage(
                format!("{other} and {option} both name {}.", path.display()),
                "Give one of them another name.",
            ));
        }
        let mut runs = options.runs.iter();
        if is_file(path)
            && runs.any(|run| place.parent() == Some(&absolute(&directory_of(run))))
            && !place.ends_with(REPORT_FILE)
        {
            return Err(CommandError::usage(
                format!(
                    "{} lies in the directory of a run, where nothing but its report is written over.",
                    path.display()
                ),
                format!("Name another file with {option}."),
            ));
        }
        if is_file(path) && !options.overwrite {
            return Err(CommandError::usage(
                format!(
                    "{} is there already, and is not overwritten.",
                    path.display()
                ),
                format!("Name another file with {option}, or allow it with --overwrite."),
            ));
        }
        seen.push((option, place));
    }
    Ok(())
}

/// The path without links, as far as it is there.
fn absolute(path: &Path) -> PathBuf {
    let whole = fs::canonicalize(path);
    whole.unwrap_or_else(|_| {
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let parent = fs::canonicalize(parent.unwrap_or(Path::new("."))).unwrap_or_default();
        parent.join(path.file_name().unwrap_or_default())
    })
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

/// Writes the result in the layout of Jetstress's reports. The verdict is the exit status, also where this
/// cannot be done.
pub fn jetstress_report_of(outcome: &Outcome, quiet: bool) {
    let Some(directory) = outcome.directory.as_deref() else {
        return;
    };
    let written = whole_run(directory).map(|run| jetstress_report(&run, directory, quiet));
    if let Some(Err(error)) = written {
        print::error(&error);
    }
}

/// Writes a file that the user named with `option`.
fn write(path: &Path, option: &str, text: &str) -> Result<(), CommandError> {
    if is_output(&(option, path)) {
        return print(text).map(drop);
    }
    Ok(fs::write(path, text).map_err(|error| refused(path, option, &error))?)
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
