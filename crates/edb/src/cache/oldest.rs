//! Dirty pages ordered by the log position recovery would have to start from for them.
//!
//! Pages are kept in buckets of 64 KiB of log, so that finding the oldest and moving a page cost
//! next to nothing; inside a bucket the order is that of arrival.

use super::list::{Links, List};
use crate::position::LogPosition;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Log bytes of a bucket. Source: ESE's uncertainty of 64 KiB.
const BUCKET_BYTES: u64 = 64 * 1024;

#[derive(Default)]
pub(super) struct OldestChanges {
    links: Links,
    /// The position of each slot, `None` while the slot is clean.
    positions: Vec<Option<LogPosition>>,
    buckets: BTreeMap<u64, List>,
    pages: usize,
}

impl OldestChanges {
    pub(super) fn grow(&mut self, slots: usize) {
        self.links.grow(slots);
        if slots > self.positions.len() {
            self.positions.resize(slots, None);
        }
    }

    /// Number of dirty pages.
    pub(super) fn pages(&self) -> usize {
        self.pages
    }

    pub(super) fn position(&self, slot: u32) -> Option<LogPosition> {
        self.positions[slot as usize]
    }

    pub(super) fn insert(&mut self, slot: u32, position: LogPosition) {
        let old = self.positions[slot as usize].replace(position);
        assert!(old.is_none(), "a page enters the index once");
        let list = self.buckets.entry(position.0 / BUCKET_BYTES).or_default();
        self.links.push_back(list, slot);
        self.pages += 1;
    }

    pub(super) fn remove(&mut self, slot: u32) -> LogPosition {
        let position = self.positions[slot as usize].take();
        let position = position.expect("only a page that is in the index leaves it");
        let bucket = position.0 / BUCKET_BYTES;
        let list = self.buckets.get_mut(&bucket);
        let list = list.expect("a page in the index has its bucket");
        self.links.remove(list, slot);
        if list.is_empty() {
            self.buckets.remove(&bucket);
        }
        self.pages -= 1;
        position
    }

    /// Moves a page that is in the index to an older position; a newer one changes nothing.
    pub(super) fn lower(&mut self, slot: u32, position: LogPosition) {
        if self.positions[slot as usize].is_some_and(|old| position < old) {
            self.remove(slot);
            self.insert(slot, position);
        }
    }

    /// The oldest position of all, exactly.
    pub(super) fn oldest(&self) -> Option<LogPosition> {
        let (_, list) = self.buckets.first_key_value()?;
        let mut cursor = list.first();
        let mut oldest = None;
        while let Some(slot) = cursor {
            let position = self.positions[slot as usize];
            oldest = match (oldest, position) {
                (Some(oldest), Some(position)) if oldest <= position => Some(oldest),
                _ => position,
            };
            cursor = self.links.next(slot);
        }
        oldest
    }

    /// Whether `slot`, or a page after it in the order of the index, may be older than `limit`.
    pub(super) fn may_hold_before(&self, slot: u32, limit: LogPosition) -> bool {
        let position = self.positions[slot as usize];
        position.is_some_and(|position| position.0 / BUCKET_BYTES <= limit.0 / BUCKET_BYTES)
    }

    /// The first page in the order of the index.
    pub(super) fn first(&self) -> Option<u32> {
        self.buckets
            .first_key_value()
            .and_then(|(_, list)| list.first())
    }

    /// The page after `slot`, which is in the index.
    pub(super) fn next(&self, slot: u32) -> Option<u32> {
        if let Some(next) = self.links.next(slot) {
            return Some(next);
        }
        let bucket = self.positions[slot as usize]?.0 / BUCKET_BYTES;
        self.buckets
            .range((Bound::Excluded(bucket), Bound::Unbounded))
            .next()
            .and_then(|(_, list)| list.first())
    }
}
