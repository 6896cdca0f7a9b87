//! Where results go.

use std::path::{Path, PathBuf};

/// Where a scenario writes its results, if at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Into the outcome only; nothing is written.
    #[default]
    Memory,
    /// Into a run directory with a new name below `proofload-runs`.
    NewDirectory,
    /// Into this directory, which is made, or is empty.
    Directory(PathBuf),
}

impl Output {
    /// The directory that was named.
    #[must_use]
    pub fn named(&self) -> Option<&Path> {
        match self {
            Self::Directory(path) => Some(path),
            Self::Memory | Self::NewDirectory => None,
        }
    }
}
