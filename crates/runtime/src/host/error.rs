//! Why a place in the file system cannot be used, and what failed requests mean.

use super::holder::Holder;
use crate::file::IoFailure;
use rustix::io::Errno;
use std::path::PathBuf;
use thiserror::Error;

/// Why a directory or device cannot be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The path is not a directory.
    #[error("{} is not a directory; name a directory on the storage to be tested", .0.display())]
    NotADirectory(PathBuf),
    /// The path is not a block device.
    #[error("{} is not a block device; name a device such as /dev/sdb", .0.display())]
    NotADevice(PathBuf),
    /// The file system does not bypass the page cache.
    #[error(
        "the file system of {} does not support direct I/O (O_DIRECT), so it cannot be measured; \
         use a directory on a file system such as ext4 or XFS", .0.display()
    )]
    NoDirectIo(PathBuf),
    /// The storage wants larger or stricter blocks than ours.
    #[error(
        "{} needs direct I/O in units of {unit_bytes} bytes and requests here are units of 4096 \
         bytes; use storage with logical blocks of at most 4096 bytes", path.display()
    )]
    UnitTooLarge {
        /// The directory or device.
        path: PathBuf,
        /// Alignment it asks for, in bytes.
        unit_bytes: u32,
    },
    /// The device is mounted, or something else holds it.
    #[error("{} is in use (mounted, or part of a RAID, LVM or other array); free it first", .0.display())]
    Busy(PathBuf),
    /// Another process has locked the device.
    #[error("{} is in use by {}", .0.display(), .1)]
    InUse(PathBuf, Holder),
    /// The system said no for another reason.
    #[error("{} cannot be opened: {error}", path.display())]
    System {
        /// The directory or device.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

impl OpenError {
    /// What the system's error means, where it was the system that refused.
    #[must_use]
    pub fn io_failure(&self) -> Option<IoFailure> {
        match self {
            Self::System { error, .. } => Errno::from_io_error(error).map(failure_of),
            _ => None,
        }
    }

    pub(super) fn system(path: impl Into<PathBuf>, error: impl Into<std::io::Error>) -> Self {
        Self::System {
            path: path.into(),
            error: error.into(),
        }
    }
}

/// What an error number of the system means for a request.
pub(super) fn failure_of(errno: Errno) -> IoFailure {
    match errno {
        Errno::NOENT => IoFailure::NotFound,
        Errno::EXIST => IoFailure::AlreadyExists,
        Errno::NOSPC | Errno::DQUOT => IoFailure::OutOfSpace,
        Errno::ACCESS | Errno::PERM => IoFailure::PermissionDenied,
        Errno::ROFS => IoFailure::ReadOnly,
        Errno::MFILE => IoFailure::ProcessLimit(
            "this process may open no more files; raise its limit (`ulimit -n`)",
        ),
        Errno::NFILE => IoFailure::ProcessLimit(
            "this machine may open no more files; raise its limit (sysctl fs.file-max)",
        ),
        Errno::FBIG => IoFailure::ProcessLimit(
            "the file may not become so large; raise the limit of the process on the size of files (`ulimit -f`), \
             or use a file system that has larger files",
        ),
        _ => IoFailure::Device(std::io::Error::from(errno).to_string()),
    }
}
