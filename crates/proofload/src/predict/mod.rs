//! `proofload predict`: the workload of a run on a modelled array, in simulated time.
//!
//! The sessions, the page cache, the log and the checkpoint are those of a run; the databases hold
//! no contents, and below them the model of the array answers. The result is that of a run, with
//! the inside of the array.
//!
//! [`Plan::check`] makes a [`Plan`] of what was asked for, or says what is wrong with it; [`run`]
//! turns a plan into a result document, on any thread, without a terminal.

mod arrays;
mod drive;
mod inside;
mod inspector;
mod plan;
mod teller;
#[cfg(test)]
mod tests;

pub use drive::run;
pub use plan::Plan;

use std::fs;

use jiff::Timestamp;
use measure::run_directory::RunDirectory;

use crate::cli::PredictOptions;
use crate::commands::print;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::run::{self as real_run, Recorder, results};
use crate::{interrupt, live};
use teller::Teller;

/// The description of the array, beside the settings of the workload.
const ARRAY_FILE: &str = "array.toml";

/// Predicts how a workload would run and says what comes out.
pub fn predict(options: &PredictOptions) -> Result<ExitStatus, Failure> {
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
        notes.for_each(|note| eprintln!("{note}"));
        caution.iter().for_each(|caution| eprint!("{caution}"));
    }
    let started = Timestamp::now();
    let directory = open(options, &plan, started)?;
    let path = directory.path().to_owned();
    results::begin(&directory, &plan.base(started))?;
    let stop = interrupt::stop_on_signals()
        .map_err(|error| Failure::environment(format!("Signals cannot be caught: {error}."), ""))?;
    let recorder = Recorder::new(live::view(options.quiet), directory, stop.clone());
    let (result, teller) = run(&plan, started, stop, Teller::new(recorder))?;
    let (directory, trouble) = teller.into_recorder().finish();
    let written = directory.write_result(&result);
    if let Some(error) = trouble.or(written.err()) {
        return Err(results::unwritable(&error));
    }
    real_run::tell(&as_run, &result, &path, "")?;
    Ok(ExitStatus::from(result.verdict))
}

fn open(
    options: &PredictOptions,
    plan: &Plan,
    started: Timestamp,
) -> Result<RunDirectory, Failure> {
    let config = format!(
        "# All settings in force. Predict it again with 'proofload predict config.toml --array \
         {ARRAY_FILE}'.\n{}",
        plan.profile.to_toml()
    );
    let out = options.out.as_deref();
    let directory = RunDirectory::create(out, &plan.workload, started, &config)
        .map_err(|error| results::refusal(&error))?;
    let path = directory.path().join(ARRAY_FILE);
    fs::write(&path, plan.description.to_toml()).map_err(|error| {
        Failure::environment(
            format!("{} cannot be written: {error}.", path.display()),
            "",
        )
    })?;
    Ok(directory)
}
