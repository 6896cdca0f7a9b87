//! From the number of a line to its node: five to ten bytes per line.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// No node and no slot.
pub(crate) const NONE: u32 = u32::MAX;

/// A table of nodes. The numbers of the lines themselves are kept by the owner, by node, and are
/// handed in.
#[derive(Debug, Default)]
pub(crate) struct LineIndex {
    table: HashTable<u32>,
}

fn hash(line: u32) -> u64 {
    FxBuildHasher.hash_one(line)
}

impl LineIndex {
    /// The node of `line`.
    #[inline]
    pub(crate) fn find(&self, line: u32, lines: &[u32]) -> Option<u32> {
        let is_it = |&node: &u32| lines[node as usize] == line;
        self.table.find(hash(line), is_it).copied()
    }

    /// Adds `node`, whose line must not be there.
    pub(crate) fn insert(&mut self, node: u32, lines: &[u32]) {
        let hash_of = |&node: &u32| hash(lines[node as usize]);
        self.table.insert_unique(hash_of(&node), node, hash_of);
    }

    /// Removes the node of `line`, which must be there.
    pub(crate) fn remove(&mut self, line: u32, lines: &[u32]) {
        let is_it = |&node: &u32| lines[node as usize] == line;
        match self.table.find_entry(hash(line), is_it) {
            Ok(entry) => drop(entry.remove()),
            Err(_) => panic!("line {line} is not in the index"),
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
            let mut index = LineIndex::default();
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
