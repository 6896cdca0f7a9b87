//! The bytes of one simulated file: sparse blocks, shared between copies.

use crate::buffer::BLOCK_BYTES;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Bytes of a sector, the smallest unit that a power cut leaves whole.
pub(super) const SECTOR_BYTES: usize = 512;

/// One block of a file. Immutable, so that the visible file, the durable file and the writes
/// between them share it.
pub type Block = Rc<[u8; BLOCK_BYTES]>;

/// The number of the block that begins at `offset_bytes`.
pub(super) fn block_number(offset_bytes: u64) -> u64 {
    offset_bytes / BLOCK_BYTES as u64
}

/// Splits `bytes` into blocks. Blocks of zeroes are all the same block, `zero`.
pub(super) fn blocks_of(bytes: &[u8], zero: &Block) -> Vec<Block> {
    let (blocks, rest) = bytes.as_chunks::<BLOCK_BYTES>();
    assert!(rest.is_empty(), "a request is whole blocks");
    let share = |block: &[u8; BLOCK_BYTES]| {
        if block == zero.as_ref() {
            Rc::clone(zero)
        } else {
            Rc::new(*block)
        }
    };
    blocks.iter().map(share).collect()
}

/// A file's size and blocks. Blocks never written read as zero.
#[derive(Clone, Default)]
pub(super) struct Content {
    size_bytes: u64,
    blocks: BTreeMap<u64, Block>,
}

impl Content {
    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Cuts the file, or grows it with zeroes.
    pub(super) fn resize(&mut self, size_bytes: u64) {
        self.size_bytes = size_bytes;
        self.drop_blocks_past_end();
    }

    /// Forgets what lies past the end, as a file system does when it recovers a file whose blocks
    /// were written and whose new size was not.
    pub(super) fn drop_blocks_past_end(&mut self) {
        let _ = self.blocks.split_off(&block_number(self.size_bytes));
    }

    /// Replaces a block. A block past the end is kept until the next change of size.
    pub(super) fn put(&mut self, number: u64, block: Block) {
        self.blocks.insert(number, block);
    }

    /// Replaces those sectors of a block whose bit in `sectors` is set, bit 0 being the first.
    pub(super) fn put_sectors(&mut self, number: u64, block: &Block, sectors: u8) {
        if sectors == u8::MAX {
            self.put(number, Rc::clone(block));
        }
        if sectors == 0 || sectors == u8::MAX {
            return;
        }
        let mut merged = self
            .blocks
            .get(&number)
            .map_or([0; BLOCK_BYTES], |old| **old);
        for sector in (0..8).filter(|sector| sectors & (1 << sector) != 0) {
            let range = sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES;
            merged[range.clone()].copy_from_slice(&block[range]);
        }
        self.put(number, Rc::new(merged));
    }

    /// A block; `zero` where none was written.
    pub(super) fn block(&self, number: u64, zero: &Block) -> Block {
        Rc::clone(self.blocks.get(&number).unwrap_or(zero))
    }

    /// Fills `bytes` from `offset_bytes`.
    pub(super) fn read(&self, offset_bytes: u64, bytes: &mut [u8]) {
        let first = block_number(offset_bytes);
        let (chunks, _) = bytes.as_chunks_mut::<BLOCK_BYTES>();
        for (number, chunk) in (first..).zip(chunks) {
            match self.blocks.get(&number) {
                Some(block) => chunk.copy_from_slice(block.as_ref()),
                None => chunk.fill(0),
            }
        }
    }
}
