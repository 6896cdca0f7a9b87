//! The behaviour of a simulated disk that can be chosen.

use crate::buffer::BLOCK_BYTES;
use crate::time::MICROSECOND_NS;
use std::ops::RangeInclusive;

/// The unit that a power cut leaves whole: all of it is new or all of it is old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tearing {
    /// Sectors of 512 bytes, as nearly all disks promise.
    Sectors,
    /// Aligned units of `bytes`, a multiple of 4096, as storage with atomic page writes promises.
    Pages {
        /// Size and alignment of the unit in bytes.
        bytes: u64,
    },
}

impl Tearing {
    pub(super) fn unit_bytes(self) -> u64 {
        match self {
            Self::Sectors => super::content::SECTOR_BYTES as u64,
            Self::Pages { bytes } => {
                assert!(
                    bytes > 0 && bytes.is_multiple_of(BLOCK_BYTES as u64),
                    "an atomic unit is whole blocks, not {bytes} bytes"
                );
                bytes
            }
        }
    }
}

/// What becomes of requests once power is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterPowerLoss {
    /// They fail with [`crate::IoFailure::PowerLost`].
    Fail,
    /// They never return, as seen by a program that dies with the machine.
    Hang,
}

/// How a simulated disk behaves.
#[derive(Debug, Clone)]
pub struct SimulatedOptions {
    /// Seed of latencies and of the details of faults.
    pub seed: u64,
    /// Latency of a read in nanoseconds, drawn evenly from the range.
    pub read_ns: RangeInclusive<u64>,
    /// Latency of a write in nanoseconds, drawn evenly from the range.
    pub write_ns: RangeInclusive<u64>,
    /// Latency of a flush in nanoseconds, drawn evenly from the range.
    pub sync_ns: RangeInclusive<u64>,
    /// Latency of creating, opening, renaming, removing, resizing and listing in nanoseconds.
    pub directory_ns: RangeInclusive<u64>,
    /// Requests that the disk works on at a time; others wait in line.
    pub queue_depth: usize,
    /// What a power cut can tear.
    pub tearing: Tearing,
    /// What requests do after a power cut.
    pub after_power_loss: AfterPowerLoss,
    /// Bytes that all files together may take up.
    pub capacity_bytes: u64,
    /// Whether every write takes new space and gives the old space back afterwards, as on file systems
    /// that never write in place: then a full disk also fails writes within a file.
    pub copies_on_write: bool,
    /// How many of the latest operations the log for debugging remembers.
    pub log_length: usize,
}

impl Default for SimulatedOptions {
    /// A fast solid-state disk that tears writes between sectors.
    fn default() -> Self {
        Self {
            seed: 0,
            read_ns: 50 * MICROSECOND_NS..=150 * MICROSECOND_NS,
            write_ns: 20 * MICROSECOND_NS..=200 * MICROSECOND_NS,
            sync_ns: 100 * MICROSECOND_NS..=400 * MICROSECOND_NS,
            directory_ns: 5 * MICROSECOND_NS..=20 * MICROSECOND_NS,
            queue_depth: 64,
            tearing: Tearing::Sectors,
            after_power_loss: AfterPowerLoss::Fail,
            capacity_bytes: u64::MAX,
            copies_on_write: false,
            log_length: 256,
        }
    }
}

impl SimulatedOptions {
    /// The default behaviour with another seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// A disk that answers at once. Tasks still take turns at every request.
    #[must_use]
    pub fn instant() -> Self {
        Self {
            read_ns: 0..=0,
            write_ns: 0..=0,
            sync_ns: 0..=0,
            directory_ns: 0..=0,
            ..Self::default()
        }
    }
}
