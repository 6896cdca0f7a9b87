//! The first block of a device, which says that the rest is ours.

use super::error::RawError;
use crate::buffer::{BLOCK_BYTES, Buffer, is_zero};
use crate::file::{File, IoError};

const MAGIC: &[u8; 9] = b"PROOFLOAD";
const VERSION: u32 = 1;
/// All of the label lies in the first sector, so that writing it cannot be torn.
const CHECKSUM_AT: usize = 508;
const BLOCK: u64 = BLOCK_BYTES as u64;

/// How to lay out a device.
#[derive(Debug, Clone)]
pub struct FormatOptions {
    /// A number that no other formatted device has, such as a random one. Remains of an earlier
    /// format are distinguished from this one by it.
    pub identity: u128,
    /// How many files there can be. Each takes up 8 KiB of the table.
    pub files_max: u32,
    /// Files take up space in multiples of this, a multiple of 4096 bytes.
    pub allocation_bytes: u64,
}

impl FormatOptions {
    /// 4096 files, space in steps of 1 MiB.
    #[must_use]
    pub fn new(identity: u128) -> Self {
        Self {
            identity,
            files_max: 4096,
            allocation_bytes: 1 << 20,
        }
    }
}

/// What a device looks like before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceContent {
    /// It carries a label of ours, of whatever version.
    Ours,
    /// Its beginning and its end hold nothing but zeroes.
    Blank,
    /// It holds something else, such as a partition table or a file system.
    Foreign,
}

/// Bytes looked at on either end of a device. Partition tables, file systems and the marks of RAIDs
/// all lie there.
const INSPECTED_BYTES: u64 = 1 << 20;

/// Finds out whether a device may be formatted without destroying what somebody else put there.
///
/// # Errors
/// If the device cannot be read.
pub async fn inspect<F: File>(device: &F) -> Result<DeviceContent, IoError> {
    let device_bytes = device.size_bytes().await?;
    let length_bytes = device_bytes.min(INSPECTED_BYTES);
    if length_bytes == 0 {
        return Ok(DeviceContent::Blank);
    }
    let mut is_blank = true;
    for offset_bytes in [0, device_bytes - length_bytes] {
        let buffer = Buffer::zeroed(length_bytes as usize);
        let (buffer, result) = device.read(offset_bytes, buffer).await;
        result?;
        if offset_bytes == 0 && &buffer[..MAGIC.len()] == MAGIC {
            return Ok(DeviceContent::Ours);
        }
        is_blank &= is_zero(&buffer);
    }
    Ok(if is_blank {
        DeviceContent::Blank
    } else {
        DeviceContent::Foreign
    })
}

/// Where things are on a formatted device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) identity: u128,
    pub(super) device_bytes: u64,
    pub(super) files_max: u32,
    pub(super) allocation_bytes: u64,
}

impl Label {
    pub(super) fn new(options: &FormatOptions, device_bytes: u64) -> Result<Self, RawError> {
        assert!(
            options.allocation_bytes > 0 && options.allocation_bytes.is_multiple_of(BLOCK),
            "space is given out in whole blocks"
        );
        assert!(options.files_max > 0, "a directory holds files");
        let label = Self {
            identity: options.identity,
            device_bytes,
            files_max: options.files_max,
            allocation_bytes: options.allocation_bytes,
        };
        let needed_bytes = label.data_start_bytes() + label.allocation_bytes;
        if device_bytes < needed_bytes {
            return Err(RawError::TooSmall {
                device_bytes,
                needed_bytes,
            });
        }
        Ok(label)
    }

    /// Where the table's slot `slot` is. Each file has two.
    pub(super) fn slot_offset_bytes(slot: u32) -> u64 {
        (1 + u64::from(slot)) * BLOCK
    }

    pub(super) fn slots(&self) -> u32 {
        self.files_max * 2
    }

    /// Where the space for files begins.
    pub(super) fn data_start_bytes(&self) -> u64 {
        Self::slot_offset_bytes(self.slots()).next_multiple_of(self.allocation_bytes)
    }

    /// How many units of `allocation_bytes` there are for files.
    pub(super) fn units(&self) -> u64 {
        (self.device_bytes - self.data_start_bytes()) / self.allocation_bytes
    }

    pub(super) fn encode(&self) -> Buffer {
        let mut block = Buffer::zeroed(BLOCK_BYTES);
        block[..9].copy_from_slice(MAGIC);
        block[12..16].copy_from_slice(&VERSION.to_le_bytes());
        block[16..32].copy_from_slice(&self.identity.to_le_bytes());
        block[32..40].copy_from_slice(&self.device_bytes.to_le_bytes());
        block[40..44].copy_from_slice(&self.files_max.to_le_bytes());
        block[48..56].copy_from_slice(&self.allocation_bytes.to_le_bytes());
        let checksum = crc32fast::hash(&block[..CHECKSUM_AT]);
        block[CHECKSUM_AT..512].copy_from_slice(&checksum.to_le_bytes());
        block
    }

    /// Reads a label; `device_bytes` is the size of the device that it was found on.
    pub(super) fn decode(block: &[u8], device_bytes: u64) -> Result<Self, RawError> {
        if &block[..9] != MAGIC {
            return Err(RawError::NoLabel);
        }
        if number::<4>(block, CHECKSUM_AT) != u128::from(crc32fast::hash(&block[..CHECKSUM_AT])) {
            return Err(RawError::Damaged("the label's checksum is wrong".into()));
        }
        let version = number::<4>(block, 12) as u32;
        if version != VERSION {
            return Err(RawError::UnknownVersion { version });
        }
        let label = Self {
            identity: number::<16>(block, 16),
            device_bytes: number::<8>(block, 32) as u64,
            files_max: number::<4>(block, 40) as u32,
            allocation_bytes: number::<8>(block, 48) as u64,
        };
        if label.device_bytes > device_bytes {
            return Err(RawError::TooSmall {
                device_bytes,
                needed_bytes: label.device_bytes,
            });
        }
        Ok(label)
    }
}

/// The little-endian number of `N` bytes at `at`.
pub(super) fn number<const N: usize>(bytes: &[u8], at: usize) -> u128 {
    let mut wide = [0; 16];
    wide[..N].copy_from_slice(&bytes[at..at + N]);
    u128::from_le_bytes(wide)
}
