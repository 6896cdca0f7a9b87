//! Names for what a run makes outside its own directories, in places that it shares with others.
//!
//! Such a name holds the number of the process, so that a later process can find what a run
//! that was killed has left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const BEGINNING: &str = "proofload-";

/// Names that this process has given, so that no two are alike.
static GIVEN: AtomicU32 = AtomicU32::new(0);

/// A name that nobody else has.
#[must_use]
pub fn own_name() -> String {
    let number = GIVEN.fetch_add(1, Ordering::Relaxed);
    format!("{BEGINNING}{}-{number}", std::process::id())
}

/// What is in a directory under an [`own_name`] of a process that has ended.
#[must_use]
pub fn left_behind(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let of_ended = entries.filter(|entry| {
        let process = entry.file_name().to_str().and_then(process_in);
        process.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists())
    });
    of_ended.map(|entry| entry.path()).collect()
}

fn process_in(name: &str) -> Option<u32> {
    let (process, _) = name.strip_prefix(BEGINNING)?.split_once('-')?;
    process.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ended_processes_made_was_left_behind() {
        let here = tempfile::tempdir().unwrap();
        let (own, another) = (own_name(), own_name());
        assert_ne!(own, another);
        // No process has a number as high as that.
        for name in ["proofload-4194305-0", &own, "proofload-x", "other"] {
            fs::create_dir(here.path().join(name)).unwrap();
        }
        assert_eq!(
            left_behind(here.path()),
            [here.path().join("proofload-4194305-0")]
        );
        assert!(left_behind(&here.path().join("not there")).is_empty());
    }
}
