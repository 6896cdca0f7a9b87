//! An open file that requests go through, with its locks.

use super::lock::FileLock;
use super::request_lock;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// An open file with its locks. They end when it is closed, which is after its last request.
pub(super) struct RequestFile {
    file: OwnedFd,
    has_request_lock: bool,
    /// Ends after the request lock, so that whoever takes it next finds none of ours.
    _lock: Option<Arc<FileLock>>,
}

impl RequestFile {
    /// A file that is written.
    pub(super) fn for_writing(file: OwnedFd, lock: Option<Arc<FileLock>>) -> Self {
        Self {
            has_request_lock: request_lock::hold(&file),
            file,
            _lock: lock,
        }
    }

    /// A file that is only read: its requests change nothing, however late they are.
    pub(super) fn for_reading(file: OwnedFd, lock: Option<Arc<FileLock>>) -> Self {
        Self {
            has_request_lock: false,
            file,
            _lock: lock,
        }
    }
}

impl AsFd for RequestFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for RequestFile {
    fn drop(&mut self) {
        if self.has_request_lock {
            // Closing would do, but for the ring's table, and for a process that was started a moment
            // ago: they may hold the file for a moment longer.
            request_lock::release(&self.file);
        }
    }
}
