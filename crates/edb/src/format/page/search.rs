//! Finding a key in a page.

use std::cmp::Ordering;

use super::node::{FLAG_SHIFT, KEY_LENGTH_MASK, NodeFlags};
use super::{PAGE_HEADER_BYTES, PageView, common_prefix_bytes, tags};

/// A key compared with the page's prefix once, so that each step of a search compares only the
/// rest.
struct Probe<'k> {
    key: &'k [u8],
    /// Bytes that key and prefix share.
    shared: usize,
    /// Order of a key that goes on with the prefix beyond the shared bytes, against the probe.
    beyond: Ordering,
}

impl<'k> Probe<'k> {
    fn new(key: &'k [u8], prefix: &[u8]) -> Self {
        let shared = common_prefix_bytes(key, prefix);
        let beyond = match (prefix.get(shared), key.get(shared)) {
            (Some(ours), Some(theirs)) => ours.cmp(theirs),
            (Some(_), None) => Ordering::Greater,
            (None, _) => Ordering::Equal,
        };
        Self {
            key,
            shared,
            beyond,
        }
    }

    /// Order of the node in `value` against the probe.
    #[inline]
    fn compare(&self, value: &[u8]) -> Ordering {
        let word = u16::from_le_bytes([value[0], value[1]]);
        let length = usize::from(word & KEY_LENGTH_MASK);
        if (word >> FLAG_SHIFT) as u8 & NodeFlags::COMPRESSED.0 == 0 {
            return value[2..2 + length].cmp(self.key);
        }
        if length > self.shared {
            return self.beyond;
        }
        let suffix = usize::from(u16::from_le_bytes([value[2], value[3]]));
        value[4..4 + suffix].cmp(&self.key[length..])
    }
}

impl PageView<'_> {
    /// Finds `key`: `Ok(index)` of the node that has it, else `Err(index)` where it belongs.
    ///
    /// On an internal page the last node's empty key counts as the empty string here; use
    /// [`PageView::child_index`] there.
    pub fn search(self, key: &[u8]) -> Result<usize, usize> {
        self.search_among(key, self.node_count())
    }

    /// Index of the child of an internal page in which `key` lies: separators are exclusive upper
    /// bounds, and the last node has no bound.
    ///
    /// # Panics
    /// If the page has no nodes.
    #[must_use]
    pub fn child_index(self, key: &[u8]) -> usize {
        assert!(
            self.node_count() > 0,
            "internal page {} is empty",
            self.page_number()
        );
        match self.search_among(key, self.node_count() - 1) {
            Ok(equal) => equal + 1,
            Err(index) => index,
        }
    }

    fn search_among(self, key: &[u8], count: usize) -> Result<usize, usize> {
        let probe = Probe::new(key, self.prefix());
        let values = &self.bytes[PAGE_HEADER_BYTES..];
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = usize::midpoint(low, high);
            let tag = tags::get(self.bytes, middle + 1);
            match probe.compare(&values[tag.offset..tag.end()]) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }
}
