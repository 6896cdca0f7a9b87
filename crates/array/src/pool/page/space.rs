//! The pages of one disk group: which are free, whose the others are, and what is in flight on
//! each.

use prefetch_index::prefetch_index;

use super::free_map::FreeMap;
use super::order::Order;
use crate::group::GroupId;
use crate::pool::tier::Tier;

/// What is known of a slot of a disk group, in eight bytes that are looked at together. A page that
/// lost its owner is free again only when nothing is in flight on it, so that a late read never
/// sees what the next owner wrote.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The page of the pool that lies there, or `NOBODY`, `RESERVED` or `OTHERS`.
    owner: u32,
    /// Requests in flight on the page.
    reads: u16,
    writes: u16,
}

/// The pages of one disk group.
#[derive(Debug)]
pub(crate) struct GroupSpace {
    pub(crate) group: GroupId,
    pub(crate) tier: Tier,
    /// Nothing new is put here: the group is critical and is being emptied.
    pub(crate) draining: bool,
    /// By place in the order in which slots are taken.
    free_map: FreeMap,
    order: Order,
    /// Slots that hold a page.
    owned: u32,
    /// Slots that hold data of others.
    of_others: u32,
    states: Vec<Slot>,
    /// One bit per slot: something may have been written there, so it does not read as zeros.
    used: Vec<u64>,
    /// Words of those bits that have changed since somebody asked for them last; `None` where nobody does.
    changed: Option<Vec<u32>>,
}

/// The slot is free, or becomes so once nothing is in flight on it.
const NOBODY: u32 = u32::MAX;
/// The slot is the target of a move.
const RESERVED: u32 = u32::MAX - 1;
/// The slot holds data that none of the volumes has.
const OTHERS: u32 = u32::MAX - 2;

impl GroupSpace {
    /// A group of `slots` free slots, the first of which are taken scattered over `spread` of them.
    pub(crate) fn new(group: GroupId, tier: Tier, slots: u32, spread: f64) -> Self {
        let free = Slot {
            owner: NOBODY,
            reads: 0,
            writes: 0,
        };
        Self {
            group,
            tier,
            draining: false,
            free_map: FreeMap::new(slots),
            order: Order::new((f64::from(slots) * spread) as u32),
            owned: 0,
            of_others: 0,
            states: vec![free; slots as usize],
            used: vec![0; (slots as usize).div_ceil(64)],
            changed: None,
        }
    }

    /// Notes slots that are in use for the first time from now on.
    pub(crate) fn note_changes(&mut self) {
        self.changed = Some(Vec::new());
    }

    /// The words of [`GroupSpace::used`] that have changed since the last call.
    pub(crate) fn take_changed(&mut self) -> Vec<(u32, u64)> {
        let changed = self.changed.as_mut().map(std::mem::take);
        let words = changed.into_iter().flatten();
        words.map(|word| (word, self.used[word as usize])).collect()
    }

    /// A bit for each slot in which something may have been written.
    pub(crate) fn used(&self) -> &[u64] {
        &self.used
    }

    /// Takes over such bits of an earlier time.
    pub(crate) fn restore_used(&mut self, used: &[u64]) {
        for (own, &kept) in self.used.iter_mut().zip(used) {
            *own |= kept;
        }
    }

    /// Takes a slot for `page`, if there is such a slot and it is free.
    pub(crate) fn take_slot_for(&mut self, slot: u32, page: u32) -> bool {
        if slot >= self.slots() || !self.free_map.take(self.order.place(slot)) {
            return false;
        }
        self.states[slot as usize].owner = page;
        self.owned += 1;
        true
    }

    /// Slots of the group, free ones included.
    pub(crate) fn slots(&self) -> u32 {
        self.states.len() as u32
    }

    /// Slots that the volumes have or may get.
    pub(crate) fn usable(&self) -> u32 {
        self.slots() - self.of_others
    }

    /// Data of others takes all slots that are free; those that become free later stay so.
    pub(crate) fn fill(&mut self) {
        while let Some(place) = self.free_map.take_lowest() {
            let slot = self.order.slot(place);
            self.states[slot as usize].owner = OTHERS;
            self.mark_used(slot);
            self.of_others += 1;
        }
    }

    /// The data of others is removed.
    pub(crate) fn empty(&mut self) {
        for slot in 0..self.slots() {
            if self.is_of_others(slot) {
                self.release(slot);
            }
        }
        self.of_others = 0;
    }

    /// Whether `slot` holds data of others.
    pub(crate) fn is_of_others(&self, slot: u32) -> bool {
        self.states[slot as usize].owner == OTHERS
    }

    /// Slots that hold a page.
    pub(crate) fn owned(&self) -> u32 {
        self.owned
    }

    /// Slots that can be taken now.
    pub(crate) fn free(&self) -> u32 {
        if self.draining {
            0
        } else {
            self.free_map.free()
        }
    }

    /// Takes the first free slot for `page`; the second value says whether it must be zeroed
    /// before a part of it is written.
    pub(crate) fn take_for(&mut self, page: u32) -> Option<(u32, bool)> {
        let slot = self.take()?;
        self.states[slot as usize].owner = page;
        self.owned += 1;
        let used = self.is_used(slot);
        Some((slot, used))
    }

    /// Takes the first free slot as the target of a move.
    pub(crate) fn reserve(&mut self) -> Option<u32> {
        let slot = self.take()?;
        self.states[slot as usize].owner = RESERVED;
        Some(slot)
    }

    fn take(&mut self) -> Option<u32> {
        if self.draining {
            return None;
        }
        let place = self.free_map.take_lowest()?;
        Some(self.order.slot(place))
    }

    /// A reserved slot now holds `page`.
    pub(crate) fn settle(&mut self, slot: u32, page: u32) {
        assert_eq!(self.states[slot as usize].owner, RESERVED, "slot {slot}");
        self.states[slot as usize].owner = page;
        self.owned += 1;
    }

    /// The owner of `slot` is gone; it is free at once or when nothing is in flight on it.
    pub(crate) fn release(&mut self, slot: u32) {
        assert_ne!(
            self.states[slot as usize].owner, NOBODY,
            "slot {slot} has no owner"
        );
        self.owned -= u32::from(self.owner(slot).is_some());
        self.states[slot as usize].owner = NOBODY;
        self.free_if_idle(slot);
    }

    /// The page that lies in `slot`.
    pub(crate) fn owner(&self, slot: u32) -> Option<u32> {
        Some(self.states[slot as usize].owner).filter(|&owner| owner < OTHERS)
    }

    /// Whether `slot` is the target of a move.
    pub(crate) fn is_reserved(&self, slot: u32) -> bool {
        self.states[slot as usize].owner == RESERVED
    }

    /// Whether `slot` is free, or waits for requests in flight to become so.
    pub(crate) fn is_free_or_lingers(&self, slot: u32) -> (bool, bool) {
        let Slot {
            owner,
            reads,
            writes,
        } = self.states[slot as usize];
        let idle = reads == 0 && writes == 0;
        (
            self.free_map.is_free(self.order.place(slot)),
            owner == NOBODY && !idle,
        )
    }

    /// Has the CPU fetch what is known of `slot`.
    #[inline]
    pub(crate) fn prefetch(&self, slot: u32) {
        prefetch_index(&self.states, slot as usize);
    }

    pub(crate) fn read_begins(&mut self, slot: u32) {
        let reads = &mut self.states[slot as usize].reads;
        assert!(*reads < u16::MAX, "too many reads in flight on slot {slot}");
        *reads += 1;
    }

    pub(crate) fn read_ends(&mut self, slot: u32) {
        let reads = &mut self.states[slot as usize].reads;
        assert!(*reads > 0, "no read is in flight on slot {slot}");
        *reads -= 1;
        if *reads == 0 {
            self.free_if_idle(slot);
        }
    }

    pub(crate) fn write_begins(&mut self, slot: u32) {
        self.mark_used(slot);
        let writes = &mut self.states[slot as usize].writes;
        assert!(*writes < u16::MAX, "too many writes in flight on {slot}");
        *writes += 1;
    }

    pub(crate) fn write_ends(&mut self, slot: u32) {
        let writes = &mut self.states[slot as usize].writes;
        assert!(*writes > 0, "no write is in flight on slot {slot}");
        *writes -= 1;
        if *writes == 0 {
            self.free_if_idle(slot);
        }
    }

    /// Whether a write is in flight on `slot`.
    pub(crate) fn is_written(&self, slot: u32) -> bool {
        self.states[slot as usize].writes > 0
    }

    fn free_if_idle(&mut self, slot: u32) {
        let Slot {
            owner,
            reads,
            writes,
        } = self.states[slot as usize];
        if owner == NOBODY && reads == 0 && writes == 0 {
            self.free_map.put_back(self.order.place(slot));
        }
    }

    fn is_used(&self, slot: u32) -> bool {
        self.used[slot as usize / 64] & (1 << (slot % 64)) != 0
    }

    fn mark_used(&mut self, slot: u32) {
        if self.is_used(slot) {
            return;
        }
        self.used[slot as usize / 64] |= 1 << (slot % 64);
        if let Some(changed) = &mut self.changed {
            changed.push(slot / 64);
        }
    }
}
