//! From the number of a line to the node that stands for it: four to eight bytes per line.

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// An open-addressing table of nodes. The numbers of the lines themselves are kept by the owner,
/// by node, and are handed in.
#[derive(Debug)]
pub(crate) struct LineIndex {
    /// Power of two long, at most three quarters full.
    table: Vec<u32>,
    nodes: usize,
}

impl LineIndex {
    pub(crate) fn new() -> Self {
        Self {
            table: vec![NONE; 16],
            nodes: 0,
        }
    }

    /// Where a line's search begins: multiplicative hashing by the golden ratio.
    #[inline]
    fn home(&self, line: u32) -> usize {
        let shift = 64 - self.table.len().trailing_zeros();
        (u64::from(line).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize
    }

    /// The node of `line`.
    #[inline]
    pub(crate) fn find(&self, line: u32, lines: &[u32]) -> Option<u32> {
        let mask = self.table.len() - 1;
        let mut at = self.home(line);
        loop {
            let node = self.table[at];
            if node == NONE {
                return None;
            }
            if lines[node as usize] == line {
                return Some(node);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds `node`, whose line must not be there.
    pub(crate) fn insert(&mut self, node: u32, lines: &[u32]) {
        if (self.nodes + 1) * 4 > self.table.len() * 3 {
            self.grow(lines);
        }
        self.nodes += 1;
        self.put(node, lines);
    }

    fn put(&mut self, node: u32, lines: &[u32]) {
        let mask = self.table.len() - 1;
        let mut at = self.home(lines[node as usize]);
        while self.table[at] != NONE {
            at = (at + 1) & mask;
        }
        self.table[at] = node;
    }

    fn grow(&mut self, lines: &[u32]) {
        let longer = vec![NONE; self.table.len() * 2];
        let old = std::mem::replace(&mut self.table, longer);
        for node in old.into_iter().filter(|&node| node != NONE) {
            self.put(node, lines);
        }
    }

    /// Removes the node of `line`, which must be there, and closes the gap.
    pub(crate) fn remove(&mut self, line: u32, lines: &[u32]) {
        let mask = self.table.len() - 1;
        let mut gap = self.home(line);
        loop {
            let node = self.table[gap];
            assert!(node != NONE, "line {line} is not in the index");
            if lines[node as usize] == line {
                break;
            }
            gap = (gap + 1) & mask;
        }
        self.nodes -= 1;
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let node = self.table[at];
            if node == NONE {
                self.table[gap] = NONE;
                return;
            }
            let home = self.home(lines[node as usize]);
            // The node may move back into the gap unless its search begins behind it.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.table[gap] = node;
                gap = at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::BTreeMap;

    use super::{LineIndex, NONE};

    #[test]
    fn finds_what_a_map_would() {
        for seed in 0..100_u64 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let range = [40, 300, u32::MAX][(seed % 3) as usize];
            let mut index = LineIndex::new();
            let mut lines = Vec::new();
            let mut model = BTreeMap::new();
            for _ in 0..600 {
                let line = random.random_range(0..range);
                if let Some(node) = model.remove(&line) {
                    index.remove(line, &lines);
                    lines[node as usize] = NONE;
                } else {
                    let node = lines.len() as u32;
                    lines.push(line);
                    index.insert(node, &lines);
                    model.insert(line, node);
                }
                let line = random.random_range(0..range);
                let expected = model.get(&line).copied();
                assert_eq!(index.find(line, &lines), expected, "seed {seed}");
            }
            for (line, node) in model {
                assert_eq!(index.find(line, &lines), Some(node), "seed {seed}");
            }
        }
    }
}
