//! One large piece of memory, divided into slots that devices read into and write from.
//!
//! On a wall-clock runtime the memory is registered with the ring, so that the kernel need not look
//! up and pin its pages for every request. Slots are handed out as [`Buffer`]s without being
//! cleared.

#![allow(unsafe_code)] // A mapping of memory.

use super::{BLOCK_BYTES, Buffer};
use crate::executor::Handle;
use crate::memory::{Mapping, Registration};
use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::Rc;

/// A set of equal buffers in one mapping. Clones share it; the memory lives until the last clone
/// and the last buffer are gone.
#[derive(Clone)]
pub struct BufferArena {
    memory: Rc<ArenaMemory>,
}

impl BufferArena {
    /// An arena of `slots` buffers of `slot_bytes` each, a positive multiple of [`BLOCK_BYTES`]. It
    /// is registered with the ring of `handle` if that has one and the limit on locked memory
    /// allows; if not, everything works the same at a little more CPU time.
    ///
    /// # Errors
    /// If the system does not give that much memory, and always where there is no host.
    pub fn new(handle: &Handle, slot_bytes: usize, slots: u32) -> std::io::Result<Self> {
        assert!(
            slot_bytes > 0 && slot_bytes.is_multiple_of(BLOCK_BYTES),
            "a slot is whole blocks, not {slot_bytes} bytes"
        );
        let mapping = Mapping::new(slot_bytes * slots as usize)?;
        let registration = handle.driver().register(&mapping, slot_bytes);
        Ok(Self::of(mapping, registration, slot_bytes, slots))
    }

    /// The same, whose memory can be given back with [`BufferArena::keep`]. No ring knows it, as the kernel keeps
    /// all memory that one does.
    ///
    /// # Errors
    /// As [`BufferArena::new`].
    pub fn releasable(slot_bytes: usize, slots: u32) -> std::io::Result<Self> {
        let mapping = Mapping::releasable(slot_bytes * slots as usize)?;
        Ok(Self::of(mapping, None, slot_bytes, slots))
    }

    fn of(
        mapping: Mapping,
        registration: Option<Registration>,
        slot_bytes: usize,
        slots: u32,
    ) -> Self {
        let memory = ArenaMemory {
            // The lowest slots are taken first, so that memory never needed is never touched.
            free: RefCell::new((0..slots).rev().collect()),
            released: RefCell::default(),
            registration,
            mapping,
            slot_bytes,
            slots,
        };
        Self {
            memory: Rc::new(memory),
        }
    }

    /// Gives the memory of free slots back to the system until no more than `slots` slots have any, as far as that
    /// many are free; or lets that many have memory again. Whoever needs more has more.
    pub fn keep(&self, slots: usize) {
        let memory = &self.memory;
        let wanted = (memory.slots as usize).saturating_sub(slots);
        let (mut free, mut released) = (memory.free.borrow_mut(), memory.released.borrow_mut());
        while released.len() < wanted
            && let Some(slot) = free.pop()
        {
            let offset = slot as usize * memory.slot_bytes;
            // SAFETY: the slot is free, so no buffer holds its bytes.
            unsafe { memory.mapping.release(offset, memory.slot_bytes) };
            released.push(slot);
        }
        let too_many = released.len().saturating_sub(wanted);
        // Below those that have memory, which are taken first.
        free.splice(0..0, released.drain(..too_many));
    }

    /// A buffer of the arena's slot size with arbitrary content; from the heap (and zeroed) when
    /// all slots are taken.
    #[must_use]
    pub fn buffer(&self) -> Buffer {
        ArenaMemory::take(&self.memory).unwrap_or_else(|| Buffer::zeroed(self.memory.slot_bytes))
    }

    /// Size of each buffer in bytes.
    #[must_use]
    pub fn slot_bytes(&self) -> usize {
        self.memory.slot_bytes
    }

    /// Slots that are not taken.
    #[must_use]
    pub fn free_slots(&self) -> usize {
        self.memory.free.borrow().len() + self.memory.released.borrow().len()
    }

    /// Whether the ring knows the memory.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        self.memory.registration.is_some()
    }
}

/// The memory behind an arena and the list of slots nobody holds.
pub(super) struct ArenaMemory {
    free: RefCell<Vec<u32>>,
    /// Free slots whose memory was given back.
    released: RefCell<Vec<u32>>,
    /// Before the mapping, so that the ring lets go of the memory before it is unmapped.
    registration: Option<Registration>,
    mapping: Mapping,
    slot_bytes: usize,
    slots: u32,
}

impl ArenaMemory {
    /// A free slot as a buffer.
    pub(super) fn take(this: &Rc<Self>) -> Option<Buffer> {
        let slot = this.free.borrow_mut().pop();
        let slot = slot.or_else(|| this.released.borrow_mut().pop())?;
        Some(Buffer::in_slot(Rc::clone(this), slot))
    }

    pub(super) fn give_back(&self, slot: u32) {
        self.free.borrow_mut().push(slot);
    }

    pub(super) fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    pub(super) fn slot_pointer(&self, slot: u32) -> NonNull<u8> {
        let offset = slot as usize * self.slot_bytes;
        assert!(offset + self.slot_bytes <= self.mapping.length());
        // SAFETY: the slot lies inside the mapping, as just asserted.
        unsafe { self.mapping.start().add(offset) }
    }

    #[cfg(feature = "host")]
    pub(super) fn fixed_index(&self, slot: u32, ring_identity: u64) -> Option<u16> {
        let registration = self.registration.as_ref()?;
        registration.index_of(slot as usize * self.slot_bytes, ring_identity)
    }
}
