//! One file's line in the table.
//!
//! Every file has a pair of blocks. Each change is one durable write to that block of the pair which
//! does not hold the current line, so a torn write leaves the line before it. The valid block with
//! the higher sequence number is current.

use super::label::{Label, number};
use crate::buffer::{BLOCK_BYTES, Buffer};

const MAGIC: &[u8; 8] = b"PFENTRY1";
const NAME_AT: usize = 80;
const EXTENTS_AT: usize = 336;
const CHECKSUM_AT: usize = BLOCK_BYTES - 4;

/// The longest name in bytes.
pub(super) const NAME_BYTES_MAX: usize = 255;
/// The most pieces that a file may be in.
pub(super) const EXTENTS_MAX: usize = (CHECKSUM_AT - EXTENTS_AT) / 16;

/// A run of allocation units that belong to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) first_unit: u64,
    pub(super) units: u64,
}

/// What the table says of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Orders all changes on the device.
    pub(super) sequence: u64,
    /// The change that gave the file its name. Of two files with one name the later one has it.
    pub(super) named_sequence: u64,
    /// Empty when the pair is free.
    pub(super) name: String,
    pub(super) size_bytes: u64,
    /// Bytes from here on were never written and read as zero.
    pub(super) initialised_bytes: u64,
    pub(super) extents: Vec<Extent>,
}

impl Entry {
    /// The line that frees a pair.
    pub(super) fn free(sequence: u64) -> Self {
        Self {
            sequence,
            ..Self::default()
        }
    }

    pub(super) fn is_free(&self) -> bool {
        self.name.is_empty()
    }

    pub(super) fn encode(&self, label: &Label, slot: u32) -> Buffer {
        assert!(self.name.len() <= NAME_BYTES_MAX && self.extents.len() <= EXTENTS_MAX);
        let mut block = Buffer::zeroed(BLOCK_BYTES);
        block[..8].copy_from_slice(MAGIC);
        block[8..24].copy_from_slice(&label.identity.to_le_bytes());
        block[24..28].copy_from_slice(&slot.to_le_bytes());
        block[32..40].copy_from_slice(&self.sequence.to_le_bytes());
        block[40..48].copy_from_slice(&self.named_sequence.to_le_bytes());
        block[48..56].copy_from_slice(&self.size_bytes.to_le_bytes());
        block[56..64].copy_from_slice(&self.initialised_bytes.to_le_bytes());
        block[64] = self.name.len() as u8; // At most NAME_BYTES_MAX.
        block[66..68].copy_from_slice(&(self.extents.len() as u16).to_le_bytes());
        block[NAME_AT..NAME_AT + self.name.len()].copy_from_slice(self.name.as_bytes());
        for (index, extent) in self.extents.iter().enumerate() {
            let at = EXTENTS_AT + index * 16;
            block[at..at + 8].copy_from_slice(&extent.first_unit.to_le_bytes());
            block[at + 8..at + 16].copy_from_slice(&extent.units.to_le_bytes());
        }
        let checksum = crc32fast::hash(&block[..CHECKSUM_AT]);
        block[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        block
    }

    /// Whether a block was once written as a line of this device's table, valid or not.
    pub(super) fn is_trace(block: &[u8], label: &Label) -> bool {
        &block[..8] == MAGIC && number::<16>(block, 8) == label.identity
    }

    /// Reads a line; `None` if the block is not a whole line of this slot of this format.
    pub(super) fn decode(block: &[u8], label: &Label, slot: u32) -> Option<Self> {
        let checksum = u128::from(crc32fast::hash(&block[..CHECKSUM_AT]));
        let extents = number::<2>(block, 66) as usize;
        if !Self::is_trace(block, label)
            || number::<4>(block, 24) != u128::from(slot)
            || number::<4>(block, CHECKSUM_AT) != checksum
            || extents > EXTENTS_MAX
        {
            return None;
        }
        let name = &block[NAME_AT..NAME_AT + usize::from(block[64])];
        let extent = |index: usize| Extent {
            first_unit: number::<8>(block, EXTENTS_AT + index * 16) as u64,
            units: number::<8>(block, EXTENTS_AT + index * 16 + 8) as u64,
        };
        Some(Self {
            sequence: number::<8>(block, 32) as u64,
            named_sequence: number::<8>(block, 40) as u64,
            name: String::from_utf8(name.to_vec()).ok()?,
            size_bytes: number::<8>(block, 48) as u64,
            initialised_bytes: number::<8>(block, 56) as u64,
            extents: (0..extents).map(extent).collect(),
        })
    }
}
