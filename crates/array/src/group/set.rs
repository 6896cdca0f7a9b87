//! Disk groups as the back end runs them: members that can be missing, and the groups on them.

use crate::raid::vraid::{DiskGroup, Segment, VirtualDisk};
use crate::raid::{Geometry, Layout, Place, StripeLayout};

use super::{GroupId, GroupState};

/// Which steps of a rebuild are done, by group of the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rebuilt {
    /// Distinguishes this rebuild from earlier ones of the member.
    pub(super) number: u32,
    /// Most rows in a step.
    pub(super) unit_sectors: u32,
    /// For every group of the set, in order, a bit per step.
    pub(super) done: Vec<Vec<u64>>,
}

/// Steps that the chunks of a group are rebuilt in.
pub(super) fn units_per_chunk(geometry: &Geometry, unit_sectors: u32) -> u64 {
    geometry.chunk_sectors.div_ceil(u64::from(unit_sectors))
}

impl Rebuilt {
    fn unit(&self, geometry: &Geometry, stripe: u64, row: u32) -> (usize, u64) {
        let per_chunk = units_per_chunk(geometry, self.unit_sectors);
        let unit = stripe * per_chunk + u64::from(row / self.unit_sectors);
        ((unit / 64) as usize, 1 << (unit % 64))
    }

    /// Whether all of the rows are rebuilt. `group` counts within the set.
    pub(super) fn has(
        &self,
        group: usize,
        geometry: &Geometry,
        stripe: u64,
        from: u32,
        to: u32,
    ) -> bool {
        let mut row = from;
        while row < to {
            let (word, bit) = self.unit(geometry, stripe, row);
            if self.done[group][word] & bit == 0 {
                return false;
            }
            row = (row / self.unit_sectors + 1) * self.unit_sectors;
        }
        true
    }

    /// Notes that nothing of a stripe is rebuilt.
    pub(super) fn forget(&mut self, group: usize, geometry: &Geometry, stripe: u64) {
        for unit in 0..units_per_chunk(geometry, self.unit_sectors) {
            let row = unit as u32 * self.unit_sectors;
            let (word, bit) = self.unit(geometry, stripe, row);
            self.done[group][word] &= !bit;
        }
    }

    /// The rows that are not rebuilt, as ranges.
    pub(super) fn gaps(
        &self,
        group: usize,
        geometry: &Geometry,
        stripe: u64,
        (from, to): (u32, u32),
    ) -> Vec<(u32, u32)> {
        let mut gaps = Vec::new();
        let mut row = from;
        while row < to {
            let next = ((row / self.unit_sectors + 1) * self.unit_sectors).min(to);
            if !self.has(group, geometry, stripe, row, next) {
                gaps.push((row, next));
            }
            row = next;
        }
        gaps
    }

    /// Notes that the step that starts at `row` is done.
    pub(super) fn note(&mut self, group: usize, geometry: &Geometry, stripe: u64, row: u32) {
        let (word, bit) = self.unit(geometry, stripe, row);
        self.done[group][word] |= bit;
    }
}

/// How much of a member can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MemberState {
    /// Every row of the member can be read.
    Present,
    /// Nothing: the disk failed and nothing has taken its place.
    Missing,
    /// What has been rebuilt onto the disk that takes its place.
    Rebuilding(Rebuilt),
}

/// One of the disks a layout is laid out over.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// The station that holds it.
    pub(super) station: u16,
    pub(super) state: MemberState,
    /// Where its segments lie instead, once they had to leave that station.
    pub(super) spread: Option<Box<Spread>>,
}

impl Member {
    /// A member that is there, in a station.
    pub(super) fn new(station: u16) -> Self {
        Self {
            station,
            state: MemberState::Present,
            spread: None,
        }
    }
}

/// The station of segments without a place: whatever is sent there ends as at a disk that failed.
pub(super) const NOWHERE: u16 = u16::MAX;

/// The segments of a member that had to leave its disk: where each of them lies now.
#[derive(Debug, Clone)]
pub(super) struct Spread {
    pub(super) segment_sectors: u64,
    /// By the number of the segment on the disk it left: station and first sector.
    pub(super) homes: Vec<(u16, u64)>,
    /// Segments that found no room.
    pub(super) unplaced: u64,
}

impl Spread {
    fn locate(&self, first_sector: u64) -> (u16, u64) {
        let segment = first_sector / self.segment_sectors;
        let (station, start) = self.homes[segment as usize];
        (station, start + first_sector % self.segment_sectors)
    }
}

/// Disks that groups are laid out over together.
#[derive(Debug, Clone)]
pub(super) struct DiskSet {
    pub(super) members: Vec<Member>,
    /// Stations of spares that are free.
    pub(super) spares: Vec<u16>,
    /// Sectors in use on every member.
    pub(super) member_sectors: u64,
    /// All stations of the set.
    pub(super) stations: std::ops::Range<u16>,
    /// Groups laid out over the members.
    pub(super) groups: Vec<u16>,
    /// Whether every member is present: what the hot path asks first.
    pub(super) all_present: bool,
    /// The segments of a Vraid's disks, if what a disk held is rebuilt into free ones.
    pub(super) space: Option<DiskGroup>,
}

impl DiskSet {
    /// The station and the sector there of a place on a member.
    #[inline]
    pub(super) fn locate(&self, place: Place) -> (u16, u64) {
        let member = &self.members[usize::from(place.member)];
        match &member.spread {
            None => (member.station, place.first_sector),
            Some(spread) => spread.locate(place.first_sector),
        }
    }

    /// The member that a station holds.
    pub(super) fn member_at(&self, station: u16) -> Option<u16> {
        let position = self
            .members
            .iter()
            .position(|member| member.station == station);
        position.map(|member| member as u16)
    }

    /// The position of a group among the set's groups.
    pub(super) fn index_of(&self, group: u16) -> usize {
        (group - self.groups[0]) as usize
    }

    /// Brings `all_present` up to date.
    pub(super) fn update_presence(&mut self) {
        self.all_present = self
            .members
            .iter()
            .all(|member| member.state == MemberState::Present);
    }
}

/// What a group did, counted since the model started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupCounters {
    /// Reads done, failed ones included.
    pub reads: u64,
    /// Writes done, failed ones included.
    pub writes: u64,
    /// Requests that ended in an error.
    pub errors: u64,
    /// Stripe updates by read-modify-write.
    pub read_modify_writes: u64,
    /// Stripe updates that read the rest of the stripe.
    pub reconstruct_writes: u64,
    /// Stripe updates that needed no reading: whole rows, mirrors, and stripes without parity left.
    pub plain_writes: u64,
    /// Stripe reads that computed a missing column.
    pub degraded_reads: u64,
    /// Stripes that were read as a whole because something could not be read.
    pub repairs: u64,
    /// Sectors rewritten because they could not be read or were wrong.
    pub repaired_sectors: u64,
    /// Sectors marked unreadable because they could not be computed.
    pub lost_sectors: u64,
    /// Tasks that had to wait for another one of the same stripe.
    pub lock_waits: u64,
    /// Sectors rebuilt onto a spare or a replaced disk.
    pub rebuilt_sectors: u64,
    /// Rows scrubbed, in sectors of one column.
    pub scrubbed_rows: u64,
    /// Sectors where the redundancy did not agree with the data.
    pub mismatches: u64,
}

/// A group: a layout over a disk set.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) set: u16,
    pub(super) layout: Layout,
    pub(super) geometry: Geometry,
    pub(super) capacity_sectors: u64,
    pub(super) state: GroupState,
    pub(super) counters: GroupCounters,
}

impl Group {
    pub(super) fn new(set: u16, layout: Layout) -> Self {
        let geometry = *layout.geometry();
        Self {
            set,
            layout,
            geometry,
            capacity_sectors: geometry.capacity_sectors(),
            state: GroupState::Healthy,
            counters: GroupCounters::default(),
        }
    }

    /// The state that follows from the members. A failed group stays failed.
    /// `own` is the group's number.
    pub(super) fn update_state(&mut self, own: u16, set: &DiskSet) {
        if self.state == GroupState::Failed {
            return;
        }
        let tolerance = self.geometry.tolerance();
        let worst = match &self.layout {
            Layout::Virtual(layout) if set.space.is_some() => {
                let index = set.index_of(own);
                worst_store(layout, &self.geometry, set, index)
            }
            _ => self.worst_domain(set),
        };
        self.state = match worst {
            _ if worst > tolerance => GroupState::Failed,
            0 => GroupState::Healthy,
            _ if worst == tolerance => GroupState::Critical,
            _ => GroupState::Degraded,
        };
    }
}

impl Group {
    /// The most members that a failure domain misses.
    fn worst_domain(&self, set: &DiskSet) -> u16 {
        let mut gone = vec![0u16; set.members.len()];
        for (number, member) in set.members.iter().enumerate() {
            if member.state != MemberState::Present {
                gone[usize::from(self.layout.domain(number as u16))] += 1;
            }
        }
        gone.into_iter().max().unwrap_or(0)
    }
}

/// What a group is, for those above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupView<'a> {
    /// The number of the group.
    pub id: GroupId,
    /// Its name in the settings.
    pub name: &'a str,
    /// How much it can still lose.
    pub state: GroupState,
    /// Chunks, columns and stripes.
    pub geometry: Geometry,
    /// Sectors of data that the group holds, redundancy not counted.
    pub capacity_sectors: u64,
    /// What it did so far.
    pub counters: &'a GroupCounters,
}

/// The most segments of a failure domain that are not whole, over all stores of a virtual disk.
/// `index` counts the group within the set.
fn worst_store(layout: &VirtualDisk, geometry: &Geometry, set: &DiskSet, index: usize) -> u16 {
    if set.all_present {
        return 0;
    }
    let is_whole = |store: u64, at: usize, segment: &Segment| {
        let state = &set.members[usize::from(segment.member)].state;
        match state {
            MemberState::Present => true,
            MemberState::Missing => false,
            MemberState::Rebuilding(rebuilt) => {
                let rows = geometry.chunk_sectors as u32;
                layout
                    .stripes_of(store, at)
                    .all(|stripe| rebuilt.has(index, geometry, stripe, 0, rows))
            }
        }
    };
    let mut worst = 0;
    for (store, segments) in layout.stores().enumerate() {
        for domain in layout.failure_domains() {
            let lost = domain
                .filter(|&at| !is_whole(store as u64, at, &segments[at]))
                .count();
            worst = worst.max(lost as u16);
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::raid::{Level, Striped};

    fn group(level: Level, disks: u16) -> Group {
        Group::new(0, Layout::Striped(Striped::new(level, disks, 4 * 64, 64)))
    }

    #[test]
    fn rows_are_rebuilt_where_every_step_of_them_is_done() {
        let geometry = group(Level::Raid5, 4).geometry;
        // The last step of a chunk is shorter than the others.
        let unit_sectors = 24;
        let words = (geometry.stripes * units_per_chunk(&geometry, unit_sectors)).div_ceil(64);
        for seed in 0..20 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut rebuilt = Rebuilt {
                number: 1,
                unit_sectors,
                done: vec![vec![0; words as usize]],
            };
            let mut model = vec![[false; 64]; geometry.stripes as usize];
            for _ in 0..200 {
                let stripe = random.random_range(0..geometry.stripes);
                let rows = &mut model[stripe as usize];
                if random.random_bool(0.1) {
                    rebuilt.forget(0, &geometry, stripe);
                    rows.fill(false);
                } else {
                    let first = random.random_range(0..3) * unit_sectors;
                    rebuilt.note(0, &geometry, stripe, first);
                    let last = (first + unit_sectors).min(64);
                    rows[first as usize..last as usize].fill(true);
                }
                let from = random.random_range(0..64);
                let to = random.random_range(from..64) + 1;
                let all = rows[from as usize..to as usize].iter().all(|row| *row);
                assert_eq!(rebuilt.has(0, &geometry, stripe, from, to), all);
                let mut missing = [false; 64];
                for (first, end) in rebuilt.gaps(0, &geometry, stripe, (from, to)) {
                    missing[first as usize..end as usize].fill(true);
                }
                for row in from as usize..to as usize {
                    assert_eq!(missing[row], !rows[row], "seed {seed}, row {row}");
                }
            }
        }
    }

    #[test]
    fn a_group_fails_with_the_disk_beyond_its_tolerance_and_for_good() {
        for (level, disks, lost, states) in [
            (Level::Raid6, 6, [0, 1, 2], "Degraded Critical Failed"),
            (Level::Raid5, 4, [3, 1, 0], "Critical Failed Failed"),
            // The first two are one pair, the third is of another.
            (Level::Raid10, 4, [0, 2, 1], "Critical Critical Failed"),
        ] {
            let mut group = group(level, disks);
            let mut set = DiskSet {
                members: (0..disks).map(Member::new).collect(),
                spares: Vec::new(),
                member_sectors: 4 * 64,
                stations: 0..disks,
                groups: vec![0],
                all_present: true,
                space: None,
            };
            group.update_state(0, &set);
            assert_eq!(group.state, GroupState::Healthy);
            let mut seen = Vec::new();
            for member in lost {
                set.members[member].state = MemberState::Missing;
                set.update_presence();
                assert!(!set.all_present);
                group.update_state(0, &set);
                seen.push(format!("{:?}", group.state));
            }
            assert_eq!(seen.join(" "), states, "{level:?}");
            for member in &mut set.members {
                member.state = MemberState::Present;
            }
            set.update_presence();
            group.update_state(0, &set);
            assert!(set.all_present && group.state == GroupState::Failed);
        }
    }
}
