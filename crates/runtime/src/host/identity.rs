//! What makes a file the same file, whatever it is called.

use rustix::fs::Stat;
use rustix::io::Errno;
use std::collections::HashSet;
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

/// A file or a directory, whatever names, links and mounts lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIdentity {
    /// Device number of its file system (`st_dev`).
    pub file_system: u64,
    /// Its number there (`st_ino`).
    pub number: u64,
}

impl FileIdentity {
    /// What an open file is.
    ///
    /// # Errors
    /// If the file system does not answer.
    pub fn of(file: impl AsFd) -> Result<Self, Errno> {
        rustix::fs::fstat(file).map(|status| Self::from_status(&status))
    }

    pub(super) fn from_status(status: &Stat) -> Self {
        Self {
            file_system: status.st_dev,
            number: status.st_ino,
        }
    }
}

/// The files that this process made in some directories, so that nothing else is removed there.
#[derive(Debug, Default)]
pub struct CreatedFiles(Mutex<HashSet<FileIdentity>>);

impl CreatedFiles {
    /// Notes a file that has just been made.
    pub fn add(&self, file: FileIdentity) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(file);
    }

    /// A file goes, and the next one that is made may get its number. Returns whether it was known.
    pub(super) fn forget(&self, file: FileIdentity) -> bool {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.remove(&file)
    }

    /// Whether the file was made by this process.
    #[must_use]
    pub fn contains(&self, file: FileIdentity) -> bool {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.contains(&file)
    }
}
