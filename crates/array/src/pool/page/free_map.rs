//! Which pages of a disk group are free: a bitmap over bitmaps, so that the lowest free page is
//! found in a few steps however large the group is.
//!
//! Pages are taken lowest first: a group fills from its first cylinders on and a page that came
//! back is used again before untouched ones, so the share of the disks' stroke that is in use
//! follows what is allocated.

/// The free pages of one disk group. One bit per page and 1/63 of that on top.
#[derive(Debug)]
pub(crate) struct FreeMap {
    /// `levels[0]` has a bit per page; a bit of a higher level says whether the word below it
    /// has any bit set. The last level is one word.
    levels: Vec<Vec<u64>>,
    free: u32,
}

impl FreeMap {
    /// All of `pages` pages free.
    pub(crate) fn new(pages: u32) -> Self {
        let mut levels = Vec::new();
        let mut bits = pages as usize;
        loop {
            let words = bits.div_ceil(64).max(1);
            let mut level = vec![u64::MAX; words];
            let rest = bits % 64;
            if rest != 0 || bits == 0 {
                level[words - 1] = (1 << rest) - 1;
            }
            levels.push(level);
            if words == 1 {
                break;
            }
            bits = words;
        }
        Self {
            levels,
            free: pages,
        }
    }

    /// Pages that are free.
    pub(crate) fn free(&self) -> u32 {
        self.free
    }

    /// Takes the lowest free page, if there is one.
    pub(crate) fn take_lowest(&mut self) -> Option<u32> {
        if self.free == 0 {
            return None;
        }
        let mut index = 0_usize;
        for level in self.levels.iter().rev() {
            index = index * 64 + level[index].trailing_zeros() as usize;
        }
        self.take(index as u32).then_some(index as u32)
    }

    /// Takes a page; `false` if it is not free.
    pub(crate) fn take(&mut self, page: u32) -> bool {
        if !self.is_free(page) {
            return false;
        }
        let mut bit = page as usize;
        for level in &mut self.levels {
            let word = &mut level[bit / 64];
            *word &= !(1 << (bit % 64));
            if *word != 0 {
                break;
            }
            bit /= 64;
        }
        self.free -= 1;
        true
    }

    /// Gives a page back, which must have been taken.
    pub(crate) fn put_back(&mut self, page: u32) {
        assert!(!self.is_free(page), "page {page} was given back twice");
        let mut bit = page as usize;
        for level in &mut self.levels {
            let word = &mut level[bit / 64];
            let had_free = *word != 0;
            *word |= 1 << (bit % 64);
            if had_free {
                break;
            }
            bit /= 64;
        }
        self.free += 1;
    }

    /// Whether a page is free.
    pub(crate) fn is_free(&self, page: u32) -> bool {
        self.levels[0][page as usize / 64] & (1 << (page % 64)) != 0
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::BTreeSet;

    use super::FreeMap;

    #[test]
    fn gives_the_lowest_page_as_a_sorted_set_would() {
        for seed in 0..60_u64 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let pages = [1, 63, 64, 65, 4096, 4097, 70_000][(seed % 7) as usize];
            let mut map = FreeMap::new(pages);
            let mut free: BTreeSet<u32> = (0..pages).collect();
            let mut taken = Vec::new();
            for _ in 0..2_000 {
                if random.random_range(0..5) < 3 {
                    let lowest = free.pop_first();
                    assert_eq!(map.take_lowest(), lowest, "seed {seed}");
                    taken.extend(lowest);
                } else if !taken.is_empty() {
                    let page = taken.swap_remove(random.random_range(0..taken.len()));
                    map.put_back(page);
                    free.insert(page);
                }
                assert_eq!(map.free() as usize, free.len(), "seed {seed}");
            }
        }
    }
}
