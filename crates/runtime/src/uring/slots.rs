//! The requests that are under way, by number.

use std::task::{Context, Poll, Waker};

enum Slot<C> {
    Free,
    /// In the kernel; somebody waits or will.
    Awaited(C, Option<Waker>),
    /// In the kernel; nobody waits any more.
    Abandoned(#[allow(dead_code, reason = "held for the kernel, see Cargo")] C),
    /// Back from the kernel, not yet collected.
    Done(C, i32),
}

/// A table of requests, each with what it carries, whose numbers travel through the ring.
pub(super) struct Slots<C> {
    slots: Vec<Slot<C>>,
    free: Vec<u32>,
    in_kernel: usize,
}

impl<C> Default for Slots<C> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            in_kernel: 0,
        }
    }
}

/// What is left to do once a completion was noted. Done by the caller after it let go of the table,
/// as wakers and drops may reach back to it.
pub(super) enum Followup<C> {
    Wake(Waker),
    Drop(#[allow(dead_code, reason = "only to be dropped")] C),
    Nothing,
}

impl<C> Slots<C> {
    /// Requests that the kernel has not completed.
    pub(super) fn in_kernel(&self) -> usize {
        self.in_kernel
    }

    pub(super) fn insert(&mut self, cargo: C) -> u32 {
        self.in_kernel += 1;
        let slot = Slot::Awaited(cargo, None);
        if let Some(index) = self.free.pop() {
            self.slots[index as usize] = slot;
            return index;
        }
        self.slots.push(slot);
        (self.slots.len() - 1) as u32
    }

    /// Notes that the kernel is done with a request.
    pub(super) fn complete(&mut self, index: u32, result: i32) -> Followup<C> {
        self.in_kernel -= 1;
        let slot = &mut self.slots[index as usize];
        match std::mem::replace(slot, Slot::Free) {
            Slot::Awaited(cargo, waker) => {
                *slot = Slot::Done(cargo, result);
                waker.map_or(Followup::Nothing, Followup::Wake)
            }
            Slot::Abandoned(cargo) => {
                self.free.push(index);
                Followup::Drop(cargo)
            }
            Slot::Free | Slot::Done(..) => unreachable!("a request completes once"),
        }
    }

    /// Collects a request if it is done, or remembers whom to wake.
    pub(super) fn poll(&mut self, index: u32, context: &Context<'_>) -> Poll<(C, i32)> {
        let slot = &mut self.slots[index as usize];
        match std::mem::replace(slot, Slot::Free) {
            Slot::Done(cargo, result) => {
                self.free.push(index);
                Poll::Ready((cargo, result))
            }
            Slot::Awaited(cargo, waker) => {
                let waker = match waker {
                    Some(waker) if waker.will_wake(context.waker()) => waker,
                    _ => context.waker().clone(),
                };
                *slot = Slot::Awaited(cargo, Some(waker));
                Poll::Pending
            }
            Slot::Free | Slot::Abandoned(_) => unreachable!("only the one who waits polls"),
        }
    }

    /// Gives a request up. Returns what it carried if the kernel is done with it.
    pub(super) fn abandon(&mut self, index: u32) -> Option<C> {
        let slot = &mut self.slots[index as usize];
        match std::mem::replace(slot, Slot::Free) {
            Slot::Awaited(cargo, _) => {
                *slot = Slot::Abandoned(cargo);
                None
            }
            Slot::Done(cargo, _) => {
                self.free.push(index);
                Some(cargo)
            }
            Slot::Free | Slot::Abandoned(_) => unreachable!("a request is given up once"),
        }
    }
}
