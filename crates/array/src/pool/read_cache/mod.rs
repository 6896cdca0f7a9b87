//! Copies on solid state of what was read from spinning tiers.
//!
//! A line is a stretch of a volume, copied and dropped as one. A copy is never dirty: whatever
//! happens to it, the page it was taken from is right. What must never happen is a copy that is
//! older than its page. Three rules see to that:
//!
//! - A write drops the copies of its lines, and the copies in the making, in the moment it is
//!   submitted. A read submitted while a write to the page is in flight makes no copy.
//! - A line can be read from the cache only once its fill is complete and nothing dropped it
//!   meanwhile: `pending` names the one request that may make a line readable.
//! - A slot is written for its next line only when no request for the last one is in flight on
//!   it (`pins`); the fill waits.

mod fill;
mod misses;

use rustc_hash::FxHashMap;

use super::counters::ReadCacheCounters;
use super::records::Records;
use super::replacement::{AnyReplacement, Replacement};
use super::settings::{GroupFacts, OnWrite, ReadCacheSettings, gib_in_sectors};
use crate::group::Groups;
use crate::group::{GroupId, GroupState};
use crate::payload::Payload;

use fill::Fill;
use misses::MissTable;

/// The read cache of one pool.
#[derive(Debug)]
pub(crate) struct ReadCache<P> {
    pub(crate) group: GroupId,
    /// Line size as a power of two of sectors.
    line_shift: u32,
    settings: ReadCacheSettings,
    rule: AnyReplacement,
    /// One bit per slot: its line is complete.
    ready: Vec<u64>,
    ready_lines: u64,
    /// Requests in flight on each slot.
    pins: Vec<u8>,
    /// The request that may make a line readable, by line.
    pending: FxHashMap<u32, u32>,
    /// The fill that waits for a slot, by slot.
    waiting: FxHashMap<u32, u32>,
    fills: Records<Fill<P>>,
    misses: MissTable,
    /// When the next fill may begin, by the limit on their rate.
    next_fill_ns: u64,
    online: bool,
    counters: ReadCacheCounters,
}

impl<P: Payload> ReadCache<P> {
    /// An empty cache in the disk group that `facts` describe.
    pub(crate) fn new(settings: &ReadCacheSettings, facts: &GroupFacts) -> Self {
        let line_sectors = u64::from(settings.policy.line_kib) * 2;
        let wanted = settings.policy.size_gib.map_or(u64::MAX, gib_in_sectors);
        let sectors = wanted
            .min(gib_in_sectors(settings.policy.limit_gib))
            .min(facts.usable_sectors);
        let lines = (sectors / line_sectors).clamp(1, u64::from(u32::MAX / 4)) as u32;
        Self {
            group: facts.id,
            line_shift: line_sectors.trailing_zeros(),
            settings: settings.clone(),
            rule: AnyReplacement::new(settings.policy.replacement, lines),
            ready: Vec::new(),
            ready_lines: 0,
            pins: Vec::new(),
            pending: FxHashMap::default(),
            waiting: FxHashMap::default(),
            fills: Records::default(),
            misses: MissTable::new(settings.policy.fill.admit_after_misses, lines),
            next_fill_ns: 0,
            online: true,
            counters: ReadCacheCounters {
                lines_max: u64::from(lines),
                ..ReadCacheCounters::default()
            },
        }
    }

    pub(crate) fn counters(&self) -> ReadCacheCounters {
        ReadCacheCounters {
            lines: self.ready_lines,
            lines_held: u64::from(self.rule.len()),
            ..self.counters
        }
    }

    /// Sectors in a line.
    pub(crate) fn line_sectors(&self) -> u32 {
        1 << self.line_shift
    }

    /// Line size as a power of two of sectors.
    pub(crate) fn line_shift(&self) -> u32 {
        self.line_shift
    }

    /// Whether the cache can be asked. One whose disk group failed comes back, empty, when the
    /// group does.
    pub(crate) fn is_online(&mut self, groups: &impl Groups<P>) -> bool {
        if !self.online {
            self.online = groups.state(self.group) != GroupState::Failed;
        }
        self.online
    }

    /// The disk group failed under a request: the cache is empty until it comes back.
    pub(crate) fn lose_group(&mut self) {
        if self.online {
            self.online = false;
            self.lose_contents();
        }
    }

    /// The directory is lost, with it everything in the cache.
    pub(crate) fn lose_contents(&mut self) {
        self.counters.losses += 1;
        self.rule.clear();
        self.ready.fill(0);
        self.ready_lines = 0;
        self.pending.clear();
        for (_, fill) in self.waiting.drain() {
            self.fills.remove(fill);
        }
    }

    /// The slots of `first_line` to `last_line`, if all of them can be read. Counts the hit.
    pub(crate) fn find(&mut self, first_line: u32, last_line: u32, slots: &mut Vec<u32>) -> bool {
        slots.clear();
        for line in first_line..=last_line {
            match self.rule.find(line) {
                Some(slot) if self.is_ready(slot) && self.pins[slot as usize] < u8::MAX => {
                    slots.push(slot);
                }
                _ => {
                    self.counters.misses += 1;
                    return false;
                }
            }
        }
        for line in first_line..=last_line {
            self.rule.hit(line);
        }
        self.counters.hits += 1;
        true
    }

    /// Whether a read that missed may be copied: `sectors` long, `sequential` or not.
    pub(crate) fn may_copy(&self, sectors: u32, sequential: bool) -> bool {
        let fill = &self.settings.policy.fill;
        (fill.sequential || !sequential) && sectors <= fill.read_max_kib.saturating_mul(2)
    }

    /// Whether reads that miss are widened to whole lines.
    pub(crate) fn widens_reads(&self) -> bool {
        self.settings.policy.fill.widen_reads
    }

    /// Whether writes bring copies up to date.
    pub(crate) fn updates_on_write(&self) -> bool {
        self.settings.policy.on_write == OnWrite::Update
    }

    fn is_ready(&self, slot: u32) -> bool {
        self.ready[slot as usize / 64] & (1 << (slot % 64)) != 0
    }

    fn set_ready(&mut self, slot: u32, ready: bool) {
        let was_ready = self.is_ready(slot);
        if ready != was_ready {
            self.ready[slot as usize / 64] ^= 1 << (slot % 64);
            if ready {
                self.ready_lines += 1;
            } else {
                self.ready_lines -= 1;
            }
        }
    }

    /// Makes room for `slot` in the tables.
    fn cover(&mut self, slot: u32) {
        let index = slot as usize;
        if index >= self.pins.len() {
            self.pins.resize(index + 1, 0);
            self.ready.resize(index / 64 + 1, 0);
        }
    }

    /// A request was submitted on `slot`.
    pub(crate) fn pin(&mut self, slot: u32) {
        let pins = &mut self.pins[slot as usize];
        assert!(*pins < u8::MAX, "too many requests in flight on {slot}");
        *pins += 1;
    }

    /// A line is about to be written: its copy cannot be read any more, nor one in the making.
    pub(crate) fn invalidate(&mut self, line: u32) {
        if self.settings.policy.on_write == OnWrite::Release {
            self.drop_line(line);
            return;
        }
        if !self.pending.is_empty() {
            self.cancel_pending(line);
        }
        if let Some(slot) = self.rule.find(line)
            && self.is_ready(slot)
        {
            self.set_ready(slot, false);
            self.counters.invalidations += 1;
        }
        if self.settings.policy.on_write == OnWrite::Track && self.online {
            self.rank(line);
        }
    }

    /// Drops a line: its copy, and the copy in the making. Its slot is free.
    pub(crate) fn drop_line(&mut self, line: u32) {
        if !self.pending.is_empty() {
            self.cancel_pending(line);
        }
        if let Some(slot) = self.rule.remove(line) {
            self.counters.invalidations += u64::from(self.is_ready(slot));
            self.set_ready(slot, false);
        }
    }

    /// Nothing that is in flight may make `line` readable any more.
    fn cancel_pending(&mut self, line: u32) {
        let Some(request) = self.pending.remove(&line) else {
            return;
        };
        self.counters.fills_cancelled += 1;
        if let Some(fill) = fill::fill_number(request) {
            self.abandon_if_waiting(fill);
        }
    }

    fn abandon_if_waiting(&mut self, fill: u32) {
        let slot = self.fills.get(fill).slot;
        if self.waiting.get(&slot) == Some(&fill) {
            self.waiting.remove(&slot);
            self.fills.remove(fill);
        }
    }
}
