//! Where results go when the current directory is a target, in which they may not lie.

use std::path::{Path, PathBuf};

use execution::Error;
use measure::run_directory::DEFAULT_PARENT;

/// A directory with a new name for the results of a run: below the home directory, or below that for temporary
/// files, and in none of these targets.
pub(crate) fn elsewhere(name: &str, targets: &[PathBuf]) -> Result<PathBuf, Error> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let places = home.into_iter().chain([std::env::temp_dir()]);
    let place = places
        .filter(|place| place.is_dir())
        .find(|place| !lies_in(place, targets));
    let place = place.ok_or_else(|| {
        Error::usage(
            "The results cannot lie on the storage under test.",
            "Name another directory for them with --out.",
        )
    })?;
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    Ok(place.join(DEFAULT_PARENT).join(format!("{name}-{now}")))
}

/// Whether a directory is one of these targets, or lies in one.
pub(crate) fn lies_in(place: &Path, targets: &[PathBuf]) -> bool {
    let place = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    let targets = targets
        .iter()
        .filter_map(|target| target.canonicalize().ok());
    targets.into_iter().any(|target| place.starts_with(target))
}
