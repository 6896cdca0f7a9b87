//! Anonymous mappings that start at the beginning of a large page.

#![allow(unsafe_code)] // Mappings of memory.

use super::LARGE_PAGE_BYTES;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ptr::{NonNull, null_mut};

/// Maps `length` bytes of zeros, whole small pages, from the beginning of a large page on, and asks
/// for large pages if they are as long as one.
#[cold]
pub(super) fn map(length: usize, flags: MapFlags) -> std::io::Result<NonNull<u8>> {
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
            let _ = madvise(start, length, Advice::LinuxHugepage);
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
