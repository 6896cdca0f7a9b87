//! Where on a page a key should be, judging by the keys that its range begins and ends with.
//!
//! The pages of a cache are far too many for the CPU's cache: each read of a node that lies
//! somewhere else in its page waits for memory. Most keys are numbers in a row or well mixed, so
//! their place can be estimated to within a few nodes from the header of the page alone.

use prefetch_index::prefetch_index;

use super::header::u32_at;
use super::node::{KEY_LENGTH_MASK, NodeFlags};
use super::{PageView, header_bytes, tags};

/// Bytes of the lines in which memory comes.
const LINE_BYTES: usize = 64;
/// Lines asked for before and after the place where a node is expected.
const LINES_AROUND: usize = 3;

/// The first sixteen bytes of a key as a number that sorts like them; zeros stand for missing ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LongHead(u128);

impl LongHead {
    pub(super) fn of(key: &[u8]) -> Self {
        Self(first_bytes(key, 0, key.len()))
    }

    /// Of the key of node `index`.
    #[inline]
    pub(super) fn of_node(page: PageView<'_>, index: usize) -> Self {
        let values = page.values();
        let tag = tags::get(page.bytes, index + 1);
        let flags = tags::node_flags(page.bytes, index + 1, tag);
        let at = tag.offset;
        let words = u32_at(values, at); // A value is followed by at least the tags of the page.
        let word = words as u16;
        let length = usize::from(word & KEY_LENGTH_MASK);
        if !flags.contains(NodeFlags::COMPRESSED) {
            return Self(first_bytes(values, at + 2, length));
        }
        let before = first_bytes(page.prefix(), 0, length);
        let own = first_bytes(values, at + 4, usize::from((words >> 16) as u16));
        Self(before | own.checked_shr(8 * length as u32).unwrap_or(0))
    }

    /// By how much `self` is more than `other`, in whatever unit `shift` gives.
    fn above(self, other: Self, shift: u32) -> f64 {
        let more = |a: u128, b: u128| ((a - b) >> shift) as u64 as f64;
        if self >= other {
            more(self.0, other.0)
        } else {
            -more(other.0, self.0)
        }
    }
}

/// Sixteen bytes from `start` on of which the first `length` count.
#[inline]
fn first_bytes(bytes: &[u8], start: usize, length: usize) -> u128 {
    let missing = 16 - length.min(16);
    let mask = u128::MAX.checked_shl(8 * missing as u32).unwrap_or(0);
    match bytes.get(start..start + 16).and_then(<[u8]>::first_chunk) {
        Some(first) => u128::from_be_bytes(*first) & mask,
        None => {
            let mut first = [0; 16];
            first[..16 - missing].copy_from_slice(&bytes[start..start + 16 - missing]);
            u128::from_be_bytes(first)
        }
    }
}

/// Bounds of the keys of a page, as far as the pages above it show.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeyRange {
    /// No key comes before it.
    lower: Option<LongHead>,
    /// No key comes behind it.
    upper: Option<LongHead>,
}

impl KeyRange {
    /// The range between two keys.
    #[cfg(test)]
    pub(super) fn between(lower: &[u8], upper: &[u8]) -> Self {
        Self {
            lower: Some(LongHead::of(lower)),
            upper: Some(LongHead::of(upper)),
        }
    }

    /// That of child `index` of an internal page which itself has this range.
    #[must_use]
    pub fn of_child(self, page: PageView<'_>, index: usize) -> Self {
        let bound = |index| Some(LongHead::of_node(page, index));
        Self {
            lower: index.checked_sub(1).map_or(self.lower, bound),
            // The last node has no bound of its own.
            upper: if index + 1 < page.node_count() {
                bound(index)
            } else {
                self.upper
            },
        }
    }
}

/// An even spread of nodes over keys.
pub(super) struct Spread {
    lower: LongHead,
    shift: u32,
    nodes_per_unit: f64,
}

impl Spread {
    /// That of the first `count` nodes of a page over its range, or over the keys of the first and
    /// the last of them where the range is not known. `None` if there is nothing to go by.
    pub(super) fn new(page: PageView<'_>, count: usize, range: KeyRange) -> Option<Self> {
        let lower = range.lower.unwrap_or_else(|| LongHead::of_node(page, 0));
        let upper = range
            .upper
            .unwrap_or_else(|| LongHead::of_node(page, count - 1));
        let span = upper.0.checked_sub(lower.0).filter(|&span| span > 0)?;
        // The 64 highest bits that the two differ in are more than exact enough.
        let shift = (u128::BITS - span.leading_zeros()).saturating_sub(u64::BITS);
        let nodes_per_unit = count as f64 / upper.above(lower, shift);
        Some(Self {
            lower,
            shift,
            nodes_per_unit,
        })
    }

    /// Nodes that should lie before the key.
    pub(super) fn nodes_before(&self, key: LongHead) -> f64 {
        key.above(self.lower, self.shift) * self.nodes_per_unit
    }

    /// Nodes that should lie between two keys, negative if `to` is the lower one.
    pub(super) fn nodes_between(&self, from: LongHead, to: LongHead) -> f64 {
        to.above(from, self.shift) * self.nodes_per_unit
    }
}

impl PageView<'_> {
    /// Asks for the parts of a page that every search looks at first.
    #[inline]
    pub fn ask_for_ends(self) {
        prefetch_index(self.bytes, 0);
        prefetch_index(self.bytes, LINE_BYTES);
        prefetch_index(self.bytes, self.bytes.len() - LINE_BYTES);
    }

    /// Asks for the tag of node `index` and for its value, which lies about as far from the first
    /// one as the node does, if nodes were added in order.
    #[inline]
    pub(super) fn ask_for_node(self, index: usize) {
        let tag = (self.bytes.len()).saturating_sub(super::TAG_BYTES * (index + 2));
        prefetch_index(self.bytes, tag);
        let header = header_bytes(self.bytes.len());
        let value = header + self.first_free() * index / self.node_count().max(1);
        let first = value.saturating_sub(LINES_AROUND * LINE_BYTES);
        for line in 0..=2 * LINES_AROUND {
            prefetch_index(self.bytes, first + line * LINE_BYTES);
        }
    }
}
