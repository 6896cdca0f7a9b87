//! Disks that work and do not give back what was written: flaws of the medium, and contents that have changed. And a
//! cloud volume whose credits are spent.

use rand::Rng;
use rand::seq::index;

use crate::payload::Payload;
use crate::{IncidentKind, SectorDamage};

use super::StationId;
use super::backend::Backend;

/// A place is a block of a disk as today's are made: 4 KiB.
const PLACE_SECTORS: u64 = 8;

/// What the bytes of a place are multiplied by over GF(2^8): each but zero becomes another.
const CHANGE: u8 = 3;

impl<P: Payload> Backend<P> {
    /// So many places of a disk do not give back what was written. Where contents are carried they are chosen among
    /// those that hold data; fewer where fewer do. Nothing happens to a disk that has failed.
    ///
    /// # Panics
    ///
    /// If there is no such station.
    pub fn damage_sectors(
        &mut self,
        now_ns: u64,
        station: StationId,
        places: u32,
        damage: SectorDamage,
        mut random: impl Rng,
    ) {
        if !self.disks.station(station).is_working() {
            return;
        }
        let chosen = choose(&self.extents_of(station), places, &mut random);
        let sectors = PLACE_SECTORS as u32;
        for &first_sector in &chosen {
            match damage {
                SectorDamage::Unreadable => {
                    self.mark_sectors_unreadable(station, first_sector, sectors);
                }
                SectorDamage::Corrupted => {
                    let disk = self.disks.station(station);
                    let mut payload = disk.stored(first_sector, sectors);
                    payload.multiply(CHANGE);
                    self.corrupt_sectors(station, first_sector, sectors, &payload);
                }
            }
        }
        let kind = IncidentKind::SectorsDamaged {
            disk: u32::from(station.0),
            places: chosen.len() as u32,
            damage,
        };
        self.log.add(now_ns, kind);
    }

    /// Says that a disk gave back something else than was written, if it did and that is due.
    pub(super) fn report_checksums(&mut self, now_ns: u64, station: u16) {
        let Some((sector, sectors)) = self.disks.checksum_errors_to_report(station) else {
            return;
        };
        let disk = u32::from(station);
        let kind = IncidentKind::ChecksumsDisagreed {
            disk,
            sector,
            sectors,
        };
        self.log.add(now_ns, kind);
    }

    /// Takes the credits for bursts from a cloud volume; other disks stay as they are.
    ///
    /// # Panics
    ///
    /// If there is no such station.
    pub fn spend_credits(&mut self, now_ns: u64, station: StationId) {
        self.disks.spend_credits(now_ns, station);
        let kind = IncidentKind::CreditsSpent(u32::from(station.0));
        self.log.add(now_ns, kind);
    }

    /// Where a disk holds data, or, where no contents are carried, what is laid out on it.
    fn extents_of(&self, station: StationId) -> Vec<(u64, u64)> {
        if P::CARRIES_BYTES {
            return self.disks.station(station).stored_extents();
        }
        let set = self.groups.set(self.groups.set_of_station(station));
        let is_used = set.space.is_some() || set.member_at(station.0).is_some();
        let laid_out = is_used.then_some((0, set.member_sectors));
        laid_out.into_iter().collect()
    }
}

/// First sectors of different places in extents, in their order; all of them where there are no more.
fn choose(extents: &[(u64, u64)], places: u32, random: &mut impl Rng) -> Vec<u64> {
    let places_of = |sectors: u64| (sectors / PLACE_SECTORS) as usize;
    let all: usize = extents.iter().map(|extent| places_of(extent.1)).sum();
    let count = all.min(places as usize);
    let mut numbers = index::sample(random, all, count).into_vec();
    numbers.sort_unstable();
    let mut numbers = numbers.into_iter().peekable();
    let (mut chosen, mut before) = (Vec::with_capacity(count), 0);
    for &(first_sector, sectors) in extents {
        let end = before + places_of(sectors);
        while let Some(number) = numbers.next_if(|&number| number < end) {
            chosen.push(first_sector + (number - before) as u64 * PLACE_SECTORS);
        }
        before = end;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn places_are_different_ones_within_the_extents() {
        let extents = [(16, 8), (800, 80), (4096, 800)];
        for places in [1, 10, 100, 111, 200] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(places.into());
            let chosen = choose(&extents, places, &mut random);
            assert_eq!(chosen.len(), 111.min(places as usize));
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
            let is_within = |place: &u64| {
                let mut all = extents.iter();
                all.any(|(first, sectors)| (*first..first + sectors).contains(place))
            };
            assert!(
                chosen
                    .iter()
                    .all(|place| is_within(place) && place % 8 == 0)
            );
        }
        assert!(choose(&[], 3, &mut Xoshiro256PlusPlus::seed_from_u64(0)).is_empty());
    }
}
