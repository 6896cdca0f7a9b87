//! How far the log of a database has come at its copy.

use crate::error::EngineError;
use crate::log::LogCore;
use crate::position::LogPosition;
use runtime::sync::Notify;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// How far a passive copy has come, in log files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopyState {
    /// Log files shipped.
    pub shipped: u32,
    /// Log files replayed.
    pub replayed: u32,
    /// Full log files of the database that were not shipped yet: the copy queue.
    pub copy_queue: u32,
    /// Shipped log files that were not replayed yet: the replay queue.
    pub replay_queue: u32,
    /// The longest copy queue so far.
    pub longest_copy_queue: u32,
    /// The longest replay queue so far.
    pub longest_replay_queue: u32,
}

/// What shipping and replay share.
pub(super) struct Progress {
    log: Rc<LogCore>,
    /// The first file to be shipped.
    first: u32,
    /// The file to be shipped next.
    shipped: Cell<u32>,
    /// The file to be replayed next.
    replayed: Cell<u32>,
    longest_copy_queue: Cell<u32>,
    longest_replay_queue: Cell<u32>,
    /// Positions of the log, each with one that nothing begun before it needs to go back beyond.
    not_needed: RefCell<VecDeque<(LogPosition, LogPosition)>>,
    failure: RefCell<Option<(u32, EngineError)>>,
    /// Nothing more will be shipped.
    shipping_ended: Cell<bool>,
    ended: Cell<bool>,
    pub(super) changed: Notify,
}

impl Progress {
    pub(super) fn new(first: u32, log: Rc<LogCore>) -> Rc<Self> {
        Rc::new(Self {
            log,
            first,
            shipped: Cell::new(first),
            replayed: Cell::new(first),
            longest_copy_queue: Cell::new(0),
            longest_replay_queue: Cell::new(0),
            not_needed: RefCell::default(),
            failure: RefCell::default(),
            shipping_ended: Cell::new(false),
            ended: Cell::new(false),
            changed: Notify::default(),
        })
    }

    /// The next file to be shipped is that of `generation`.
    pub(super) fn set_shipped(&self, generation: u32) {
        self.note_queues();
        self.shipped.set(generation);
        self.note_queues();
        self.changed.notify_all();
    }

    /// The next file to be replayed is that of `generation`.
    pub(super) fn set_replayed(&self, generation: u32) {
        self.replayed.set(generation);
    }

    /// The file to be replayed next, if it has been shipped.
    pub(super) fn next_to_replay(&self) -> Option<u32> {
        let next = self.replayed.get();
        (next < self.shipped.get()).then_some(next)
    }

    fn queues(&self) -> (u32, u32) {
        let (shipped, replayed) = (self.shipped.get(), self.replayed.get());
        (
            self.log.generation().saturating_sub(shipped),
            shipped - replayed,
        )
    }

    fn note_queues(&self) {
        let (copy, replay) = self.queues();
        let keep = |longest: &Cell<u32>, now: u32| longest.set(longest.get().max(now));
        keep(&self.longest_copy_queue, copy);
        keep(&self.longest_replay_queue, replay);
    }

    pub(super) fn state(&self) -> CopyState {
        self.note_queues();
        let (copy_queue, replay_queue) = self.queues();
        CopyState {
            shipped: self.shipped.get() - self.first,
            replayed: self.replayed.get() - self.first,
            copy_queue,
            replay_queue,
            longest_copy_queue: self.longest_copy_queue.get(),
            longest_replay_queue: self.longest_replay_queue.get(),
        }
    }

    /// What holds of the database at a position of its log.
    pub(super) fn note_not_needed(&self, at: LogPosition, before: LogPosition) {
        self.not_needed.borrow_mut().push_back((at, before));
    }

    /// What replay up to `position` needs not go back beyond any more.
    pub(super) fn not_needed_at(&self, position: LogPosition) -> Option<LogPosition> {
        let mut noted = self.not_needed.borrow_mut();
        let mut newest = None;
        while noted.front().is_some_and(|(at, _)| *at <= position) {
            newest = noted.pop_front().map(|(_, before)| before);
        }
        newest
    }

    /// Ends replication because of an error; the first one counts.
    pub(super) fn suspend(&self, generation: u32, error: EngineError) {
        self.failure.borrow_mut().get_or_insert((generation, error));
        self.changed.notify_all();
    }

    pub(super) fn failure(&self) -> Option<EngineError> {
        let failure = self.failure.borrow();
        failure.as_ref().map(|(_, error)| error.clone())
    }

    pub(super) fn suspension(&self) -> Option<String> {
        let failure = self.failure.borrow();
        failure.as_ref().map(|(generation, error)| {
            format!("Replication is suspended since log file {generation}: {error}")
        })
    }

    /// Nothing more shall be done.
    pub(super) fn end(&self) {
        self.ended.set(true);
        self.changed.notify_all();
    }

    /// Whether nothing more shall be shipped or replayed.
    pub(super) fn is_over(&self) -> bool {
        self.ended.get() || self.failure.borrow().is_some()
    }

    pub(super) fn end_shipping(&self) {
        self.shipping_ended.set(true);
        self.changed.notify_all();
    }

    pub(super) fn has_shipping_ended(&self) -> bool {
        self.shipping_ended.get()
    }
}
