//! Giving targets back: what this run made is removed, and nothing else.

use std::io;
use std::path::{Path, PathBuf};

use runtime::host::{Entry, EntryKind};

use super::{Claim, ClaimedDirectory};
use crate::device;
use crate::marker::MARKER_NAME;
use crate::target::TargetKind;
use workload::Refusal;

/// A moment of a release, at which a test may change what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A directory is about to be emptied.
    Directory(PathBuf),
    /// A file has been looked at and is about to be removed.
    File(PathBuf),
    /// A marker is about to be removed.
    Marker(PathBuf),
}

impl Claim {
    /// Removes the databases and logs that this run made, and the marks. Gives back what it left
    /// because it did not make it.
    pub fn release(self) -> Result<Vec<PathBuf>, Refusal> {
        self.release_with(&mut |_| {})
    }

    /// As [`Claim::release`]; tests change what is there at each step.
    pub(crate) fn release_with(
        self,
        before: &mut dyn FnMut(Step),
    ) -> Result<Vec<PathBuf>, Refusal> {
        let mut left = Vec::new();
        let directories = self.directories.iter();
        for directory in directories.filter(|directory| self.taken.contains(&directory.target)) {
            before(Step::Directory(directory.path.clone()));
            self.remove_directory(directory, &mut left, before)
                .map_err(|error| unremovable(&directory.path, &error))?;
        }
        for &index in &self.taken {
            let target = &self.layout.targets[index];
            if target.kind != TargetKind::Directory {
                if !device::clear(target)? {
                    left.push(target.path.clone());
                }
            } else if !left.iter().any(|path| path.starts_with(&target.path)) {
                let marker = target.path.join(MARKER_NAME);
                before(Step::Marker(marker.clone()));
                let removed = self.remove_marker(index);
                if !removed.map_err(|error| unremovable(&marker, &error))? {
                    left.push(marker);
                }
            }
        }
        Ok(left)
    }

    /// Empties a directory that was made by this run, and removes it if nothing is left in it.
    fn remove_directory(
        &self,
        directory: &ClaimedDirectory,
        left: &mut Vec<PathBuf>,
        before: &mut dyn FnMut(Step),
    ) -> io::Result<()> {
        let Some(target) = &self.layout.targets[directory.target].handle else {
            return Ok(());
        };
        match target.identity_of(&directory.name)? {
            None => return Ok(()),
            // A link, a mount or another directory has its name. What this run made is elsewhere,
            // where somebody wanted it.
            Some(found) if found != directory.identity => {
                left.push(directory.path.clone());
                return Ok(());
            }
            Some(_) => {}
        }
        let mut has_rest = false;
        for entry in directory.handle.entries()? {
            let path = directory.path.join(&entry.name);
            before(Step::File(path.clone()));
            if !self.is_own(directory, &entry)
                || !directory.handle.remove_file(&entry.name, entry.identity)?
            {
                has_rest = true;
                left.push(path);
            }
        }
        if !has_rest && !target.remove_directory(&directory.name, directory.identity)? {
            left.push(directory.path.clone());
        }
        Ok(())
    }

    /// Whether an entry is a file that this run made.
    fn is_own(&self, directory: &ClaimedDirectory, entry: &Entry) -> bool {
        entry.kind == EntryKind::File
            && self.purpose.makes_file(&entry.name.to_string_lossy())
            && directory.created.contains(entry.identity)
    }

    fn remove_marker(&self, index: usize) -> io::Result<bool> {
        let target = &self.layout.targets[index];
        match (&target.handle, &target.lock) {
            (Some(handle), Some(lock)) => handle.remove_file(MARKER_NAME, lock.identity()),
            _ => Ok(true),
        }
    }
}

fn unremovable(path: &Path, error: &io::Error) -> Refusal {
    Refusal::environment(
        format!("{} cannot be removed: {error}.", path.display()),
        "See what it is before you remove it by hand: Proofload removes only what it made itself.",
    )
}
