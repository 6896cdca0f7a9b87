//! Locks on files (`flock`), by which one process knows that another uses them. The kernel gives a
//! lock back when its process ends, however that comes about, so none is ever left behind.

use super::holder::Holder;
use super::identity::FileIdentity;
use super::request_lock::requests_are_under_way;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use thiserror::Error;

/// Whether others may use a file at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Nobody else: the file is written.
    Exclusive,
    /// Others who only read it.
    Shared,
}

/// Why a file is not locked.
#[derive(Debug, Error)]
pub enum LockError {
    /// Somebody else has locked it.
    #[error("it is in use by {}", user(.0.as_ref()))]
    InUse(Option<Holder>),
    /// The file system has no locks.
    #[error("its file system has no locks (flock)")]
    Unsupported,
    /// The file system failed.
    #[error("{0}")]
    System(Errno),
}

/// Who uses a file, in words.
fn user(holder: Option<&Holder>) -> String {
    let elsewhere = "a process in another container or on another host";
    holder.map_or_else(|| elsewhere.to_owned(), Holder::to_string)
}

/// A lock on a file, which ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct FileLock {
    /// Opened for the lock alone. A descriptor that io_uring knows would stay open for a while after
    /// a process was killed, and its lock with it.
    file: OwnedFd,
    identity: FileIdentity,
    /// Whether no requests of others are under way. While this lock lasts, nobody makes new ones.
    is_free_of_requests: Mutex<bool>,
}

impl FileLock {
    /// Locks an open file, without waiting for others who have it locked.
    ///
    /// # Errors
    /// Somebody else has it locked, or the file system cannot.
    pub fn take(file: OwnedFd, kind: LockKind) -> Result<Self, LockError> {
        let identity = FileIdentity::of(&file).map_err(LockError::System)?;
        let operation = match kind {
            LockKind::Exclusive => FlockOperation::NonBlockingLockExclusive,
            LockKind::Shared => FlockOperation::NonBlockingLockShared,
        };
        loop {
            match rustix::fs::flock(&file, operation) {
                Ok(()) => {
                    return Ok(Self {
                        file,
                        identity,
                        is_free_of_requests: Mutex::new(false),
                    });
                }
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return Err(LockError::InUse(Holder::of_lock(identity))),
                Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => {
                    return Err(LockError::Unsupported);
                }
                Err(errno) => return Err(LockError::System(errno)),
            }
        }
    }

    /// Locks a file for this process alone; if it has the file locked already, that lock is shared.
    ///
    /// # Errors
    /// As [`FileLock::take`].
    pub fn take_for_process(file: &OwnedFd) -> Result<Arc<Self>, LockError> {
        let identity = FileIdentity::of(file).map_err(LockError::System)?;
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = own.get(&identity).and_then(Weak::upgrade) {
            return Ok(lock);
        }
        let was_ours = own.contains_key(&identity);
        own.retain(|_, lock| lock.strong_count() > 0);
        let mut attempts = 1;
        loop {
            let file = file.try_clone().map_err(|error| {
                LockError::System(Errno::from_io_error(&error).unwrap_or(Errno::MFILE))
            })?;
            match Self::take(file, LockKind::Exclusive) {
                // Its last user is just closing it.
                Err(LockError::InUse(_)) if was_ours && attempts < RELEASE_ATTEMPTS => {
                    attempts += 1;
                    std::thread::sleep(RELEASE_PAUSE);
                }
                Err(error) => return Err(error),
                Ok(lock) => {
                    let lock = Arc::new(lock);
                    own.insert(identity, Arc::downgrade(&lock));
                    return Ok(lock);
                }
            }
        }
    }

    /// Whether requests of a process that has ended are under way. Asked before this process opens the
    /// file for requests of its own, each time.
    pub(super) fn has_requests_of_others(&self) -> bool {
        let mut is_free = self
            .is_free_of_requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *is_free = *is_free || !requests_are_under_way(&self.file);
        !*is_free
    }

    /// The file that is locked.
    #[must_use]
    pub fn identity(&self) -> FileIdentity {
        self.identity
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing would do, but for a process that was started a moment ago: it holds a copy of the
        // descriptor, and with it the lock, until it runs its own program.
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

impl AsFd for FileLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The exclusive locks of this process, which opens some files more than once.
static OWN: Mutex<BTreeMap<FileIdentity, Weak<FileLock>>> = Mutex::new(BTreeMap::new());

/// How long a lock of our own may take to end on another thread.
const RELEASE_PAUSE: Duration = Duration::from_millis(1);
const RELEASE_ATTEMPTS: u32 = 100;
