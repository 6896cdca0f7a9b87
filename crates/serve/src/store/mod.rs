//! A store: the contents of an array's disks in files, from one serving to the next.
//!
//! A directory with one sparse file for each disk, where the pages of pools lie ([`contents`]), the writes that the
//! data cache holds ([`writes`]), and a [`description`] with a checksum. A store can have [`checksums`] of all sectors. Disks and pages change together
//! ([`files`]): a process may end at any moment, and what it has acknowledged is there.
//!
//! The same store can be served by another model, if its disk groups, pools and volumes are laid out alike: what
//! disks, caches and controllers cost is no part of it. Disk groups that the store does not have are empty.

mod checksums;
mod contents;
mod description;
mod files;
mod opened;
mod writes;

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use array::kept::Misfit;
use rustix::fs::FlockOperation;
use rustix::io::Errno;

pub use description::Description;
pub(crate) use opened::OpenedStore;

/// The name of the file that a serving process has locked; its number is in it.
const LOCK: &str = "lock";

/// Why a store cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process serves it.
    #[error("process {0} serves it")]
    InUse(String),
    /// The place has other things in it, or is none.
    #[error("it is no store")]
    NotAStore,
    /// The description cannot be understood.
    #[error("its description is damaged")]
    Damaged,
    /// The description is of another version of the format.
    #[error("it has version {0} of the format")]
    OtherVersion(u32),
    /// It was made for an array that is laid out in another way.
    #[error("in the store {stored}, and in the array {instead}")]
    OtherArray {
        /// A sentence of the store.
        stored: String,
        /// What the array has instead.
        instead: String,
    },
    /// More files of disks are missing than the redundancy makes up for.
    #[error("the files {0} are missing, and without them data are lost")]
    DisksMissing(String),
    /// It was made without checksums.
    #[error("it was made without checksums")]
    NoChecksums,
    /// The array spreads the contents of failed disks over the others.
    #[error("disk group '{0}' has no spares, and spreads what failed disks held over the others")]
    SpreadSpares(String),
    /// What it holds does not fit the array.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The system has refused something.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Hears how many writes of an earlier process were repeated, and of how many.
pub type Progress = Box<dyn Fn(u64, u64) + Send>;

/// A store that nobody else serves, and that fits an array.
pub struct Store {
    directory: PathBuf,
    /// The one that is there; `None` for a new store.
    description: Option<Description>,
    array: Description,
    /// Locked as long as it is open.
    lock: File,
    progress: Option<Progress>,
}

impl Store {
    /// Opens the store in `directory` for an array, or begins one where there is none. Nothing that is there is
    /// changed yet.
    ///
    /// # Errors
    /// It is no store, in use, or of another array; see [`StoreError`].
    pub fn open(directory: &Path, mut array: Description) -> Result<Self, StoreError> {
        let is_new = match fs::read_dir(directory) {
            Ok(mut entries) => {
                entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == LOCK))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(directory)?;
                true
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(StoreError::NotAStore);
            }
            Err(error) => return Err(error.into()),
        };
        let description = match is_new {
            true => None,
            false => Some(Description::read(directory)?),
        };
        let lock = lock(directory)?;
        let differs = description
            .as_ref()
            .and_then(|stored| stored.differs_from(&array));
        if let Some((stored, instead)) = differs {
            return Err(StoreError::OtherArray { stored, instead });
        }
        if let Some(stored) = &description {
            if array.has_checksums && !stored.has_checksums {
                return Err(StoreError::NoChecksums);
            }
            array.has_checksums = stored.has_checksums;
        }
        Ok(Self {
            directory: directory.to_owned(),
            description,
            array,
            lock,
            progress: None,
        })
    }

    /// Says how far it is while the writes that an earlier process has recorded are repeated: at the beginning if
    /// there are any, and then each second. `progress` runs on the thread of the array.
    #[must_use]
    pub fn reporting(self, progress: Progress) -> Self {
        Self {
            progress: Some(progress),
            ..self
        }
    }

    /// Whether it has a checksum of each sector.
    #[must_use]
    pub fn has_checksums(&self) -> bool {
        self.array.has_checksums
    }

    /// Whether it has contents of an earlier serving.
    #[must_use]
    pub fn has_contents(&self) -> bool {
        self.description.is_some()
    }
}

/// Locks a store for this process, until the file is closed.
fn lock(directory: &Path) -> Result<File, StoreError> {
    let path = directory.join(LOCK);
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => {
            let mut holder = String::new();
            file.read_to_string(&mut holder)?;
            return Err(StoreError::InUse(holder.trim().to_owned()));
        }
        Err(error) => return Err(io::Error::from(error).into()),
    }
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())?;
    Ok(file)
}
