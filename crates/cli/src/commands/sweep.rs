//! `proofload predict --sweep` and `--find`: many predictions side by side.

use std::fs;
use std::path::Path;

use measure::grid::GridResult;
use measure::run_directory::REPORT_FILE;
use monitor::progress;
use proofload::ranks::help;
use proofload::sweep::Prepared;
use proofload::{Output, Scenario};
use report::Style;

use super::reports::Reports;
use super::watched::open;
use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::options::{OutputOptions, PredictOptions};
use crate::print::{notify, print};
use crate::ranks;

/// The grid as rows for spreadsheets.
const CSV_FILE: &str = "grid.csv";

/// Makes many predictions and prints what comes out.
pub fn sweep(scenario: &Scenario, options: &PredictOptions) -> Result<ExitStatus, CommandError> {
    let axes = options.axes()?;
    let jobs = options.jobs.map(|jobs| jobs as usize);
    let peers = match options.dry_run {
        true => None,
        false => ranks::join_all()?,
    };
    let mut scenario = scenario.clone();
    if peers.as_ref().is_some_and(|peers| !peers.is_first()) {
        // Only rank 0 has the results.
        scenario.output = Output::Memory;
    }
    let prepared = match options.find {
        Some(find) => Prepared::search(&scenario, find, &axes, jobs)?,
        None => Prepared::new(&scenario, &axes, jobs)?,
    };
    let wanted = options.events.wanted(options.output.json)?;
    if options.dry_run {
        wanted.check()?;
        return print(&prepared.describe());
    }
    let stop = stop_on_signals()?;
    if let Some(peers) = peers.as_ref().filter(|peers| !peers.is_first()) {
        help(peers, jobs, &stop, |name, to| {
            prepared.compute_point(name, to, &stop)
        });
        return Ok(ExitStatus::Pass);
    }
    let OutputOptions { quiet, .. } = options.output;
    let monitors = open(&wanted, (&scenario.workload, &options.array), quiet)?;
    let reports = Reports::default();
    let view = || monitors.observer(|| reports.write_with(progress::of_points(quiet)));
    let done = match peers {
        None => prepared.run(view(), &stop),
        Some(peers) => ranks::lead(peers, |helpers| prepared.run_with(view(), &stop, helpers)),
    };
    let trouble = match &done {
        Ok(outcome) => monitors.finish_points(outcome.verdict, &outcome.grid.summary),
        Err(error) => monitors.fail(error),
    };
    trouble.iter().for_each(|text| notify(text));
    let outcome = done?;
    reports.written()?;
    let directory = outcome.directory.unwrap_or_default();
    let text = write(options, &outcome.grid, &directory)?;
    print_answer(&text, ExitStatus::from(outcome.verdict))
}

/// Writes the files for people, and returns the table or the document to print.
fn write(
    options: &PredictOptions,
    grid: &GridResult,
    directory: &Path,
) -> Result<String, CommandError> {
    for (name, text) in [
        (CSV_FILE, report::grid_csv(grid)),
        (REPORT_FILE, report::html_grid(grid)),
    ] {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| {
            CommandError::environment(
                format!("{} cannot be written: {error}.", path.display()),
                "",
            )
        })?;
    }
    if options.output.json {
        let text = serde_json::to_string_pretty(grid)
            .map_err(|error| CommandError::environment(format!("The grid: {error}."), ""))?;
        Ok(format!("{text}\n"))
    } else if !options.output.quiet && !options.events.to_output() {
        let tables = report::terminal_grid(grid, &Style::of_standard_output());
        let page = directory.join(REPORT_FILE);
        Ok(format!("{tables}\nReport: {}\n", page.display()))
    } else {
        Ok(String::new())
    }
}
