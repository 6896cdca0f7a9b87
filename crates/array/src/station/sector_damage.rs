//! Disks that work and do not give back what was written, or are out of credits.

use super::Station;
use crate::payload::Payload;

impl<P: Payload> Station<P> {
    /// Makes sectors unreadable until they are written, as a damage in the medium does, or a
    /// controller that has to mark contents it could not recover.
    pub(crate) fn mark_unreadable(&mut self, first_sector: u64, sectors: u32) {
        if self.working {
            let damaged = first_sector..first_sector + u64::from(sectors);
            self.bad_sectors.extend(damaged);
        }
    }

    /// Where data are stored, in extents of first sector and sectors.
    pub(crate) fn stored_extents(&self) -> Vec<(u64, u64)> {
        self.contents.extents()
    }

    /// What is stored in an extent.
    pub(crate) fn stored(&self, first_sector: u64, sectors: u32) -> P {
        self.contents.read(first_sector, sectors)
    }

    /// Takes the credits for bursts from a cloud volume.
    pub(crate) fn spend_credits(&mut self, now_ns: u64) {
        self.disk.spend_credits(now_ns);
    }

    /// Changes what is stored without anybody noticing: a lost or misdirected write.
    pub(crate) fn corrupt(&mut self, first_sector: u64, sectors: u32, payload: &P) {
        self.contents.write(first_sector, sectors, payload);
    }
}
