//! The wall clock: waiting for real storage.
//!
//! The [`Reactor`] owns the requests in flight and the clock. A request is an [`InFlight`] (the memory and
//! the file it needs) with a number in the table of `slots`; it stays there until the kernel is done,
//! even if the task that waited (by `waits`) is gone, so that the kernel never works on memory that has
//! been given to somebody else. Requests own their file ([`Descriptor`]), and the file the reactor:
//! nothing goes before the kernel is done with the memory of a request. When no task can run, the reactor
//! sleeps in the kernel until a request completes, the next timer is due, or another thread wakes a task.
//!
//! How requests reach the kernel is the business of an I/O driver, one of two behind a `queue`: `ring`
//! is io_uring, `threads` a pool of threads that make ordinary system calls, for kernels and containers
//! that refuse io_uring. `options` chooses one.

mod completion;
mod descriptor;
mod in_flight;
mod options;
mod queue;
mod ring;
mod slots;
mod threads;
mod waits;

pub(crate) use descriptor::Descriptor;
pub(crate) use in_flight::{InFlight, Memory, Operation, Vectors};
pub use options::{
    DriverInUse, IoDriver, IoUringError, RingOptions, ThreadOptions, WallClockError,
    WallClockOptions,
};
pub use waits::Readable;

use crate::driver::Driver;
use crate::executor::{Handle, Runtime};
use crate::memory::{Mapping, Registration};
use crate::outstanding::OutstandingRequest;
use completion::Completion;
use queue::Queue;
use rustix::event::{EventfdFlags, eventfd};
use slots::{CompletionAction, Slots};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::num::NonZeroU64;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use waits::Request;

/// Requests that are handed over together in the middle of a round of tasks.
const BATCH_REQUESTS: usize = 16;
/// The longest time that requests or completions wait while tasks of a round run, but for the task
/// that runs when it is over. A call of the kernel costs a microsecond or two, and on a virtual
/// machine handing over each batch of requests leaves it once.
const BATCH_NS: u64 = 100_000;

/// Submits requests, collects completions and wakes those who wait for them.
pub(crate) struct Reactor {
    queue: Queue,
    driver_in_use: DriverInUse,
    slots: RefCell<Slots<InFlight>>,
    /// Those who wait for something to read. They carry nothing: the ring holds the file itself, and
    /// the pool lets go of it with the wait.
    readers: RefCell<Slots<()>>,
    /// Completions just taken in; kept to save allocations.
    arrived: RefCell<Vec<Completion>>,
    /// Readable once another thread has woken a task.
    wake: Arc<OwnedFd>,
    started: Instant,
    /// When requests were handed over and completions taken last.
    turned_ns: Cell<u64>,
}

impl Reactor {
    /// Sets up an I/O driver for this thread.
    pub(crate) fn new(options: &WallClockOptions) -> Result<Self, WallClockError> {
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)
            .map_err(|errno| WallClockError::NoDescriptor(errno.into()))?;
        let wake = Arc::new(wake);
        let (queue, driver_in_use) = Queue::new(options, &wake)?;
        // Sleeps end within a microsecond of their time instead of the usual 50.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        Ok(Self {
            queue,
            driver_in_use,
            slots: RefCell::default(),
            readers: RefCell::default(),
            arrived: RefCell::default(),
            wake,
            started: Instant::now(),
            turned_ns: Cell::new(0),
        })
    }

    /// The reactor of a wall-clock runtime; `None` where time is simulated.
    pub(crate) fn of(handle: &Handle) -> Option<Rc<Self>> {
        let driver: Rc<dyn Any> = handle.driver();
        driver.downcast().ok()
    }

    /// How its requests reach the kernel.
    fn driver_in_use(&self) -> &DriverInUse {
        &self.driver_in_use
    }

    /// Makes a request. It is under way even if the returned future is dropped; what it carries
    /// stays alive until the kernel is done. `done` bytes were moved by an earlier request.
    pub(crate) fn request(
        self: &Rc<Self>,
        mut in_flight: InFlight,
        operation: Operation,
        done: usize,
    ) -> Request {
        let prepared = self.queue.prepare(&mut in_flight, operation, done);
        // As exact as those need who look for requests that take very long, and at hand.
        in_flight.issue(operation, self.turned_ns.get());
        let slot = self.slots.borrow_mut().insert(in_flight);
        self.queue.push(slot, prepared);
        Request::new(Rc::clone(self), slot)
    }

    fn poll_request(&self, slot: u32, context: &Context<'_>) -> Poll<(InFlight, i32)> {
        self.slots.borrow_mut().poll(slot, context)
    }

    fn abandon_request(&self, slot: u32) {
        let payload = self.slots.borrow_mut().abandon(slot);
        drop(payload); // Outside the borrow: it may be the last holder of a file.
    }

    /// Waits until something can be read from a file, or its other end is closed.
    pub(crate) fn readable<'a>(self: &Rc<Self>, file: BorrowedFd<'a>) -> Readable<'a> {
        let slot = self.readers.borrow_mut().insert(());
        self.queue.await_readable(slot, file);
        Readable::new(Rc::clone(self), slot)
    }

    fn poll_readable(&self, slot: u32, context: &Context<'_>) -> Poll<()> {
        self.readers.borrow_mut().poll(slot, context).map(drop)
    }

    fn abandon_readable(&self, slot: u32) {
        let mut readers = self.readers.borrow_mut();
        // Where the ring hands the wait over only after its file is closed, it may name another
        // file by then: what comes of that wakes nobody.
        if readers.abandon(slot).is_none() && self.queue.forget_readable(slot) {
            readers.complete(slot, 0);
        }
    }

    /// Takes completions in and wakes their owners.
    fn reap(&self) {
        let mut arrived = std::mem::take(&mut *self.arrived.borrow_mut());
        self.queue.take(&mut arrived);
        for completion in arrived.drain(..) {
            match completion {
                Completion::Request(slot, result) => {
                    let followup = self.slots.borrow_mut().complete(slot, result);
                    match followup {
                        CompletionAction::Wake(waker) => waker.wake(),
                        CompletionAction::Drop(payload) => drop(payload),
                        CompletionAction::Nothing => {}
                    }
                }
                Completion::Readable(slot) => {
                    let followup = self.readers.borrow_mut().complete(slot, 0);
                    if let CompletionAction::Wake(waker) = followup {
                        waker.wake();
                    }
                }
            }
        }
        *self.arrived.borrow_mut() = arrived;
    }

    /// Enters a file into the ring's table, if there is one with room.
    fn register_file(&self, fd: i32) -> Option<u32> {
        self.queue.ring()?.register_file(fd)
    }

    /// Removes a file from the table.
    fn unregister_file(&self, index: u32) {
        if let Some(ring) = self.queue.ring() {
            ring.unregister_file(index);
        }
    }
}

impl Driver for Reactor {
    fn is_virtual(&self) -> bool {
        false
    }

    fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64 // Wraps after 584 years.
    }

    fn turn(&self) {
        self.turned_ns.set(self.now_ns());
        self.queue.hand_over();
        self.reap();
    }

    fn attend(&self, urgent: bool) {
        let queued = self.queue.queued();
        let enough = queued >= BATCH_REQUESTS || (urgent && queued > 0);
        if enough || self.now_ns() >= self.turned_ns.get() + BATCH_NS {
            self.turn();
        }
    }

    fn park(&self, deadline_ns: Option<u64>) {
        let timeout_ns = deadline_ns.map(|deadline_ns| deadline_ns.saturating_sub(self.now_ns()));
        self.queue.wait(timeout_ns);
        self.reap();
        self.turned_ns.set(self.now_ns());
    }

    fn unparker(&self) -> Option<Box<dyn Fn() + Send + Sync>> {
        let wake = Arc::clone(&self.wake);
        Some(Box::new(move || {
            // It fails only when the counter is full, and then the descriptor is readable anyway.
            let _ = rustix::io::write(&*wake, &1_u64.to_ne_bytes());
        }))
    }

    fn register(self: Rc<Self>, mapping: &Mapping, slot_bytes: usize) -> Option<Registration> {
        ring::register(Rc::clone(self.queue.ring()?), mapping, slot_bytes)
    }

    fn issued_before(&self, before_ns: u64) -> Vec<OutstandingRequest> {
        let slots = self.slots.borrow();
        let old = slots
            .under_way()
            .filter_map(|one| one.issued_before(before_ns));
        old.collect()
    }

    fn shut_down(&self) {
        while self.slots.borrow().in_kernel() > 0 {
            self.queue.wait(None);
            self.reap();
        }
        self.queue.shut_down();
    }
}

impl Runtime {
    /// A runtime on the real clock with an I/O driver of its own.
    ///
    /// # Errors
    /// If there is no driver, or not the one that was asked for; the error says what to change.
    pub fn wall_clock(options: &WallClockOptions) -> Result<Self, WallClockError> {
        Ok(Self::with_driver(Rc::new(Reactor::new(options)?)))
    }
}

impl Handle {
    /// The I/O driver of a wall-clock runtime; `None` where time is simulated.
    #[must_use]
    pub fn io_driver(&self) -> Option<DriverInUse> {
        Some(Reactor::of(self)?.driver_in_use().clone())
    }

    /// Waits until something can be read from a socket or pipe, or its other end is closed; `None`
    /// where time is simulated, and nothing comes from outside.
    ///
    /// Who gives the wait up early must shut the socket down before it closes it: until then the
    /// kernel may keep it open for the wait.
    #[must_use]
    pub fn readable<'a>(&self, file: BorrowedFd<'a>) -> Option<Readable<'a>> {
        Some(Reactor::of(self)?.readable(file))
    }
}
