//! Spare space spread over all disks of a Vraid.
//!
//! When a disk fails, each segment it held gets a new home on another disk of its storage set, one
//! that holds no other segment of the same store, and is rebuilt there. The member stays the same
//! logical disk, spread over many. A segment without room waits, missing, until a disk is replaced;
//! a new disk is free space again, and what was spread stays where it is (levelling is not modelled).

use crate::payload::Payload;
use crate::raid::vraid::{DiskGroup, Segment, VirtualDisk};
use crate::raid::{Layout, Place};

use super::StationId;
use super::backend::Backend;
use super::rebuild::whole_bitmaps;
use super::set::{DiskSet, Group, MemberState, NOWHERE, Spread};

/// A segment that has to find a home.
struct SegmentToMove {
    /// The group, counted within the set.
    group: usize,
    store: u64,
    /// Its place in the store.
    at: usize,
    segment: Segment,
}

/// Where a segment lies now.
fn home(set: &DiskSet, segment: &Segment) -> (u16, u64) {
    set.locate(Place {
        member: segment.member,
        first_sector: segment.first_sector,
    })
}

/// The segments of the groups of a set that lie in a station, or nowhere.
fn leaving(groups: &[Group], set: &DiskSet, station: u16) -> Vec<SegmentToMove> {
    let mut leaving = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let Layout::Virtual(layout) = &group.layout else {
            continue;
        };
        for (store, segments) in layout.stores().enumerate() {
            for (at, segment) in segments.iter().enumerate() {
                if home(set, segment).0 == station {
                    leaving.push(SegmentToMove {
                        group: index,
                        store: store as u64,
                        at,
                        segment: *segment,
                    });
                }
            }
        }
    }
    leaving
}

/// The disks of the segments in the failure domain of one.
fn neighbours(layout: &VirtualDisk, set: &DiskSet, of: &SegmentToMove) -> Vec<u16> {
    let domain = layout
        .failure_domains()
        .find(|domain| domain.contains(&of.at));
    let store = layout.stores().nth(of.store as usize).unwrap_or(&[]);
    let others = domain.into_iter().flatten().filter(|&at| at != of.at);
    others
        .filter_map(|at| home(set, &store[at]).0.checked_sub(set.stations.start))
        .collect()
}

impl<P: Payload> Backend<P> {
    /// What the disk in a station held looks for new homes and is rebuilt there.
    pub(super) fn leave_disk(&mut self, now_ns: u64, set_number: u16, station: StationId) {
        let set = self.groups.set_mut(set_number);
        let disk = station.0 - set.stations.start;
        if let Some(space) = &mut set.space {
            space.close(disk);
        }
        self.find_homes(now_ns, set_number, station.0);
    }

    /// There is a blank disk in a bay: it is free space, first of all for segments without a place.
    pub(super) fn use_blank_disk(&mut self, now_ns: u64, set_number: u16, station: StationId) {
        let set = self.groups.set_mut(set_number);
        let disk = station.0 - set.stations.start;
        if let Some(space) = &mut set.space {
            space.open(disk);
        }
        self.find_homes(now_ns, set_number, NOWHERE);
    }

    /// Finds homes for the segments in a station that has failed, or nowhere, and has them rebuilt.
    fn find_homes(&mut self, now_ns: u64, set_number: u16, station: u16) {
        let step_sectors = self.background.rebuilds.step_sectors();
        let (set, groups) = self.groups.set_and_groups(set_number);
        let Some(mut space) = set.space.take() else {
            return;
        };
        let leaving = leaving(groups, set, station);
        let mut moved: Vec<u16> = Vec::new();
        for one in &leaving {
            let member = one.segment.member;
            if !moved.contains(&member) {
                moved.push(member);
                begin_spread(set, &space, member, groups, step_sectors);
            }
            let group = &groups[one.group];
            let Layout::Virtual(layout) = &group.layout else {
                continue;
            };
            // What has no redundancy cannot be rebuilt.
            let home = (group.geometry.tolerance() > 0)
                .then(|| space.rehome(member, &neighbours(layout, set, one)))
                .flatten();
            move_segment(set, one, home, station == NOWHERE);
            let state = &mut set.members[usize::from(member)].state;
            if let MemberState::Rebuilding(rebuilt) = state {
                for stripe in layout.stripes_of(one.store, one.at) {
                    rebuilt.forget(one.group, &group.geometry, stripe);
                }
            }
        }
        set.space = Some(space);
        self.update_states(now_ns, set_number);
        for member in moved {
            self.rebuild_homes(now_ns, set_number, member);
        }
    }

    /// Begins to rebuild the segments of a member that have homes, unless all groups have failed.
    fn rebuild_homes(&mut self, now_ns: u64, set_number: u16, member: u16) {
        self.background.rebuilds.abandon(set_number, member);
        if self.groups.is_worth_rebuilding(set_number) {
            self.resume_rebuild(now_ns, set_number, member);
        }
    }
}

/// Makes a member one that is spread and whose whole parts are known.
fn begin_spread(
    set: &mut DiskSet,
    space: &DiskGroup,
    number: u16,
    groups: &[Group],
    unit_sectors: u32,
) {
    let member = &mut set.members[usize::from(number)];
    let station = member.station;
    member.spread.get_or_insert_with(|| {
        let segment_sectors = space.segment_sectors();
        let segments = 0..space.segments_per_disk();
        Box::new(Spread {
            segment_sectors,
            homes: segments
                .map(|segment| (station, segment * segment_sectors))
                .collect(),
            unplaced: 0,
        })
    });
    if member.state == MemberState::Present {
        let geometries = groups.iter().map(|group| &group.geometry);
        member.state = MemberState::Rebuilding(whole_bitmaps(geometries, unit_sectors));
    }
}

/// Notes the new home of a segment, or that it has none.
fn move_segment(
    set: &mut DiskSet,
    leaving: &SegmentToMove,
    home: Option<Segment>,
    was_unplaced: bool,
) {
    let first_station = set.stations.start;
    let Some(spread) = &mut set.members[usize::from(leaving.segment.member)].spread else {
        return;
    };
    spread.unplaced -= u64::from(was_unplaced);
    spread.unplaced += u64::from(home.is_none());
    let number = leaving.segment.first_sector / spread.segment_sectors;
    spread.homes[number as usize] = match home {
        Some(home) => (first_station + home.member, home.first_sector),
        None => (NOWHERE, 0),
    };
}
