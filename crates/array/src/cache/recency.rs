//! The order in which lines were last used: a ring of their slots.
//!
//! A use takes a line from its place and puts it at the end. The place it leaves stays empty until
//! the front of the ring comes by, so no neighbour is looked at: in a list each use would wait for
//! two more lines to come from main memory. A full ring is compacted.

use super::line::{NONE, NOWHERE};

/// Places for each line of the ring when it is compacted.
const PLACES_PER_LINE: usize = 4;

/// Slots from the least to the most recently used; [`NONE`] where one has left.
#[derive(Debug, Default)]
pub(super) struct Recency {
    /// A power of two long, or empty.
    ring: Vec<u32>,
    /// Places left behind by the front and by the end since the beginning.
    front: usize,
    end: usize,
    standing: usize,
}

impl Recency {
    /// Lines in the ring.
    #[inline]
    pub fn len(&self) -> u64 {
        self.standing as u64
    }

    #[inline]
    fn place(&self, position: usize) -> usize {
        position & self.ring.len().wrapping_sub(1)
    }

    /// The line that was not used for longest.
    #[inline]
    pub fn oldest(&mut self) -> Option<u32> {
        while self.front < self.end {
            let slot = self.ring[self.place(self.front)];
            if slot != NONE {
                return Some(slot);
            }
            self.front += 1;
        }
        None
    }

    /// The line that many places behind the front, if there is one.
    #[inline]
    pub fn behind_front(&self, places: usize) -> Option<u32> {
        let position = self.front + places;
        let slot = (position < self.end).then(|| self.ring[self.place(position)]);
        slot.filter(|&slot| slot != NONE)
    }

    /// Whether a line was used last of all.
    #[inline]
    pub fn is_newest(&self, slot: u32) -> bool {
        self.front < self.end && self.ring[self.place(self.end - 1)] == slot
    }

    /// Whether a line is at a place.
    pub fn is_at(&self, slot: u32, place: u32) -> bool {
        self.ring.get(place as usize) == Some(&slot)
    }

    /// Whether the next line needs a ring drawn together before.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.end - self.front == self.ring.len()
    }

    /// Puts a line at the end of a ring that is not full; gives its place.
    #[inline]
    pub fn push(&mut self, slot: u32) -> u32 {
        assert!(!self.is_full(), "a line is put where there is room");
        let place = self.place(self.end);
        self.ring[place] = slot;
        self.end += 1;
        self.standing += 1;
        place as u32
    }

    /// Takes out the line at a place.
    #[inline]
    pub fn remove(&mut self, place: u32) {
        self.ring[place as usize] = NONE;
        self.standing -= 1;
    }

    /// Draws the ring together, and makes it longer or shorter if need be; `moved(slot, place)`
    /// hears of every line.
    #[cold]
    pub fn compact(&mut self, mut moved: impl FnMut(u32, u32)) {
        let positions = self.front..self.end;
        let slots = positions.map(|position| self.ring[self.place(position)]);
        let mut ring: Vec<u32> = slots.filter(|&slot| slot != NONE).collect();
        assert_eq!(ring.len(), self.standing, "lines in the order of their use");
        for (place, &slot) in ring.iter().enumerate() {
            moved(slot, place as u32);
        }
        let places = (self.standing.max(16) * PLACES_PER_LINE).next_power_of_two();
        assert!(places < NOWHERE as usize, "more lines than can be numbered");
        ring.resize(places, NONE);
        (self.front, self.end) = (0, self.standing);
        self.ring = ring;
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::{NOWHERE, Recency};

    #[test]
    fn lines_leave_in_the_order_of_their_last_use() {
        for seed in 0..60_u64 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let lines = [1_u32, 7, 300][(seed % 3) as usize];
            let mut recency = Recency::default();
            let mut places = vec![NOWHERE; lines as usize];
            let mut model: Vec<u32> = Vec::new();
            for step in 0..3_000 {
                let slot = random.random_range(0..lines);
                let place = std::mem::replace(&mut places[slot as usize], NOWHERE);
                if place != NOWHERE {
                    assert!(recency.is_at(slot, place), "seed {seed}, step {step}");
                    recency.remove(place);
                    model.retain(|&other| other != slot);
                }
                if random.random_bool(0.7) {
                    if recency.is_full() {
                        recency.compact(|slot, place| places[slot as usize] = place);
                    }
                    places[slot as usize] = recency.push(slot);
                    model.push(slot);
                    assert!(recency.is_newest(slot), "seed {seed}, step {step}");
                }
                let oldest = model.first().copied();
                assert_eq!(recency.oldest(), oldest, "seed {seed}, step {step}");
                assert_eq!(recency.behind_front(0), oldest, "seed {seed}, step {step}");
                assert_eq!(recency.len(), model.len() as u64, "seed {seed}");
            }
        }
    }
}
