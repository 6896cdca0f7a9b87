//! How group requests begin and end.

use crate::Direction;
use crate::payload::Payload;

use super::Groups;
use super::backend::Backend;
use super::request::Pending;
use super::{GroupError, GroupId, GroupRequest, GroupState, IoClass};

impl<P: Payload> Groups<P> for Backend<P> {
    /// Takes a request. Its completion comes out of [`Backend::pop_done`], at once if it cannot be
    /// served at all.
    ///
    /// # Panics
    ///
    /// If the request has no sectors, or names a group that does not exist.
    fn submit(&mut self, now_ns: u64, request: GroupRequest<P>) {
        let extent = (request.first_sector, request.sectors);
        let refused = self.refusal(request.group, extent);
        let id = self.requests.begin(Pending {
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
        });
        if refused.is_none() {
            match request.direction {
                Direction::Read => self.start_read(now_ns, id),
                Direction::Write => {
                    let payload = std::mem::take(&mut self.requests.pending[id].payload);
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
    fn submit_stripe_write(
        &mut self,
        now_ns: u64,
        owner: u32,
        group: GroupId,
        class: IoClass,
        pieces: &[super::Piece<P>],
    ) {
        assert!(!pieces.is_empty(), "a stripe write has at least a piece");
        let refused = pieces
            .iter()
            .find_map(|piece| self.refusal(group, (piece.0, piece.1)));
        let id = self.requests.begin(Pending {
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
        });
        if refused.is_none() {
            for (first_sector, sectors, payload) in pieces {
                self.cut(group.0, *first_sector, *sectors, payload);
            }
            self.start_write(now_ns, id);
        }
        self.part_done(id);
        self.settle(now_ns);
    }

    #[inline]
    fn stripe_sectors(&self, group: GroupId) -> u64 {
        self.groups[group.0].geometry.stripe_sectors()
    }

    #[inline]
    fn state(&self, group: GroupId) -> GroupState {
        self.groups[group.0].state
    }
}

impl<P: Payload> Backend<P> {
    /// Why a request for an extent cannot be served at all.
    #[inline]
    fn refusal(&self, group: GroupId, (first_sector, sectors): (u64, u32)) -> Option<GroupError> {
        assert!(sectors > 0, "a group request has at least a sector");
        let state = &self.groups[group.0];
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

    /// One of the parts of a request is done; after the last one the request is.
    #[inline]
    pub(super) fn part_done(&mut self, id: u32) {
        let Some(ended) = self.requests.part_done(id) else {
            return;
        };
        let counters = &mut self.groups[ended.group].counters;
        match ended.direction {
            Direction::Read => counters.reads += 1,
            Direction::Write => counters.writes += 1,
        }
        counters.errors += u64::from(ended.failed);
    }
}
