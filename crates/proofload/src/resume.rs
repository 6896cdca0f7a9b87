//! Going on with a run on real storage that was interrupted.

use std::path::Path;
use std::sync::Arc;

use execution::results;
use execution::storage_run::base::places_of;
use execution::{Error, Output, RunOptions};
use measure::recompute::{InterruptedRun, ResumeError};
use measure::run_directory::{CONFIG_FILE, load_result, run_directory_of};
use workload::Profile;

use crate::registry::Registry;
use crate::scenario::Scenario;
use crate::verify::terms;

/// The scenario and the options with which the run in `directory` goes on in that directory, on the databases
/// that it has left. `options` say where these are if not where the run had them, where the copies of a backup
/// go, and who is notified; the rest comes from the run.
///
/// # Errors
/// When there is no run that was interrupted, or its files contradict each other.
pub fn resumed(
    directory: &Path,
    registry: &'static Registry,
    options: RunOptions,
) -> Result<(Scenario, RunOptions), Error> {
    let run = InterruptedRun::load(directory, &|result, config| terms(result, config, registry));
    let run = match run {
        Err(error @ ResumeError::NothingMeasured { .. }) => {
            // The run may be building or warming up.
            refuse_in_progress(directory)?;
            return Err(refusal(&error));
        }
        run => run.map_err(|error| refusal(&error))?,
    };
    let backup_to = &run.result.target.backup_to;
    if !backup_to.is_empty() && options.backup_to.is_none() {
        return Err(Error::usage(
            format!("The copies of the backup of this run went to {backup_to}."),
            "Give --backup-to DIR; the directory must be there and empty.",
        ));
    }
    let config = run.directory.join(CONFIG_FILE).display().to_string();
    let scenario = Scenario {
        registry,
        output: Output::Directory(run.directory.clone()),
        ..Scenario::new(config)
    };
    let (on, log_on) = match options.on.is_empty() {
        true => places_of(&run.result),
        false => (options.on, options.log_on),
    };
    let options = RunOptions {
        on,
        log_on,
        reuse: true,
        array_cache_bytes: run.result.target.array_cache_bytes,
        allow_cached: run.result.target.allow_cached,
        resume: Some(Arc::new(run)),
        ..options
    };
    Ok((scenario, options))
}

fn refuse_in_progress(directory: &Path) -> Result<(), Error> {
    let Ok(result) = load_result(run_directory_of(directory)) else {
        return Ok(());
    };
    let (on, log_on) = places_of(&result);
    let mut targets = on.iter().chain(&log_on);
    Ok(targets.try_for_each(|target| storage::refuse_used(target))?)
}

/// Refuses a run whose settings are not those that its result says.
///
/// # Errors
/// When they were changed, or this version reads them otherwise.
pub(crate) fn refuse_other_settings(
    run: &InterruptedRun,
    profile: &dyn Profile,
) -> Result<(), Error> {
    let (now, before) = (profile.settings(), &run.result.workload.settings);
    let keys = before.keys().chain(now.keys());
    let different = keys.filter(|key| now.get(*key) != before.get(*key)).min();
    match different {
        None => Ok(()),
        Some(key) => Err(Error::usage(
            format!(
                "{key} in {} is not what it was when the run was interrupted.",
                run.directory.join(CONFIG_FILE).display()
            ),
            "Bring the file back as it was, or begin a new run with --reuse.",
        )),
    }
}

fn refusal(error: &ResumeError) -> Error {
    let help = match error {
        ResumeError::Load(_) => {
            "Name the directory of the results of the run, such as proofload-runs/exchange-2013-..."
        }
        ResumeError::Read { .. } | ResumeError::Ended { .. } => "",
        ResumeError::OtherKind { .. } => "Begin a new run.",
        ResumeError::NothingMeasured { .. } => "Begin a new run on its databases with --reuse.",
        ResumeError::OtherVersion { .. } => {
            "Resume it with that version, or begin a new run with --reuse."
        }
        ResumeError::Damaged { .. } => "'proofload verify' lists what differs.",
    };
    Error::usage(results::sentence(&error.to_string()), help)
}
