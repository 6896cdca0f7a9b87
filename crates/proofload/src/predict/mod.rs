//! `proofload predict`: the workload of a run on a modelled array, in simulated time.
//!
//! The sessions, the database cache, the log and the checkpoint are those of a run; the databases hold
//! no contents, and below them the model of the array answers. The result is that of a run, with
//! figures of the array.
//!
//! [`Plan::check`] makes a [`Plan`] of what was asked for, or says what is wrong with it; [`run`]
//! turns a plan into a result document, on any thread, without a terminal.

mod array_details;
mod array_sampler;
mod arrays;
mod check;
mod drive;
mod growth;
mod plan;
mod settle;
#[cfg(test)]
mod tests;
pub(crate) mod watch;

pub use array_details::ArrayDetails;
pub use arrays::load as load_array;
pub use drive::run;
pub use plan::Plan;
pub use watch::Watch;

use std::fs;

use array::description::Description;
use jiff::Timestamp;
use measure::run_directory::RunDirectory;
use workload::progress::StopRequest;

use crate::scenario::Scenario;
use crate::workers;
use execution::Error;
use execution::Outcome;
use execution::Output;
use execution::clock;
use execution::events::{Observer, ignore};
use execution::recorder::Recorder;
use execution::results;

/// The description of the array, beside the settings of the workload.
pub const ARRAY_FILE: &str = "array.toml";

/// A prediction that can begin.
pub struct Prepared {
    plan: Plan,
    output: Output,
}

impl Prepared {
    /// Checks everything. Writes nothing.
    ///
    /// # Errors
    /// Every fault of the profile or the array, and a directory for the results that is not vacant.
    pub fn new(scenario: &Scenario) -> Result<Self, Error> {
        let plan = Plan::check(scenario)?;
        plan.check_parameter_sets()?;
        results::check(&scenario.output)?;
        let output = scenario.output.clone();
        Ok(Self { plan, output })
    }

    /// The array and the load as text.
    #[must_use]
    pub fn describe(&self) -> String {
        let text = self.plan.describe();
        format!("{text}{}", self.warning().unwrap_or_default())
    }

    /// What there is to know of the plan before it is computed.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.plan.planned.notes.iter().map(String::as_str)
    }

    /// What this prediction cannot give.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        results::sample_warning(&*self.plan.profile)
    }

    /// Computes the prediction to its end, or until somebody asks it to `stop`.
    ///
    /// # Errors
    /// When the array cannot be built or the results cannot be written.
    pub fn run(self, observer: Box<dyn Observer>, stop: &StopRequest) -> Result<Outcome, Error> {
        let started = clock::timestamp();
        let directory = open(&self.plan, &self.output, started)?;
        let path = directory
            .as_ref()
            .map(|directory| directory.path().to_owned());
        let recorder = Recorder::new(observer, directory, stop.clone()).sparing();
        let jobs = workers::cpus();
        let (mut result, recorder) = run(&self.plan, started, stop, recorder, jobs)?;
        recorder.finish(&mut result).1.complete()?;
        Ok(Outcome {
            result,
            directory: path,
            unwritten: None,
            storage: None,
        })
    }
}

impl Scenario {
    /// Predicts how the workload would run on the array, without an observer.
    ///
    /// # Errors
    /// Every fault of the profile or the array; when results cannot be written.
    pub fn predict(&self) -> Result<Outcome, Error> {
        Prepared::new(self)?.run(ignore(), &StopRequest::new())
    }
}

/// Makes the run directory of a plan, if there is to be one, with all settings in it and a result
/// that says nothing yet.
///
/// # Errors
/// When it cannot be made.
pub fn open(
    plan: &Plan,
    output: &Output,
    started: Timestamp,
) -> Result<Option<RunDirectory>, Error> {
    let run = Some(plan.profile.run());
    let directory = results::open(output, &plan.workload, started, &config(plan), run)?;
    if let Some(directory) = &directory {
        write_array(directory, &plan.description)?;
    }
    results::begin(directory.as_ref(), &plan.base(started))?;
    Ok(directory)
}

/// Writes the description of the array beside the settings of the workload.
///
/// # Errors
/// When the file cannot be written.
pub fn write_array(directory: &RunDirectory, description: &Description) -> Result<(), Error> {
    let path = directory.path().join(ARRAY_FILE);
    fs::write(&path, description.to_toml()).map_err(|error| {
        Error::environment(
            format!("{} cannot be written: {error}.", path.display()),
            "",
        )
    })
}

/// All settings of the workload, as they stand in the run directory.
pub fn config(plan: &Plan) -> String {
    format!(
        "# All settings in force. Predict it again with 'proofload predict config.toml --array \
         {ARRAY_FILE}'.\n{}",
        plan.profile.to_toml()
    )
}
