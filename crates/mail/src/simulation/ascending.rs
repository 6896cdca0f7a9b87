//! A tree that grows at its right edge: rows by message number, long values by id.

use super::geometry::{Fill, LeafCycle};
use super::levels::{LeafPages, Levels, Numbering};
use super::spaces::TreeName;

/// Which leaf a node lies in, by its number in key order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NodePlaces {
    /// Leaves of `built` nodes as far as `built_nodes` go; then full ones, the last built one first.
    Even {
        built: u64,
        full: u64,
        built_nodes: u64,
    },
    /// As the sizes of a value's nodes have it.
    Cycle(LeafCycle),
}

impl NodePlaces {
    /// The leaf of a node.
    pub(crate) fn leaf(self, node: u64) -> u32 {
        match self {
            Self::Cycle(cycle) => cycle.leaf(node),
            Self::Even {
                built,
                full,
                built_nodes,
            } => {
                let last = (built_nodes - 1) / built;
                let before = last * built;
                if node < before {
                    (node / built) as u32
                } else {
                    (last + (node - before) / full) as u32
                }
            }
        }
    }
}

/// A leaf whose nodes lie on another one now, or that is gone.
const GONE: i16 = i16::MAX;

/// A tree whose new nodes are appended behind all others.
#[derive(Debug)]
pub(crate) struct Ascending {
    pub(crate) name: TreeName,
    pub(crate) fill: Fill,
    /// Bytes of a node on its page, on average.
    pub(crate) node_bytes: u32,
    places: NodePlaces,
    built_pages: LeafPages,
    built_leaves: u32,
    appended: Vec<u32>,
    levels: Levels,
    /// Nodes removed from each leaf, less those that came over from a neighbour; [`GONE`] when the
    /// leaf is no more. Untouched memory of a large database stays untouched.
    removed: Vec<i16>,
    /// Nodes in all, removed ones included.
    nodes: u64,
}

/// A leaf that became sparse or empty, and what can be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeafCleanup {
    /// Nothing is done to it.
    Leave,
    /// Nothing either, but one of the two is sparse, and they are looked at to see that they do not
    /// fit one page.
    Compare { left: u32, right: u32 },
    /// The leaf is empty and goes.
    Free { leaf: u32 },
    /// The nodes of `right` move to `left`.
    Join { left: u32, right: u32 },
}

impl Ascending {
    /// The tree as built.
    pub(crate) fn new(
        name: TreeName,
        built: &Numbering,
        fill: Fill,
        node_bytes: u32,
        places: NodePlaces,
        nodes: u64,
    ) -> Self {
        let built_leaves = Self::leaves_of(places, nodes);
        Self {
            name,
            fill,
            node_bytes,
            places,
            built_pages: built.leaf_pages(),
            built_leaves,
            appended: Vec::new(),
            levels: built.levels.clone(),
            removed: vec![0; built_leaves as usize],
            nodes,
        }
    }

    /// Leaves that so many nodes take.
    pub(crate) fn leaves_of(places: NodePlaces, nodes: u64) -> u32 {
        places.leaf(nodes.max(1) - 1) + 1
    }

    /// Leaves so far, gone ones included.
    pub(crate) fn leaves(&self) -> u32 {
        self.built_leaves + self.appended.len() as u32
    }

    /// The leaf in which a node was put at first.
    pub(crate) fn home(&self, node: u64) -> u32 {
        self.places.leaf(node)
    }

    /// The leaf in which a node lies now.
    pub(crate) fn leaf(&self, node: u64) -> u32 {
        self.present(self.home(node).min(self.leaves() - 1))
    }

    fn present(&self, leaf: u32) -> u32 {
        let is_there = |leaf: &u32| self.removed[*leaf as usize] != GONE;
        let left = (0..=leaf).rev().find(is_there);
        left.or_else(|| (leaf..self.leaves()).find(is_there))
            .unwrap_or_else(|| panic!("the last leaf never goes"))
    }

    /// The page of a leaf.
    pub(crate) fn page(&self, leaf: u32) -> u32 {
        match leaf.checked_sub(self.built_leaves) {
            None => self.built_pages.page(leaf),
            Some(appended) => self.appended[appended as usize],
        }
    }

    /// The internal pages above the leaves.
    pub(crate) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// The last page of the tree.
    pub(crate) fn last_page(&self) -> u32 {
        self.page(self.leaves() - 1)
    }

    /// Notes that a node has been put into its leaf, which is there.
    pub(crate) fn note_node(&mut self, node: u64) {
        self.nodes = self.nodes.max(node + 1);
    }

    /// Adds a leaf at the right edge.
    pub(crate) fn append(&mut self, page: u32, take: impl FnMut() -> u32) {
        self.levels.push(take);
        self.appended.push(page);
        self.removed.push(0);
    }

    /// Nodes on a leaf.
    pub(crate) fn nodes_on(&self, leaf: u32) -> u32 {
        let full = match self.places {
            _ if leaf + 1 >= self.leaves() => self.fill.full,
            NodePlaces::Even { .. } if leaf + 1 < self.built_leaves => self.fill.built,
            _ => self.fill.full,
        };
        (full as i32 - i32::from(self.removed[leaf as usize])).max(0) as u32
    }

    /// What becomes of a leaf when one of its nodes is removed.
    pub(crate) fn tidying(&self, leaf: u32, page_room: usize) -> LeafCleanup {
        let last = self.leaves() - 1;
        if leaf == last {
            return LeafCleanup::Leave; // The right edge is being filled.
        }
        let left_over = self.nodes_on(leaf).saturating_sub(1);
        if left_over == 0 {
            return LeafCleanup::Free { leaf };
        }
        let room = page_room as u32;
        if left_over * self.node_bytes >= room / 4 {
            return LeafCleanup::Leave;
        }
        let is_there = |other: &u32| self.removed[*other as usize] != GONE;
        let right = (leaf + 1..last).find(is_there);
        let right = right.filter(|&right| self.levels.are_siblings(leaf, right));
        let left = || {
            let left = (0..leaf).rev().find(is_there);
            left.filter(|&left| self.levels.are_siblings(left, leaf))
        };
        let (left, right) = match (right, left()) {
            (Some(right), _) => (leaf, right),
            (None, Some(left)) => (left, leaf),
            (None, None) => return LeafCleanup::Leave,
        };
        let other = if left == leaf { right } else { left };
        if (left_over + self.nodes_on(other)) * self.node_bytes > room - room / 5 {
            return LeafCleanup::Compare { left, right };
        }
        LeafCleanup::Join { left, right }
    }

    /// Removes a node from a leaf.
    pub(crate) fn remove_node(&mut self, leaf: u32) {
        let removed = &mut self.removed[leaf as usize];
        if *removed != GONE {
            *removed = removed.saturating_add(1).min(GONE - 1);
        }
    }

    /// Carries a tidying out after the node has been removed.
    pub(crate) fn tidy(&mut self, tidying: LeafCleanup) {
        match tidying {
            LeafCleanup::Leave | LeafCleanup::Compare { .. } => {}
            LeafCleanup::Free { leaf } => self.removed[leaf as usize] = GONE,
            LeafCleanup::Join { left, right } => {
                let moved = self.nodes_on(right) as i16;
                self.removed[right as usize] = GONE;
                self.removed[left as usize] -= moved;
            }
        }
    }

    /// The leaf that comes before, if there is one.
    pub(crate) fn previous_leaf(&self, leaf: u32) -> Option<u32> {
        let mut before = (0..leaf).rev();
        before.find(|&previous| self.removed[previous as usize] != GONE)
    }

    /// The leaf that follows, if there is one.
    pub(crate) fn next_leaf(&self, leaf: u32) -> Option<u32> {
        (leaf + 1..self.leaves()).find(|&next| self.removed[next as usize] != GONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fill_the_last_built_leaf_before_another_one() {
        let places = NodePlaces::Even {
            built: 9,
            full: 10,
            built_nodes: 20,
        };
        let leaves: Vec<u32> = [0, 8, 9, 17, 18, 19, 20, 27, 28, 37, 38]
            .iter()
            .map(|&node| places.leaf(node))
            .collect();
        assert_eq!(leaves, [0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4]);
    }
}
