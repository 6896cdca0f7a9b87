//! The ring's tables of files and of memory, and registering an arena's memory.

#![allow(unsafe_code)] // Promises the kernel that memory stays mapped.

use super::Ring;
use crate::memory::{Mapping, Registration};
use std::rc::Rc;

/// The kernel takes at most this much memory as one piece.
const PIECE_BYTES_MAX: usize = 1 << 30;

/// Which places of a table are taken.
pub(super) struct Table {
    taken: Vec<bool>,
}

impl Table {
    pub(super) fn new(size: u32) -> Self {
        Self {
            taken: vec![false; size as usize],
        }
    }

    /// Takes `count` free places side by side; returns the first.
    pub(super) fn take(&mut self, count: u32) -> Option<u32> {
        let count = count as usize;
        let first = self
            .taken
            .windows(count.max(1))
            .position(|places| places.iter().all(|taken| !taken))?;
        self.taken[first..first + count].fill(true);
        u32::try_from(first).ok()
    }

    pub(super) fn give_back(&mut self, first: u32, count: u32) {
        let places = first as usize..(first + count) as usize;
        assert!(self.taken[places.clone()].iter().all(|taken| *taken));
        self.taken[places].fill(false);
    }
}

impl Ring {
    /// Enters a file into the ring's table, if there is room.
    pub(in crate::wall_clock) fn register_file(&self, fd: i32) -> Option<u32> {
        let index = self.files.borrow_mut().take(1)?;
        let ring = self.ring.borrow();
        if ring.submitter().register_files_update(index, &[fd]).is_ok() {
            return Some(index);
        }
        self.files.borrow_mut().give_back(index, 1);
        None
    }

    /// Removes a file from the table.
    pub(in crate::wall_clock) fn unregister_file(&self, index: u32) {
        let ring = self.ring.borrow();
        // Entries not yet handed over name the file by its index; but their `InFlight` holds the file,
        // so there are none.
        if ring.submitter().register_files_update(index, &[-1]).is_ok() {
            self.files.borrow_mut().give_back(index, 1);
        }
    }

    /// Enters pieces of memory into the ring's table, side by side.
    ///
    /// # Safety
    /// The memory must stay mapped until [`Ring::unregister_memory`].
    unsafe fn register_memory(&self, pieces: &[libc::iovec]) -> Option<u32> {
        let count = u32::try_from(pieces.len()).ok()?;
        let first = self.buffers.borrow_mut().take(count)?;
        let ring = self.ring.borrow();
        // SAFETY: the caller promises that the memory stays.
        let result = unsafe {
            ring.submitter()
                .register_buffers_update(first, pieces, None)
        };
        if result.is_ok() {
            return Some(first);
        }
        drop(ring);
        self.unregister_memory(first, count); // Some of the pieces may have got in.
        None
    }

    /// Removes pieces of memory from the table.
    fn unregister_memory(&self, first: u32, count: u32) {
        let nothing = libc::iovec {
            iov_base: std::ptr::null_mut(),
            iov_len: 0,
        };
        let pieces = vec![nothing; count as usize];
        let ring = self.ring.borrow();
        // SAFETY: empty entries name no memory.
        let result = unsafe {
            ring.submitter()
                .register_buffers_update(first, &pieces, None)
        };
        if result.is_ok() {
            self.buffers.borrow_mut().give_back(first, count);
        }
    }
}

/// Registers a mapping whose slots of `slot_bytes` must not be cut in two. `None` if the ring has no
/// room or the limit on locked memory does not allow it.
pub(in crate::wall_clock) fn register(
    ring: Rc<Ring>,
    mapping: &Mapping,
    slot_bytes: usize,
) -> Option<Registration> {
    let piece_bytes = PIECE_BYTES_MAX / slot_bytes * slot_bytes;
    if piece_bytes == 0 {
        return None;
    }
    let piece = |offset: usize| libc::iovec {
        // SAFETY: the offset lies inside the mapping.
        iov_base: unsafe { mapping.start().add(offset) }.as_ptr().cast(),
        iov_len: piece_bytes.min(mapping.length() - offset),
    };
    let pieces: Vec<_> = (0..mapping.length())
        .step_by(piece_bytes)
        .map(piece)
        .collect();
    // SAFETY: the arena drops its registration before its mapping.
    let first = unsafe { ring.register_memory(&pieces) }?;
    let ring_identity = ring.identity();
    let count = pieces.len() as u32; // It passed through `u32` in `register_memory`.
    Some(Registration {
        ring_identity,
        first,
        piece_bytes,
        _held: Box::new(RegisteredMemory { ring, first, count }),
    })
}

/// Memory that a ring knows. Dropping it makes the ring forget it.
struct RegisteredMemory {
    ring: Rc<Ring>,
    first: u32,
    count: u32,
}

impl Drop for RegisteredMemory {
    fn drop(&mut self) {
        self.ring.unregister_memory(self.first, self.count);
    }
}
