//! Where a disk that lies holds or returned something else than an honest one would.

use super::content::{Block, block_number};
use super::disk::SimulatedDisk;
use super::state::{FileId, FileState, InFlightWrite, State};
use super::wrong_blocks::{WrongBlock, WrongRead};
use crate::buffer::{BLOCK_BYTES, Buffer};

impl SimulatedDisk {
    /// Blocks of a file, named with its directory, that are wrong now because a write was lost,
    /// corrupted or misdirected.
    #[must_use]
    pub fn wrong_blocks(&self, file: &str) -> Vec<WrongBlock> {
        let state = self.inner.state.borrow();
        let Some(file) = state.names.get(file).and_then(|file| state.files.get(file)) else {
            return Vec::new();
        };
        let wrong = file.owed.iter().map(|(number, expected)| WrongBlock {
            offset_bytes: number * BLOCK_BYTES as u64,
            found: file.visible.block(*number, &self.inner.zero),
            expected: expected.clone(),
        });
        wrong.filter(|one| one.found != one.expected).collect()
    }

    /// Where in a file, named with its directory, blocks begin that have been wrong at some time
    /// since the disk was powered on.
    #[must_use]
    pub fn once_wrong_blocks(&self, file: &str) -> Vec<u64> {
        let state = self.inner.state.borrow();
        let file = state.names.get(file).and_then(|file| state.files.get(file));
        let numbers = file.into_iter().flat_map(|file| &file.once_wrong);
        numbers.map(|number| number * BLOCK_BYTES as u64).collect()
    }

    /// The reads that returned other bytes than the disk held.
    #[must_use]
    pub fn wrong_reads(&self) -> Vec<WrongRead> {
        self.inner.wrong_reads.borrow().clone()
    }

    /// Takes note of a read that returned wrong bytes.
    pub(super) fn note_wrong_read(
        &self,
        file: FileId,
        name: &str,
        offset_bytes: u64,
        buffers: &[Buffer],
        asked_ns: u64,
    ) {
        let state = self.inner.state.borrow();
        let Some(held) = state.files.get(&file) else {
            return;
        };
        let chunks = buffers
            .iter()
            .flat_map(|bytes| bytes.as_chunks::<BLOCK_BYTES>().0);
        let blocks = (block_number(offset_bytes)..).zip(chunks);
        let mut read = WrongRead {
            file: name.to_owned(),
            blocks: Vec::new(),
            written_beside: Vec::new(),
        };
        for (number, found) in blocks {
            let offset_bytes = number * BLOCK_BYTES as u64;
            let expected = held.visible.block(number, &self.inner.zero);
            if *expected == *found {
                continue;
            }
            if state.was_written_since(file, number, asked_ns) {
                read.written_beside.push(offset_bytes);
                continue;
            }
            read.blocks.push(WrongBlock {
                offset_bytes,
                found: Block::new(*found),
                expected,
            });
        }
        self.inner.wrong_reads.borrow_mut().push(read);
    }
}

impl State {
    /// Whether a write of the block has completed at that time or later.
    fn was_written_since(&self, file: FileId, number: u64, since_ns: u64) -> bool {
        self.recent_writes.iter().any(|write| {
            let blocks = write.first_block..write.first_block + write.blocks;
            write.at_ns >= since_ns && write.file == file && blocks.contains(&number)
        })
    }

    /// A write of `blocks` was reported as done, and went nowhere.
    pub(super) fn lose_write(
        &mut self,
        file: FileId,
        (first_block, blocks): (u64, Vec<Block>),
        zero: &Block,
    ) {
        self.file(file).owe(first_block, blocks, zero);
    }

    /// A write begins that will not be what was asked for; a power cut may leave it in part.
    pub(super) fn begin_wrong_write(&mut self, write: InFlightWrite, asked_first: u64) -> u64 {
        let count = write.blocks.len() as u64;
        let wrong = &mut self.file(write.file).once_wrong;
        wrong.extend(write.first_block..write.first_block + count);
        wrong.extend(asked_first..asked_first + count);
        self.begin_write(write)
    }

    /// Completes a write that is not what was asked for: `asked` should have been written at
    /// `asked_first`.
    pub(super) fn complete_wrong_write(
        &mut self,
        request: u64,
        (asked_first, asked): (u64, Vec<Block>),
        zero: &Block,
    ) {
        let Some(InFlightWrite {
            file,
            first_block,
            blocks,
            ..
        }) = self.in_flight.get(&request)
        else {
            return;
        };
        let (file, first, count) = (*file, *first_block, blocks.len() as u64);
        let held = self.file(file).honest_blocks(first, count, zero);
        self.complete_write(request);
        let state = self.file(file);
        state.owe(first, held, zero);
        state.owe(asked_first, asked, zero);
    }
}

impl FileState {
    /// Takes note of what should be in blocks where something else is.
    fn owe(&mut self, first: u64, blocks: Vec<Block>, zero: &Block) {
        for (number, block) in (first..).zip(blocks) {
            if self.visible.block(number, zero) == block {
                continue;
            }
            self.owed.insert(number, block);
            self.once_wrong.insert(number);
        }
    }

    /// What an honest disk would hold.
    fn honest_blocks(&self, first: u64, count: u64, zero: &Block) -> Vec<Block> {
        let block = |number| match self.owed.get(&number) {
            Some(block) => block.clone(),
            None => self.visible.block(number, zero),
        };
        (first..first + count).map(block).collect()
    }
}
