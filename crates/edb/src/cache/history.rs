//! The last touches of pages that have left the cache.

use crate::position::PageNumber;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A bounded memory, first in, first out.
///
/// Every page that comes and every one that goes is looked up here, so the table is kept small: it
/// only says where in the order of arrival a page is.
pub(super) struct History {
    most_entries: usize,
    /// Numbers of the newest arrivals of pages. They are counted from 0 and go round.
    arrivals: FxHashMap<PageNumber, u32>,
    /// In the order of arrival, with the time of the last touch. An arrival whose number is not the
    /// page's in the table is out of date.
    order: VecDeque<(PageNumber, u64)>,
    /// Number of the first arrival in the order.
    first_arrival: u32,
}

impl History {
    pub(super) fn new(most_entries: usize) -> Self {
        assert!(
            u32::try_from(most_entries).is_ok(),
            "{most_entries} pages cannot be remembered"
        );
        Self {
            most_entries,
            arrivals: FxHashMap::default(),
            order: VecDeque::new(),
            first_arrival: 0,
        }
    }

    pub(super) fn remember(&mut self, page: PageNumber, touch_ns: u64) {
        if self.most_entries == 0 {
            return;
        }
        let arrival = self.first_arrival.wrapping_add(self.order.len() as u32);
        self.arrivals.insert(page, arrival);
        self.order.push_back((page, touch_ns));
        // Arrivals out of date count too, which bounds both containers.
        while self.order.len() > self.most_entries {
            if let Some((page, _)) = self.order.pop_front()
                && self.arrivals.get(&page) == Some(&self.first_arrival)
            {
                self.arrivals.remove(&page);
            }
            self.first_arrival = self.first_arrival.wrapping_add(1);
        }
    }

    /// The last touch of `page`, which is coming back.
    pub(super) fn take(&mut self, page: PageNumber) -> Option<u64> {
        let arrival = self.arrivals.remove(&page)?;
        let place = arrival.wrapping_sub(self.first_arrival);
        self.order
            .get(place as usize)
            .map(|&(_, touch_ns)| touch_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_arrivals_are_remembered() {
        let mut history = History::new(3);
        // As if so many had come before that the numbers go round on the way.
        history.first_arrival = u32::MAX - 1;
        let page = PageNumber;
        for (number, touch_ns) in [(1, 10), (2, 20), (1, 30), (3, 40)] {
            history.remember(page(number), touch_ns);
        }
        // The first arrival of page 1 has gone, not the second one.
        assert_eq!(history.take(page(1)), Some(30));
        assert_eq!(history.take(page(1)), None);
        history.remember(page(4), 50);
        assert_eq!(history.take(page(2)), None);
        assert_eq!(history.take(page(3)), Some(40));
        assert_eq!(history.take(page(4)), Some(50));
    }
}
