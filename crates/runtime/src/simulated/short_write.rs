//! Writes that a full disk ends before all of their bytes are written.
//!
//! A file system that finds no more room in the middle of a write returns an error and leaves what it has
//! written so far: here some sectors from the beginning of the write on, or none.

use super::content::SECTOR_BYTES;
use super::crash::CutWrite;
use super::disk::{SimulatedDisk, Subject};
use super::state::InFlightWrite;
use crate::buffer::BLOCK_BYTES;
use rand::RngExt;

const SECTORS_OF_BLOCK: u64 = (BLOCK_BYTES / SECTOR_BYTES) as u64;

impl SimulatedDisk {
    /// The writes that ended since the disk was powered on because it was full, and what is left of them.
    #[must_use]
    pub fn short_writes(&self) -> Vec<CutWrite> {
        self.inner.short_writes.borrow().clone()
    }

    /// Writes a prefix of `write`, for whose rest there is no room.
    pub(super) fn write_in_part(&self, subject: &Subject, mut write: InFlightWrite) {
        let sectors_kept = self.prefix_sectors(&write);
        let length_bytes = (write.blocks.len() * BLOCK_BYTES) as u64;
        self.inner.short_writes.borrow_mut().push(CutWrite {
            file: subject.file.clone(),
            offset_bytes: subject.offset_bytes,
            length_bytes,
            completed: false,
            sectors_kept,
        });
        let whole_blocks = (sectors_kept / SECTORS_OF_BLOCK) as usize;
        let of_last = (sectors_kept % SECTORS_OF_BLOCK) as usize * SECTOR_BYTES;
        let state = &mut *self.inner.state.borrow_mut();
        if of_last > 0 {
            let number = write.first_block + whole_blocks as u64;
            let old = state
                .file(write.file)
                .visible
                .block(number, &self.inner.zero);
            let mut merged = *old;
            merged[..of_last].copy_from_slice(&write.blocks[whole_blocks][..of_last]);
            write.blocks[whole_blocks] = std::rc::Rc::new(merged);
        }
        write
            .blocks
            .truncate(whole_blocks + usize::from(of_last > 0));
        if !write.blocks.is_empty() {
            let request = state.begin_write(write);
            state.complete_write(request);
        }
    }

    /// How many sectors of it are written: there must be room for what makes the file longer, and a unit
    /// that the disk writes as a whole is not written in part.
    fn prefix_sectors(&self, write: &InFlightWrite) -> u64 {
        let start_bytes = write.first_block * BLOCK_BYTES as u64;
        let length_bytes = (write.blocks.len() * BLOCK_BYTES) as u64;
        let sectors = length_bytes / SECTOR_BYTES as u64;
        let drawn = self.inner.random.borrow_mut().random_range(0..sectors);
        let size_bytes = {
            let mut state = self.inner.state.borrow_mut();
            state.file(write.file).visible.size_bytes()
        };
        let most_end_bytes = size_bytes.max(start_bytes) + self.free_bytes();
        let end_bytes = start_bytes + drawn * SECTOR_BYTES as u64;
        let unit_bytes = self.inner.options.tearing.unit_bytes();
        let end_bytes = end_bytes.min(most_end_bytes);
        let end_bytes = end_bytes - end_bytes % unit_bytes;
        end_bytes.saturating_sub(start_bytes) / SECTOR_BYTES as u64
    }
}
