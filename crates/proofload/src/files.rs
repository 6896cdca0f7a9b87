//! The files that a scenario reads: profiles, descriptions of arrays and disks, block traces.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use measure::run_directory::open_file;

/// Files in memory. A path that is not among them is one of the file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<PathBuf, Arc<[u8]>>);

impl Files {
    /// Adds a file, or replaces the one at this path.
    pub fn insert(&mut self, path: impl Into<PathBuf>, contents: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), contents.into().into());
    }

    /// Whether there is a file at this path.
    #[must_use]
    pub fn has(&self, path: &Path) -> bool {
        self.0.contains_key(path) || path.is_file()
    }

    /// Opens a file for reading, as far as it reaches now.
    ///
    /// # Errors
    /// That of the file system, and when it is no regular file: a pipe might keep us waiting without end.
    pub fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        Ok(match self.0.get(path) {
            Some(contents) => Box::new(Cursor::new(Arc::clone(contents))),
            None => Box::new(open_file(path, u64::MAX)?),
        })
    }

    /// Reads a file as text.
    ///
    /// # Errors
    /// That of the file system; [`io::ErrorKind::InvalidData`] when it is not UTF-8.
    pub fn read_text(&self, path: impl AsRef<Path>) -> io::Result<String> {
        let mut text = String::new();
        self.open(path.as_ref())?.read_to_string(&mut text)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_memory_comes_before_one_of_the_file_system() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("profile.toml");
        let mut files = Files::default();
        assert!(!files.has(&path) && files.read_text(&path).is_err());
        std::fs::write(&path, "on disk").unwrap();
        assert_eq!(files.read_text(&path).unwrap(), "on disk");
        files.insert(&path, "in memory");
        assert!(files.has(&path));
        assert_eq!(files.read_text(&path).unwrap(), "in memory");
        files.insert(&path, vec![0xff]);
        let error = files.read_text(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
