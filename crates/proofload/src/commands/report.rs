//! `proofload report`: the report of one run, or several side by side.

use std::fs;
use std::path::{Path, PathBuf};

use measure::run_directory::REPORT_FILE;
use report::{Run, Style};

use super::print;
use crate::cli::ReportOptions;
use crate::exit::ExitStatus;
use crate::failure::Failure;

/// Name of the file that compares runs when no other is given.
const COMPARISON_FILE: &str = "comparison.html";

/// Writes the HTML file and prints the tables.
pub fn report(options: &ReportOptions) -> Result<ExitStatus, Failure> {
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
    fs::write(path, page).map_err(|error| {
        Failure::environment(
            format!("The report {} cannot be written: {error}.", path.display()),
            "Name another file with --out.",
        )
    })?;
    if !options.quiet {
        print(&format!("{tables}\nReport: {}\n", path.display()))?;
    }
    Ok(ExitStatus::Pass)
}

fn load(path: &Path) -> Result<Run, Failure> {
    Run::load(path).map_err(|error| {
        Failure::usage(
            format!("{error}."),
            "Name the directory of a run, such as proofload-runs/exchange-2013-...",
        )
    })
}

fn directory_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.to_owned();
    }
    path.parent().map(Path::to_owned).unwrap_or_default()
}
