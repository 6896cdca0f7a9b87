//! Numbered places that are used again: what a request in flight is remembered by.
//!
//! Freed entries stay where they are, with whatever vectors they own, so that in steady state
//! nothing is allocated.

/// A slab of entries with 32-bit numbers.
#[derive(Debug, Clone)]
pub(crate) struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Puts an entry in a free place, and gives its number.
    #[inline]
    pub(crate) fn insert(&mut self, entry: T) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.entries[id as usize] = entry;
                id
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        }
    }

    /// Frees a number to be given out again. What the entry holds stays.
    #[inline]
    pub(crate) fn release(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Numbers given out so far, freed ones included.
    pub(crate) fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Entries that were taken and not released.
    pub(crate) fn in_use(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}

impl<T: Default> Slab<T> {
    /// The number of a free entry, which holds what it held when it was freed.
    #[inline]
    pub(crate) fn take(&mut self) -> u32 {
        match self.free.pop() {
            Some(id) => id,
            None => {
                self.entries.push(T::default());
                (self.entries.len() - 1) as u32
            }
        }
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, id: u32) -> &T {
        &self.entries[id as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut T {
        &mut self.entries[id as usize]
    }
}
