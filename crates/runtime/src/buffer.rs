//! Memory that a device accepts: aligned to 4 KiB, whole 4 KiB blocks long.

use aligned_vec::{AVec, ConstAlign};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Alignment and granularity of every buffer, offset and length given to a [`crate::File`], in
/// bytes. It suits O_DIRECT on every common device and is the segment size of the log.
pub const BLOCK_BYTES: usize = 4096;

/// A buffer that several holders may read, such as a page that is in the cache and on its way to
/// the disk at the same time.
pub type SharedBuffer = Rc<Buffer>;

/// Aligned bytes, zero at birth.
pub struct Buffer {
    memory: AVec<u8, ConstAlign<BLOCK_BYTES>>,
}

impl Buffer {
    /// A zeroed buffer of `length_bytes`, a positive multiple of [`BLOCK_BYTES`].
    #[must_use]
    pub fn zeroed(length_bytes: usize) -> Self {
        assert!(
            length_bytes > 0 && length_bytes.is_multiple_of(BLOCK_BYTES),
            "a buffer is whole blocks, not {length_bytes} bytes"
        );
        let mut memory = AVec::with_capacity(BLOCK_BYTES, length_bytes);
        memory.resize(length_bytes, 0);
        Self { memory }
    }

    /// A new buffer with the same bytes.
    #[must_use]
    pub fn copied(&self) -> Self {
        Self {
            memory: self.memory.clone(),
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Buffer({} bytes)", self.memory.len())
    }
}
