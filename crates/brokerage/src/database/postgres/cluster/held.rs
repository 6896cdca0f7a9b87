//! A directory of the cluster that is held open, so that it is filled and removed and no other.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use runtime::host::{DirectoryHandle, FileIdentity};

use super::error::ClusterError;
use super::own::{self, Level};

/// A directory that belongs to a cluster, with the one it lies in.
pub(super) struct HeldDirectory {
    path: PathBuf,
    parent: DirectoryHandle,
    name: OsString,
    handle: DirectoryHandle,
    identity: FileIdentity,
}

impl HeldDirectory {
    /// Opens a directory that is there.
    ///
    /// # Errors
    /// It is a symbolic link, or another file system is mounted there.
    pub fn open(path: &Path) -> Result<Self, ClusterError> {
        Self::try_open(path).map_err(ClusterError::file(path, "opened"))
    }

    fn try_open(path: &Path) -> io::Result<Self> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let parent = DirectoryHandle::open(above)?;
        let handle = parent.open_directory(name)?;
        Ok(Self {
            path: path.to_owned(),
            name: name.to_owned(),
            identity: handle.identity()?,
            handle,
            parent,
        })
    }

    /// Writes a file in it, in one step. A link of that name is replaced.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<(), ClusterError> {
        let written = self.handle.replace_file(name, text.as_bytes());
        written.map_err(ClusterError::file(&self.path.join(name), "written"))
    }

    /// Removes what the server has in it, and itself if that was all. Gives back what was left because it is
    /// not the server's.
    ///
    /// # Errors
    /// As [`HeldDirectory::remove`].
    pub fn remove_own(self, level: Level) -> Result<Vec<PathBuf>, ClusterError> {
        let removed = self.try_remove_own(level);
        removed.map_err(ClusterError::file(&self.path, "removed"))
    }

    fn try_remove_own(&self, level: Level) -> io::Result<Vec<PathBuf>> {
        let mut left = Vec::new();
        match self.parent.identity_of(&self.name)? {
            None => return Ok(left),
            Some(found) if found != self.identity => return Err(something_else()),
            Some(_) => {}
        }
        self.handle.refuse_mounts()?;
        own::clear(&self.handle, &self.path, level, &mut left)?;
        if left.is_empty() && !self.parent.remove_directory(&self.name, self.identity)? {
            return Err(something_else());
        }
        Ok(left)
    }

    /// Removes it with all that is in it.
    ///
    /// # Errors
    /// Something else has its name now, something is mounted in it, or the system refuses.
    pub fn remove(self) -> Result<(), ClusterError> {
        let removed = self.parent.remove_tree(&self.name, self.identity);
        let removed = removed.and_then(|is_ours| match is_ours {
            true => Ok(()),
            false => Err(something_else()),
        });
        removed.map_err(ClusterError::file(&self.path, "removed"))
    }

    /// Removes what a start that was interrupted has left at `path`, if there is anything.
    ///
    /// # Errors
    /// As [`HeldDirectory::open`] and [`HeldDirectory::remove`].
    pub fn remove_left(path: &Path) -> Result<(), ClusterError> {
        match Self::try_open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(ClusterError::file(path, "removed")(error)),
            Ok(held) => held.remove(),
        }
    }
}

fn something_else() -> io::Error {
    io::Error::other("something else is there now")
}
