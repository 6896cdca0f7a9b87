//! Finding a key in a page.

use std::cmp::Ordering;

use super::header::u32_at;
use super::key_range::{KeyRange, LongHead, Spread};
use super::node::{KEY_LENGTH_MASK, NodeFlags};
use super::{PageView, common_prefix_bytes, tags};

/// Parts that a long range is cut into at once. Nodes of a page lie in memory without order, and
/// most of the page is not in the CPU's cache: reads of seven nodes wait for memory
/// together, where a search by halves would wait three times.
const WAYS: usize = 8;

/// How far from where a key should be it is looked for first, in nodes: of evenly random keys on a
/// page nearly all lie within the outer two.
const NEAR: [isize; 4] = [-6, -2, 2, 6];

/// A key compared with the page's prefix once, so that each step of a search compares only the
/// rest.
///
/// Looking at a node should take no branch that depends on its key but the last: a branch guessed
/// wrong throws away the loads of the nodes after it, which then wait for memory one by one.
struct Probe<'k> {
    key: &'k [u8],
    /// Bytes that key and prefix share.
    shared: usize,
    /// Order of a key that goes on with the prefix beyond the shared bytes, against the probe.
    beyond: Ordering,
    /// Bytes of the prefix.
    prefix: usize,
    /// The first eight bytes of the key, and of what follows the prefix in it.
    whole_head: u64,
    rest_head: u64,
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
            prefix: prefix.len(),
            whole_head: head(key),
            rest_head: key.get(prefix.len()..).map_or(0, head),
        }
    }

    /// Order of the node whose value begins at byte `at` of `values` against the probe.
    #[inline]
    fn compare(&self, values: &[u8], at: usize, compressed: bool) -> Ordering {
        let words = u32_at(values, at); // A value is followed by at least the tags of the page.
        let word = words as u16;
        let length = usize::from(word & KEY_LENGTH_MASK);
        let (from_prefix, own, start) = if compressed {
            (length, usize::from((words >> 16) as u16), at + 4)
        } else {
            (0, length, at + 2)
        };
        if from_prefix > self.shared {
            return self.beyond;
        }
        let theirs = if from_prefix == 0 {
            self.whole_head
        } else if from_prefix == self.prefix {
            self.rest_head
        } else {
            head(&self.key[from_prefix..])
        };
        let ours = match values.get(start..start + 8) {
            Some(bytes) => u64_from(bytes) & kept_bytes(own),
            None => head(&values[start..start + own]),
        };
        if ours != theirs {
            return ours.cmp(&theirs);
        }
        compare(&values[start..start + own], &self.key[from_prefix..])
    }
}

/// Order of two strings of bytes with the same head, shorter first.
#[inline]
fn compare(ours: &[u8], theirs: &[u8]) -> Ordering {
    // With equal heads, a string of at most eight bytes is the beginning of the other one.
    if ours.len().min(theirs.len()) <= 8 {
        ours.len().cmp(&theirs.len())
    } else {
        ours[8..].cmp(&theirs[8..])
    }
}

/// The first eight bytes as a number that sorts like them; zeros stand for missing ones. Keys mostly
/// differ within them.
fn head(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let count = bytes.len().min(8);
    first[..count].copy_from_slice(&bytes[..count]);
    u64::from_be_bytes(first)
}

#[inline]
fn u64_from(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk()
        .map_or(0, |first| u64::from_be_bytes(*first))
}

/// The bits of a head that belong to a string of `length` bytes.
#[inline]
fn kept_bytes(length: usize) -> u64 {
    let missing = 8 - length.min(8) as u32;
    u64::MAX.checked_shl(8 * missing).unwrap_or(0)
}

impl PageView<'_> {
    /// Finds `key`: `Ok(index)` of the node that has it, else `Err(index)` where it belongs.
    ///
    /// On an internal page the last node's empty key counts as the empty string here; use
    /// [`PageView::child_index`] there.
    pub fn search(self, key: &[u8]) -> Result<usize, usize> {
        self.search_within(key, KeyRange::default())
    }

    /// As [`PageView::search`], with what the pages above show of the keys of this one. It is worth
    /// some looks; the answer does not depend on it.
    pub fn search_within(self, key: &[u8], range: KeyRange) -> Result<usize, usize> {
        self.search_among(key, self.node_count(), range)
    }

    /// Index of the child of an internal page in which `key` lies: separators are exclusive upper
    /// bounds, and the last node has no bound.
    ///
    /// # Panics
    /// If the page has no nodes.
    #[must_use]
    pub fn child_index(self, key: &[u8]) -> usize {
        self.child_index_within(key, KeyRange::default())
    }

    /// As [`PageView::child_index`] and [`PageView::search_within`].
    ///
    /// # Panics
    /// If the page has no nodes.
    #[must_use]
    pub fn child_index_within(self, key: &[u8], range: KeyRange) -> usize {
        assert!(
            self.node_count() > 0,
            "internal page {} is empty",
            self.page_number()
        );
        match self.search_among(key, self.node_count() - 1, range) {
            Ok(equal) => equal + 1,
            Err(index) => index,
        }
    }

    fn search_among(self, key: &[u8], count: usize, range: KeyRange) -> Result<usize, usize> {
        let probe = Probe::new(key, self.prefix());
        let values = self.values();
        let order = |index: usize| {
            let tag = tags::get(self.bytes, index + 1);
            let flags = tags::node_flags(self.bytes, index + 1, tag);
            probe.compare(values, tag.offset, flags.contains(NodeFlags::COMPRESSED))
        };
        let (mut low, mut high) = (0, count);
        if count >= 2 * WAYS {
            (low, high) = self.narrowed(key, count, range, order);
        }
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
        let (mut index, mut found) = (low, false);
        for order in (low..high).map(order) {
            index += usize::from(order.is_lt());
            found |= order.is_eq();
        }
        if found { Ok(index) } else { Err(index) }
    }

    /// The nodes among which that of the key is or would be, looked for where the key should be if
    /// keys were evenly spread. For other keys the range is longer, at worst the whole page.
    ///
    /// Of the range, as in the search, all nodes before it come before the key; a node behind it is
    /// not the key's and does not come before it.
    fn narrowed(
        self,
        key: &[u8],
        count: usize,
        range: KeyRange,
        order: impl Fn(usize) -> Ordering,
    ) -> (usize, usize) {
        let Some(spread) = Spread::new(self, count, range) else {
            return (0, count);
        };
        let last = count - 1;
        let key = LongHead::of(key);
        let guess = (spread.nodes_before(key) as usize).min(last);
        self.ask_for_node(guess);
        // The key found there says how far off the guess is.
        let off = spread.nodes_between(LongHead::of_node(self, guess), key);
        let guess = (guess as f64 + off).round() as isize;
        let near = NEAR.map(|step| guess.saturating_add(step).clamp(0, last as isize) as usize);
        match near
            .map(|index| usize::from(order(index).is_lt()))
            .iter()
            .sum()
        {
            0 => (0, near[0] + 1),
            some if some < near.len() => (near[some - 1] + 1, near[some] + 1),
            _ => (near[near.len() - 1] + 1, count),
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
            let by_head = |a: &[u8], b: &[u8]| head(a).cmp(&head(b)).then_with(|| compare(a, b));
            prop_assert_eq!(by_head(&a, &b), a.cmp(&b));
            let longer: Vec<u8> = a.iter().copied().chain([last]).collect();
            prop_assert_eq!(by_head(&a, &longer), Ordering::Less);
            prop_assert_eq!(by_head(&longer, &b), longer.cmp(&b));
            let bytes = [&a[..], &[last; 8]].concat();
            prop_assert_eq!(u64_from(&bytes) & kept_bytes(a.len()), head(&a));
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
            // Any range will do, a wrong one too.
            for (lower, upper) in [(0, 9), (200, 400), (1399, 9999), (7, 7), (9, 1)] {
                let bound = |number: usize| format!("shared{number:04}");
                let (lower, upper) = (bound(lower), bound(upper));
                let range = KeyRange::between(lower.as_bytes(), upper.as_bytes());
                for number in 0..count {
                    let key = key(number);
                    assert_eq!(view.search_within(key.as_bytes(), range), Ok(number));
                }
            }
            assert_eq!(view.search(b"sha"), Err(0));
            assert_eq!(view.search(b"t"), Err(count));
        }
    }
}
