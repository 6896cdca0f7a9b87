//! The memory of buffers where there is no host to map it.

#![allow(unsafe_code)] // Aligned memory, which a `Vec` cannot own.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io::{Error, ErrorKind};
use std::ptr::NonNull;

/// Memory of zeros, aligned to 4 KiB.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    layout: Layout,
}

impl Mapping {
    /// Allocates `length` bytes of zeros; an error if memory is short.
    pub(crate) fn new(length: usize) -> std::io::Result<Self> {
        let layout = Layout::from_size_align(length.max(1), 4096)
            .map_err(|_| Error::from(ErrorKind::OutOfMemory))?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).ok_or(Error::from(ErrorKind::OutOfMemory))?;
        Ok(Self { start, layout })
    }

    /// Memory of which parts can be given back.
    pub(crate) fn releasable(length: usize) -> std::io::Result<Self> {
        Self::new(length)
    }

    /// Without a host to give memory back to, it stays.
    ///
    /// # Safety
    /// As where there is a host.
    pub(crate) unsafe fn release(&self, _offset: usize, _length: usize) {}

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn length(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout; every buffer in it holds the arena, so none
        // is left.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
