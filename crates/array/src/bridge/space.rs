//! Which sectors of a volume belong to files, first fit.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::model::{FilePayload, VolumeModel};
use super::volume::ArrayVolume;

/// A volume with the blocks that its files own. It does not know the files: they hold it, and would
/// never go.
pub(super) struct Disk<P: FilePayload, M: VolumeModel<P>> {
    pub(super) volume: ArrayVolume<P, M>,
    pub(super) space: RefCell<Space>,
}

/// A run of sectors of the volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) first_sector: u64,
    pub(super) sectors: u64,
}

/// The free sectors of a volume.
#[derive(Debug)]
pub(super) struct Space {
    /// Free runs that do not touch, by first sector.
    free: BTreeMap<u64, u64>,
}

impl Space {
    /// All sectors from `first_sector` up to `end_sector` are free.
    pub(super) fn new(first_sector: u64, end_sector: u64) -> Self {
        let sectors = end_sector.saturating_sub(first_sector);
        Self {
            free: BTreeMap::from([(first_sector, sectors)]),
        }
    }

    /// Takes `sectors` in as few runs as there are, the one from `after` on first so that a file
    /// that grows stays in one run. Takes nothing if there are not so many.
    pub(super) fn take(&mut self, sectors: u64, after: Option<u64>) -> Option<Vec<Piece>> {
        if self.free.values().sum::<u64>() < sectors {
            return None;
        }
        let mut pieces = Vec::new();
        let mut left = sectors;
        if let Some(first) = after.filter(|first| self.free.contains_key(first)) {
            left -= self.take_front(first, left, &mut pieces);
        }
        let whole = self.free.iter().find(|&(_, &sectors)| sectors >= left);
        if let (Some((&first, _)), true) = (whole, left > 0) {
            left -= self.take_front(first, left, &mut pieces);
        }
        while left > 0 {
            let Some((&first, _)) = self.free.first_key_value() else {
                unreachable!("the free sectors were counted");
            };
            left -= self.take_front(first, left, &mut pieces);
        }
        Some(pieces)
    }

    fn take_front(&mut self, first_sector: u64, most: u64, pieces: &mut Vec<Piece>) -> u64 {
        let run = self.free.remove(&first_sector).unwrap_or(0);
        let sectors = run.min(most);
        if run > sectors {
            self.free.insert(first_sector + sectors, run - sectors);
        }
        pieces.push(Piece {
            first_sector,
            sectors,
        });
        sectors
    }

    /// Gives a run back.
    pub(super) fn give(&mut self, piece: Piece) {
        let Piece {
            mut first_sector,
            mut sectors,
        } = piece;
        let before = self.free.range(..first_sector).next_back();
        if let Some((&first, &length)) = before
            && first + length == first_sector
        {
            self.free.remove(&first);
            first_sector = first;
            sectors += length;
        }
        if let Some(length) = self.free.remove(&(first_sector + sectors)) {
            sectors += length;
        }
        self.free.insert(first_sector, sectors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_taken_grown_and_joined_again() {
        let mut space = Space::new(0, 100);
        let piece = |first_sector, sectors| Piece {
            first_sector,
            sectors,
        };
        assert_eq!(space.take(10, None), Some(vec![piece(0, 10)]));
        assert_eq!(space.take(10, None), Some(vec![piece(10, 10)]));
        assert_eq!(space.take(5, Some(20)), Some(vec![piece(20, 5)]));
        space.give(piece(0, 10));
        assert_eq!(space.take(20, None), Some(vec![piece(25, 20)]));
        assert_eq!(space.take(66, None), None, "65 are free");
        assert_eq!(
            space.take(65, Some(45)),
            Some(vec![piece(45, 55), piece(0, 10)])
        );
        space.give(piece(10, 10));
        space.give(piece(0, 10));
        space.give(piece(20, 80));
        assert_eq!(space.take(100, None), Some(vec![piece(0, 100)]));
    }
}
