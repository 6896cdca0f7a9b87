//! Memory that a device accepts: aligned to 4 KiB, whole 4 KiB blocks long.
//!
//! A [`Buffer`] owns its bytes alone. They come from the heap ([`Buffer::zeroed`]) or from a slot of
//! a [`BufferArena`], to which they return when the buffer is dropped.

#![allow(unsafe_code)] // Aligned memory, which a `Vec` cannot own, and slots of a mapping.

mod arena;

pub use arena::BufferArena;

use arena::ArenaMemory;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::rc::Rc;

/// Alignment and granularity of every buffer, offset and length given to a [`crate::File`], in
/// bytes. It suits O_DIRECT on every common device and is the segment size of the log.
pub const BLOCK_BYTES: usize = 4096;

/// Asserts that an offset or a size is a number of whole blocks, as direct I/O needs it.
pub(crate) fn require_blocks(offset_bytes: u64) {
    assert!(
        offset_bytes.is_multiple_of(BLOCK_BYTES as u64),
        "offsets and sizes are whole blocks, not {offset_bytes} bytes"
    );
}

/// The smallest unit that a block device addresses, in bytes.
pub const SECTOR_BYTES: usize = 512;

/// Whether all bytes are zero.
#[must_use]
pub fn is_zero(bytes: &[u8]) -> bool {
    // A fold has no branch for each byte, so that the compiler makes it of vector instructions.
    bytes
        .chunks(256)
        .all(|chunk| chunk.iter().fold(0, |all, byte| all | byte) == 0)
}

/// A buffer that several holders may read, such as a page that is in the cache and on its way to
/// the disk at the same time.
pub type SharedBuffer = Rc<Buffer>;

/// Where a buffer's bytes go back to.
enum Allocation {
    Heap,
    Slot { arena: Rc<ArenaMemory>, slot: u32 },
}

/// Bytes aligned for direct I/O, from an arena or from the heap.
pub struct Buffer {
    /// The first of `length` initialised bytes that belong to this buffer alone until it is
    /// dropped. Aligned to [`BLOCK_BYTES`].
    pointer: NonNull<u8>,
    length: usize,
    allocation: Allocation,
}

impl Buffer {
    /// A zeroed buffer of `length_bytes`, a positive multiple of [`BLOCK_BYTES`], on the heap.
    #[must_use]
    pub fn zeroed(length_bytes: usize) -> Self {
        assert!(
            length_bytes > 0 && length_bytes.is_multiple_of(BLOCK_BYTES),
            "a buffer is whole blocks, not {length_bytes} bytes"
        );
        Self::on_heap(length_bytes)
    }

    /// A zeroed buffer of `length_bytes`, a positive multiple of [`SECTOR_BYTES`], on the heap; for requests
    /// of less than a block ([`crate::HostFile::read_sectors`]).
    #[cfg(feature = "host")]
    #[must_use]
    pub fn of_sectors(length_bytes: usize) -> Self {
        assert!(
            length_bytes > 0 && length_bytes.is_multiple_of(SECTOR_BYTES),
            "a buffer is whole sectors, not {length_bytes} bytes"
        );
        Self::on_heap(length_bytes)
    }

    fn on_heap(length_bytes: usize) -> Self {
        let layout = heap_layout(length_bytes);
        // SAFETY: the layout's size is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        let Some(pointer) = NonNull::new(memory) else {
            handle_alloc_error(layout)
        };
        Self {
            pointer,
            length: length_bytes,
            allocation: Allocation::Heap,
        }
    }

    /// The bytes of a free slot, with whatever its last holder left in them.
    fn in_slot(arena: Rc<ArenaMemory>, slot: u32) -> Self {
        Self {
            pointer: arena.slot_pointer(slot),
            length: arena.slot_bytes(),
            allocation: Allocation::Slot { arena, slot },
        }
    }

    /// A new buffer with the same bytes, from the same arena if this one came from an arena that
    /// has a free slot.
    #[must_use]
    pub fn copied(&self) -> Self {
        let mut copy = match &self.allocation {
            Allocation::Slot { arena, .. } => ArenaMemory::take(arena),
            Allocation::Heap => None,
        }
        .unwrap_or_else(|| Self::on_heap(self.length));
        copy.copy_from_slice(self);
        copy
    }

    /// Whether the bytes belong to an arena.
    #[must_use]
    pub fn is_from_arena(&self) -> bool {
        matches!(self.allocation, Allocation::Slot { .. })
    }

    /// The number under which the ring with this identity knows the memory, if it does.
    #[cfg(feature = "host")]
    pub(crate) fn fixed_index(&self, ring_identity: u64) -> Option<u16> {
        match &self.allocation {
            Allocation::Slot { arena, slot } => arena.fixed_index(*slot, ring_identity),
            Allocation::Heap => None,
        }
    }
}

fn heap_layout(length_bytes: usize) -> Layout {
    // The alignment is a power of two and no length near `isize::MAX` can be allocated.
    Layout::from_size_align(length_bytes, BLOCK_BYTES).expect("the length fits in memory")
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match &self.allocation {
            // SAFETY: allocated in `zeroed` with this very layout, and freed only here.
            Allocation::Heap => unsafe { dealloc(self.pointer.as_ptr(), heap_layout(self.length)) },
            Allocation::Slot { arena, slot } => arena.give_back(*slot),
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: see `pointer`; a shared borrow of the buffer keeps writers out.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.length) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: see `pointer`; an exclusive borrow of the buffer keeps everybody else out.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.length) }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Buffer({} bytes)", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_anywhere_is_not_zero() {
        for length in [0, 1, 255, 256, 257, 4096] {
            let mut bytes = vec![0; length];
            assert!(is_zero(&bytes), "{length}");
            for place in 0..length {
                bytes[place] = 0x10;
                assert!(!is_zero(&bytes), "byte {place} of {length}");
                bytes[place] = 0;
            }
        }
    }
}
