//! The earliest of a fixed number of sources, as a tournament: a complete binary tree whose leaves
//! are the times of the sources and whose inner nodes hold the earlier of their two children. A
//! changed time is played up to the root.

use super::NEVER;

#[derive(Debug, Clone)]
pub(super) struct Tournament {
    /// The root: the earliest time and its source.
    earliest: (u64, u32),
    /// Node 1 is the root again; the leaves start at `leaves`. A node holds a time and a source.
    nodes: Vec<(u64, u32)>,
    leaves: usize,
}

impl Tournament {
    /// A tournament of that many sources, none of which is ever due.
    pub(super) fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two();
        let mut nodes = vec![(NEVER, 0); 2 * leaves];
        for (source, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.1 = source as u32;
        }
        Self {
            earliest: (NEVER, 0),
            nodes,
            leaves,
        }
    }

    /// Sets when a source is due.
    #[inline]
    pub(super) fn set(&mut self, source: usize, due_ns: u64) {
        let mut node = self.leaves + source;
        let entry = (due_ns, source as u32);
        if self.nodes[node] == entry {
            return;
        }
        self.nodes[node] = entry;
        while node > 1 {
            let earlier = self.nodes[node].min(self.nodes[node ^ 1]);
            node /= 2;
            if self.nodes[node] == earlier {
                return;
            }
            self.nodes[node] = earlier;
        }
        self.earliest = self.nodes[1];
    }

    /// The earliest time and its source, the one with the lowest number if there are several.
    #[inline]
    pub(super) fn earliest(&self) -> (u64, usize) {
        (self.earliest.0, self.earliest.1 as usize)
    }
}
