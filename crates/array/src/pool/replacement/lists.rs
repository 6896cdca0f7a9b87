//! Doubly linked lists threaded through a vector: nodes are numbers, moving one touches no
//! allocator.

use super::index::NONE;

/// The neighbours of every node. A node is on at most one list.
#[derive(Debug, Default)]
pub(crate) struct Links {
    before: Vec<u32>,
    after: Vec<u32>,
}

/// The ends of one list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List {
    first: u32,
    last: u32,
    pub(crate) length: u32,
}

impl Default for List {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
            length: 0,
        }
    }
}

impl List {
    /// The node that was put in front longest ago.
    pub(crate) fn last(&self) -> Option<u32> {
        Some(self.last).filter(|&node| node != NONE)
    }
}

impl Links {
    /// Makes room for a node and says its number.
    pub(crate) fn add(&mut self) -> u32 {
        self.before.push(NONE);
        self.after.push(NONE);
        (self.before.len() - 1) as u32
    }

    #[inline]
    pub(crate) fn push_front(&mut self, list: &mut List, node: u32) {
        let second = list.first;
        self.before[node as usize] = NONE;
        self.after[node as usize] = second;
        if second == NONE {
            list.last = node;
        } else {
            self.before[second as usize] = node;
        }
        list.first = node;
        list.length += 1;
    }

    #[inline]
    pub(crate) fn remove(&mut self, list: &mut List, node: u32) {
        let before = self.before[node as usize];
        let after = self.after[node as usize];
        if before == NONE {
            list.first = after;
        } else {
            self.after[before as usize] = after;
        }
        if after == NONE {
            list.last = before;
        } else {
            self.before[after as usize] = before;
        }
        list.length -= 1;
    }

    pub(crate) fn pop_back(&mut self, list: &mut List) -> Option<u32> {
        let node = list.last()?;
        self.remove(list, node);
        Some(node)
    }
}
