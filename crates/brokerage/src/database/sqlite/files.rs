//! The files of a database: their names, whose they are, and how they are removed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use runtime::host::{DirectoryHandle, FileIdentity, require_own};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::failure::not_own;
use crate::error::DatabaseError;

/// Name of the file in the given directory.
const FILE: &str = "proofload_brokerage.sqlite";

/// Behind that name: the file that a run locks.
const LOCK: &str = "-lock";

/// Behind that name: all files of a database.
const ENDS: [&str; 5] = ["", "-wal", "-shm", "-journal", LOCK];

/// The application id by which a file is known as ours, even when it is damaged.
pub(super) const APPLICATION: u32 = 0x5052_464c;

/// Offset of the application id, and the header of every SQLite file.
const APPLICATION_AT: usize = 68;
const WORDS: &[u8] = b"SQLite format 3\0";

/// The file of a database, with those that SQLite and a run keep beside it.
pub(super) struct DatabaseFiles {
    path: PathBuf,
    /// What their directory was when it was used first.
    directory: OnceLock<FileIdentity>,
}

impl DatabaseFiles {
    /// Those in a directory.
    pub fn below(directory: &Path) -> Self {
        Self {
            path: directory.join(FILE),
            directory: OnceLock::new(),
        }
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the file that a run locks.
    pub fn lock_path(&self) -> PathBuf {
        self.beside(LOCK)
    }

    /// The file of the database with this behind its name.
    fn beside(&self, end: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(end);
        PathBuf::from(path)
    }

    /// Refuses another directory than that in which the files were first: what lies there is none of the database, and
    /// SQLite would change and remove it.
    fn require_directory(&self) -> Result<(), DatabaseError> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(directory, flags, Mode::empty());
        let found = match opened.and_then(FileIdentity::of) {
            // Whoever opens the files finds none.
            Err(Errno::NOENT) => return Ok(()),
            found => found.map_err(|error| self.unreadable(&error.into()))?,
        };
        if *self.directory.get_or_init(|| found) == found {
            return Ok(());
        }
        Err(DatabaseError::Unusable(format!(
            "{} is another directory than the one in which the database was opened: it was moved or replaced; what it \
             holds was left as it is",
            directory.display()
        )))
    }

    /// Refuses another directory, links, and whatever is no file in the place of a file of the database.
    pub fn require_own(&self) -> Result<(), DatabaseError> {
        self.require_directory()?;
        for end in ENDS {
            let path = self.beside(end);
            // A link is opened itself, a pipe is not waited for, and closing this descriptor leaves
            // the locks that SQLite has on the file.
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let checked = match rustix::fs::open(&path, flags, Mode::empty()) {
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(self.unreadable(&error.into())),
                Ok(file) => require_own(file),
            };
            checked.map_err(|why| not_own(&path, &why))?;
        }
        Ok(())
    }

    /// The path without symbolic links to its directory, as SQLite asks for where it follows none.
    pub fn resolved_path(&self) -> Result<PathBuf, DatabaseError> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let directory = fs::canonicalize(directory).map_err(|error| self.unreadable(&error))?;
        Ok(directory.join(FILE))
    }

    /// The error of a file that cannot be read.
    pub fn unreadable(&self, error: &io::Error) -> DatabaseError {
        DatabaseError::unavailable(format!("{} cannot be read: {error}", self.path.display()))
    }

    /// The application id of the file: `None` if there is no file, or an empty one.
    pub fn application(&self) -> Result<Option<u32>, DatabaseError> {
        let unreadable = |error| self.unreadable(&error);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut options = File::options();
        let options = options.read(true).custom_flags(flags.bits().cast_signed());
        let file = match options.open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let mut head = Vec::new();
        file.take(100).read_to_end(&mut head).map_err(unreadable)?;
        if head.is_empty() {
            return Ok(None);
        }
        let number = head.get(APPLICATION_AT..APPLICATION_AT + 4);
        let number = number.filter(|_| head.starts_with(WORDS));
        let number = number.and_then(|bytes| bytes.try_into().ok());
        Ok(Some(number.map_or(0, u32::from_be_bytes)))
    }

    /// Removes the file and those beside it. A directory or file that is a symbolic link by now is
    /// left, with what it leads to.
    pub fn remove(&self) -> Result<(), (PathBuf, io::Error)> {
        let failed = |error| (self.path.clone(), error);
        let mut above = self.path.ancestors().skip(1);
        let (Some(directory), Some(above)) = (above.next(), above.next()) else {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        };
        let above = DirectoryHandle::open(above).map_err(failed)?;
        let name = directory.file_name().unwrap_or_default();
        let directory = above.open_directory_or_mount(name).map_err(failed)?;
        let identity = directory.identity().map_err(failed)?;
        if self.directory.get().is_some_and(|first| *first != identity) {
            let replaced = "its directory was replaced by another one";
            return Err(failed(io::Error::other(replaced)));
        }
        for end in ENDS {
            let mut name = self.path.file_name().unwrap_or_default().to_owned();
            name.push(end);
            let removed = match directory.read_file(&name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => Err(error),
                Ok(file) => FileIdentity::of(&file)
                    .map_err(io::Error::from)
                    .and_then(|identity| directory.remove_file(&name, identity)),
            };
            removed.map_err(|error| (self.path.with_file_name(&name), error))?;
        }
        Ok(())
    }
}
