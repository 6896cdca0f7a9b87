//! Disk groups for tests: bytes in memory, and requests that take effect and complete in an order
//! drawn at random, as adverse as the contract allows.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Direction;
use crate::group::{GroupCompletion, GroupError, GroupId, GroupRequest, GroupState, IoClass};
use crate::group::{Groups, Piece};
use crate::payload::Payload;

/// One group: its contents and how it is.
#[derive(Debug)]
pub(crate) struct MemoryGroup<P> {
    contents: P,
    sectors: u64,
    pub(crate) stripe_sectors: u64,
    pub(crate) state: GroupState,
}

#[derive(Debug)]
struct Pending<P> {
    owner: u32,
    group: GroupId,
    direction: Direction,
    class: IoClass,
    pieces: Vec<Piece<P>>,
    result: Option<Result<P, GroupError>>,
}

/// Disk groups in memory, whose requests complete when and as a test says.
#[derive(Debug)]
pub(crate) struct MemoryGroups<P> {
    pub(crate) groups: Vec<MemoryGroup<P>>,
    pending: Vec<Pending<P>>,
    /// Sectors asked for so far, by group, direction and class.
    pub(crate) submitted: Vec<(GroupId, Direction, IoClass, u64, u32)>,
}

impl<P: Payload> MemoryGroups<P> {
    /// Groups of these sizes and stripes, sectors.
    pub(crate) fn new(sizes: &[(u64, u64)]) -> Self {
        let group = |&(sectors, stripe_sectors): &(u64, u64)| MemoryGroup {
            contents: P::zeroed(sectors as u32),
            sectors,
            stripe_sectors,
            state: GroupState::Healthy,
        };
        Self {
            groups: sizes.iter().map(group).collect(),
            pending: Vec::new(),
            submitted: Vec::new(),
        }
    }

    /// Requests that are not complete.
    pub(crate) fn in_flight(&self) -> usize {
        self.pending.len()
    }

    /// Lets one request, drawn at random, take effect or, if it has, complete.
    pub(crate) fn step(&mut self, random: &mut Xoshiro256PlusPlus) -> Option<GroupCompletion<P>> {
        if self.pending.is_empty() {
            return None;
        }
        let chosen = random.random_range(0..self.pending.len());
        if self.pending[chosen].result.is_none() {
            self.perform(chosen);
            return None;
        }
        Some(self.complete(chosen))
    }

    /// Requests of a class that are not complete.
    pub(crate) fn in_flight_of(&self, class: IoClass) -> usize {
        let of_class = |pending: &&Pending<P>| pending.class == class;
        self.pending.iter().filter(of_class).count()
    }

    /// Lets the oldest request take effect and complete.
    pub(crate) fn complete_oldest(&mut self) -> Option<GroupCompletion<P>> {
        if self.pending.is_empty() {
            return None;
        }
        if self.pending[0].result.is_none() {
            self.perform(0);
        }
        Some(self.complete(0))
    }

    fn complete(&mut self, chosen: usize) -> GroupCompletion<P> {
        let pending = self.pending.remove(chosen);
        let (result, payload) = match pending.result {
            Some(Ok(payload)) => (Ok(()), payload),
            Some(Err(error)) => (Err(error), P::default()),
            None => unreachable!("it took effect"),
        };
        GroupCompletion {
            owner: pending.owner,
            group: pending.group,
            direction: pending.direction,
            result,
            payload,
            submitted_ns: 0,
        }
    }

    fn perform(&mut self, chosen: usize) {
        for earlier in 0..chosen {
            let both_write = self.pending[earlier].direction == Direction::Write
                && self.pending[chosen].direction == Direction::Write;
            if both_write
                && self.pending[earlier].result.is_none()
                && overlap(&self.pending[earlier], &self.pending[chosen])
            {
                self.perform(earlier);
            }
        }
        let pending = &mut self.pending[chosen];
        let group = &mut self.groups[usize::from(pending.group.0)];
        let mut payload = P::default();
        if group.state == GroupState::Failed {
            let group = pending.group;
            pending.result = Some(Err(GroupError::GroupFailed { group }));
            return;
        }
        for (first_sector, sectors, piece) in &pending.pieces {
            match pending.direction {
                Direction::Read => payload = group.contents.part(*first_sector as u32, *sectors),
                Direction::Write => group.contents.overlay(*first_sector as u32, piece),
            }
        }
        pending.result = Some(Ok(payload));
    }

    fn push(&mut self, owner: u32, group: GroupId, direction: Direction, class: IoClass) {
        self.pending.push(Pending {
            owner,
            group,
            direction,
            class,
            pieces: Vec::new(),
            result: None,
        });
    }

    fn push_piece(&mut self, first_sector: u64, sectors: u32, payload: P) {
        let pending = self.pending.last_mut().expect("one was pushed");
        let group = &self.groups[usize::from(pending.group.0)];
        assert!(sectors > 0 && first_sector + u64::from(sectors) <= group.sectors);
        if P::CARRIES_BYTES && pending.direction == Direction::Write {
            let bytes = payload.as_bytes().map_or(0, <[u8]>::len);
            assert_eq!(bytes, sectors as usize * 512, "{pending:?}");
        }
        let Pending {
            group,
            direction,
            class,
            ..
        } = *pending;
        pending.pieces.push((first_sector, sectors, payload));
        self.submitted
            .push((group, direction, class, first_sector, sectors));
    }
}

fn overlap<P>(one: &Pending<P>, other: &Pending<P>) -> bool {
    one.group == other.group
        && one.pieces.iter().any(|(start, sectors, _)| {
            other.pieces.iter().any(|(other_start, other_sectors, _)| {
                start < &(other_start + u64::from(*other_sectors))
                    && other_start < &(start + u64::from(*sectors))
            })
        })
}

impl<P: Payload> Groups<P> for MemoryGroups<P> {
    fn submit(&mut self, _now_ns: u64, request: GroupRequest<P>) {
        self.push(
            request.owner,
            request.group,
            request.direction,
            request.class,
        );
        self.push_piece(request.first_sector, request.sectors, request.payload);
    }

    fn submit_stripe_write(
        &mut self,
        _now_ns: u64,
        owner: u32,
        group: GroupId,
        class: IoClass,
        pieces: &[Piece<P>],
    ) {
        self.push(owner, group, Direction::Write, class);
        let stripe_sectors = self.stripe_sectors(group);
        for (first_sector, sectors, payload) in pieces {
            let last_sector = first_sector + u64::from(*sectors) - 1;
            assert_eq!(first_sector / stripe_sectors, last_sector / stripe_sectors);
            assert_eq!(first_sector / stripe_sectors, pieces[0].0 / stripe_sectors);
            self.push_piece(*first_sector, *sectors, payload.clone());
        }
    }

    fn stripe_sectors(&self, group: GroupId) -> u64 {
        self.groups[usize::from(group.0)].stripe_sectors
    }

    fn state(&self, group: GroupId) -> GroupState {
        self.groups[usize::from(group.0)].state
    }
}
