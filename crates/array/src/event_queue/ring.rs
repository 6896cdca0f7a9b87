//! Events in the order of their times in a ring buffer, inserted from its end and taken from its
//! front.

use super::Entry;

/// Entries of the ring that a new one may pass.
const PASSED_MAX: usize = 24;

/// Entries of the first ring.
const FIRST_CAPACITY: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct SortedRing<E> {
    /// Its length is a power of two, or zero before the first entry. Slots outside of `front` and
    /// `len` have no meaning.
    slots: Vec<Entry<E>>,
    /// Entries taken out so far: the index of the first, modulo the number of slots.
    front: usize,
    len: usize,
}

impl<E> Default for SortedRing<E> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            front: 0,
            len: 0,
        }
    }
}

impl<E: Copy> SortedRing<E> {
    #[inline]
    pub(super) fn front(&self) -> Option<Entry<E>> {
        let at = self.front & self.slots.len().wrapping_sub(1);
        (self.len > 0).then(|| self.slots[at])
    }

    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<Entry<E>> {
        let front = self.front()?;
        self.front = self.front.wrapping_add(1);
        self.len -= 1;
        Some(front)
    }

    /// Whether an entry would have to pass more than [`PASSED_MAX`] others on its way from the end.
    #[inline]
    pub(super) fn is_far_from_end(&self, at_ns: u64) -> bool {
        if self.len <= PASSED_MAX {
            return false;
        }
        let at = self.front.wrapping_add(self.len - 1 - PASSED_MAX) & (self.slots.len() - 1);
        self.slots[at].at_ns > at_ns
    }

    /// Brings an entry to its place from the end. It is the youngest, so it comes after all others
    /// of its time.
    #[inline]
    pub(super) fn insert(&mut self, entry: Entry<E>) {
        if self.len == self.slots.len() {
            self.grow(entry);
        }
        let slots = &mut self.slots[..];
        let mask = slots.len() - 1;
        let mut place = self.front.wrapping_add(self.len);
        for _ in 0..self.len {
            let before = slots[place.wrapping_sub(1) & mask];
            if before.at_ns <= entry.at_ns {
                break;
            }
            slots[place & mask] = before;
            place = place.wrapping_sub(1);
        }
        slots[place & mask] = entry;
        self.len += 1;
    }

    /// Doubles the number of slots; `filler` goes where no entry is.
    #[cold]
    fn grow(&mut self, filler: Entry<E>) {
        let length = (self.slots.len() * 2).max(FIRST_CAPACITY);
        let mut slots = Vec::with_capacity(length);
        let mask = self.slots.len().wrapping_sub(1);
        slots
            .extend((0..self.len).map(|number| self.slots[self.front.wrapping_add(number) & mask]));
        slots.resize(length, filler);
        (self.slots, self.front) = (slots, 0);
    }
}
