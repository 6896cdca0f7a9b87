//! Group requests in flight, and the disk requests that serve them without further ado.

use crate::Direction;
use crate::payload::Payload;
use crate::station::{Outcome, Parent};

use super::backend::Backend;
use super::{GroupCompletion, GroupError, GroupId, GroupRequest, GroupState, IoClass, Owner};
use super::{OwnerRoom, StationId};

/// A group request that is not done yet.
#[derive(Debug, Clone)]
pub(super) struct Pending<P> {
    pub(super) owner: Owner,
    pub(super) group: u16,
    pub(super) direction: Direction,
    pub(super) class: IoClass,
    pub(super) first_sector: u64,
    pub(super) sectors: u32,
    pub(super) payload: P,
    pub(super) submitted_ns: u64,
    /// Disk requests and stripe tasks still to come, and one while they are being set up.
    pub(super) open: u32,
    pub(super) error: Option<GroupError>,
}

impl<P: Payload> Default for Pending<P> {
    fn default() -> Self {
        Self {
            owner: Owner {
                room: OwnerRoom::Front,
                id: 0,
            },
            group: 0,
            direction: Direction::Read,
            class: IoClass::HostRead,
            first_sector: 0,
            sectors: 0,
            payload: P::default(),
            submitted_ns: 0,
            open: 0,
            error: None,
        }
    }
}

/// A disk request in the making.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    pub(super) station: u16,
    pub(super) direction: Direction,
    pub(super) class: IoClass,
    pub(super) first_sector: u64,
    pub(super) sectors: u32,
    pub(super) parent: Parent,
    pub(super) slot: u32,
}

impl<P: Payload> Backend<P> {
    /// Takes a request. Its completion comes out of [`Backend::pop_done`], at once if it cannot be
    /// served at all.
    ///
    /// # Panics
    ///
    /// If the request has no sectors, or names a group that does not exist.
    pub fn submit(&mut self, now_ns: u64, request: GroupRequest<P>) {
        assert!(request.sectors > 0, "a group request has at least a sector");
        let group = &self.groups[usize::from(request.group.0)];
        let capacity_sectors = group.capacity_sectors;
        let fits = u64::from(request.sectors) <= capacity_sectors
            && request.first_sector <= capacity_sectors - u64::from(request.sectors);
        let refused = if group.state == GroupState::Failed {
            Some(GroupError::GroupFailed {
                group: request.group,
            })
        } else {
            (!fits).then_some(GroupError::OutOfRange {
                group: request.group,
                first_sector: request.first_sector,
                sectors: request.sectors,
                capacity_sectors,
            })
        };
        let id = self.requests.take();
        let pending = &mut self.requests[id];
        pending.owner = request.owner;
        pending.group = request.group.0;
        pending.direction = request.direction;
        pending.class = request.class;
        pending.first_sector = request.first_sector;
        pending.sectors = request.sectors;
        pending.payload = request.payload;
        pending.submitted_ns = now_ns;
        pending.open = 1;
        pending.error = refused;
        if refused.is_none() {
            self.start_direct(now_ns, id);
        }
        self.part_done(id);
        self.settle(now_ns);
    }

    /// Serves a request by one disk request for every run of sectors on one disk.
    fn start_direct(&mut self, now_ns: u64, id: u32) {
        let pending = &self.requests[id];
        let (group_number, direction, class) = (pending.group, pending.direction, pending.class);
        let (first_sector, sectors) = (pending.first_sector, pending.sectors);
        let mut done = 0;
        while done < sectors {
            let group = &self.groups[usize::from(group_number)];
            let spot = group.geometry.locate(first_sector + u64::from(done));
            let in_chunk = group.geometry.chunk_sectors - spot.row;
            let length = in_chunk.min(u64::from(sectors - done)) as u32;
            let place = group.layout.place(spot.stripe, spot.column);
            let set = &self.sets[usize::from(group.set)];
            let aim = Aim {
                station: set.members[usize::from(place.member)].station,
                direction,
                class,
                first_sector: place.first_sector + spot.row,
                sectors: length,
                parent: Parent::Request(id),
                slot: done,
            };
            let payload = match direction {
                Direction::Read => P::default(),
                Direction::Write => self.requests[id].payload.part(done, length),
            };
            self.requests[id].open += 1;
            self.issue(now_ns, aim, payload);
            done += length;
        }
    }

    /// Sends a disk request.
    #[inline]
    pub(super) fn issue(&mut self, now_ns: u64, aim: Aim, payload: P) {
        let id = self.ops.take();
        let op = &mut self.ops[id];
        op.first_sector = aim.first_sector;
        op.sectors = aim.sectors;
        op.station = aim.station;
        op.direction = aim.direction;
        op.class = aim.class;
        op.parent = aim.parent;
        op.slot = aim.slot;
        op.payload = payload;
        let number = usize::from(aim.station);
        let station = &mut self.stations[number];
        if !station.is_working() {
            self.undeliverable.push_back(id);
            return;
        }
        station.enqueue(now_ns, id, &mut self.ops);
        let next_ns = station.next_completion_ns();
        self.agenda.set_station(number, next_ns);
    }

    /// Goes on with whatever waited for a disk request.
    #[inline]
    pub(super) fn finish_op(&mut self, id: u32, outcome: Outcome) {
        let op = &mut self.ops[id];
        let payload = std::mem::take(&mut op.payload);
        let (parent, slot, sectors) = (op.parent, op.slot, op.sectors);
        self.ops.release(id);
        match parent {
            Parent::Request(request) => {
                self.finish_direct(request, slot, sectors, payload, outcome);
            }
            Parent::Task(_) => {}
        }
    }

    fn finish_direct(&mut self, id: u32, offset: u32, sectors: u32, payload: P, outcome: Outcome) {
        let pending = &mut self.requests[id];
        let group = GroupId(pending.group);
        match outcome {
            Outcome::Done if pending.direction == Direction::Read => {
                if sectors == pending.sectors {
                    pending.payload = payload;
                } else if P::CARRIES_BYTES {
                    if pending.open_payload_is_empty() {
                        pending.payload = P::zeroed(pending.sectors);
                    }
                    pending.payload.overlay(offset, &payload);
                }
            }
            Outcome::Done => {}
            Outcome::MediaError => {
                let first_sector = pending.first_sector + u64::from(offset);
                pending.error = Some(GroupError::Unreadable {
                    group,
                    first_sector,
                });
            }
            Outcome::DiskFailed => pending.error = Some(GroupError::GroupFailed { group }),
        }
        self.part_done(id);
    }

    /// One of the parts of a request is done; after the last one the request is.
    #[inline]
    pub(super) fn part_done(&mut self, id: u32) {
        let pending = &mut self.requests[id];
        pending.open -= 1;
        if pending.open > 0 {
            return;
        }
        let payload = std::mem::take(&mut pending.payload);
        let reads = pending.direction == Direction::Read;
        let (result, payload) = match pending.error.take() {
            Some(error) => (Err(error), P::default()),
            None if reads => (Ok(()), payload),
            None => (Ok(()), P::default()),
        };
        self.done.push_back(GroupCompletion {
            owner: pending.owner,
            group: GroupId(pending.group),
            direction: pending.direction,
            result,
            payload,
            submitted_ns: pending.submitted_ns,
        });
        self.requests.release(id);
    }

    /// Whether a station is one of this back end's.
    pub(super) fn assert_station(&self, station: StationId) {
        assert!(
            usize::from(station.0) < self.stations.len(),
            "there is no station {}",
            station.0
        );
    }
}

impl<P: Payload> Pending<P> {
    /// Whether nothing has been read into the payload yet.
    fn open_payload_is_empty(&self) -> bool {
        self.payload.as_bytes().is_none_or(<[u8]>::is_empty)
    }
}
