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
        self.contents.corrupt(first_sector, sectors, payload);
    }

    /// Sectors of what was read just now that disagree with their checksums cannot be read from now on.
    pub(super) fn check_sums(&mut self, first_sector: u64, read: &P) {
        for sector in self.contents.wrong_sectors(first_sector, read) {
            self.counters.checksum_errors += u64::from(self.bad_sectors.insert(sector));
            self.last_checksum_error = sector;
        }
    }

    /// The last sector that disagreed with its checksum, and how many did so far, if that is to be reported: at the
    /// first, and then each time that their number has doubled.
    pub(crate) fn checksum_errors_to_report(&mut self) -> Option<(u64, u64)> {
        let errors = self.counters.checksum_errors;
        let is_due = errors > 0 && errors >= 2 * self.checksum_errors_reported;
        is_due.then(|| {
            self.checksum_errors_reported = errors;
            (self.last_checksum_error, errors)
        })
    }

    /// The sectors of an extent that cannot be read, in order.
    #[inline]
    pub(crate) fn bad_in(&self, first_sector: u64, sectors: u32) -> impl Iterator<Item = u64> + '_ {
        let range = first_sector..first_sector + u64::from(sectors);
        self.bad_sectors.range(range).copied()
    }

    /// The sectors that cannot be read, in order.
    pub(crate) fn unreadable_sectors(&self) -> impl Iterator<Item = u64> + '_ {
        self.bad_sectors.iter().copied()
    }

    /// How many sectors cannot be read.
    pub fn bad_sectors(&self) -> usize {
        self.bad_sectors.len()
    }

    pub(super) fn clear_bad(&mut self, first_sector: u64, sectors: u32) {
        if self.bad_sectors.is_empty() {
            return;
        }
        let written: Vec<u64> = self.bad_in(first_sector, sectors).collect();
        for sector in written {
            self.bad_sectors.remove(&sector);
        }
    }
}
