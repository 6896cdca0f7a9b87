//! The requests in flight, by number.

use std::task::{Context, Poll, Waker};

enum Slot<P> {
    Free,
    /// In the kernel; a task waits for it or will.
    Awaited(P, Option<Waker>),
    /// In the kernel; no task waits any more.
    Abandoned(P),
    /// Completed, not yet taken out by its task.
    Done(P, i32),
}

/// The requests of a ring, each with its payload. The number of a request is its `user_data`.
pub(super) struct Slots<P> {
    slots: Vec<Slot<P>>,
    free: Vec<u32>,
    in_kernel: usize,
}

impl<P> Default for Slots<P> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            in_kernel: 0,
        }
    }
}

/// What the caller does with a completion once it no longer borrows the table,
/// as wakers and drops may reach back to it.
pub(super) enum CompletionAction<P> {
    Wake(Waker),
    Drop(#[allow(dead_code, reason = "only to be dropped")] P),
    Nothing,
}

impl<P> Slots<P> {
    /// Requests that the kernel has not completed.
    pub(super) fn in_kernel(&self) -> usize {
        self.in_kernel
    }

    /// The payloads of the requests that the kernel has not completed.
    pub(super) fn under_way(&self) -> impl Iterator<Item = &P> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Awaited(payload, _) | Slot::Abandoned(payload) => Some(payload),
            Slot::Free | Slot::Done(..) => None,
        })
    }

    pub(super) fn insert(&mut self, payload: P) -> u32 {
        self.in_kernel += 1;
        let slot = Slot::Awaited(payload, None);
        if let Some(index) = self.free.pop() {
            self.slots[index as usize] = slot;
            return index;
        }
        self.slots.push(slot);
        (self.slots.len() - 1) as u32
    }

    /// Notes that the kernel is done with a request.
    pub(super) fn complete(&mut self, index: u32, result: i32) -> CompletionAction<P> {
        self.in_kernel -= 1;
        let slot = &mut self.slots[index as usize];
        match std::mem::replace(slot, Slot::Free) {
            Slot::Awaited(payload, waker) => {
                *slot = Slot::Done(payload, result);
                waker.map_or(CompletionAction::Nothing, CompletionAction::Wake)
            }
            Slot::Abandoned(payload) => {
                self.free.push(index);
                CompletionAction::Drop(payload)
            }
            Slot::Free | Slot::Done(..) => unreachable!("a request completes once"),
        }
    }

    /// Takes a request out if it is done, or notes the waker.
    pub(super) fn poll(&mut self, index: u32, context: &Context<'_>) -> Poll<(P, i32)> {
        let slot = &mut self.slots[index as usize];
        match std::mem::replace(slot, Slot::Free) {
            Slot::Done(payload, result) => {
                self.free.push(index);
                Poll::Ready((payload, result))
            }
            Slot::Awaited(payload, waker) => {
                let waker = match waker {
                    Some(waker) if waker.will_wake(context.waker()) => waker,
                    _ => context.waker().clone(),
                };
                *slot = Slot::Awaited(payload, Some(waker));
                Poll::Pending
            }
            Slot::Free | Slot::Abandoned(_) => unreachable!("only the waiting task polls"),
        }
    }

    /// Cancels the wait for a request. Returns its payload if the kernel is done with it.
    pub(super) fn abandon(&mut self, index: u32) -> Option<P> {
        let slot = &mut self.slots[index as usize];
        match std::mem::replace(slot, Slot::Free) {
            Slot::Awaited(payload, _) => {
                *slot = Slot::Abandoned(payload);
                None
            }
            Slot::Done(payload, _) => {
                self.free.push(index);
                Some(payload)
            }
            Slot::Free | Slot::Abandoned(_) => unreachable!("a wait is cancelled once"),
        }
    }
}
