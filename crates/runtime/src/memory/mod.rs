//! Large pieces of memory: the mappings behind buffers, and the allocator of programs with large
//! tables.

#[cfg(target_family = "wasm")]
mod fresh_zeros;
#[cfg(not(feature = "host"))]
mod heap;
#[cfg(feature = "host")]
mod large_pages;
#[cfg(feature = "host")]
mod mapping;

#[cfg(target_family = "wasm")]
pub use fresh_zeros::FreshZeros;
#[cfg(not(feature = "host"))]
pub(crate) use heap::Mapping;
#[cfg(feature = "host")]
pub use large_pages::LargePages;
#[cfg(feature = "host")]
pub(crate) use mapping::Mapping;

use std::any::Any;

/// The size of a large page on x86-64, and on ARM64 with small pages of 4 KiB.
#[cfg(feature = "host")]
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// The number under which a ring knows a mapping, in consecutive pieces of `piece_bytes`. The ring
/// forgets the mapping when this is dropped.
#[cfg_attr(not(feature = "host"), expect(dead_code, reason = "there is no ring"))]
pub(crate) struct Registration {
    pub(crate) ring_identity: u64,
    pub(crate) first: u32,
    pub(crate) piece_bytes: usize,
    pub(crate) _held: Box<dyn Any>,
}

#[cfg(feature = "host")]
impl Registration {
    /// The number of the piece that holds the byte at `offset`, for the ring with this identity.
    pub(crate) fn index_of(&self, offset: usize, ring_identity: u64) -> Option<u16> {
        if self.ring_identity != ring_identity {
            return None;
        }
        u16::try_from(self.first as usize + offset / self.piece_bytes).ok()
    }
}
