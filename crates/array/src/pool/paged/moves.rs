//! Pages on their way from one place to another.
//!
//! A page is read as a whole from its old place and written to its new one, as background work,
//! while hosts go on reading and writing the old one. What they write meanwhile is remembered as
//! one stretch. When the copy is complete, new writes to the page wait, those in flight are let
//! finish, the stretch is copied again, the map is switched, and the writes that waited go to the
//! new place. So a host waits for a small copy at most, not for a page, and the amount that is
//! copied again is bounded by one page per move. (Holding all writes for the whole move would be
//! simpler, but background work can take seconds under load, and a write-through host would feel
//! it; writing both places would put host writes and the copy in a race on the new one.)
//!
//! A page that was given a place somebody else's data had is zeroed in the same way before it is
//! first written; until then it reads as zeros without being read.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::timer::HeadStart;
use super::{PagedPool, RequestKind};
use crate::Direction;
use crate::group::Groups;
use crate::group::{GroupCompletion, GroupRequest, IoClass};
use crate::payload::Payload;
use crate::pool::page::Location;
use crate::pool::records::Records;
use crate::pool::request::PoolError;
use crate::pool::tier::Tier;
use crate::pool::tiering::{PlannedMove, TieringPolicy};

/// A write to a page that cannot be written yet.
#[derive(Debug)]
pub(super) struct HeldWrite<P> {
    pub(super) operation: u32,
    pub(super) class: IoClass,
    pub(super) pieces: Vec<(u32, u32, P)>,
}

/// What a move waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Writes to the old place that were in flight when it began, or when the copy was complete.
    Writes,
    /// Its own read or write.
    Copy,
}

#[derive(Debug)]
struct Move<P> {
    page: u32,
    /// The old place; the only one if the page is zeroed.
    from: Location,
    to: Location,
    phase: Phase,
    /// Whether the whole page has been copied.
    copied: bool,
    /// Whether writes wait. They then are in `held`.
    holds: bool,
    held: Vec<HeldWrite<P>>,
    /// The stretch of the page that must be copied (again): from and to.
    dirty: Option<(u32, u32)>,
    /// The stretch being copied.
    copying: (u32, u32),
    /// The page was trimmed: the place it would have moved to is given back.
    cancelled: bool,
    /// Of its requests while no writes wait for it.
    class: IoClass,
}

impl<P> Move<P> {
    fn is_zeroing(&self) -> bool {
        self.from == self.to
    }

    fn is_warped(&self) -> bool {
        self.class == IoClass::Warped
    }
}

/// The moves of a pool: those under way and those planned.
#[derive(Debug, Default)]
pub(super) struct Moves<P> {
    records: Records<Move<P>>,
    by_page: FxHashMap<u32, u32>,
    planned: VecDeque<PlannedMove>,
    relocations: u32,
    /// Those of them that take no time of the disks.
    warped: u32,
}

impl<P> Moves<P> {
    /// Moves that are planned or under way.
    pub(super) fn pending(&self) -> usize {
        self.planned.len() + self.relocations as usize
    }

    /// Moves that are under way.
    pub(super) fn under_way(&self) -> u64 {
        u64::from(self.relocations)
    }

    /// Appends to what is planned.
    pub(super) fn plan(&mut self, moves: impl IntoIterator<Item = PlannedMove>) {
        self.planned.extend(moves);
    }

    /// Whether `page` is moved or zeroed now.
    pub(super) fn is_moving(&self, page: u32) -> bool {
        self.by_page.contains_key(&page)
    }

    /// Where writes to `page` wait, if they must.
    pub(super) fn held_writes(&mut self, page: u32) -> Option<&mut Vec<HeldWrite<P>>> {
        if self.by_page.is_empty() {
            return None;
        }
        let number = *self.by_page.get(&page)?;
        let record = self.records.get_mut(number);
        record.holds.then_some(&mut record.held)
    }

    /// A write to a stretch of the old place of `page` was submitted.
    pub(super) fn written(&mut self, page: u32, first: u32, sectors: u32) {
        if self.by_page.is_empty() {
            return;
        }
        if let Some(&number) = self.by_page.get(&page) {
            let record = self.records.get_mut(number);
            assert!(!record.holds, "writes to page {page} wait");
            let (from, to) = record.dirty.unwrap_or((first, first));
            record.dirty = Some((from.min(first), to.max(first + sectors)));
        }
    }
}

/// Pages being moved at once while pages move at once.
const HEAD_START_MOVES: u32 = 64;

impl<P: Payload> PagedPool<P> {
    /// Begins planned moves, as many as may be under way at once.
    pub(super) fn begin_moves(&mut self, now_ns: u64, groups: &mut impl Groups<P>) {
        let mut limit = self.settings.policy.tiering.moves_in_flight_max;
        let has_head_start = matches!(self.head_start(now_ns), HeadStart::Brings(_));
        if has_head_start {
            limit = limit.max(HEAD_START_MOVES);
        }
        // Where no bytes are carried there is nothing to copy: pages are where they will be.
        let at_once = has_head_start && !P::CARRIES_BYTES;
        while self.moves.relocations - self.moves.warped < limit {
            let mut class = IoClass::Migration;
            for _ in 0..self.warp {
                let Some(PlannedMove { page, to }) = self.moves.planned.pop_front() else {
                    return;
                };
                match self.begin_move(now_ns, page, to, (class, at_once), groups) {
                    // The others are moved in the time of this one.
                    true => class = IoClass::Warped,
                    false => self.counters.moves_abandoned += 1,
                }
            }
        }
    }

    /// Begins to move `page` to `tier`, if that is still possible and makes sense. `at_once`: it is
    /// there without a copy, unless a write to it is in flight.
    fn begin_move(
        &mut self,
        now_ns: u64,
        page: u32,
        tier: Tier,
        (class, at_once): (IoClass, bool),
        groups: &mut impl Groups<P>,
    ) -> bool {
        let Some(from) = self.map.location(page).filter(|from| !from.is_blank()) else {
            return false;
        };
        let source = &self.map.spaces[from.group()];
        if self.moves.is_moving(page) || (source.tier == tier && !source.draining) {
            return false;
        }
        let Some(group) = self.group_with_most_free_pages(tier) else {
            return false;
        };
        let Some(slot) = self.map.spaces[group].reserve() else {
            return false;
        };
        let to = Location::new(group, slot);
        let waits = self.map.spaces[from.group()].is_written(from.slot());
        self.map.spaces[from.group()].read_begins(from.slot());
        self.map.spaces[group].write_begins(slot);
        if at_once && !waits {
            self.arrive(page, from, to);
            self.map.spaces[group].write_ends(slot);
            self.map.spaces[from.group()].read_ends(from.slot());
            return true;
        }
        self.moves.relocations += 1;
        self.moves.warped += u32::from(class == IoClass::Warped);
        let number = self.add_move(page, from, to, waits, class);
        if !waits {
            self.copy(now_ns, number, groups);
        }
        true
    }

    fn add_move(
        &mut self,
        page: u32,
        from: Location,
        to: Location,
        waits: bool,
        class: IoClass,
    ) -> u32 {
        let number = self.moves.records.insert(Move {
            page,
            from,
            to,
            phase: Phase::Writes,
            copied: false,
            holds: waits,
            held: Vec::new(),
            dirty: Some((0, self.map.page_sectors())),
            copying: (0, 0),
            cancelled: false,
            class,
        });
        self.moves.by_page.insert(page, number);
        number
    }

    /// Copies what is dirty of a page: all of it at first, later what was written meanwhile.
    fn copy(&mut self, now_ns: u64, number: u32, groups: &mut impl Groups<P>) {
        let record = self.moves.records.get_mut(number);
        let Some((from, to)) = record.dirty.take() else {
            panic!("there is nothing to copy");
        };
        record.phase = Phase::Copy;
        record.copying = (from, to);
        let at = record.from;
        self.step(now_ns, number, Direction::Read, at, P::default(), groups);
    }

    /// Submits a read or write of what is being copied. While writes wait for it, it goes in
    /// their class instead of in the background.
    fn step(
        &mut self,
        now_ns: u64,
        number: u32,
        direction: Direction,
        at: Location,
        payload: P,
        groups: &mut impl Groups<P>,
    ) {
        let record = self.moves.records.get(number);
        let (from, to) = record.copying;
        let class = match record.class {
            IoClass::Migration if record.holds => IoClass::Destage,
            class => class,
        };
        let request = GroupRequest {
            owner: RequestKind::Move.owner(number),
            group: self.map.spaces[at.group()].group,
            direction,
            first_sector: self.map.first_sector(at) + u64::from(from),
            sectors: to - from,
            class,
            payload,
        };
        groups.submit(now_ns, request);
    }

    /// A read or write of a move is done.
    pub(super) fn move_step_done(
        &mut self,
        now_ns: u64,
        number: u32,
        completion: GroupCompletion<P>,
        groups: &mut impl Groups<P>,
    ) {
        let record = self.moves.records.get_mut(number);
        if record.cancelled || completion.result.is_err() {
            let error = completion.result.err().map(PoolError::from);
            self.end_move(now_ns, number, error, groups);
            return;
        }
        let to = record.to;
        if completion.direction == Direction::Read {
            let payload = completion.payload;
            self.step(now_ns, number, Direction::Write, to, payload, groups);
            return;
        }
        if record.copied {
            let (from, to) = record.copying;
            self.counters.sectors_copied_again += u64::from(to - from);
        }
        record.copied = true;
        if record.is_zeroing() {
            self.end_move(now_ns, number, None, groups);
            return;
        }
        record.holds = true;
        record.phase = Phase::Writes;
        let from = record.from;
        if !self.map.spaces[from.group()].is_written(from.slot()) {
            self.go_on(now_ns, number, groups);
        }
    }

    /// The last write in flight to `page` at `at` is done: a move that waited for it goes on.
    pub(super) fn writes_drained(
        &mut self,
        now_ns: u64,
        page: u32,
        at: Location,
        groups: &mut impl Groups<P>,
    ) {
        if let Some(&number) = self.moves.by_page.get(&page) {
            let record = self.moves.records.get(number);
            if record.phase == Phase::Writes && record.from == at && record.holds {
                self.go_on(now_ns, number, groups);
            }
        }
    }

    /// No write to the old place is in flight and none can begin.
    fn go_on(&mut self, now_ns: u64, number: u32, groups: &mut impl Groups<P>) {
        let record = self.moves.records.get_mut(number);
        if record.copied {
            match record.dirty {
                Some(_) => self.copy(now_ns, number, groups),
                None => self.end_move(now_ns, number, None, groups),
            }
            return;
        }
        // The first copy: writes go on beside it.
        record.holds = false;
        let held = std::mem::take(&mut record.held);
        let page = record.page;
        self.copy(now_ns, number, groups);
        self.release(now_ns, page, held, groups);
    }

    /// Ends a move: the page lies in its new place, or stays in its old one after an error or
    /// when it was trimmed.
    fn end_move(
        &mut self,
        now_ns: u64,
        number: u32,
        error: Option<PoolError>,
        groups: &mut impl Groups<P>,
    ) {
        let record = self.moves.records.remove(number);
        let Move { page, from, to, .. } = record;
        let (zeroing, warped) = (record.is_zeroing(), record.is_warped());
        if !record.cancelled {
            self.moves.by_page.remove(&page);
        }
        match (record.cancelled, error) {
            (false, None) if zeroing => {
                self.map.zeroed(page);
                self.counters.pages_zeroed += 1;
            }
            (false, None) => self.arrive(page, from, to),
            _ if zeroing => {}
            _ => {
                self.map.spaces[to.group()].release(to.slot());
                self.counters.moves_abandoned += 1;
            }
        }
        self.map.spaces[to.group()].write_ends(to.slot());
        if !zeroing {
            self.map.spaces[from.group()].read_ends(from.slot());
            self.moves.relocations -= 1;
            self.moves.warped -= u32::from(warped);
        }
        if let Some(error) = error.filter(|_| zeroing) {
            for write in record.held {
                self.operations.part_done(write.operation, Err(error));
            }
        } else {
            self.release(now_ns, page, record.held, groups);
        }
        self.begin_moves(now_ns, groups);
    }

    fn arrive(&mut self, page: u32, from: Location, to: Location) {
        self.map.relocate(page, to);
        let (old, new) = (
            self.map.spaces[from.group()].tier,
            self.map.spaces[to.group()].tier,
        );
        self.tiering.placed(page, new);
        let counter = match new.cmp(&old) {
            std::cmp::Ordering::Less => &mut self.counters.pages_moved_up,
            std::cmp::Ordering::Greater => &mut self.counters.pages_moved_down,
            std::cmp::Ordering::Equal => &mut self.counters.pages_moved_across,
        };
        *counter += 1;
    }

    /// Writes that waited for `page` go on.
    fn release(
        &mut self,
        now_ns: u64,
        page: u32,
        held: Vec<HeldWrite<P>>,
        groups: &mut impl Groups<P>,
    ) {
        for write in held {
            let HeldWrite {
                operation,
                class,
                pieces,
            } = write;
            self.write_page(now_ns, operation, class, page, &pieces, groups);
        }
    }

    /// Zeroes the place of a page before its first write, which waits.
    pub(super) fn begin_zeroing(
        &mut self,
        now_ns: u64,
        page: u32,
        at: Location,
        groups: &mut impl Groups<P>,
    ) {
        if self.moves.is_moving(page) {
            return;
        }
        self.map.spaces[at.group()].write_begins(at.slot());
        let number = self.add_move(page, at, at, true, IoClass::Migration);
        let record = self.moves.records.get_mut(number);
        let sectors = self.map.page_sectors();
        record.phase = Phase::Copy;
        record.dirty = None;
        record.copying = (0, sectors);
        let zeros = P::zeroed(sectors);
        self.step(now_ns, number, Direction::Write, at, zeros, groups);
    }

    /// The page is trimmed: it does not move any more. Writes that wait for it came before the
    /// trim and are done.
    pub(super) fn cancel_move(&mut self, page: u32) {
        let Some(number) = self.moves.by_page.remove(&page) else {
            return;
        };
        let record = self.moves.records.get_mut(number);
        record.cancelled = true;
        for write in std::mem::take(&mut record.held) {
            self.operations.part_done(write.operation, Ok(()));
        }
        if record.phase == Phase::Copy {
            return;
        }
        let record = self.moves.records.remove(number);
        self.moves.warped -= u32::from(record.is_warped());
        let Move { from, to, .. } = record;
        self.map.spaces[to.group()].release(to.slot());
        self.map.spaces[to.group()].write_ends(to.slot());
        self.map.spaces[from.group()].read_ends(from.slot());
        self.moves.relocations -= 1;
        self.counters.moves_abandoned += 1;
    }
}
