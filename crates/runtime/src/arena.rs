//! One large piece of memory, divided into slots that devices read into and write from.
//!
//! On a wall-clock runtime the memory is registered with the ring, so that the kernel need not look
//! up and pin its pages for every request. Slots are handed out as [`Buffer`]s without being
//! cleared.

#![allow(unsafe_code)] // A mapping of memory.

use crate::buffer::{BLOCK_BYTES, Buffer};
use crate::executor::Handle;
use crate::uring::RegisteredMemory;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::Rc;

/// The memory is aligned to this many bytes, so that huge pages can back all of it.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A set of equal buffers in one mapping. Clones share it; the memory lives until the last clone
/// and the last buffer are gone.
#[derive(Clone)]
pub struct BufferArena {
    memory: Rc<ArenaMemory>,
}

impl BufferArena {
    /// An arena of `slots` buffers of `slot_bytes` each, a positive multiple of [`BLOCK_BYTES`]. It
    /// is registered with the ring of `handle` if that has one and the limit on locked memory
    /// allows; if not, everything works the same at a little more processor time.
    ///
    /// # Errors
    /// If the system does not give that much memory.
    pub fn new(handle: &Handle, slot_bytes: usize, slots: u32) -> std::io::Result<Self> {
        assert!(
            slot_bytes > 0 && slot_bytes.is_multiple_of(BLOCK_BYTES),
            "a slot is whole blocks, not {slot_bytes} bytes"
        );
        let mapping = Mapping::new(slot_bytes * slots as usize)?;
        let registration = handle
            .reactor()
            .and_then(|reactor| RegisteredMemory::register(&reactor, &mapping, slot_bytes));
        let memory = ArenaMemory {
            // The lowest slots are taken first, so that memory never needed is never touched.
            free: RefCell::new((0..slots).rev().collect()),
            registration,
            mapping,
            slot_bytes,
        };
        Ok(Self {
            memory: Rc::new(memory),
        })
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
        self.memory.free.borrow().len()
    }

    /// Whether the ring knows the memory.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        self.memory.registration.is_some()
    }
}

/// Anonymous memory, zeroed at first touch.
pub(crate) struct Mapping {
    whole: NonNull<u8>,
    whole_bytes: usize,
    /// The part of the mapping that is aligned to huge pages.
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    fn new(length: usize) -> std::io::Result<Self> {
        let whole_bytes = length + HUGE_PAGE_BYTES;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no other.
        let whole = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                whole_bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )?
        };
        let whole = NonNull::new(whole.cast::<u8>())
            .ok_or_else(|| std::io::Error::other("the kernel mapped memory at address 0"))?;
        let padding = whole.as_ptr().align_offset(HUGE_PAGE_BYTES);
        // SAFETY: the mapping is longer than `length` by the largest padding there can be.
        let start = unsafe { whole.add(padding) };
        let mapping = Self {
            whole,
            whole_bytes,
            start,
            length,
        };
        if length >= HUGE_PAGE_BYTES {
            // SAFETY: the range lies in our own mapping. Refusal only costs speed.
            let _ = unsafe { madvise(start.as_ptr().cast(), length, Advice::LinuxHugepage) };
        }
        Ok(mapping)
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`; every buffer in it holds the arena, so none is left.
        let _ = unsafe { munmap(self.whole.as_ptr().cast(), self.whole_bytes) };
    }
}

/// The memory behind an arena and the list of slots nobody holds.
pub(crate) struct ArenaMemory {
    free: RefCell<Vec<u32>>,
    /// Before the mapping, so that the ring lets go of the memory before it is unmapped.
    registration: Option<RegisteredMemory>,
    mapping: Mapping,
    slot_bytes: usize,
}

impl ArenaMemory {
    /// A free slot as a buffer.
    pub(crate) fn take(this: &Rc<Self>) -> Option<Buffer> {
        let slot = this.free.borrow_mut().pop()?;
        Some(Buffer::in_slot(Rc::clone(this), slot))
    }

    pub(crate) fn give_back(&self, slot: u32) {
        self.free.borrow_mut().push(slot);
    }

    pub(crate) fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    pub(crate) fn slot_pointer(&self, slot: u32) -> NonNull<u8> {
        let offset = slot as usize * self.slot_bytes;
        assert!(offset + self.slot_bytes <= self.mapping.length());
        // SAFETY: the slot lies inside the mapping, as just asserted.
        unsafe { self.mapping.start().add(offset) }
    }

    pub(crate) fn fixed_index(&self, slot: u32, ring_identity: u64) -> Option<u16> {
        let registration = self.registration.as_ref()?;
        registration.index_of(slot as usize * self.slot_bytes, ring_identity)
    }
}
