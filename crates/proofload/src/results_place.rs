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
    Ok(vacant(
        &place.join(DEFAULT_PARENT),
        &format!("{name}-{now}"),
    ))
}

/// This name in a directory, with a number behind it when it is taken, as by a run that began in the same second.
fn vacant(parent: &Path, name: &str) -> PathBuf {
    let numbered = (2..1000).map(|number| parent.join(format!("{name}-{number}")));
    let first = parent.join(name);
    let mut names = std::iter::once(first.clone()).chain(numbered);
    names.find(|path| !path.exists()).unwrap_or(first)
}

/// Whether a directory is one of these targets, or lies in one.
pub(crate) fn lies_in(place: &Path, targets: &[PathBuf]) -> bool {
    let place = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    let targets = targets
        .iter()
        .filter_map(|target| target.canonicalize().ok());
    targets.into_iter().any(|target| place.starts_with(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let place = tempfile::tempdir().expect("a directory");
        let first = vacant(place.path(), "run-1");
        assert_eq!(first, place.path().join("run-1"));
        std::fs::create_dir(&first).expect("a new directory");
        assert_eq!(vacant(place.path(), "run-1"), place.path().join("run-1-2"));
    }
}
