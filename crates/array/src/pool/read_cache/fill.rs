//! Fills: from the decision to copy a line to the moment it can be read from the cache.

use super::ReadCache;
use crate::Direction;
use crate::group::Groups;
use crate::group::{GroupRequest, IoClass};
use crate::payload::Payload;
use crate::pool::replacement::{Inserted, Replacement};
use crate::pool::request::RequestKind;

/// A write to the cache: a whole line, or what a write changed of one.
#[derive(Debug)]
pub(super) struct Fill<P> {
    line: u32,
    pub(super) slot: u32,
    /// First sector within the line.
    offset: u32,
    sectors: u32,
    /// What to write; taken when the write is submitted.
    payload: P,
}

/// The number of the fill, if the request is one.
pub(super) fn fill_number(request: u32) -> Option<u32> {
    match RequestKind::of(request) {
        (RequestKind::Fill, number) => Some(number),
        _ => None,
    }
}

impl<P: Payload> ReadCache<P> {
    /// A read of `line` was missed and is about to be submitted as `request`: may it copy the
    /// line?
    pub(crate) fn intend(&mut self, line: u32, request: u32) -> bool {
        let held = self.rule.find(line);
        if held.is_some_and(|slot| self.is_ready(slot)) || self.pending.contains_key(&line) {
            return false;
        }
        let copy = self.misses.count(line);
        if copy {
            self.pending.insert(line, request);
        }
        copy
    }

    /// Whether `request` may still make `line` readable.
    pub(crate) fn expects(&self, line: u32, request: u32) -> bool {
        self.pending.get(&line) == Some(&request)
    }

    /// `request` will not copy `line` after all.
    pub(crate) fn give_up(&mut self, line: u32, request: u32) {
        if self.expects(line, request) {
            self.pending.remove(&line);
        }
    }

    /// The contents of `line` have arrived by `request`, which may copy them: puts them into the
    /// cache unless too much is being put in already.
    pub(crate) fn fill(
        &mut self,
        now_ns: u64,
        line: u32,
        request: u32,
        payload: P,
        groups: &mut impl Groups<P>,
    ) {
        assert!(self.expects(line, request), "line {line} was dropped");
        self.pending.remove(&line);
        if !self.online || !self.admits(now_ns) {
            self.counters.fills_skipped += 1;
            return;
        }
        let slot = self.rank(line);
        let fill = Fill {
            line,
            slot,
            offset: 0,
            sectors: self.line_sectors(),
            payload,
        };
        self.begin(now_ns, fill, groups);
    }

    /// Ranks `line` as just used; says which slot it has. If it had none, the line that held its
    /// slot is gone.
    pub(super) fn rank(&mut self, line: u32) -> u32 {
        if let Some(slot) = self.rule.find(line) {
            self.rule.hit(line);
            return slot;
        }
        let Inserted { slot, evicted } = self.rule.insert(line);
        self.cover(slot);
        if let Some(evicted) = evicted {
            self.counters.evictions += 1;
            self.set_ready(slot, false);
            if let Some(fill) = self.pending.remove(&evicted).and_then(fill_number) {
                self.abandon_if_waiting(fill);
            }
        }
        slot
    }

    /// VolumeUse a copy of `line` before the clock starts, if there is room for it.
    pub(crate) fn warm(&mut self, line: u32) {
        if u64::from(self.rule.len()) < self.counters.lines_max {
            let slot = self.rank(line);
            self.set_ready(slot, true);
        }
    }

    /// Prepares for a write, about to be submitted as `request`, that changes a part of `line`
    /// and brings the copy up to date: it cannot be read until then. Says whether there is a copy.
    pub(crate) fn expect_update(&mut self, line: u32, request: u32) -> bool {
        if self.pending.contains_key(&line) {
            self.drop_line(line);
            return false;
        }
        let Some(slot) = self.rule.find(line).filter(|&slot| self.is_ready(slot)) else {
            return false;
        };
        self.set_ready(slot, false);
        self.pending.insert(line, request);
        true
    }

    /// The write that changed a part of `line` is done; its copy is brought up to date.
    pub(crate) fn update(
        &mut self,
        now_ns: u64,
        line: u32,
        request: u32,
        (offset, sectors, payload): (u32, u32, P),
        groups: &mut impl Groups<P>,
    ) {
        if !self.expects(line, request) {
            return;
        }
        let slot = self.rule.find(line).filter(|_| self.admits(now_ns));
        let Some(slot) = slot else {
            self.drop_line(line);
            return;
        };
        self.counters.updates += 1;
        let fill = Fill {
            line,
            slot,
            offset,
            sectors,
            payload,
        };
        self.begin(now_ns, fill, groups);
    }

    /// Whether another fill may begin at `now_ns`; counts it against the limit of the rate.
    fn admits(&mut self, now_ns: u64) -> bool {
        const BURST_NS: u64 = 1_000_000_000;
        let settings = &self.settings.policy.fill;
        if self.fills.len() >= settings.in_flight_max as usize {
            return false;
        }
        if settings.limit_mib_per_s == 0 {
            return true;
        }
        let start_ns = self.next_fill_ns.max(now_ns);
        if start_ns > now_ns + BURST_NS {
            return false;
        }
        let line_ns = u64::from(self.settings.policy.line_kib) * 1_000_000_000
            / (u64::from(settings.limit_mib_per_s) * 1024);
        self.next_fill_ns = start_ns + line_ns;
        true
    }

    fn begin(&mut self, now_ns: u64, fill: Fill<P>, groups: &mut impl Groups<P>) {
        let (line, slot) = (fill.line, fill.slot);
        let number = self.fills.insert(fill);
        self.pending.insert(line, RequestKind::Fill.request(number));
        if self.pins[slot as usize] > 0 {
            let before = self.waiting.insert(slot, number);
            assert_eq!(before, None, "two fills wait for slot {slot}");
        } else {
            self.submit(now_ns, number, groups);
        }
    }

    fn submit(&mut self, now_ns: u64, number: u32, groups: &mut impl Groups<P>) {
        let line_shift = self.line_shift();
        let fill = self.fills.get_mut(number);
        let slot = fill.slot;
        let request = GroupRequest {
            owner: RequestKind::Fill.request(number),
            group: self.group,
            direction: Direction::Write,
            first_sector: (u64::from(slot) << line_shift) + u64::from(fill.offset),
            sectors: fill.sectors,
            class: IoClass::CacheFill,
            payload: std::mem::take(&mut fill.payload),
        };
        self.pin(slot);
        groups.submit(now_ns, request);
    }

    /// The write of a fill is done: its line can be read, if nothing dropped it.
    pub(crate) fn fill_done(
        &mut self,
        now_ns: u64,
        number: u32,
        succeeded: bool,
        groups: &mut impl Groups<P>,
    ) {
        let fill = self.fills.remove(number);
        let request = RequestKind::Fill.request(number);
        if self.expects(fill.line, request) {
            self.pending.remove(&fill.line);
            if succeeded {
                self.set_ready(fill.slot, true);
                self.counters.fills += 1;
            } else {
                self.drop_line(fill.line);
            }
        }
        if !succeeded {
            self.lose_group();
        }
        self.unpin(now_ns, fill.slot, groups);
    }

    /// A request on `slot` is done; the fill that waits for the last of them begins.
    pub(crate) fn unpin(&mut self, now_ns: u64, slot: u32, groups: &mut impl Groups<P>) {
        let pins = &mut self.pins[slot as usize];
        assert!(*pins > 0, "no request is in flight on slot {slot}");
        *pins -= 1;
        if *pins == 0
            && let Some(number) = self.waiting.remove(&slot)
        {
            self.submit(now_ns, number, groups);
        }
    }
}
