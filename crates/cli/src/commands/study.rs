//! `proofload study`: published studies repeated, the model beside the paper.

use std::fs;

use measure::run_directory::REPORT_FILE;
use monitor::progress;
use proofload::ranks::help;
use proofload::study::Prepared;
use report::Style;

use super::reports::Reports;
use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::options::StudyOptions;
use crate::ranks;

/// Repeats studies and prints how far the model is from the papers.
pub fn study(options: &StudyOptions) -> Result<ExitStatus, CommandError> {
    let peers = ranks::join_all()?;
    let mut request = options.request()?;
    if peers.as_ref().is_some_and(|peers| !peers.is_first()) {
        // Only rank 0 has the results.
        request.out = Some(std::env::temp_dir().join(format!("proofload-{}", std::process::id())));
    }
    let prepared = Prepared::new(&request)?;
    let stop = stop_on_signals()?;
    let reports = Reports::default();
    let jobs = options.jobs;
    let view = || reports.write_with(progress::of_cases(prepared.jobs(), options.output.quiet));
    let outcome = match peers {
        None => {
            let view = view();
            prepared.run(view, &stop)?
        }
        Some(peers) if peers.is_first() => {
            let view = view();
            ranks::lead(peers, |helpers| prepared.run_with(view, &stop, helpers))?
        }
        Some(peers) => {
            help(&peers, jobs, &stop, |name, to| {
                prepared.compute_case(name, to, &stop)
            });
            return Ok(ExitStatus::Pass);
        }
    };
    reports.written()?;
    let page = outcome.directory.join(REPORT_FILE);
    let html = report::html_document(&report::study_page(&outcome.studies));
    fs::write(&page, html).map_err(|error| {
        CommandError::environment(
            format!("{} cannot be written: {error}.", page.display()),
            "Name another directory with --out.",
        )
    })?;
    let status = ExitStatus::from(outcome.verdict);
    if options.output.json {
        print_answer(&format!("{}\n", outcome.figures_json()?), status)
    } else if !options.output.quiet {
        let tables = report::study_tables(&outcome.studies);
        let text = report::terminal_document(&tables, &Style::of_standard_output());
        print_answer(&format!("{text}\nReport: {}\n", page.display()), status)
    } else {
        Ok(status)
    }
}
