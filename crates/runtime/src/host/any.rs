//! Real storage of either kind, for those who learn only at run time which it is.

use enum_dispatch::enum_dispatch;

use super::{HostDirectory, HostFile};
use crate::buffer::{Buffer, SharedBuffer};
use crate::file::{Directory, File, IoError, IoFailure, IoOperation, Persistence};
use crate::raw::{RawDirectory, RawFile};

/// A directory of a file system, or one on a block device.
#[derive(Clone)]
pub enum AnyDirectory {
    /// In a file system.
    Host(HostDirectory),
    /// On a block device.
    Raw(RawDirectory<HostFile>),
}

/// A file of an [`AnyDirectory`].
#[enum_dispatch(File)]
#[derive(Clone)]
pub enum AnyFile {
    /// In a file system.
    Host(HostFile),
    /// On a block device.
    Raw(RawFile<HostFile>),
}

/// The same call of either kind of directory. (`enum_dispatch` has no associated types.)
macro_rules! either {
    ($self:ident, $directory:ident => $call:expr) => {
        match $self {
            Self::Host($directory) => $call,
            Self::Raw($directory) => $call,
        }
    };
}

impl Directory for AnyDirectory {
    type File = AnyFile;

    async fn create(&self, name: &str) -> Result<AnyFile, IoError> {
        either!(self, directory => directory.create(name).await.map(AnyFile::from))
    }

    async fn open(&self, name: &str) -> Result<AnyFile, IoError> {
        either!(self, directory => directory.open(name).await.map(AnyFile::from))
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        either!(self, directory => directory.rename(from, to).await)
    }

    async fn remove(&self, name: &str) -> Result<(), IoError> {
        either!(self, directory => directory.remove(name).await)
    }

    async fn list(&self) -> Result<Vec<String>, IoError> {
        either!(self, directory => directory.list().await)
    }

    async fn sync(&self) -> Result<(), IoError> {
        either!(self, directory => directory.sync().await)
    }

    fn describe(&self) -> String {
        either!(self, directory => directory.describe())
    }
}
