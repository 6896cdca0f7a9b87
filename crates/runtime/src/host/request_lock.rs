//! Locks by which one process knows that requests of another, which has ended, are still under way.
//!
//! A process that is killed leaves its requests to the kernel, which completes them later: until then
//! they change files that the process has no lock on any more. So each descriptor that such requests go
//! through has a lock of its own (`F_OFD_SETLK`), which belongs to the open file and not to the
//! process: a request keeps the file open, and with it this lock. It is shared, so that a process may
//! open a file several times, and independent of `flock`, whose lock is exclusive.
//!
//! File systems that make byte-range locks of `flock` (NFS, CIFS) refuse it beside that exclusive lock.
//! There, and where there are no such locks, it is not known what is under way.

#![allow(unsafe_code)] // rustix has no locks of open files.

use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// The byte that is locked: behind the end of every file, where no other program is known to have locks.
const LOCKED_BYTE: libc::off_t = 1 << 62;

/// The longest time to wait for the requests of a process that has ended. The kernel gives most devices
/// half a minute for a request, and tries again a few times.
pub const REQUESTS_WAIT_MAX: Duration = Duration::from_secs(600);
/// The time between two checks whether they are complete.
pub const REQUESTS_PAUSE: Duration = Duration::from_millis(10);

/// Locks an open file that requests go through. Returns whether the file system has such locks.
pub(super) fn hold(file: impl AsFd) -> bool {
    call(file, libc::F_OFD_SETLK, libc::F_RDLCK).is_some()
}

/// Ends the lock of an open file.
pub(super) fn release(file: impl AsFd) {
    call(file, libc::F_OFD_SETLK, libc::F_UNLCK);
}

/// Whether a descriptor that requests are written through is open of this file: in any process, also
/// this one, or left behind by one that has ended before its requests.
#[must_use]
pub fn requests_are_under_way(file: impl AsFd) -> bool {
    // It is asked only whether an exclusive lock would meet others. The kernel says -1 of locks of open
    // files.
    let found = call(file, libc::F_OFD_GETLK, libc::F_WRLCK);
    found.is_some_and(|found| i32::from(found.l_type) == libc::F_RDLCK && found.l_pid == -1)
}

/// What the kernel answers to a command about the lock; `None` if it refuses it.
fn call(file: impl AsFd, command: libc::c_int, kind: libc::c_int) -> Option<libc::flock> {
    // SAFETY: the structure has only numbers in it.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short; // One of three small numbers.
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = LOCKED_BYTE;
    lock.l_len = 1;
    let descriptor = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open, and these commands take a pointer to such a structure, which the
    // kernel uses only during the call.
    let result = unsafe { libc::fcntl(descriptor, command, &raw mut lock) };
    (result == 0).then_some(lock)
}
