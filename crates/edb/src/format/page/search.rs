//! Finding a key in a page.

use std::cmp::Ordering;

use super::node::{FLAG_SHIFT, KEY_LENGTH_MASK, NodeFlags};
use super::{PAGE_HEADER_BYTES, PageView, common_prefix_bytes, tags};

/// Parts that a long range is cut into at once. Nodes of a page lie in memory without order, and
/// most of the page is not in the processor's cache: the looks at seven nodes wait for memory
/// together, where a search by halves would wait three times.
const WAYS: usize = 8;

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
            return compare(&value[2..2 + length], self.key);
        }
        if length > self.shared {
            return self.beyond;
        }
        let suffix = usize::from(u16::from_le_bytes([value[2], value[3]]));
        compare(&value[4..4 + suffix], &self.key[length..])
    }
}

/// Order of two strings of bytes, shorter first. Keys mostly differ within their first eight bytes,
/// which are compared as one number.
#[inline]
fn compare(ours: &[u8], theirs: &[u8]) -> Ordering {
    head(ours).cmp(&head(theirs)).then_with(|| {
        // With equal heads, a string of at most eight bytes is the beginning of the other one.
        if ours.len().min(theirs.len()) <= 8 {
            ours.len().cmp(&theirs.len())
        } else {
            ours[8..].cmp(&theirs[8..])
        }
    })
}

/// The first eight bytes as a number that sorts like them; zeros stand for missing ones.
#[inline]
fn head(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk::<8>() {
        return u64::from_be_bytes(*first);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let missing_bits = 8 * (8 - bytes.len());
        let last = u64::from(u32::from_be_bytes(*last)) << missing_bits;
        return u64::from(u32::from_be_bytes(*first)) << 32 | last;
    }
    let bits = bytes.iter().enumerate();
    bits.fold(0, |head, (i, &byte)| head | u64::from(byte) << (56 - 8 * i))
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
        let order = |index: usize| {
            let tag = tags::get(self.bytes, index + 1);
            probe.compare(&values[tag.offset..tag.end()])
        };
        let (mut low, mut high) = (0, count);
        while high - low >= 2 * WAYS {
            let part = (high - low) / WAYS;
            let before = (1..WAYS)
                .map(|way| usize::from(order(low + way * part).is_lt()))
                .sum::<usize>();
            if before + 1 < WAYS {
                high = low + (before + 1) * part + 1; // That node may be the one.
            }
            low += before * part;
        }
        // The few that are left are waited for together too.
        let before = (low..high).filter(|&index| order(index).is_lt()).count();
        let index = low + before;
        if index < high && order(index).is_eq() {
            Ok(index)
        } else {
            Err(index)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::page::{NodeFlags, PageChange, PageFlags};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn strings_are_ordered_as_bytes(
            a in prop::collection::vec(0_u8..3, 0..12), b in prop::collection::vec(0_u8..3, 0..12),
            last: u8,
        ) {
            prop_assert_eq!(compare(&a, &b), a.cmp(&b));
            let longer: Vec<u8> = a.iter().copied().chain([last]).collect();
            prop_assert_eq!(compare(&a, &longer), Ordering::Less);
            prop_assert_eq!(compare(&longer, &b), longer.cmp(&b));
        }
    }

    #[test]
    fn a_page_of_any_fill_is_searched_like_a_list() {
        for (count, prefix) in [
            (0, 0),
            (1, 3),
            (15, 3),
            (16, 0),
            (17, 3),
            (300, 5),
            (700, 3),
        ] {
            let mut bytes = vec![0; 32_768];
            let mut page = PageChange::new(&mut bytes);
            page.format_new(9, 8, PageFlags::LEAF);
            page.set_prefix(&b"shared"[..prefix]).unwrap();
            let key = |number: usize| format!("shared{:04}and the rest", 2 * number + 1);
            for number in 0..count {
                let key = key(number);
                let inserted = page.insert_node(number, key.as_bytes(), b"x", NodeFlags::NONE);
                inserted.unwrap();
            }
            let view = PageView::new(&bytes);
            for number in 0..count {
                assert_eq!(view.search(key(number).as_bytes()), Ok(number));
                let before = format!("shared{:04}", 2 * number + 1);
                assert_eq!(view.search(before.as_bytes()), Err(number));
                let after = format!("shared{:04}b", 2 * number + 1);
                assert_eq!(view.search(after.as_bytes()), Err(number + 1));
            }
            assert_eq!(view.search(b"sha"), Err(0));
            assert_eq!(view.search(b"t"), Err(count));
        }
    }
}
