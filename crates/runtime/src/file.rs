//! What storage looks like from above: files in directories, read and written in whole blocks.
//!
//! The traits are implemented by real files, by extents on a raw block device and by simulated
//! storage that fails and loses power on demand. Calls are `async` and statically dispatched.
//! Buffers travel by value (or shared), so that a request which outlives its caller never points at
//! memory that has gone.

use crate::buffer::{Buffer, SharedBuffer};
use enum_dispatch::enum_dispatch;
use std::fmt;
use thiserror::Error;

/// What a completed write promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// The bytes are visible to reads; a power cut may lose them until the next [`File::sync`].
    Volatile,
    /// The bytes are on stable storage when the call returns (force unit access, or a write
    /// followed by a flush where the device has no such bit).
    Durable,
}

/// What was asked of storage when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoOperation {
    /// Opening a file that exists.
    Open,
    /// Creating a file that is not there yet.
    Create,
    /// Reading bytes of a file.
    Read,
    /// Writing bytes to a file.
    Write,
    /// Making earlier writes durable.
    Sync,
    /// Changing a file's size.
    Resize,
    /// Renaming a file within its directory.
    Rename,
    /// Removing a file from its directory.
    Remove,
    /// Listing the files of a directory.
    List,
}

impl IoOperation {
    /// What is being done, in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "opening",
            Self::Create => "creating",
            Self::Read => "reading",
            Self::Write => "writing",
            Self::Sync => "flushing",
            Self::Resize => "resizing",
            Self::Rename => "renaming",
            Self::Remove => "removing",
            Self::List => "listing",
        }
    }
}

impl fmt::Display for IoOperation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Why a request to storage failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IoFailure {
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// There is no such file, because its directory is gone, which only a program that removes it can do.
    #[error("its directory was removed by another program")]
    Removed,
    /// The file is there already and must not be overwritten.
    #[error("the file exists already")]
    AlreadyExists,
    /// No space is left for the bytes.
    #[error("no space is left")]
    OutOfSpace,
    /// The request goes past the end of the file.
    #[error("the request goes past the end of the file")]
    PastEnd,
    /// The process may not do this.
    #[error("permission was denied")]
    PermissionDenied,
    /// Another process has the file open; the text says which.
    #[error("{0}")]
    InUse(String),
    /// The file system is mounted read-only.
    #[error("the file system is read-only; mount it writable or use another")]
    ReadOnly,
    /// The file system does not bypass the page cache.
    #[error("the file system does not support direct I/O (O_DIRECT); use one such as ext4 or XFS")]
    NoDirectIo,
    /// The process, or the machine, may have no more of something; the text says of what, and what to do.
    #[error("{0}")]
    ProcessLimit(&'static str),
    /// What has the name is nothing that databases are kept in; the text says what it is, and what to do.
    #[error("{0}")]
    NotOwn(String),
    /// The storage answered with an error of its own.
    #[error("the storage reported an error: {0}")]
    Device(String),
    /// The simulated storage has lost power.
    #[error("the storage has lost power")]
    PowerLost,
}

/// A failed request: what was tried, on which file and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{operation} {file} failed{}: {failure}", self.place())]
pub struct IoError {
    /// What was asked of storage.
    pub operation: IoOperation,
    /// The file's name as a person knows it.
    pub file: String,
    /// Where in the file.
    pub offset_bytes: u64,
    /// How many bytes were asked for; 0 where no bytes move.
    pub length_bytes: u64,
    /// What went wrong with it.
    pub failure: IoFailure,
}

impl IoError {
    /// The error in words, without the name of the file, for those who name it themselves.
    #[must_use]
    pub fn without_file(&self) -> String {
        format!(
            "{} failed{}: {}",
            self.operation,
            self.place(),
            self.failure
        )
    }

    /// Where in the file, when bytes were moved and the place has to do with it.
    fn place(&self) -> String {
        if self.length_bytes == 0 || self.failure == IoFailure::OutOfSpace {
            return String::new();
        }
        format!(
            " ({} bytes at offset {})",
            self.length_bytes, self.offset_bytes
        )
    }
}

/// An open file. Clones share it.
///
/// Offsets and lengths are whole blocks of [`crate::buffer::BLOCK_BYTES`]. Requests may be
/// carried out in any order unless the caller waits for one before making the next.
#[enum_dispatch]
#[allow(async_fn_in_trait)] // Single-threaded by design: no caller needs `Send` futures.
pub trait File: Clone + 'static {
    /// Fills `buffer` from `offset_bytes`, or fails; never a short read.
    async fn read(&self, offset_bytes: u64, buffer: Buffer) -> (Buffer, Result<(), IoError>);

    /// Fills `buffers` with consecutive bytes from `offset_bytes` in one request.
    async fn read_vectored(
        &self,
        offset_bytes: u64,
        buffers: Vec<Buffer>,
    ) -> (Vec<Buffer>, Result<(), IoError>);

    /// Writes all of `buffer` at `offset_bytes`. Writing past the end extends the file.
    async fn write(
        &self,
        offset_bytes: u64,
        buffer: SharedBuffer,
        persistence: Persistence,
    ) -> Result<(), IoError>;

    /// Writes `buffers` one after the other at `offset_bytes` in one request.
    async fn write_vectored(
        &self,
        offset_bytes: u64,
        buffers: Vec<SharedBuffer>,
        persistence: Persistence,
    ) -> Result<(), IoError>;

    /// Reads so many bytes and throws them away: for whoever only cares that they are read. Storage
    /// that knows sizes alone needs no memory for it.
    async fn read_by_size(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), IoError> {
        let buffer = Buffer::zeroed(length_bytes as usize);
        self.read(offset_bytes, buffer).await.1
    }

    /// Writes so many zeros: for whoever only cares that something is written. As
    /// [`File::read_by_size`].
    async fn write_by_size(
        &self,
        offset_bytes: u64,
        length_bytes: u64,
        persistence: Persistence,
    ) -> Result<(), IoError> {
        let buffer = SharedBuffer::new(Buffer::zeroed(length_bytes as usize));
        self.write(offset_bytes, buffer, persistence).await
    }

    /// Makes every completed write of this file durable, its size included.
    async fn sync(&self) -> Result<(), IoError>;

    /// The file's size in bytes.
    async fn size_bytes(&self) -> Result<u64, IoError>;

    /// Grows or cuts the file. New bytes read as zero.
    async fn set_size_bytes(&self, size_bytes: u64) -> Result<(), IoError>;

    /// The name for messages, such as a path.
    fn name(&self) -> String;

    /// The error of a request to this file that came to nothing.
    fn error(
        &self,
        operation: IoOperation,
        offset_bytes: u64,
        length_bytes: u64,
        failure: IoFailure,
    ) -> IoError {
        IoError {
            operation,
            file: self.name(),
            offset_bytes,
            length_bytes,
            failure,
        }
    }
}

/// A flat directory of files. Clones share it.
#[allow(async_fn_in_trait)] // As above.
pub trait Directory: Clone + 'static {
    /// The kind of file that lives here.
    type File: File;

    /// Creates an empty file; fails if there is one of that name.
    async fn create(&self, name: &str) -> Result<Self::File, IoError>;

    /// Opens a file that exists.
    async fn open(&self, name: &str) -> Result<Self::File, IoError>;

    /// Creates a file of that size, whose bytes count as written: modelled storage takes the space
    /// as for one sequential write, in no time.
    async fn lay_out(&self, name: &str, size_bytes: u64) -> Result<Self::File, IoError> {
        let file = self.create(name).await?;
        file.set_size_bytes(size_bytes).await?;
        Ok(file)
    }

    /// Renames `from` to `to` in one atomic step, replacing a file already called `to`.
    async fn rename(&self, from: &str, to: &str) -> Result<(), IoError>;

    /// Removes the file of that name.
    async fn remove(&self, name: &str) -> Result<(), IoError>;

    /// The names of all files, sorted.
    async fn list(&self) -> Result<Vec<String>, IoError>;

    /// Makes every creation, renaming and removal so far durable.
    async fn sync(&self) -> Result<(), IoError>;

    /// The directory as a person knows it, such as a path.
    fn describe(&self) -> String;
}
