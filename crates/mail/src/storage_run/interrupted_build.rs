//! Builds that were interrupted: the same command goes on with them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use execution::storage_run::Unfinished;
use measure::result::ResumedBuild;
use measure::units;

use super::kept::Kept;
use crate::edb_host::is_database_file;
use crate::state_file::{Condition, DatabaseState, Found, MOVE_IT_AWAY, STATE_FILE};

/// What was left unfinished of the databases of `workload` on these directories.
pub fn unfinished_on(on: &[PathBuf], workload: &str) -> Option<Unfinished> {
    let made = storage::made_directories(on, workload);
    let mut states = made.iter().filter_map(|directory| state_in(directory));
    if states.any(|state| state.is_some_and(|state| state.condition == Condition::Copying)) {
        return Some(Unfinished::Restore);
    }
    is_left_on(on, workload).then_some(Unfinished::Build)
}

/// What keeps a run from going on with the databases of `workload` on these directories, and the remedy.
pub fn hindrance_on(on: &[PathBuf], workload: &str) -> Option<String> {
    let made = storage::made_directories(on, workload);
    let mut made = made.iter().filter(|path| is_of_database(path));
    made.find_map(|directory| {
        let shown = directory.display();
        match found_in(directory) {
            Found::Other(what) => Some(format!(
                "{shown}/{STATE_FILE} cannot be used: {what}; {MOVE_IT_AWAY}"
            )),
            Found::State(state) if state.condition == Condition::Building => None,
            _ if has_file(directory) => None,
            Found::Missing => Some(format!(
                "{shown} has no database any more; a run with --reuse builds it again"
            )),
            Found::State(_) | Found::Damaged => Some(format!(
                "{shown} has no database any more; remove {shown}/{STATE_FILE}, and a run with --reuse builds it again"
            )),
        }
    })
}

/// What is in the place of the state file of a directory.
fn found_in(directory: &Path) -> Found {
    match fs::read(directory.join(STATE_FILE)) {
        Ok(contents) => Found::of(&contents, contents.len() as u64),
        Err(error) if error.kind() == ErrorKind::NotFound => Found::Missing,
        Err(error) => Found::Other(error.to_string()),
    }
}

/// The state file of a directory, if there is one; with nothing in it when it cannot be read.
fn state_in(directory: &Path) -> Option<Option<DatabaseState>> {
    match found_in(directory) {
        Found::Missing => None,
        found => Some(found.state()),
    }
}

/// Whether the databases of `workload` on these directories are there in part: the build of some has begun,
/// and not that of all has come to its end.
#[must_use]
pub fn is_left_on(on: &[PathBuf], workload: &str) -> bool {
    let made = storage::made_directories(on, workload);
    let mut has_some = false;
    let mut has_all = true;
    for directory in made.iter().filter(|path| is_of_database(path)) {
        let state = state_in(directory);
        has_some |= state.is_some();
        has_all &= match state {
            // It is unreadable, which is no matter of a build.
            Some(None) => true,
            Some(Some(state)) => state.condition != Condition::Building,
            None => has_file(directory),
        };
    }
    has_some && !has_all
}

/// The other directories are those of logs.
fn is_of_database(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(crate::plan::DATABASE_PREFIX)
}

fn has_file(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    names.any(|name| is_database_file(&name.to_string_lossy()))
}

/// What a run begins with that goes on with the build of an earlier one; `None` when all databases are
/// complete.
pub fn resumed(kept: &[Kept]) -> Option<ResumedBuild> {
    let complete = kept.iter().filter(|one| one.is_built()).count();
    (complete < kept.len()).then(|| ResumedBuild {
        databases: kept.len() as u64,
        complete_databases: complete as u64,
        gone_on: Vec::new(),
    })
}

/// That a build goes on, in words.
pub fn describe(build: &ResumedBuild) -> String {
    format!(
        "{} of {} built",
        build.complete_databases,
        units::count(build.databases, "database")
    )
}
