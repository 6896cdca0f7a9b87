//! An open file: what it takes more than one request to do.

use std::sync::{Arc, Mutex, PoisonError};

use array::payload::{Bytes, Payload};
use array::{HostError, HostOperation, SECTOR_BYTES};

use crate::live_array::Client;
use crate::volume::ServedVolume;

/// Zeros are written so many sectors at a time, and so much is given back at a time.
const ZEROED_AT_ONCE: u64 = 2048;
const TRIMMED_AT_ONCE: u64 = 1 << 30;

/// The sectors that hold a stretch of bytes: the first, how many, and where in them the stretch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Covering {
    first_sector: u64,
    sectors: u32,
    pub(crate) skipped_bytes: usize,
}

impl Covering {
    pub(crate) fn of(offset: u64, length: u32) -> Self {
        let first_sector = offset / SECTOR_BYTES;
        let end_sector = (offset + u64::from(length)).div_ceil(SECTOR_BYTES);
        Self {
            first_sector,
            sectors: (end_sector - first_sector) as u32,
            skipped_bytes: (offset % SECTOR_BYTES) as usize,
        }
    }

    pub(crate) fn extent(self) -> (u64, u32) {
        (self.first_sector, self.sectors)
    }

    pub(crate) fn is_exact(self, length: u32) -> bool {
        u64::from(self.sectors) * SECTOR_BYTES == u64::from(length)
    }
}

/// A volume that a program has open.
pub(crate) struct Opened {
    client: Client,
    volume: ServedVolume,
    /// Held by a write that first reads what is around it.
    unaligned: Arc<Mutex<()>>,
}

impl Opened {
    pub(crate) fn new(client: Client, volume: &ServedVolume, unaligned: &Arc<Mutex<()>>) -> Self {
        Self {
            client,
            volume: volume.clone(),
            unaligned: Arc::clone(unaligned),
        }
    }

    fn wait(
        &self,
        operation: HostOperation,
        extent: (u64, u32),
        payload: Bytes,
    ) -> Result<Bytes, HostError> {
        self.client.wait(self.volume.id, operation, extent, payload)
    }

    /// Writes bytes that are not whole sectors.
    pub(crate) fn write_unaligned(&self, offset: u64, data: &[u8]) -> Result<(), HostError> {
        // Two that meet in a sector would lose what one of them has written.
        let _one_at_a_time = self
            .unaligned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let covering = Covering::of(offset, data.len() as u32);
        let before = self.wait(HostOperation::Read, covering.extent(), Bytes::default())?;
        let mut bytes = before.as_slice().to_vec();
        bytes[covering.skipped_bytes..][..data.len()].copy_from_slice(data);
        self.wait(HostOperation::Write, covering.extent(), Bytes::new(bytes))?;
        Ok(())
    }

    /// Has a stretch read as zeros. Whole pages in it are given back, zeros are written to the rest.
    pub(crate) fn punch(&self, offset: u64, length: u64) -> Result<(), HostError> {
        let end = offset + length;
        let page = self.volume.trim_bytes.unwrap_or(SECTOR_BYTES);
        let first_page = offset.next_multiple_of(page).min(end);
        let end_page = (end / page * page).max(first_page);
        self.zero(offset, first_page)?;
        let (mut at, until) = (first_page / SECTOR_BYTES, end_page / SECTOR_BYTES);
        while at < until {
            let sectors = (until - at).min(TRIMMED_AT_ONCE) as u32;
            self.wait(HostOperation::Trim, (at, sectors), Bytes::default())?;
            at += u64::from(sectors);
        }
        self.zero(end_page, end)
    }

    /// Writes zeros from one byte up to another.
    fn zero(&self, from: u64, until: u64) -> Result<(), HostError> {
        let mut at = from;
        while at < until {
            let in_sector = at % SECTOR_BYTES;
            let whole = (until - at) / SECTOR_BYTES;
            if in_sector == 0 && whole > 0 {
                let sectors = whole.min(ZEROED_AT_ONCE) as u32;
                let extent = (at / SECTOR_BYTES, sectors);
                self.wait(HostOperation::Write, extent, Bytes::zeroed(sectors))?;
                at += u64::from(sectors) * SECTOR_BYTES;
            } else {
                let length = (until - at).min(SECTOR_BYTES - in_sector);
                self.write_unaligned(at, &[0; SECTOR_BYTES as usize][..length as usize])?;
                at += length;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_widened_to_whole_sectors() {
        for (offset, length, first_sector, sectors, skipped_bytes, exact) in [
            (0, 512, 0, 1, 0, true),
            (4096, 8192, 8, 16, 0, true),
            (1, 1, 0, 1, 1, false),
            (511, 2, 0, 2, 511, false),
            (1000, 24, 1, 1, 488, false),
        ] {
            let covering = Covering::of(offset, length);
            let expected = Covering {
                first_sector,
                sectors,
                skipped_bytes,
            };
            assert_eq!(covering, expected);
            assert_eq!(covering.is_exact(length), exact);
        }
    }
}
