//! The system call of a request.

#![allow(unsafe_code)] // A call points into its request, and is made on another thread.

use crate::file::Persistence;
use crate::wall_clock::in_flight::{InFlight, Operation, Pieces};
use rustix::fs::{AtFlags, FallocateFlags};
use rustix::io::{Errno, ReadWriteFlags};
use std::ffi::CStr;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// A system call with what it needs. It points into the [`InFlight`] that it was made of.
pub(in crate::wall_clock) struct Call {
    fd: RawFd,
    kind: Kind,
}

enum Kind {
    Read {
        offset_bytes: u64,
        pieces: Pieces,
    },
    Write {
        offset_bytes: u64,
        pieces: Pieces,
        persistence: Persistence,
    },
    Sync {
        names: bool,
    },
    Allocate {
        offset_bytes: u64,
        length_bytes: u64,
    },
    Rename(*const libc::c_char, *const libc::c_char),
    Remove(*const libc::c_char),
}

// SAFETY: the reactor keeps the `InFlight` until it has taken the completion of the request, which
// comes after the call. Until then the memory and the open file stay, nobody else writes to the memory
// of a read, and nobody writes to that of a write, which is shared for reading only.
unsafe impl Send for Call {}

impl Call {
    /// The call for `operation`, leaving out the first `done` bytes, which an earlier request has moved
    /// already.
    pub(in crate::wall_clock) fn new(
        in_flight: &mut InFlight,
        operation: Operation,
        done: usize,
    ) -> Self {
        let kind = match operation {
            Operation::Read { offset_bytes } => Kind::Read {
                offset_bytes: offset_bytes + done as u64,
                pieces: in_flight.pieces(done),
            },
            Operation::Write {
                offset_bytes,
                persistence,
            } => Kind::Write {
                offset_bytes: offset_bytes + done as u64,
                pieces: in_flight.pieces(done),
                persistence,
            },
            Operation::Sync { names } => Kind::Sync { names },
            Operation::Allocate {
                offset_bytes,
                length_bytes,
            } => Kind::Allocate {
                offset_bytes,
                length_bytes,
            },
            Operation::Rename => {
                let (from, to) = in_flight.names();
                Kind::Rename(from, to)
            }
            Operation::Remove => Kind::Remove(in_flight.names().0),
        };
        Self {
            fd: in_flight.descriptor.fd().as_raw_fd(),
            kind,
        }
    }

    /// Makes the call. Returns what a ring would: bytes, or an error number below zero.
    pub(super) fn perform(self) -> i32 {
        // SAFETY: the request holds the file open, see above.
        let file = unsafe { BorrowedFd::borrow_raw(self.fd) };
        match self.kind.perform(file) {
            Ok(bytes) => bytes as i32, // The kernel moves less than 2 GiB in a call.
            Err(errno) => -errno.raw_os_error(),
        }
    }
}

impl Kind {
    fn perform(self, file: BorrowedFd<'_>) -> Result<usize, Errno> {
        match self {
            Self::Read {
                offset_bytes,
                mut pieces,
            } => rustix::io::preadv(file, targets(&mut pieces), offset_bytes),
            Self::Write {
                offset_bytes,
                pieces,
                persistence,
            } => match persistence {
                Persistence::Volatile => rustix::io::pwritev(file, sources(&pieces), offset_bytes),
                Persistence::Durable => {
                    let flags = ReadWriteFlags::DSYNC;
                    rustix::io::pwritev2(file, sources(&pieces), offset_bytes, flags)
                }
            },
            Self::Sync { names: false } => rustix::fs::fdatasync(file).map(|()| 0),
            Self::Sync { names: true } => rustix::fs::fsync(file).map(|()| 0),
            Self::Allocate {
                offset_bytes,
                length_bytes,
            } => {
                let flags = FallocateFlags::empty();
                rustix::fs::fallocate(file, flags, offset_bytes, length_bytes).map(|()| 0)
            }
            Self::Rename(from, to) => {
                // SAFETY: the request has both names, and keeps them, see above.
                let (from, to) = unsafe { (CStr::from_ptr(from), CStr::from_ptr(to)) };
                rustix::fs::renameat(file, from, file, to).map(|()| 0)
            }
            Self::Remove(name) => {
                // SAFETY: as above.
                let name = unsafe { CStr::from_ptr(name) };
                rustix::fs::unlinkat(file, name, AtFlags::empty()).map(|()| 0)
            }
        }
    }
}

/// The pieces of a write.
fn sources(pieces: &Pieces) -> &[IoSlice<'_>] {
    let (first, count) = match pieces {
        Pieces::One(piece) => (std::ptr::from_ref(piece), 1),
        Pieces::Many { first, count } => (*first, *count as usize),
    };
    // SAFETY: an `IoSlice` is an `iovec` to the system, which the standard library guarantees; the pieces
    // stay and are not written to while the call lasts, see `Call`.
    unsafe { std::slice::from_raw_parts(first.cast(), count) }
}

/// The pieces of a read.
fn targets(pieces: &mut Pieces) -> &mut [IoSliceMut<'_>] {
    let (first, count) = match pieces {
        Pieces::One(piece) => (std::ptr::from_mut(piece), 1),
        Pieces::Many { first, count } => (first.cast_mut(), *count as usize),
    };
    // SAFETY: as above; nobody else uses the memory of a read until its completion was taken.
    unsafe { std::slice::from_raw_parts_mut(first.cast(), count) }
}
