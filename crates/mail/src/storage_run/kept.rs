//! The databases that an earlier run kept: whether this run may go on them.

use super::last_run;
use crate::edb_host::file_name;
use crate::plan::MailPlan;
use crate::state_file::{Condition, DatabaseState, STATE_FILE};

use execution::Error;
use execution::storage_run::{Places, wall_clock};
use measure::recompute::InterruptedRun;
use runtime::{Directory, File};
use storage::Claim;
use workload::failure::Failure;
use workload::profile::IoDriverChoice;

/// What is there of a database that an earlier run kept.
pub struct Kept {
    /// What it says of itself; `None` when its build has not begun, or when that file is lost.
    pub state: Option<DatabaseState>,
    /// Size of the file of the database; `None` when it is not there.
    pub file_bytes: Option<u64>,
}

impl Kept {
    /// Whether the database is there, so that it need not be built.
    #[must_use]
    pub fn is_built(&self) -> bool {
        let condition = self.state.as_ref().map(|state| state.condition);
        self.file_bytes.is_some() && matches!(condition, Some(Condition::InUse | Condition::Ready))
    }
}

/// What is there of kept databases, in the order of the layout.
pub fn all(claim: &Claim, driver: IoDriverChoice) -> Result<Vec<Kept>, Error> {
    let unreadable = |failure: Failure| {
        Error::integrity(
            format!("The kept databases cannot be read: {failure}."),
            "Check the storage ('dmesg' shows I/O errors).",
        )
    };
    let runtime = wall_clock(driver).map_err(unreadable)?;
    let places = Places::of(claim, false);
    let mut all = Vec::new();
    for number in 0..claim.layout().databases.len() {
        let directory = places.open(&runtime, number).map_err(unreadable)?.data;
        let kept = runtime.block_on(async move {
            Ok::<Kept, Failure>(Kept {
                state: DatabaseState::read(&directory).await?,
                file_bytes: file_bytes(&directory, &file_name(number)).await?,
            })
        });
        all.push(kept.map_err(unreadable)?);
    }
    Ok(all)
}

/// Size of a file; `None` when there is none of this name.
async fn file_bytes<D: Directory>(directory: &D, name: &str) -> Result<Option<u64>, Failure> {
    let failure = |error| Failure::of_io(&error, "looking for the database");
    let names = directory.list().await.map_err(failure)?;
    if !names.iter().any(|one| one == name) {
        return Ok(None);
    }
    let file = directory.open(name).await.map_err(failure)?;
    file.size_bytes().await.map(Some).map_err(failure)
}

/// The seed that kept databases were built with, whatever the profile says. Refuses databases that
/// are not whole or not those of the plan, before anything is done to them.
pub fn seed(claim: &Claim, kept: &[Kept], plan: &MailPlan) -> Result<u64, Error> {
    let layout = claim.layout();
    let marked = layout.built_seed();
    let recorded = || kept.iter().find_map(|kept| Some(kept.state.as_ref()?.seed));
    let seed = marked.or_else(recorded).unwrap_or(plan.data_seed);
    for (number, (kept, place)) in kept.iter().zip(&layout.databases).enumerate() {
        let data = place.data.path().display().to_string();
        refuse_parts(kept, &data, &file_name(number))?;
        if let Some(state) = &kept.state {
            refuse_other(state, &data, seed, plan.built_rows)?;
        }
    }
    Ok(seed)
}

/// Databases that another run has worked on since a run was interrupted are no longer as it left them, nor are
/// those on which it has gone on already. `is_measured`: its measured phase had come to its end.
pub fn refuse_other_run(
    claim: &Claim,
    kept: &[Kept],
    run: &InterruptedRun,
    is_measured: bool,
) -> Result<(), Error> {
    let result = &run.result;
    let resumed = result.interruptions.len();
    // The result says of a continuation before its databases do. One that has not given a sample may have
    // opened some of them.
    let is_without_sample = result
        .interruptions
        .last()
        .is_some_and(|one| run.ends_s <= one.resumed_at_s);
    let notes = |times| last_run(&result.started, times);
    let of_run = |state: &DatabaseState| {
        // Not opened since: in use when the run before was killed, closed when it was stopped.
        let is_unopened = is_without_sample && state.last_run == notes(resumed - 1);
        // What a run has closed it has either stopped with, or measured to its end.
        let is_left = state.condition == Condition::InUse || result.complete || is_measured;
        is_unopened || state.last_run == notes(resumed) && is_left
    };
    let states = kept.iter().map(|one| one.state.as_ref());
    for (state, place) in states.zip(&claim.layout().databases) {
        if state.is_some_and(of_run) {
            continue;
        }
        return Err(Error::usage(
            format!(
                "The database in {} is not as the run in {} has left it: another run has worked on it since, \
                 or it is another database.",
                place.data.path().display(),
                run.directory.display()
            ),
            "Begin a new run on it with --reuse.",
        ));
    }
    Ok(())
}

/// A database and the file that says what has become of it belong together.
fn refuse_parts(kept: &Kept, data: &str, file: &str) -> Result<(), Error> {
    let Some(state) = &kept.state else {
        if kept.file_bytes.is_none() {
            return Ok(());
        }
        return Err(Error::environment(
            format!(
                "The file {STATE_FILE} beside {data}/{file}, which says what has become of this \
                 database, is missing or unreadable."
            ),
            "Bring it back, or remove the kept databases and rebuild them.",
        ));
    };
    if state.condition == Condition::Copying {
        return Err(Error::environment(
            format!(
                "The database {data}/{file} is incomplete: it was being copied there, and that was \
                 interrupted or the copy was found damaged."
            ),
            "Restore it with --restore DIR, or remove the kept databases and rebuild them.",
        ));
    }
    if state.condition != Condition::Building && kept.file_bytes.is_none() {
        return Err(Error::environment(
            format!("The database {data}/{file} is missing; only its {STATE_FILE} is there."),
            format!(
                "Bring the file back, or have this database rebuilt: remove {data}/{STATE_FILE} \
                 and run again with --reuse."
            ),
        ));
    }
    if state.condition == Condition::InUse && state.in_flight.is_none() {
        return Err(Error::environment(
            format!(
                "A run on {data}/{file} was interrupted, and it was one of an older version, which \
                 did not note what this one needs to take the database up again."
            ),
            "Remove the kept databases and rebuild them.",
        ));
    }
    Ok(())
}

/// A database that is not the one of the plan.
fn refuse_other(state: &DatabaseState, data: &str, seed: u64, wanted: u64) -> Result<(), Error> {
    if state.seed != seed {
        return Err(Error::usage(
            format!(
                "The database in {data} was built with seed {}, others with {seed}.",
                state.seed
            ),
            "Name with --on only what was built together.",
        ));
    }
    let built_rows = state.population.built_rows;
    if built_rows != wanted {
        return Err(Error::usage(
            format!(
                "The database in {data} was built with {built_rows} mail items, but the profile \
                 asks for {wanted}."
            ),
            "Give the same --target-size, --mailboxes and --set as when it was built.",
        ));
    }
    Ok(())
}
