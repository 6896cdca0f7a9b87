//! Whether the log files that a database left when it was closed are all there when it is opened again.

use super::names::Names;
use super::state::LogCore;
use super::{LOG_PREFIX, verify};
use crate::integrity::FileFinding;
use runtime::{Directory, IoError};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

impl LogCore {
    /// The generation of the oldest full file that has not been removed.
    #[must_use]
    pub fn oldest_full(&self) -> Option<u32> {
        self.full.borrow().first().copied()
    }
}

/// The generations of the full log files in the directory of a database that has been closed: from the oldest
/// to the newest of them. `None` if the file that was written last is the only one.
///
/// # Errors
/// If the directory cannot be read.
pub async fn full_log_files<D: Directory>(
    directory: &D,
) -> Result<Option<RangeInclusive<u32>>, IoError> {
    let names = Names::new(LOG_PREFIX);
    let mut full = generations(&names, &directory.list().await?);
    verify::take_left_behind(directory, &names, &mut full).await;
    Ok(full.first().zip(full.last()).map(|(&from, &to)| from..=to))
}

/// What is missing of the log of a database that has been closed with these full files, and with that which
/// was written last; `None` if nothing is. A closed database can be opened without them, so nothing else
/// would say that the storage has lost files.
///
/// # Errors
/// If the directory cannot be read.
pub async fn missing_log_files<D: Directory>(
    directory: &D,
    full: Option<RangeInclusive<u32>>,
) -> Result<Option<FileFinding>, IoError> {
    let names = Names::new(LOG_PREFIX);
    let present = directory.list().await?;
    let found = generations(&names, &present);
    let newest = full.as_ref().map_or(0, |full| *full.end());
    let full = full.into_iter().flatten();
    let missing = full.filter(|generation| !found.contains(generation));
    let mut missing: Vec<(u32, String)> = missing
        .map(|generation| (generation, names.full(generation)))
        .collect();
    if !present.contains(&names.current()) {
        missing.push((newest + 1, names.current()));
    }
    let Some((generation, name)) = missing.first() else {
        return Ok(None);
    };
    let file = format!("{}/{name}", directory.describe());
    let mut finding = verify::missing(file, *generation);
    if missing.len() > 1 {
        finding.problem = format!(
            "{} log files are missing that were there when the database was closed; it is the first of them",
            missing.len()
        );
    }
    Ok(Some(finding))
}

/// The finding that a full file is not there.
pub(crate) fn missing_file<D: Directory>(directory: &D, generation: u32) -> FileFinding {
    let name = Names::new(LOG_PREFIX).full(generation);
    verify::missing(format!("{}/{name}", directory.describe()), generation)
}

fn generations(names: &Names, present: &[String]) -> BTreeSet<u32> {
    let full = present.iter().filter_map(|name| names.generation_of(name));
    full.collect()
}
