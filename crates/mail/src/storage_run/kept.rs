//! The databases that an earlier run kept: whether this run may go on them.

use super::last_run;
use crate::edb_host::file_name;
use crate::plan::MailPlan;
use crate::state_file::{Condition, DatabaseState, Found, MOVE_IT_AWAY, STATE_FILE};

use edb::reading::header_of;
use execution::Error;
use execution::storage_run::{Places, wall_clock};
use measure::recompute::InterruptedRun;
use measure::units::end_sentence;
use runtime::{Directory, File};
use storage::Claim;
use workload::failure::Failure;
use workload::profile::IoDriverChoice;

/// What is there of a database that an earlier run kept.
pub struct Kept {
    /// What says what has become of it.
    pub state: Found,
    /// What its header is distinguished by; `None` where it has none that can be read.
    pub signature: Option<u32>,
    /// Size of the file of the database; `None` when it is not there.
    pub file_bytes: Option<u64>,
}

impl Kept {
    /// Whether the database is there, so that it need not be built.
    #[must_use]
    pub fn is_built(&self) -> bool {
        let is_built = match &self.state {
            Found::State(state) => matches!(state.condition, Condition::InUse | Condition::Ready),
            // What the state said is found out from the database.
            Found::Missing | Found::Damaged => true,
            Found::Other(_) => false,
        };
        self.file_bytes.is_some() && is_built
    }

    /// Its state, if there is one.
    fn state(&self) -> Option<&DatabaseState> {
        match &self.state {
            Found::State(state) => Some(state),
            _ => None,
        }
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
            let name = file_name(number);
            let file_bytes = file_bytes(&directory, &name).await?;
            Ok::<Kept, Failure>(Kept {
                state: DatabaseState::find(&directory).await?,
                signature: match file_bytes {
                    Some(_) => signature(&directory, &name).await,
                    None => None,
                },
                file_bytes,
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

/// What the header of a database is distinguished by. A file without one that can be read is refused when it is
/// opened.
async fn signature<D: Directory>(directory: &D, name: &str) -> Option<u32> {
    let file = directory.open(name).await.ok()?;
    Some(header_of(&file).await.ok()?.signature.random)
}

/// The seed that kept databases were built with, whatever the profile says. Refuses databases that
/// are not whole or not those of the plan, before anything is done to them.
pub fn seed(claim: &Claim, kept: &[Kept], plan: &MailPlan) -> Result<u64, Error> {
    let layout = claim.layout();
    let marked = layout.built_seed();
    let recorded = || kept.iter().find_map(|kept| Some(kept.state()?.seed));
    let seed = marked.or_else(recorded).unwrap_or(plan.data_seed);
    for (number, (kept, place)) in kept.iter().zip(&layout.databases).enumerate() {
        let data = place.data.path().display().to_string();
        refuse_parts(kept, &data, &file_name(number))?;
        let of_seed = plan.signature_of(seed, number);
        if let Some(state) = kept.state() {
            refuse_other_state(kept, state, &data, (seed, of_seed))?;
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
    let states = kept.iter().map(Kept::state);
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
    let state = match &kept.state {
        Found::State(state) => state,
        Found::Missing | Found::Damaged => return Ok(()),
        Found::Other(what) => {
            return Err(Error::environment(
                format!(
                    "{data}/{STATE_FILE}, which says what has become of {file}, cannot be used: {what}."
                ),
                end_sentence(format!("Bring it back, or {MOVE_IT_AWAY}")),
            ));
        }
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

/// A state of another database than the one it lies beside, whose header shows that it is the one of the plan:
/// `of_plan` is the seed and what the header is distinguished by then.
fn refuse_other_state(
    kept: &Kept,
    state: &DatabaseState,
    data: &str,
    (seed, signature): (u64, u32),
) -> Result<(), Error> {
    if state.seed == seed || kept.signature != Some(signature) {
        return Ok(());
    }
    Err(Error::environment(
        format!(
            "{data}/{STATE_FILE} belongs to another database: it is of one that was built with seed {}, and the \
             one in {data} was built with seed {seed}.",
            state.seed
        ),
        end_sentence(format!("Bring the right one back, or {MOVE_IT_AWAY}")),
    ))
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
