//! Sectors whose acknowledged contents are gone: reads of them fail until they are written again.

use std::collections::BTreeMap;

use crate::io::VolumeExtent;

/// Runs of lost sectors by volume and first sector, with the sector each ends before. They do not
/// overlap.
#[derive(Debug, Default)]
pub(super) struct LostSectors {
    runs: BTreeMap<(u16, u64), u64>,
    ever_lost: u64,
}

impl LostSectors {
    /// Sectors lost since the array was made, those written again since included.
    pub fn ever_lost(&self) -> u64 {
        self.ever_lost
    }

    /// The runs: volume, first sector, the sector after the last.
    pub fn runs(&self) -> impl Iterator<Item = (u16, u64, u64)> + '_ {
        let runs = self.runs.iter();
        runs.map(|(&(volume, first_sector), &end_sector)| (volume, first_sector, end_sector))
    }

    /// Marks sectors as lost.
    pub fn insert(&mut self, extent: VolumeExtent) {
        self.remove(extent);
        self.runs
            .insert((extent.volume, extent.first_sector), extent.end_sector());
        self.ever_lost += u64::from(extent.sectors);
    }

    /// Whether any of the sectors is lost.
    #[inline]
    pub fn overlaps(&self, extent: VolumeExtent) -> bool {
        if self.runs.is_empty() {
            return false;
        }
        let last_before = self
            .runs
            .range(..(extent.volume, extent.end_sector()))
            .next_back();
        last_before.is_some_and(|(key, &end)| key.0 == extent.volume && end > extent.first_sector)
    }

    /// Marks sectors as written again.
    #[inline]
    pub fn remove(&mut self, extent: VolumeExtent) {
        if !self.runs.is_empty() {
            self.cut_out(extent);
        }
    }

    fn cut_out(&mut self, extent: VolumeExtent) {
        let (volume, first_sector) = (extent.volume, extent.first_sector);
        let end_sector = extent.end_sector();
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
                let sectors = random.random_range(1..=64 - first as u32);
                let extent = VolumeExtent {
                    volume,
                    first_sector: first,
                    sectors,
                };
                let insert = random.random_bool(0.4);
                if insert {
                    lost.insert(extent);
                } else {
                    lost.remove(extent);
                }
                model[usize::from(volume)][first as usize..first as usize + sectors as usize]
                    .fill(insert);
                for (volume, sectors) in model.iter().enumerate() {
                    for (sector, &gone) in sectors.iter().enumerate() {
                        let found = lost.overlaps(VolumeExtent {
                            volume: volume as u16,
                            first_sector: sector as u64,
                            sectors: 1,
                        });
                        assert_eq!(found, gone, "seed {seed}, sector {sector}");
                    }
                }
            }
        }
    }
}
