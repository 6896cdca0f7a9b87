//! Where to split a page, and with which prefix the halves store their keys best.

use std::ops::Range;

use super::node::{self, compressed_bytes};
use super::{PageView, TAG_BYTES, common_prefix_bytes};

/// A place to split: the nodes from `first_right` on go to the new right page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitPoint {
    /// First node, as numbered before the insertion, that moves right; may be the node count.
    pub first_right: usize,
    /// Whether the new node belongs to the right page.
    pub new_goes_right: bool,
    /// Index of the new node on the page it goes to.
    pub new_index: usize,
}

impl SplitPoint {
    /// The place that fills both halves most evenly by bytes when a node of `new_bytes` (tag
    /// included) is to be inserted before node `insert_at`. Each half gets at least one node.
    ///
    /// # Panics
    /// If the page has no node: it cannot be split.
    #[must_use]
    pub fn even(page: PageView<'_>, insert_at: usize, new_bytes: usize) -> Self {
        let count = page.node_count();
        assert!(count > 0 && insert_at <= count);
        let total: usize = (0..count).map(|i| page.space_of(i)).sum::<usize>() + new_bytes;
        let size = |virtual_index: usize| match virtual_index.cmp(&insert_at) {
            std::cmp::Ordering::Less => page.space_of(virtual_index),
            std::cmp::Ordering::Equal => new_bytes,
            std::cmp::Ordering::Greater => page.space_of(virtual_index - 1),
        };
        // `left` nodes, of the sequence with the new node in it, stay left.
        let mut best = (usize::MAX, 1);
        let mut left_bytes = 0;
        for left in 1..=count {
            left_bytes += size(left - 1);
            best = best.min((left_bytes.abs_diff(total - left_bytes), left));
        }
        Self::after(best.1, insert_at)
    }

    /// The place for keys that arrive in ascending order: everything stays, only the new node goes
    /// right. ESE splits so when the insertion is at the very end of the tree, which fills pages
    /// completely.
    #[must_use]
    pub fn append(page: PageView<'_>) -> Self {
        let count = page.node_count();
        Self {
            first_right: count,
            new_goes_right: true,
            new_index: 0,
        }
    }

    fn after(left: usize, insert_at: usize) -> Self {
        if insert_at < left {
            Self {
                first_right: left - 1,
                new_goes_right: false,
                new_index: insert_at,
            }
        } else {
            Self {
                first_right: left,
                new_goes_right: true,
                new_index: insert_at - left,
            }
        }
    }
}

impl PageView<'_> {
    /// The prefix that stores this range of nodes in the fewest bytes, of three candidates: none,
    /// the page's own, and what the first and last key share.
    #[must_use]
    pub fn best_prefix(self, range: Range<usize>) -> Vec<u8> {
        if range.is_empty() {
            return Vec::new();
        }
        let first = self.node(range.start).key();
        let mut last = range.end - 1;
        // The empty key of an internal page's last node shares nothing; look at its neighbour.
        if last > range.start && self.node(last).key_len() == 0 {
            last -= 1;
        }
        let shared = common_prefix_bytes(&first, &self.node(last).key());
        let candidates = [Vec::new(), self.prefix().to_vec(), first[..shared].to_vec()];
        let best = candidates
            .into_iter()
            .min_by_key(|prefix| bytes_with_prefix(self, range.clone(), prefix));
        best.unwrap_or_default()
    }
}

/// Page space for a range of nodes stored with `prefix`, tags and the external header included.
pub(super) fn bytes_with_prefix(page: PageView<'_>, range: Range<usize>, prefix: &[u8]) -> usize {
    let mut key = Vec::new();
    let nodes = range.map(|index| {
        let node = page.node(index);
        node.key_into(&mut key);
        let shared = compressed_bytes(prefix, &key);
        node::value_bytes(key.len(), shared, node.data.len()) + TAG_BYTES
    });
    nodes.sum::<usize>() + prefix.len() + TAG_BYTES
}

/// The shortest key that is greater than `left` and not greater than `right`: the separator between
/// two pages.
///
/// # Panics
/// If `left` is not less than `right`.
#[must_use]
pub fn shortest_separator<'r>(left: &[u8], right: &'r [u8]) -> &'r [u8] {
    assert!(
        left < right,
        "keys on both sides of a separator must ascend"
    );
    &right[..=common_prefix_bytes(left, right)]
}

/// The lowest separator that is no longer than [`shortest_separator`]: whatever comes after `left`
/// and before `right` later, and differs from `left` in these bytes, belongs to the right side.
///
/// # Panics
/// If the keys do not ascend.
#[must_use]
pub fn lowest_separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut lowest = shortest_separator(left, right).to_vec();
    if let Some(last) = lowest.last_mut() {
        // The byte of `right` is higher, so there is one after that of `left`.
        *last = left
            .get(common_prefix_bytes(left, right))
            .map_or(0, |&byte| byte + 1);
    }
    lowest
}
