//! Doubly linked lists of slots, so that a slot moves between lists in constant time.

/// Marks the end of a list.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Link {
    previous: u32,
    next: u32,
}

/// The links of all slots; each slot is in at most one list of a family.
#[derive(Debug, Default)]
pub(super) struct Links {
    links: Vec<Link>,
}

/// One list of the family.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    head: u32,
    tail: u32,
    length: usize,
}

impl Default for List {
    fn default() -> Self {
        Self {
            head: NONE,
            tail: NONE,
            length: 0,
        }
    }
}

impl List {
    pub(super) fn first(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl Links {
    /// Makes room for `slots` slots.
    pub(super) fn grow(&mut self, slots: usize) {
        if slots > self.links.len() {
            let free = Link {
                previous: NONE,
                next: NONE,
            };
            self.links.resize(slots, free);
        }
    }

    pub(super) fn push_back(&mut self, list: &mut List, slot: u32) {
        self.links[slot as usize] = Link {
            previous: list.tail,
            next: NONE,
        };
        match list.tail {
            NONE => list.head = slot,
            tail => self.links[tail as usize].next = slot,
        }
        list.tail = slot;
        list.length += 1;
    }

    pub(super) fn remove(&mut self, list: &mut List, slot: u32) {
        let Link { previous, next } = self.links[slot as usize];
        match previous {
            NONE => {
                assert_eq!(list.head, slot, "the slot is in this list");
                list.head = next;
            }
            previous => self.links[previous as usize].next = next,
        }
        match next {
            NONE => {
                assert_eq!(list.tail, slot, "the slot is in this list");
                list.tail = previous;
            }
            next => self.links[next as usize].previous = previous,
        }
        assert!(list.length > 0, "a list with a slot is not empty");
        list.length -= 1;
    }

    /// The slot behind `slot` in its list.
    pub(super) fn next(&self, slot: u32) -> Option<u32> {
        let next = self.links[slot as usize].next;
        (next != NONE).then_some(next)
    }
}
