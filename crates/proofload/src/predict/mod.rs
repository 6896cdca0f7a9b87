//! `proofload predict`: the workload of a run on a modelled array, in simulated time.
//!
//! The sessions, the page cache, the log and the checkpoint are those of a run; the databases hold
//! no contents, and below them the model of the array answers. The result is that of a run, with
//! the inside of the array.
//!
//! [`Plan::check`] makes a [`Plan`] of what was asked for, or says what is wrong with it; [`run`]
//! turns a plan into a result document, on any thread, without a terminal.

mod arrays;
mod brokerage;
mod drive;
mod growth;
mod inside;
mod inspector;
mod plan;
mod settle;
mod teller;
#[cfg(test)]
mod tests;
mod watch;

pub use arrays::load as load_array;
pub use drive::run;
pub use inside::Inside;
pub use plan::Plan;
pub use watch::Watch;

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use measure::result::RunResult;
use measure::run_directory::RunDirectory;

use crate::cli::PredictOptions;
use crate::commands::print;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::replay;
use crate::run::{self as real_run, Recorder, results};
use crate::{interrupt, live, sweep};
use teller::Teller;

/// The description of the array, beside the settings of the workload.
pub const ARRAY_FILE: &str = "array.toml";

/// Predicts how a workload would run and says what comes out.
pub fn predict(options: &PredictOptions) -> Result<ExitStatus, Failure> {
    if replay::is_trace(options) {
        return replay::replay(options);
    }
    if options.responses.is_some() {
        return Err(Failure::usage(
            "--responses belongs to a block trace, and this is a workload.",
            "Leave it out, or name a trace in place of the workload.",
        ));
    }
    if !options.sweep.is_empty() || options.find.is_some() {
        return sweep::sweep(options);
    }
    let as_run = options.as_run();
    let plan = Plan::check(options)?;
    results::check(&as_run)?;
    let caution = real_run::caution(&plan.profile);
    if options.dry_run {
        let text = plan.describe();
        return print(&format!("{text}{}", caution.unwrap_or_default()));
    }
    if !options.quiet {
        let notes = plan.planned.notes.iter();
        notes.for_each(|note| tell!("{note}"));
        caution
            .iter()
            .for_each(|caution| tell!("{}", caution.to_string().trim_end()));
    }
    let started = Timestamp::now();
    let directory = open(&plan, options.out.as_deref(), started)?;
    let path = directory.path().to_owned();
    let stop = interrupt::stop_on_signals()
        .map_err(|error| Failure::environment(format!("Signals cannot be caught: {error}."), ""))?;
    let recorder =
        Recorder::new(live::simulated_view(options.quiet), directory, stop.clone()).sparing();
    let (result, teller) = run(&plan, started, stop, Teller::new(recorder))?;
    close(teller.into_recorder(), &result)?;
    real_run::tell(&as_run, &result, &path, "")?;
    Ok(ExitStatus::from(result.verdict))
}

/// Makes the run directory of a plan, with all settings in it and a result that says nothing yet.
pub fn open(plan: &Plan, out: Option<&Path>, started: Timestamp) -> Result<RunDirectory, Failure> {
    let config = config(plan);
    let directory = RunDirectory::create(out, &plan.workload, started, &config)
        .map_err(|error| results::refusal(&error))?;
    let path = directory.path().join(ARRAY_FILE);
    fs::write(&path, plan.description.to_toml()).map_err(|error| {
        Failure::environment(
            format!("{} cannot be written: {error}.", path.display()),
            "",
        )
    })?;
    results::begin(&directory, &plan.base(started))?;
    Ok(directory)
}

/// All settings of the workload, as they stand in the run directory.
pub fn config(plan: &Plan) -> String {
    format!(
        "# All settings in force. Predict it again with 'proofload predict config.toml --array \
         {ARRAY_FILE}'.\n{}",
        plan.profile.to_toml()
    )
}

/// Writes the result when everything has been recorded.
pub fn close(recorder: Recorder, result: &RunResult) -> Result<(), Failure> {
    let (directory, trouble) = recorder.finish();
    let written = directory.write_result(result);
    match trouble.or(written.err()) {
        Some(error) => Err(results::unwritable(&error)),
        None => Ok(()),
    }
}
