//! Whether a volume of the database is full: that ends a run and says nothing against the storage.

use rustix::fs::statvfs;
use std::path::{Path, PathBuf};

/// Less than this is as good as nothing: a server ends when it cannot make its next log file
/// (PostgreSQL: 16 MiB), and gives back what it had of it.
const FULL_BELOW_BYTES: u64 = 24 << 20;

/// The volumes of a database, as far as they are those of this machine and known.
#[derive(Debug, Clone, Default)]
pub struct Volumes {
    /// A directory on each: that of the data first.
    directories: Vec<PathBuf>,
}

impl Volumes {
    /// Those of these directories, of which the first holds the data.
    #[must_use]
    pub fn of(directories: Vec<PathBuf>) -> Self {
        Self { directories }
    }

    /// A directory on a volume that is full, if one is.
    #[must_use]
    pub fn full(&self) -> Option<&Path> {
        let is_full = |directory: &&PathBuf| {
            let facts = statvfs(directory.as_path());
            facts
                .is_ok_and(|facts| facts.f_bavail.saturating_mul(facts.f_frsize) < FULL_BELOW_BYTES)
        };
        self.directories.iter().find(is_full).map(PathBuf::as_path)
    }

    /// The directory to name when the database says that its volume is full.
    #[must_use]
    pub fn named_full(&self) -> Option<&Path> {
        let data = self.directories.first().map(PathBuf::as_path);
        self.full().or(data)
    }
}
