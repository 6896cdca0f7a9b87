//! The internal pages above the leaves of a tree.

/// Internal pages, level by level; the root is not among them. Leaves are numbered from the left.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    root: u32,
    /// Level 0 lies above the leaves.
    levels: Vec<Level>,
    /// Children of an internal page as built, and at most.
    built: u32,
    full: u32,
    /// Leaves, or internal pages of the highest level: the children of the root.
    leaves: u32,
}

#[derive(Debug, Clone)]
struct Level {
    pages: Vec<u32>,
    /// Pages of this level that the builder made.
    built: u32,
}

impl Levels {
    /// Which page of a level has child number `child` of the level below.
    fn parent(&self, level: usize, child: u32) -> u32 {
        let built = self.levels[level].built;
        if built == 0 {
            return child / self.full;
        }
        // The last built page takes children until it is full.
        let before = (built - 1) * self.built;
        if child < before {
            return child / self.built;
        }
        built - 1 + (child - before) / self.full
    }

    /// Shows the pages from the root to the parent of a leaf.
    pub(crate) fn path(&self, leaf: u32, mut show: impl FnMut(u32)) {
        show(self.root);
        match self.levels.as_slice() {
            [] => {}
            [only] => show(only.pages[self.parent(0, leaf) as usize]),
            levels => {
                let mut places = [0; 8];
                let mut child = leaf;
                for (level, place) in (0..levels.len()).zip(&mut places) {
                    child = self.parent(level, child);
                    *place = child;
                }
                for level in (0..levels.len()).rev() {
                    show(levels[level].pages[places[level] as usize]);
                }
            }
        }
    }

    /// The page above a leaf.
    pub(crate) fn parent_page(&self, leaf: u32) -> u32 {
        match self.levels.first() {
            None => self.root,
            Some(level) => level.pages[self.parent(0, leaf) as usize],
        }
    }

    /// The leaves under the page above `leaf` that come after it, at most `limit`.
    pub(crate) fn siblings_after(&self, leaf: u32, limit: u32) -> std::ops::Range<u32> {
        let mut end = leaf + 1;
        let last = (leaf + 1 + limit).min(self.leaves);
        while end < last && (self.levels.is_empty() || self.parent(0, end) == self.parent(0, leaf))
        {
            end += 1;
        }
        leaf + 1..end
    }

    /// Whether two leaves have one page above them.
    pub(crate) fn are_siblings(&self, one: u32, two: u32) -> bool {
        self.levels.is_empty() || self.parent(0, one) == self.parent(0, two)
    }

    /// Internal pages that a further leaf at the right end takes.
    pub(crate) fn pages_for_another(&self) -> u32 {
        let (mut child, mut pages) = (self.leaves, 0);
        for (number, level) in self.levels.iter().enumerate() {
            child = self.parent(number, child);
            if (child as usize) < level.pages.len() {
                return pages;
            }
            pages += 1;
        }
        pages + if child >= self.full { 2 } else { 0 }
    }

    /// Adds a leaf at the right end; `take` gives the pages counted before.
    pub(crate) fn push(&mut self, mut take: impl FnMut() -> u32) {
        let mut child = self.leaves;
        self.leaves += 1;
        for level in 0..self.levels.len() {
            child = self.parent(level, child);
            if (child as usize) < self.levels[level].pages.len() {
                return;
            }
            self.levels[level].pages.push(take());
        }
        if child >= self.full {
            // The root is full: its children move into a page of their own, which has a neighbour.
            let pages = vec![take(), take()];
            self.levels.push(Level { pages, built: 0 });
        }
    }
}

/// Numbers the pages of a tree as the bulk builder does: leaves in order, an internal page as soon
/// as it is full.
pub(crate) struct Numbering {
    pub(crate) levels: Levels,
    /// Number of the first leaf.
    first: u32,
    fan: u32,
    /// The first page after the tree.
    pub(crate) next_page: u32,
}

impl Numbering {
    /// A tree with its root at `root` and `leaves` leaves; two space tree roots follow the root.
    pub(crate) fn build(root: u32, leaves: u32, built: u32, full: u32) -> Self {
        let first = root + 3;
        let mut counts = Vec::new();
        let mut children = leaves;
        loop {
            children = children.div_ceil(built);
            if children <= 1 {
                break;
            }
            counts.push(children);
        }
        let mut pages: Vec<Vec<u32>> = vec![Vec::new(); counts.len()];
        let mut next = first;
        for leaf in 0..leaves {
            // A page is closed when the child after its last one is complete.
            let mut child = leaf.wrapping_sub(1);
            for level in &mut pages {
                if leaf == 0 || child == 0 || !child.is_multiple_of(built) {
                    break;
                }
                level.push(next);
                next += 1;
                child = level.len() as u32 - 1;
            }
            next += 1;
        }
        for (level, &count) in pages.iter_mut().zip(&counts) {
            while level.len() < count as usize {
                level.push(next);
                next += 1;
            }
        }
        let levels = pages.into_iter().map(|pages| Level {
            built: pages.len() as u32,
            pages,
        });
        let levels = Levels {
            root,
            levels: levels.collect(),
            built,
            full,
            leaves,
        };
        Self {
            levels,
            first,
            fan: built,
            next_page: next,
        }
    }

    /// The rule that gives the page of a built leaf.
    pub(crate) fn leaf_pages(&self) -> LeafPages {
        LeafPages {
            first: self.first,
            fan: self.fan,
            levels: self.levels.levels.len() as u32,
        }
    }
}

/// Which page a built leaf has: leaves and the internal pages closed between them, in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeafPages {
    first: u32,
    fan: u32,
    levels: u32,
}

impl LeafPages {
    /// The page of a leaf.
    pub(crate) fn page(self, leaf: u32) -> u32 {
        let mut page = self.first + leaf;
        let mut child = leaf;
        for _ in 0..self.levels {
            // Pages of this level closed when `child` children below it were complete.
            child = child.saturating_sub(1) / self.fan;
            if child == 0 {
                break;
            }
            page += child;
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_tree_are_numbered_without_gaps() {
        for (leaves, fan) in [(1, 4), (4, 4), (5, 4), (17, 4), (70, 4), (1_000, 7)] {
            let built = Numbering::build(10, leaves, fan, fan + 2);
            let rule = built.leaf_pages();
            let mut pages: Vec<u32> = (0..leaves).map(|leaf| rule.page(leaf)).collect();
            for level in &built.levels.levels {
                pages.extend(&level.pages);
            }
            pages.sort_unstable();
            let all: Vec<u32> = (13..built.next_page).collect();
            assert_eq!(pages, all, "{leaves} leaves, {fan} children");
        }
    }

    #[test]
    fn a_tree_that_grows_keeps_a_page_above_every_leaf() {
        let mut next = 1_000;
        let mut levels = Numbering::build(10, 9, 4, 5).levels;
        for leaf in 9..2_000 {
            levels.push(|| {
                next += 1;
                next
            });
            let mut depth = 0;
            levels.path(leaf, |_| depth += 1);
            assert!((1..=7).contains(&depth), "leaf {leaf} lies {depth} deep");
        }
    }
}
