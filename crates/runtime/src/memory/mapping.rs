//! Anonymous mappings that start at the beginning of a large page.

#![allow(unsafe_code)] // Mappings of memory.

use super::LARGE_PAGE_BYTES;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ptr::{NonNull, null_mut};

/// Maps `length` bytes of zeros, whole small pages, from the beginning of a large page on, and asks
/// for large pages if they are as long as one.
pub(super) fn map(length: usize, flags: MapFlags) -> std::io::Result<NonNull<u8>> {
    map_advised(length, flags, Advice::LinuxHugepage)
}

/// As [`map`], with this advice in place of asking for large pages.
#[cold]
fn map_advised(length: usize, flags: MapFlags, advice: Advice) -> std::io::Result<NonNull<u8>> {
    let reserved = length + LARGE_PAGE_BYTES;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping, at a place of the kernel's choice.
    let mapped = unsafe { mmap_anonymous(null_mut(), reserved, access, flags) }?;
    let before = mapped.cast::<u8>().align_offset(LARGE_PAGE_BYTES);
    let after = LARGE_PAGE_BYTES - before;
    // SAFETY: all three stretches lie in the new mapping, of which the middle one is kept. That the
    // kernel has no large pages, or cannot take back what is too much, does no harm.
    let start = unsafe {
        let start = mapped.add(before);
        if before > 0 {
            let _ = munmap(mapped, before);
        }
        if after > 0 {
            let _ = munmap(start.add(length), after);
        }
        if length >= LARGE_PAGE_BYTES {
            let _ = madvise(start, length, advice);
        }
        start
    };
    NonNull::new(start.cast::<u8>())
        .ok_or_else(|| std::io::Error::other("the kernel mapped memory at address 0"))
}

/// Memory of zeros that devices read into and write from. It takes up room only where it was
/// touched.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    /// Maps `length` bytes, whole small pages.
    pub(crate) fn new(length: usize) -> std::io::Result<Self> {
        let start = map(length, MapFlags::PRIVATE | MapFlags::NORESERVE)?;
        Ok(Self { start, length })
    }

    /// Maps `length` bytes of which parts can be given back. It has small pages: of a large one, the kernel takes
    /// no part back before memory is short.
    pub(crate) fn releasable(length: usize) -> std::io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let start = map_advised(length, flags, Advice::LinuxNoHugepage)?;
        Ok(Self { start, length })
    }

    /// Gives the memory of a part back to the system. Whoever uses it again finds zeros. That the kernel does not
    /// take it back does no harm.
    ///
    /// # Safety
    /// Nobody has a reference to bytes of the part.
    pub(crate) unsafe fn release(&self, offset: usize, length: usize) {
        assert!(
            offset + length <= self.length,
            "the part lies in the mapping"
        );
        // SAFETY: the part lies in the mapping, and nobody has a reference to it.
        let _ = unsafe {
            madvise(
                self.start.as_ptr().add(offset).cast(),
                length,
                Advice::LinuxDontNeed,
            )
        };
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
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
