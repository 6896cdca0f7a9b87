//! What is stored on a disk: sparse, and nothing at all when no bytes are carried.

use rustc_hash::FxHashMap;

use crate::payload::Payload;

/// Sectors kept together. Small enough that 4 KiB of data take 4 KiB of memory.
const BLOCK_SECTORS: u64 = 8;

/// The stored sectors of one disk. What was never written reads as zeros.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents<P> {
    blocks: FxHashMap<u64, P>,
}

/// The parts of an extent in each block: block, first sector in the block, first in the extent,
/// sectors.
fn split(first_sector: u64, sectors: u32) -> impl Iterator<Item = (u64, u32, u32, u32)> {
    let end = first_sector + u64::from(sectors);
    let mut at = first_sector;
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let block = at / BLOCK_SECTORS;
            let block_end = (block + 1) * BLOCK_SECTORS;
            let length = (end.min(block_end) - at) as u32;
            let piece = (
                block,
                (at % BLOCK_SECTORS) as u32,
                (at - first_sector) as u32,
                length,
            );
            at += u64::from(length);
            piece
        })
    })
}

impl<P: Payload> Contents<P> {
    /// What is stored in an extent.
    #[inline]
    pub(super) fn read(&self, first_sector: u64, sectors: u32) -> P {
        if !P::CARRIES_BYTES {
            return P::default();
        }
        let mut payload = P::zeroed(sectors);
        for (block, in_block, in_extent, length) in split(first_sector, sectors) {
            if let Some(stored) = self.blocks.get(&block) {
                payload.overlay(in_extent, &stored.part(in_block, length));
            }
        }
        payload
    }

    /// Stores what an extent is to hold; without effect for payloads that carry no bytes.
    #[inline]
    pub(super) fn write(&mut self, first_sector: u64, sectors: u32, payload: &P) {
        if !P::CARRIES_BYTES {
            return;
        }
        for (block, in_block, in_extent, length) in split(first_sector, sectors) {
            self.blocks
                .entry(block)
                .or_insert_with(|| P::zeroed(BLOCK_SECTORS as u32))
                .overlay(in_block, &payload.part(in_extent, length));
        }
    }

    /// Forgets all blocks, so that every sector reads as zeros.
    pub(super) fn clear(&mut self) {
        self.blocks = FxHashMap::default();
    }
}
