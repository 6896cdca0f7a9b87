//! Free runs of pages, as a space tree holds them.

use std::collections::BTreeMap;

/// Free extents by their last page, as in the engine: last page to number of pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extents {
    free: BTreeMap<u32, u32>,
    pages: u32,
}

impl Extents {
    /// Pages in all free extents together.
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    /// Adds pages from `first` on; they join a free neighbour.
    pub(crate) fn put(&mut self, first: u32, pages: u32) {
        let (mut last, mut joined) = (first + pages - 1, pages);
        if let Some(left) = first
            .checked_sub(1)
            .and_then(|last| self.free.remove(&last))
        {
            joined += left;
        }
        let right = self.free.range(last..).next();
        if let Some((&right_last, &right_pages)) = right
            && right_last + 1 - right_pages == last + 1
        {
            self.free.remove(&right_last);
            last = right_last;
            joined += right_pages;
        }
        self.free.insert(last, joined);
        self.pages += pages;
    }

    /// Takes one page: the first one of the first extent that ends at `near` or later, else of the
    /// first extent of all.
    pub(crate) fn take_near(&mut self, near: u32) -> Option<u32> {
        let later = self.free.range(near..).next();
        let (&last, _) = later.or_else(|| self.free.first_key_value())?;
        Some(self.take_front(last, 1))
    }

    /// Whether there are so many pages in a row.
    pub(crate) fn has_run(&self, pages: u32) -> bool {
        self.free.values().any(|&length| length >= pages)
    }

    /// Takes so many pages in a row from the first extent that has them.
    pub(crate) fn take_run(&mut self, pages: u32) -> Option<u32> {
        let (&last, _) = self.free.iter().find(|&(_, &length)| length >= pages)?;
        Some(self.take_front(last, pages))
    }

    fn take_front(&mut self, last: u32, pages: u32) -> u32 {
        let length = self.free.remove(&last).unwrap_or(0);
        assert!(pages > 0 && pages <= length, "{pages} of {length} pages");
        if length > pages {
            self.free.insert(last, length - pages);
        }
        self.pages -= pages;
        last + 1 - length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_near_and_in_order_and_join_again() {
        let mut extents = Extents::default();
        extents.put(10, 4);
        extents.put(100, 2);
        assert_eq!(extents.take_near(50), Some(100));
        assert_eq!(extents.take_near(50), Some(101));
        assert_eq!(extents.take_near(50), Some(10), "none is later");
        assert_eq!((extents.take_run(4), extents.take_run(3)), (None, Some(11)));
        assert_eq!((extents.pages(), extents.take_near(0)), (0, None));
        for page in [7, 5, 6] {
            extents.put(page, 1);
        }
        assert_eq!(extents.take_run(3), Some(5));
    }
}
