//! Group requests in flight.

use std::collections::VecDeque;
use std::ops::Index;

use crate::Direction;
use crate::payload::Payload;
use crate::slab::Slab;

use super::{GroupCompletion, GroupError, GroupId, IoClass};

/// A group request that is not done yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending<P> {
    pub(super) owner: u32,
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

/// A request that has just come to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) group: u16,
    pub(super) direction: Direction,
    pub(super) failed: bool,
}

/// Group requests in flight, and the completions nobody has fetched. Requests are indexed by their
/// number.
#[derive(Debug)]
pub(super) struct Requests<P> {
    pub(super) pending: Slab<Pending<P>>,
    done: VecDeque<GroupCompletion<P>>,
}

impl<P> Index<u32> for Requests<P> {
    type Output = Pending<P>;

    #[inline]
    fn index(&self, id: u32) -> &Pending<P> {
        &self.pending[id]
    }
}

impl<P: Payload> Requests<P> {
    pub(super) fn new() -> Self {
        Self {
            pending: Slab::new(),
            done: VecDeque::new(),
        }
    }

    #[inline]
    pub(super) fn begin(&mut self, pending: Pending<P>) -> u32 {
        let id = self.pending.take();
        self.pending[id] = pending;
        id
    }

    /// A further disk request or stripe task belongs to a request.
    #[inline]
    pub(super) fn add_part(&mut self, id: u32) {
        let pending = &mut self.pending[id];
        debug_assert!(pending.open > 0, "a request that is done gets no parts");
        pending.open += 1;
    }

    /// Puts what was read into the request it was read for.
    #[inline]
    pub(super) fn deliver(&mut self, id: u32, offset: u32, sectors: u32, payload: P) {
        if !P::CARRIES_BYTES {
            return;
        }
        let pending = &mut self.pending[id];
        if sectors == pending.sectors {
            pending.payload = payload;
            return;
        }
        if pending.payload.is_empty() {
            pending.payload = P::zeroed(pending.sectors);
        }
        pending.payload.overlay(offset, &payload);
    }

    /// Notes that a request cannot be served. The first error is the one it ends with.
    pub(super) fn note_error(&mut self, id: u32, error: GroupError) {
        self.pending[id].error.get_or_insert(error);
    }

    /// One of the parts of a request is done; after the last one the request is.
    #[inline]
    pub(super) fn part_done(&mut self, id: u32) -> Option<Ended> {
        let pending = &mut self.pending[id];
        pending.open -= 1;
        if pending.open > 0 {
            return None;
        }
        let payload = std::mem::take(&mut pending.payload);
        let (result, payload) = match pending.error.take() {
            None => (Ok(()), payload),
            Some(error) => (Err(error), P::default()),
        };
        let ended = Ended {
            group: pending.group,
            direction: pending.direction,
            failed: result.is_err(),
        };
        self.done.push_back(GroupCompletion {
            owner: pending.owner,
            group: GroupId(pending.group),
            direction: pending.direction,
            result,
            payload,
            submitted_ns: pending.submitted_ns,
        });
        self.pending.release(id);
        Some(ended)
    }

    #[inline]
    pub(super) fn pop_done(&mut self) -> Option<GroupCompletion<P>> {
        self.done.pop_front()
    }

    /// Requests that are not done.
    pub(super) fn in_flight(&self) -> usize {
        self.pending.in_use()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_ends_with_its_last_part_and_its_first_error() {
        let mut requests = Requests::<()>::new();
        let id = requests.begin(Pending {
            owner: 9,
            open: 1,
            ..Pending::default()
        });
        requests.add_part(id);
        let group = GroupId(0);
        requests.note_error(id, GroupError::GroupFailed { group });
        let first_sector = 5;
        requests.note_error(
            id,
            GroupError::Unreadable {
                group,
                first_sector,
            },
        );
        assert!(requests.part_done(id).is_none());
        assert!(requests.pop_done().is_none());
        assert!(requests.part_done(id).is_some_and(|ended| ended.failed));
        let done = requests.pop_done().unwrap();
        assert_eq!(done.owner, 9);
        assert_eq!(done.result, Err(GroupError::GroupFailed { group }));
        assert_eq!(requests.in_flight(), 0);
    }
}
