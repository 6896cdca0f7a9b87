//! Stretches of bytes in whole sectors, which is what an array reads and writes.

use std::sync::PoisonError;

use array::payload::Bytes;
use array::{HostError, HostOperation, SECTOR_BYTES};

use crate::client::Client;
use crate::volume::ServedVolume;

/// The sectors that hold a stretch of bytes: the first, how many, and where in them the stretch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Covering {
    pub first_sector: u64,
    pub sectors: u32,
    pub skipped_bytes: usize,
}

impl Covering {
    pub fn of(offset: u64, length: u32) -> Self {
        let first_sector = offset / SECTOR_BYTES;
        let end_sector = (offset + u64::from(length)).div_ceil(SECTOR_BYTES);
        Self {
            first_sector,
            sectors: (end_sector - first_sector) as u32,
            skipped_bytes: (offset % SECTOR_BYTES) as usize,
        }
    }

    pub fn extent(self) -> (u64, u32) {
        (self.first_sector, self.sectors)
    }

    pub fn is_exact(self, length: u32) -> bool {
        u64::from(self.sectors) * SECTOR_BYTES == u64::from(length)
    }
}

impl Client {
    /// Writes bytes that are not whole sectors, and waits until that is done.
    ///
    /// # Errors
    /// As the array says.
    pub(crate) fn write_unaligned(
        &self,
        volume: &ServedVolume,
        offset: u64,
        data: &[u8],
    ) -> Result<(), HostError> {
        // Two that meet in a sector would lose what one of them has written.
        let one_at_a_time = self.unaligned.lock();
        let _one_at_a_time = one_at_a_time.unwrap_or_else(PoisonError::into_inner);
        let covering = Covering::of(offset, data.len() as u32);
        let (read, extent) = (HostOperation::Read, covering.extent());
        let before = self.wait(volume.id, read, extent, Bytes::default())?;
        let mut bytes = before.as_slice().to_vec();
        bytes[covering.skipped_bytes..][..data.len()].copy_from_slice(data);
        let payload = Bytes::new(bytes);
        self.wait(volume.id, HostOperation::Write, extent, payload)?;
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
