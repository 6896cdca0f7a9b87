//! Group requests in flight.

use crate::Direction;
use crate::payload::Payload;

use super::OwnerRoom;
use super::backend::Backend;
use super::{GroupCompletion, GroupError, GroupId, GroupRequest, GroupState, IoClass, Owner};

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

impl<P: Payload> Backend<P> {
    /// Takes a request. Its completion comes out of [`Backend::pop_done`], at once if it cannot be
    /// served at all.
    ///
    /// # Panics
    ///
    /// If the request has no sectors, or names a group that does not exist.
    pub fn submit(&mut self, now_ns: u64, request: GroupRequest<P>) {
        let extent = (request.first_sector, request.sectors);
        let refused = self.refusal(request.group, extent);
        let id = self.requests.take();
        self.requests[id] = Pending {
            owner: request.owner,
            group: request.group.0,
            direction: request.direction,
            class: request.class,
            first_sector: request.first_sector,
            sectors: request.sectors,
            payload: request.payload,
            submitted_ns: now_ns,
            open: 1,
            error: refused,
        };
        if refused.is_none() {
            match request.direction {
                Direction::Read => self.start_read(now_ns, id),
                Direction::Write => {
                    let payload = std::mem::take(&mut self.requests[id].payload);
                    self.cut(request.group.0, extent.0, extent.1, &payload);
                    self.start_write(now_ns, id);
                }
            }
        }
        self.part_done(id);
        self.settle(now_ns);
    }

    /// Writes several pieces with one completion. Pieces of the same stripe share one update of
    /// its parity: what a destager has gathered for a stripe costs little more than one of them.
    /// A piece is its first sector, its length in sectors, and what to write.
    ///
    /// # Panics
    ///
    /// If there are no pieces, one has no sectors, two overlap, or the group does not exist.
    pub fn submit_stripe_write(
        &mut self,
        now_ns: u64,
        owner: Owner,
        group: GroupId,
        class: IoClass,
        pieces: &[(u64, u32, P)],
    ) {
        assert!(!pieces.is_empty(), "a stripe write has at least a piece");
        let refused = pieces
            .iter()
            .find_map(|piece| self.refusal(group, (piece.0, piece.1)));
        let id = self.requests.take();
        self.requests[id] = Pending {
            owner,
            group: group.0,
            direction: Direction::Write,
            class,
            first_sector: pieces[0].0,
            sectors: pieces[0].1,
            payload: P::default(),
            submitted_ns: now_ns,
            open: 1,
            error: refused,
        };
        if refused.is_none() {
            for (first_sector, sectors, payload) in pieces {
                self.cut(group.0, *first_sector, *sectors, payload);
            }
            self.start_write(now_ns, id);
        }
        self.part_done(id);
        self.settle(now_ns);
    }

    /// Why a request for an extent cannot be served at all.
    #[inline]
    fn refusal(&self, group: GroupId, (first_sector, sectors): (u64, u32)) -> Option<GroupError> {
        assert!(sectors > 0, "a group request has at least a sector");
        let state = &self.groups[usize::from(group.0)];
        if state.state == GroupState::Failed {
            return Some(GroupError::GroupFailed { group });
        }
        let capacity_sectors = state.capacity_sectors;
        let fits = u64::from(sectors) <= capacity_sectors
            && first_sector <= capacity_sectors - u64::from(sectors);
        (!fits).then_some(GroupError::OutOfRange {
            group,
            first_sector,
            sectors,
            capacity_sectors,
        })
    }

    /// Puts what was read into the request it was read for.
    #[inline]
    pub(super) fn deliver(&mut self, id: u32, offset: u32, sectors: u32, payload: P) {
        if !P::CARRIES_BYTES {
            return;
        }
        let pending = &mut self.requests[id];
        if sectors == pending.sectors {
            pending.payload = payload;
            return;
        }
        if pending.payload.as_bytes().is_none_or(<[u8]>::is_empty) {
            pending.payload = P::zeroed(pending.sectors);
        }
        pending.payload.overlay(offset, &payload);
    }

    /// Notes that a request cannot be served. The first error is the one it ends with.
    pub(super) fn note_error(&mut self, id: u32, error: GroupError) {
        self.requests[id].error.get_or_insert(error);
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
        let counters = &mut self.groups[usize::from(pending.group)].counters;
        match pending.direction {
            Direction::Read => counters.reads += 1,
            Direction::Write => counters.writes += 1,
        }
        let (result, payload) = match pending.error.take() {
            None => (Ok(()), payload),
            Some(error) => {
                counters.errors += 1;
                (Err(error), P::default())
            }
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
}
