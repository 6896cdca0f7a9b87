//! Where there is no host there are no mappings: nothing would know their memory better than that of the heap, and in
//! WebAssembly what is never touched would be memory all the same.

use std::io::{Error, ErrorKind};
use std::ptr::NonNull;

/// A mapping, of which there is none.
pub(crate) enum Mapping {}

impl Mapping {
    /// Always an error: buffers come from the heap.
    pub(crate) fn new(_length: usize) -> std::io::Result<Self> {
        Err(Error::from(ErrorKind::Unsupported))
    }

    /// As [`Mapping::new`].
    pub(crate) fn releasable(_length: usize) -> std::io::Result<Self> {
        Err(Error::from(ErrorKind::Unsupported))
    }

    /// As where there is a host.
    ///
    /// # Safety
    /// Nobody has a reference to bytes of the part.
    #[allow(unsafe_code)] // Has the signature of the other.
    pub(crate) unsafe fn release(&self, _offset: usize, _length: usize) {
        match *self {}
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        match *self {}
    }

    pub(crate) fn length(&self) -> usize {
        match *self {}
    }
}
