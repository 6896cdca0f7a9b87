//! From the number of a line to its node: four to eight bytes per line.

/// Marks a free place of the table.
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

    /// Where a line's search begins. One multiplication would spread runs of lines evenly, but lines
    /// that lie apart by a fraction near the one it multiplies by would fall on neighbouring places,
    /// all of them in one long row. So the halves are folded and multiplied once more.
    #[inline]
    fn home(&self, line: u32) -> usize {
        let shift = 64 - self.table.len().trailing_zeros();
        let once = u64::from(line).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((once ^ (once >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> shift) as usize
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

    /// The longest search for any of these lines.
    fn longest_search(lines: &[u32]) -> usize {
        let mut index = LineIndex::new();
        for node in 0..lines.len() {
            index.insert(node as u32, lines);
        }
        let mask = index.table.len() - 1;
        let steps = |node: usize| {
            let home = index.home(lines[node]);
            let place = (0..index.table.len())
                .find(|step| index.table[(home + step) & mask] == node as u32);
            place.expect("every node is in the table")
        };
        (0..lines.len()).map(steps).max().unwrap_or(0)
    }

    #[test]
    fn no_even_choice_of_lines_makes_searches_long() {
        let count = 12_000_u64;
        let strides = [
            1,
            2,
            64,
            4_096,
            65_536,
            0x9E37_79B1,
            0x9E37_79B9,
            0x61C8_8647,
            2_654_435_769,
            1_640_531_527,
            0x4F1B_BCDD,
            0x7F4A_7C15,
        ];
        for stride in strides {
            let lines = (0..count).map(|number| (number * stride) as u32 & !(1 << 31));
            let mut lines: Vec<u32> = lines.collect();
            lines.sort_unstable();
            lines.dedup();
            let longest = longest_search(&lines);
            assert!(longest < 200, "stride {stride}: {longest} steps");
        }
        // Lines whose products with the golden ratio are neighbours.
        let lines = (0..u32::MAX)
            .step_by(97)
            .filter(|&line| u64::from(line).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56 == 0x42);
        let lines: Vec<u32> = lines.take(count as usize).collect();
        assert_eq!(lines.len() as u64, count);
        let longest = longest_search(&lines);
        assert!(longest < 200, "neighbours: {longest} steps");
    }

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
