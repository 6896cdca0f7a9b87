//! Real storage of either kind, for those who learn only at run time which it is.

use super::{HostDirectory, HostFile};
use crate::buffer::{Buffer, SharedBuffer};
use crate::file::{Directory, File, IoError, Persistence};
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
#[derive(Clone)]
pub enum AnyFile {
    /// In a file system.
    Host(HostFile),
    /// On a block device.
    Raw(RawFile<HostFile>),
}

impl Directory for AnyDirectory {
    type File = AnyFile;

    async fn create(&self, name: &str) -> Result<AnyFile, IoError> {
        match self {
            Self::Host(directory) => directory.create(name).await.map(AnyFile::Host),
            Self::Raw(directory) => directory.create(name).await.map(AnyFile::Raw),
        }
    }

    async fn open(&self, name: &str) -> Result<AnyFile, IoError> {
        match self {
            Self::Host(directory) => directory.open(name).await.map(AnyFile::Host),
            Self::Raw(directory) => directory.open(name).await.map(AnyFile::Raw),
        }
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        match self {
            Self::Host(directory) => directory.rename(from, to).await,
            Self::Raw(directory) => directory.rename(from, to).await,
        }
    }

    async fn remove(&self, name: &str) -> Result<(), IoError> {
        match self {
            Self::Host(directory) => directory.remove(name).await,
            Self::Raw(directory) => directory.remove(name).await,
        }
    }

    async fn list(&self) -> Result<Vec<String>, IoError> {
        match self {
            Self::Host(directory) => directory.list().await,
            Self::Raw(directory) => directory.list().await,
        }
    }

    async fn sync(&self) -> Result<(), IoError> {
        match self {
            Self::Host(directory) => directory.sync().await,
            Self::Raw(directory) => directory.sync().await,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Host(directory) => directory.describe(),
            Self::Raw(directory) => directory.describe(),
        }
    }
}

impl File for AnyFile {
    async fn read(&self, offset_bytes: u64, buffer: Buffer) -> (Buffer, Result<(), IoError>) {
        match self {
            Self::Host(file) => file.read(offset_bytes, buffer).await,
            Self::Raw(file) => file.read(offset_bytes, buffer).await,
        }
    }

    async fn read_vectored(
        &self,
        offset_bytes: u64,
        buffers: Vec<Buffer>,
    ) -> (Vec<Buffer>, Result<(), IoError>) {
        match self {
            Self::Host(file) => file.read_vectored(offset_bytes, buffers).await,
            Self::Raw(file) => file.read_vectored(offset_bytes, buffers).await,
        }
    }

    async fn write(
        &self,
        offset_bytes: u64,
        buffer: SharedBuffer,
        persistence: Persistence,
    ) -> Result<(), IoError> {
        match self {
            Self::Host(file) => file.write(offset_bytes, buffer, persistence).await,
            Self::Raw(file) => file.write(offset_bytes, buffer, persistence).await,
        }
    }

    async fn write_vectored(
        &self,
        offset_bytes: u64,
        buffers: Vec<SharedBuffer>,
        persistence: Persistence,
    ) -> Result<(), IoError> {
        match self {
            Self::Host(file) => {
                file.write_vectored(offset_bytes, buffers, persistence)
                    .await
            }
            Self::Raw(file) => {
                file.write_vectored(offset_bytes, buffers, persistence)
                    .await
            }
        }
    }

    async fn sync(&self) -> Result<(), IoError> {
        match self {
            Self::Host(file) => file.sync().await,
            Self::Raw(file) => file.sync().await,
        }
    }

    async fn size_bytes(&self) -> Result<u64, IoError> {
        match self {
            Self::Host(file) => file.size_bytes().await,
            Self::Raw(file) => file.size_bytes().await,
        }
    }

    async fn set_size_bytes(&self, size_bytes: u64) -> Result<(), IoError> {
        match self {
            Self::Host(file) => file.set_size_bytes(size_bytes).await,
            Self::Raw(file) => file.set_size_bytes(size_bytes).await,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Host(file) => file.name(),
            Self::Raw(file) => file.name(),
        }
    }
}
