//! Which parts of a volume have space of their own.

use crate::host::VolumeId;
use crate::payload::Payload;

use super::Array;

impl<P: Payload> Array<P> {
    /// Sectors of a page of that volume: a trim gives whole pages back. `None` if it gives nothing back, or
    /// there is no such volume.
    pub fn page_sectors(&self, volume: VolumeId) -> Option<u64> {
        self.volumes.get(volume.0)?.policy.page_sectors
    }

    /// Whether the first sector of a stretch has space in the pool, and how many sectors from there on are
    /// like it. What has no space reads as zeros. `None` if the stretch is empty, or does not lie within the
    /// volume.
    pub fn has_space(
        &self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
    ) -> Option<(bool, u64)> {
        let capacity_sectors = self.capacity_sectors(volume)?;
        let end_sector = first_sector.checked_add(sectors)?;
        if sectors == 0 || end_sector > capacity_sectors {
            return None;
        }
        let pool = self.volumes[volume.0].pool;
        Some(self.storage.has_space(pool, volume, first_sector, sectors))
    }
}
