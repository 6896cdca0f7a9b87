//! The last touches of pages that have left the cache.

use crate::position::PageNumber;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

struct Entry {
    touch_ns: u64,
    sequence: u64,
}

/// A bounded memory, first in, first out.
pub(super) struct History {
    most_entries: usize,
    entries: FxHashMap<PageNumber, Entry>,
    /// In the order of arrival; an item whose sequence is not the entry's is out of date.
    order: VecDeque<(PageNumber, u64)>,
    next_sequence: u64,
}

impl History {
    pub(super) fn new(most_entries: usize) -> Self {
        Self {
            most_entries,
            entries: FxHashMap::default(),
            order: VecDeque::new(),
            next_sequence: 0,
        }
    }

    pub(super) fn remember(&mut self, page: PageNumber, touch_ns: u64) {
        if self.most_entries == 0 {
            return;
        }
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let entry = Entry { touch_ns, sequence };
        self.entries.insert(page, entry);
        self.order.push_back((page, sequence));
        // Items out of date count too, which bounds both containers.
        while self.order.len() > self.most_entries {
            if let Some((page, sequence)) = self.order.pop_front()
                && self
                    .entries
                    .get(&page)
                    .is_some_and(|entry| entry.sequence == sequence)
            {
                self.entries.remove(&page);
            }
        }
    }

    /// The last touch of `page`, which is coming back.
    pub(super) fn take(&mut self, page: PageNumber) -> Option<u64> {
        self.entries.remove(&page).map(|entry| entry.touch_ns)
    }
}
