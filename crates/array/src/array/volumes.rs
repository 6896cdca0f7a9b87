//! Volumes as the controllers know them: who owns each, how it is cached, what is under way.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use crate::cache::Streams;
use crate::controller::Ticket;
use crate::group::GroupId;
use crate::host::HostOperation;
use crate::io::VolumeExtent;

use super::counters::VolumeCounting;

/// Which controller owns a volume, and who waits for it to have a new owner.
#[derive(Debug, Default)]
pub(super) struct Ownership {
    pub owner: u8,
    pub preferred_owner: u8,
    /// The controller it is about to move to.
    moving_to: Option<u8>,
    /// Whether no controller serves it for the moment.
    pub paused: bool,
    /// Requests that wait while it is paused.
    pub waiting: VecDeque<Ticket>,
}

impl Ownership {
    /// Owned by a controller, and preferably so.
    pub fn new(owner: u8) -> Self {
        Self {
            owner,
            preferred_owner: owner,
            ..Self::default()
        }
    }

    /// The controller it is about to move to.
    #[inline]
    pub fn moving_to(&self) -> Option<u8> {
        self.moving_to
    }
}

/// How a volume is cached, and what its requests cost besides.
#[derive(Debug)]
pub(super) struct VolumePolicy {
    pub write_back: bool,
    pub direct_io: bool,
    pub reads_ahead: bool,
    /// Cache lines of a stripe of its disk group, or of a page.
    pub lines_per_unit: u64,
    /// Sectors of a page, if it is given back by a trim.
    pub page_sectors: Option<u64>,
    pub fast_path: Option<FastPath>,
    /// What a write spends in the firmware besides, occupying nothing.
    pub write_latency_ns: u64,
}

/// Which requests a RAID card serves on its short path.
#[derive(Debug, Clone, Copy)]
pub(super) struct FastPath {
    pub group: GroupId,
    pub strip_sectors: u64,
    /// Whether writes take it, too.
    pub writes: bool,
}

impl FastPath {
    /// Whether a request may take it: one within a strip.
    #[inline]
    pub fn admits(&self, operation: HostOperation, extent: VolumeExtent) -> bool {
        let allowed = match operation {
            HostOperation::Read => true,
            HostOperation::Write => self.writes,
            HostOperation::Flush | HostOperation::Trim => false,
        };
        let within = extent.first_sector % self.strip_sectors;
        allowed && within + u64::from(extent.sectors) <= self.strip_sectors
    }
}

/// A volume with the requests and streams on it.
#[derive(Debug)]
pub(super) struct Volume {
    pub pool: u16,
    pub capacity_sectors: u64,
    pub ownership: Ownership,
    pub policy: VolumePolicy,
    /// Host requests that a controller serves now.
    pub requests: u64,
    /// Reads and writes at the back end.
    pub operations: u64,
    pub readers: Streams,
    pub writers: Streams,
    pub counting: VolumeCounting,
}

impl Volume {
    #[inline]
    pub fn owner(&self) -> usize {
        usize::from(self.ownership.owner)
    }
}

/// All volumes, indexed by their number, and the moves between controllers.
#[derive(Debug)]
pub(super) struct Volumes {
    list: Vec<Volume>,
    moves_under_way: u32,
    /// Volumes whose move may be able to go on.
    movable: Vec<u16>,
}

impl Index<u16> for Volumes {
    type Output = Volume;

    #[inline]
    fn index(&self, number: u16) -> &Volume {
        &self.list[usize::from(number)]
    }
}

impl IndexMut<u16> for Volumes {
    #[inline]
    fn index_mut(&mut self, number: u16) -> &mut Volume {
        &mut self.list[usize::from(number)]
    }
}

impl Volumes {
    pub fn new(list: Vec<Volume>) -> Self {
        Self {
            list,
            moves_under_way: 0,
            movable: Vec::new(),
        }
    }

    pub fn get(&self, number: u16) -> Option<&Volume> {
        self.list.get(usize::from(number))
    }

    pub fn numbers(&self) -> std::ops::Range<u16> {
        0..self.list.len() as u16
    }

    pub fn iter(&self) -> impl Iterator<Item = &Volume> {
        self.list.iter()
    }

    /// A volume is to move to another controller.
    pub fn begin_move(&mut self, number: u16, to: u8) {
        let ownership = &mut self[number].ownership;
        debug_assert!(ownership.moving_to.is_none(), "one move at a time");
        ownership.moving_to = Some(to);
        self.moves_under_way += 1;
        self.movable.push(number);
    }

    /// A volume does not move any more, or has moved.
    pub fn end_move(&mut self, number: u16) {
        if self[number].ownership.moving_to.take().is_some() {
            self.moves_under_way -= 1;
        }
    }

    /// Something of a volume has ended: a move may be able to go on.
    #[inline]
    pub fn note_progress(&mut self, number: u16) {
        if self[number].ownership.moving_to.is_some() {
            self.movable.push(number);
        }
    }

    /// The next volume whose move may be able to go on.
    #[inline]
    pub fn pop_movable(&mut self) -> Option<u16> {
        self.movable.pop()
    }

    /// Whether any volume is about to move.
    #[inline]
    pub fn any_moves(&self) -> bool {
        self.moves_under_way > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ReadAheadSettings;

    fn volumes() -> Volumes {
        let streams = || Streams::new(&ReadAheadSettings::default());
        Volumes::new(vec![Volume {
            pool: 0,
            capacity_sectors: 100,
            ownership: Ownership::new(1),
            policy: VolumePolicy {
                write_back: true,
                direct_io: false,
                reads_ahead: false,
                lines_per_unit: 1,
                page_sectors: None,
                fast_path: None,
                write_latency_ns: 0,
            },
            requests: 0,
            operations: 0,
            readers: streams(),
            writers: streams(),
            counting: VolumeCounting::default(),
        }])
    }

    #[test]
    fn a_move_goes_on_with_every_progress_until_it_ends() {
        let mut volumes = volumes();
        volumes.note_progress(0);
        assert_eq!(volumes.pop_movable(), None, "it does not move");
        volumes.begin_move(0, 0);
        assert!(volumes.any_moves());
        assert_eq!(volumes.pop_movable(), Some(0));
        volumes.note_progress(0);
        assert_eq!(volumes.pop_movable(), Some(0));
        volumes.end_move(0);
        volumes.end_move(0);
        assert!(!volumes.any_moves());
    }

    #[test]
    fn the_fast_path_takes_reads_within_a_strip() {
        let fast_path = FastPath {
            group: GroupId(0),
            strip_sectors: 128,
            writes: false,
        };
        let extent = |first_sector, sectors| VolumeExtent {
            volume: 0,
            first_sector,
            sectors,
        };
        assert!(fast_path.admits(HostOperation::Read, extent(120, 8)));
        assert!(!fast_path.admits(HostOperation::Read, extent(121, 8)));
        assert!(!fast_path.admits(HostOperation::Write, extent(120, 8)));
    }
}
