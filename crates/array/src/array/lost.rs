//! Sectors whose acknowledged contents are gone: reads of them fail until they are written again.

use std::collections::BTreeMap;

/// Runs of lost sectors by volume and first sector, with the sector each ends before. They do not
/// overlap.
#[derive(Debug, Default)]
pub(super) struct LostSectors {
    runs: BTreeMap<(u16, u64), u64>,
    /// Sectors ever lost.
    pub counted: u64,
}

impl LostSectors {
    /// Whether nothing is lost now.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Marks sectors as lost.
    pub fn insert(&mut self, volume: u16, first_sector: u64, sectors: u64) {
        self.remove(volume, first_sector, sectors);
        self.runs
            .insert((volume, first_sector), first_sector + sectors);
        self.counted += sectors;
    }

    /// Whether any of the sectors is lost.
    pub fn overlap(&self, volume: u16, first_sector: u64, sectors: u64) -> bool {
        let last_before = self
            .runs
            .range(..(volume, first_sector + sectors))
            .next_back();
        last_before.is_some_and(|(key, &end)| key.0 == volume && end > first_sector)
    }

    /// Marks sectors as written again.
    pub fn remove(&mut self, volume: u16, first_sector: u64, sectors: u64) {
        let end_sector = first_sector + sectors;
        while let Some((&(found, start), &end)) =
            self.runs.range(..(volume, end_sector)).next_back()
        {
            if found != volume || end <= first_sector {
                return;
            }
            self.runs.remove(&(volume, start));
            if end > end_sector {
                self.runs.insert((volume, end_sector), end);
            }
            if start < first_sector {
                self.runs.insert((volume, start), first_sector);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn runs_agree_with_single_sectors() {
        for seed in 0..200 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut lost = LostSectors::default();
            let mut model = [[false; 64]; 2];
            for _ in 0..100 {
                let volume = random.random_range(0..2u16);
                let first = random.random_range(0..63u64);
                let sectors = random.random_range(1..=64 - first);
                let insert = random.random_bool(0.4);
                if insert {
                    lost.insert(volume, first, sectors);
                } else {
                    lost.remove(volume, first, sectors);
                }
                model[usize::from(volume)][first as usize..(first + sectors) as usize].fill(insert);
                for (volume, sectors) in model.iter().enumerate() {
                    for (sector, &gone) in sectors.iter().enumerate() {
                        let found = lost.overlap(volume as u16, sector as u64, 1);
                        assert_eq!(found, gone, "seed {seed}, sector {sector}");
                    }
                }
            }
        }
    }
}
