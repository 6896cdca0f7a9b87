//! What is stored on a disk: sparse, and nothing at all when no bytes are carried.

use rustc_hash::FxHashMap;

use crate::kept::DiskContents;
use crate::payload::Payload;

/// Sectors kept together. Small enough that 4 KiB of data take 4 KiB of memory.
const BLOCK_SECTORS: u64 = 8;

/// The stored sectors of one disk. What was never written reads as zeros.
#[derive(Debug)]
pub(super) enum Contents<P> {
    /// In memory, by block.
    Memory(FxHashMap<u64, P>),
    /// Where somebody else keeps them.
    Elsewhere(Box<dyn DiskContents<P>>),
}

impl<P> Default for Contents<P> {
    fn default() -> Self {
        Self::Memory(FxHashMap::default())
    }
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
        let blocks = match self {
            Self::Memory(blocks) => blocks,
            Self::Elsewhere(contents) => return contents.read(first_sector, sectors),
        };
        let mut payload = P::zeroed(sectors);
        for (block, in_block, in_extent, length) in split(first_sector, sectors) {
            if let Some(stored) = blocks.get(&block) {
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
        let blocks = match self {
            Self::Memory(blocks) => blocks,
            Self::Elsewhere(contents) => {
                contents.write(first_sector, sectors, payload);
                return;
            }
        };
        let are_zeros = payload.is_zeros();
        for (block, in_block, in_extent, length) in split(first_sector, sectors) {
            if are_zeros && u64::from(length) == BLOCK_SECTORS {
                blocks.remove(&block);
                continue;
            }
            if are_zeros && !blocks.contains_key(&block) {
                continue;
            }
            blocks
                .entry(block)
                .or_insert_with(|| P::zeroed(BLOCK_SECTORS as u32))
                .overlay(in_block, &payload.part(in_extent, length));
        }
    }

    /// Sectors of an extent that was read just now which hold something else than was written there, where that can
    /// be known.
    #[inline]
    pub(super) fn wrong_sectors(&self, first_sector: u64, read: &P) -> Vec<u64> {
        match self {
            Self::Elsewhere(contents) => contents.wrong_sectors(first_sector, read),
            Self::Memory(_) => Vec::new(),
        }
    }

    /// Changes what an extent holds without anybody noticing.
    pub(super) fn corrupt(&mut self, first_sector: u64, sectors: u32, payload: &P) {
        match self {
            Self::Elsewhere(contents) => contents.corrupt(first_sector, sectors, payload),
            Self::Memory(_) => self.write(first_sector, sectors, payload),
        }
    }

    /// Where data are, in whole blocks: extents of first sector and sectors, in their order.
    pub(super) fn extents(&self) -> Vec<(u64, u64)> {
        match self {
            Self::Memory(blocks) => {
                let mut numbers: Vec<u64> = blocks.keys().copied().collect();
                numbers.sort_unstable();
                let extents = numbers.into_iter();
                extents
                    .map(|block| (block * BLOCK_SECTORS, BLOCK_SECTORS))
                    .collect()
            }
            Self::Elsewhere(contents) => contents.extents(),
        }
    }

    /// Has whole blocks of an extent read as zeros, and takes no room for them any more. What is no whole block
    /// stays as it is.
    pub(super) fn discard(&mut self, first_sector: u64, sectors: u64) {
        let first = first_sector.next_multiple_of(BLOCK_SECTORS);
        let end = (first_sector + sectors) / BLOCK_SECTORS * BLOCK_SECTORS;
        match self {
            Self::Memory(blocks) => {
                for block in first / BLOCK_SECTORS..end / BLOCK_SECTORS {
                    blocks.remove(&block);
                }
            }
            Self::Elsewhere(contents) => contents.discard(first, end.saturating_sub(first)),
        }
    }

    /// Has every sector read as zeros.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Memory(blocks) => *blocks = FxHashMap::default(),
            Self::Elsewhere(contents) => contents.clear(),
        }
    }
}
