//! Models that have events of their own, such as a storage array in virtual time.
//!
//! A model is plain state that says when something happens next. Registered with
//! [`Handle::drive`](crate::Handle::drive), it takes part in the passing of time: the virtual clock
//! jumps to the next timer or to the model's next event, whichever is first; on the wall clock the
//! model follows the time that has really passed.

use std::cell::RefCell;
use std::rc::Rc;

/// Something that happens at instants of its own.
///
/// Both calls take `&self`: a model is shared with the tasks that use it and keeps its state behind
/// cells. No borrow of it may be held while it wakes tasks.
pub trait EventSource {
    /// The instant of the next event; `None` while nothing is going on.
    fn next_event_ns(&self) -> Option<u64>;

    /// Lets everything happen that is due until `now_ns`, in the order of time.
    fn advance_to(&self, now_ns: u64);

    /// Lets one instant after the other happen, none after `limit_ns`, until something has happened
    /// that somebody waits for; gives that instant. `None` if nothing that anybody waits for happens
    /// until then.
    ///
    /// Everything happens as if the clock had been set to each instant in turn.
    fn advance_until_awaited(&self, limit_ns: u64) -> Option<u64> {
        let next_ns = self.next_event_ns().filter(|&ns| ns <= limit_ns)?;
        self.advance_to(next_ns);
        Some(next_ns)
    }
}

/// All models of a runtime, in the order in which they were registered.
#[derive(Default)]
pub(crate) struct Sources {
    sources: RefCell<Vec<Rc<dyn EventSource>>>,
}

impl Sources {
    pub(crate) fn add(&self, source: Rc<dyn EventSource>) {
        self.sources.borrow_mut().push(source);
    }

    /// Lets all models go.
    pub(crate) fn clear(&self) {
        // Outside of the borrow: a model may reach back here as it goes.
        let sources = self.sources.take();
        drop(sources);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sources.borrow().is_empty()
    }

    /// The first event of any model.
    pub(crate) fn next_event_ns(&self) -> Option<u64> {
        let sources = self.sources.borrow();
        sources
            .iter()
            .filter_map(|source| source.next_event_ns())
            .min()
    }

    /// Lets time pass until something happens that somebody waits for, at most until `limit_ns`, the
    /// next timer; gives the instant to go on at. `None` if there is none.
    pub(crate) fn advance_until_awaited(&self, limit_ns: Option<u64>) -> Option<u64> {
        let only = match self.sources.borrow().as_slice() {
            [only] => Some(Rc::clone(only)),
            _ => None,
        };
        match only {
            Some(only) => only
                .advance_until_awaited(limit_ns.unwrap_or(u64::MAX))
                .or(limit_ns),
            // Of several models none may run ahead of the others.
            None => limit_ns.into_iter().chain(self.next_event_ns()).min(),
        }
    }

    /// Lets due events happen. One pass: a model that wakes tasks gets its next turn after them.
    pub(crate) fn advance_to(&self, now_ns: u64) {
        for index in 0.. {
            let Some(source) = self.sources.borrow().get(index).map(Rc::clone) else {
                return;
            };
            if source
                .next_event_ns()
                .is_some_and(|due_ns| due_ns <= now_ns)
            {
                source.advance_to(now_ns);
            }
        }
    }
}
