//! A tree whose keys are spread evenly: the index of message ids.
//!
//! The builder fills leaves with equal numbers of entries; as keys are random, leaves then cover
//! about equal parts of the domain of keys, and here exactly equal ones. A leaf that is split
//! covers half of its part. Pages do not merge: that would take losing three quarters of all
//! entries.

use super::geometry::Fill;
use super::levels::{LeafPages, Levels, Numbering};

/// Marks the end of a list of parts.
const NONE: u32 = u32::MAX;

/// Where a key lies among all keys: the first bytes of the key as a number.
pub(crate) type Place = u64;

/// A part of a leaf that was split, in the order of keys.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// First place of the next part within the built leaf, in 2^-32 of its width; 0 at the end.
    end: u32,
    page: u32,
    entries: u32,
    next: u32,
}

/// A leaf as built.
#[derive(Debug, Clone, Copy)]
struct BuiltLeaf {
    entries: u16,
    is_split: bool,
}

/// A tree whose keys are random.
#[derive(Debug)]
pub(crate) struct Scattered {
    pub(crate) fill: Fill,
    pages: LeafPages,
    leaves: Vec<BuiltLeaf>,
    levels: Levels,
    /// First parts of split leaves, in the order of `split`; then all others.
    parts: Vec<Part>,
    /// Split leaves with their first part; small against the number of leaves.
    split: std::collections::BTreeMap<u32, u32>,
}

/// A leaf that a key was looked up in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryLeaf {
    /// Its number as built.
    pub(crate) built: u32,
    /// Part of it, if it was split.
    part: u32,
    /// Number of its page.
    pub(crate) page: u32,
    /// Entries on the leaf.
    pub(crate) entries: u32,
}

impl Scattered {
    /// The tree as built with `entries` entries.
    pub(crate) fn new(built: &Numbering, fill: Fill, entries: u64) -> Self {
        let leaves = Self::leaves_of(fill, entries);
        let each = entries.div_ceil(u64::from(leaves)).min(u64::from(u16::MAX)) as u16;
        let leaf = BuiltLeaf {
            entries: each,
            is_split: false,
        };
        Self {
            fill,
            pages: built.leaf_pages(),
            leaves: vec![leaf; leaves as usize],
            levels: built.levels.clone(),
            parts: Vec::new(),
            split: std::collections::BTreeMap::new(),
        }
    }

    /// Leaves that so many entries take.
    pub(crate) fn leaves_of(fill: Fill, entries: u64) -> u32 {
        entries.div_ceil(u64::from(fill.built)).max(1) as u32
    }

    /// The leaf of a place.
    pub(crate) fn find(&self, place: Place) -> EntryLeaf {
        let wide = u128::from(place) * self.leaves.len() as u128;
        let (built, within) = ((wide >> 64) as u32, (wide >> 32) as u32);
        let leaf = self.leaves[built as usize];
        if !leaf.is_split {
            return EntryLeaf {
                built,
                part: NONE,
                page: self.pages.page(built),
                entries: u32::from(leaf.entries),
            };
        }
        let mut part = self.split[&built];
        loop {
            let Part {
                end,
                page,
                entries,
                next,
            } = self.parts[part as usize];
            if end == 0 || within < end {
                return EntryLeaf {
                    built,
                    part,
                    page,
                    entries,
                };
            }
            part = next;
        }
    }

    /// The page of the leaf after this one.
    pub(crate) fn next_page(&self, leaf: EntryLeaf) -> Option<u32> {
        if leaf.part != NONE {
            let next = self.parts[leaf.part as usize].next;
            if next != NONE {
                return Some(self.parts[next as usize].page);
            }
        }
        let next = leaf.built + 1;
        self.leaves.get(next as usize)?;
        Some(self.first_page(next))
    }

    /// The first page of a built leaf.
    pub(crate) fn first_page(&self, built: u32) -> u32 {
        match self.split.get(&built) {
            Some(&part) if self.leaves[built as usize].is_split => self.parts[part as usize].page,
            _ => self.pages.page(built),
        }
    }

    /// Adds an entry to a leaf, or takes one away.
    pub(crate) fn count(&mut self, leaf: EntryLeaf, change: i32) {
        if leaf.part == NONE {
            let entries = &mut self.leaves[leaf.built as usize].entries;
            *entries = entries.saturating_add_signed(change as i16);
        } else {
            let entries = &mut self.parts[leaf.part as usize].entries;
            *entries = entries.saturating_add_signed(change);
        }
    }

    /// Whether the leaf takes no further entry.
    pub(crate) fn is_full(&self, leaf: EntryLeaf) -> bool {
        leaf.entries >= self.fill.full
    }

    /// Splits the leaf in which `place` lies; the right half gets `new_page`.
    pub(crate) fn split(&mut self, leaf: EntryLeaf, new_page: u32) {
        let part = if leaf.part == NONE {
            let part = self.parts.len() as u32;
            self.parts.push(Part {
                end: 0,
                page: leaf.page,
                entries: leaf.entries,
                next: NONE,
            });
            self.split.insert(leaf.built, part);
            self.leaves[leaf.built as usize].is_split = true;
            part
        } else {
            leaf.part
        };
        let begin = self.begin_of(leaf.built, part);
        let new = self.parts.len() as u32;
        let left = &mut self.parts[part as usize];
        let end = match left.end {
            0 => 1 << 32,
            end => u64::from(end),
        };
        let middle = (u64::from(begin) + end).div_ceil(2) as u32;
        let entries = left.entries / 2;
        let right = Part {
            end: left.end,
            page: new_page,
            entries,
            next: left.next,
        };
        left.end = middle;
        left.entries -= entries;
        left.next = new;
        self.parts.push(right);
    }

    fn begin_of(&self, built: u32, part: u32) -> u32 {
        let (mut at, mut begin) = (self.split[&built], 0);
        while at != part {
            begin = self.parts[at as usize].end;
            at = self.parts[at as usize].next;
        }
        begin
    }

    /// The internal pages above the leaves.
    pub(crate) fn levels(&self) -> &Levels {
        &self.levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_a_leaf_and_halves_share_the_entries() {
        let fill = Fill {
            built: 9,
            full: 10,
            children_built: 4,
            children_full: 5,
            separator: 3,
        };
        let built = Numbering::build(10, Scattered::leaves_of(fill, 40), 4, 5);
        let mut tree = Scattered::new(&built, fill, 40);
        let place = |number: u64| number << 54;
        let mut next_page = 1_000;
        for number in 0..1024 {
            let place = place(number * 389 % 1024);
            let leaf = tree.find(place);
            if tree.is_full(leaf) {
                tree.split(leaf, next_page);
                next_page += 1;
            }
            let leaf = tree.find(place);
            tree.count(leaf, 1);
            assert!(tree.find(place).entries <= fill.full);
        }
        let mut pages = Vec::new();
        let mut last = None;
        for number in 0..1024 {
            let leaf = tree.find(place(number));
            if last != Some(leaf.page) {
                assert!(!pages.contains(&leaf.page), "pages are met in order");
                pages.push(leaf.page);
                last = Some(leaf.page);
            }
        }
        let fits = 1064 / 10..1064 / 4;
        assert!(fits.contains(&pages.len()), "{}", pages.len());
    }
}
