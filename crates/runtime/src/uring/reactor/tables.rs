//! The ring's tables of files and of memory, and registering an arena's memory.

#![allow(unsafe_code)] // Promises the kernel that memory stays mapped.

use super::Reactor;
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

/// Registers a mapping whose slots of `slot_bytes` must not be cut in two. `None` if the ring has no
/// room or the limit on locked memory does not allow it.
pub(super) fn register(
    reactor: Rc<Reactor>,
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
    let first = unsafe { reactor.register_memory(&pieces) }?;
    let ring_identity = reactor.identity();
    let count = pieces.len() as u32; // It passed through `u32` in `register_memory`.
    Some(Registration {
        ring_identity,
        first,
        piece_bytes,
        _held: Box::new(RegisteredMemory {
            reactor,
            first,
            count,
        }),
    })
}

/// Memory that a ring knows. Dropping it makes the ring forget it.
struct RegisteredMemory {
    reactor: Rc<Reactor>,
    first: u32,
    count: u32,
}

impl Drop for RegisteredMemory {
    fn drop(&mut self) {
        self.reactor.unregister_memory(self.first, self.count);
    }
}
