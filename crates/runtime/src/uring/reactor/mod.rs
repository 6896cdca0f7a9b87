//! The driver of the wall clock: one ring, the requests in it, and the clock itself.
//!
//! The reactor owns the requests in flight ([`InFlight`]), they own their file ([`Descriptor`]), and
//! the file the reactor: nothing goes before the kernel is done with the memory of a request.
//! `tables` registers files and memory with the ring.

#![allow(unsafe_code)] // Entries hold raw pointers; the ring asks for a promise about them.

mod descriptor;
mod in_flight;
mod tables;

pub(crate) use descriptor::Descriptor;
pub(crate) use in_flight::{InFlight, Memory, Operation, Vectors};

use super::options::{UringError, UringOptions};
use super::slots::{CompletionAction, Slots};
use crate::buffer::Buffer;
use crate::driver::Driver;
use crate::executor::{Handle, Runtime};
use crate::memory::{Mapping, Registration};
use crate::outstanding::OutstandingRequest;
use io_uring::{IoUring, Probe, opcode, squeue, types};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;
use tables::{Table, register};

/// The number of the entry that waits for other threads; requests are numbered from 0.
const WAKE: u64 = u64::MAX;
/// Added to the numbers of entries that wait for something to read: those of requests have 32 bits.
const READABLE: u64 = 1 << 32;

/// Requests that are handed over together in the middle of a round of tasks.
const BATCH_REQUESTS: usize = 16;
/// The longest time that requests or completions wait while tasks of a round run, but for the task
/// that runs when it is over. A call of the kernel costs a microsecond or two, and on a virtual
/// machine handing over each batch of requests leaves it once.
const BATCH_NS: u64 = 100_000;

/// Submits requests, collects completions and wakes those who wait for them.
pub(crate) struct Reactor {
    ring: RefCell<IoUring>,
    slots: RefCell<Slots<InFlight>>,
    /// Those who wait for something to read. They carry nothing: from the moment the kernel takes an
    /// entry it holds the file itself.
    readers: RefCell<Slots<()>>,
    /// Completions just taken out of the ring; kept to save allocations.
    arrived: RefCell<Vec<(u64, i32)>>,
    /// Readable once another thread has woken a task.
    wake: Arc<OwnedFd>,
    wake_is_armed: Cell<bool>,
    started: Instant,
    /// When requests were handed over and completions taken last.
    turned_ns: Cell<u64>,
    files: RefCell<Table>,
    buffers: RefCell<Table>,
    /// Whether the kernel takes lists of pieces of registered memory (Linux 6.15).
    takes_fixed_vectors: bool,
    identity: u64,
}

impl Reactor {
    /// Sets up a ring for this thread.
    pub(crate) fn new(options: &UringOptions) -> Result<Self, UringError> {
        static NEXT_IDENTITY: AtomicU64 = AtomicU64::new(0);
        let ring = build_ring(options)?;
        if !ring.params().is_feature_ext_arg() || !ring.params().is_feature_nodrop() {
            return Err(UringError::NotAvailable);
        }
        // Without the tables everything works, a little slower: their failure is none of ours.
        let submitter = ring.submitter();
        let files = submitter.register_files_sparse(options.registered_files);
        let buffers = submitter.register_buffers_sparse(options.registered_buffers);
        let size_of = |table: std::io::Result<()>, size: u32| table.map_or(0, |()| size);
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)
            .map_err(|errno| UringError::System(errno.into()))?;
        // Sleeps end within a microsecond of their time instead of the usual 50.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        Ok(Self {
            files: RefCell::new(Table::new(size_of(files, options.registered_files))),
            buffers: RefCell::new(Table::new(size_of(buffers, options.registered_buffers))),
            takes_fixed_vectors: takes_fixed_vectors(&ring),
            ring: RefCell::new(ring),
            slots: RefCell::default(),
            readers: RefCell::default(),
            arrived: RefCell::default(),
            wake: Arc::new(wake),
            wake_is_armed: Cell::new(false),
            started: Instant::now(),
            turned_ns: Cell::new(0),
            identity: NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// The ring of a wall-clock runtime; `None` where time is simulated.
    pub(crate) fn of(handle: &Handle) -> Option<Rc<Self>> {
        let driver: Rc<dyn Any> = handle.driver();
        driver.downcast().ok()
    }

    /// A number that no other ring of the process has.
    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    /// The number of the one registered piece of memory in which all of `buffers` lie, if there is
    /// one and vectored requests can use it.
    pub(super) fn fixed_index_of<'a>(
        &self,
        mut buffers: impl Iterator<Item = &'a Buffer>,
    ) -> Option<u16> {
        if !self.takes_fixed_vectors {
            return None;
        }
        let index = buffers.next()?.fixed_index(self.identity)?;
        buffers
            .all(|buffer| buffer.fixed_index(self.identity) == Some(index))
            .then_some(index)
    }

    /// Makes a request. It is under way even if the returned future is dropped; what it carries
    /// stays alive until the kernel is done. `done` bytes were moved by an earlier request.
    pub(crate) fn request(
        self: &Rc<Self>,
        mut in_flight: InFlight,
        operation: Operation,
        done: usize,
    ) -> Request {
        let entry = in_flight.entry(operation, done);
        // As exact as those need who look for requests that take very long, and at hand.
        in_flight.issue(operation, self.turned_ns.get());
        let slot = self.slots.borrow_mut().insert(in_flight);
        self.push(&entry.user_data(u64::from(slot)));
        Request {
            reactor: Rc::clone(self),
            slot: Some(slot),
        }
    }

    /// Waits until something can be read from a file, or its other end is closed.
    pub(crate) fn readable<'a>(self: &Rc<Self>, file: BorrowedFd<'a>) -> Readable<'a> {
        let slot = self.readers.borrow_mut().insert(());
        let fd = types::Fd(file.as_raw_fd());
        let entry = opcode::PollAdd::new(fd, libc::POLLIN as u32).build();
        self.push(&entry.user_data(READABLE + u64::from(slot)));
        Readable {
            reactor: Rc::clone(self),
            slot: Some(slot),
            file: PhantomData,
        }
    }

    fn push(&self, entry: &squeue::Entry) {
        loop {
            // SAFETY: the entry points only into its `InFlight`, which is in `slots` from before this
            // call until the kernel has completed the request, or, for `WAKE` and `READABLE`, at
            // nothing.
            if unsafe { self.ring.borrow_mut().submission().push(entry) }.is_ok() {
                return;
            }
            // The queue is full: hand it over. If the kernel has no room for more completions
            // either, it takes nothing in until some are taken out.
            let submitted = self.ring.borrow().submit();
            if let Err(error) = submitted {
                tolerate(&error);
                self.reap();
            }
        }
    }

    /// Asks for a completion when another thread writes to the event descriptor.
    fn arm_wake(&self) {
        if self.wake_is_armed.replace(true) {
            return;
        }
        let fd = types::Fd(self.wake.as_raw_fd());
        let entry = opcode::PollAdd::new(fd, libc::POLLIN as u32).build();
        self.push(&entry.user_data(WAKE));
    }

    /// Takes completions out of the ring and wakes their owners.
    fn reap(&self) {
        let mut arrived = std::mem::take(&mut *self.arrived.borrow_mut());
        {
            let mut ring = self.ring.borrow_mut();
            let completions = ring.completion();
            arrived.extend(completions.map(|entry| (entry.user_data(), entry.result())));
        }
        for (number, result) in arrived.drain(..) {
            if number == WAKE {
                self.wake_is_armed.set(false);
                let _ = rustix::io::read(&*self.wake, &mut [0; 8]);
                continue;
            }
            if number & READABLE != 0 {
                let followup = self.readers.borrow_mut().complete(number as u32, result);
                if let CompletionAction::Wake(waker) = followup {
                    waker.wake();
                }
                continue;
            }
            let followup = self.slots.borrow_mut().complete(number as u32, result);
            match followup {
                CompletionAction::Wake(waker) => waker.wake(),
                CompletionAction::Drop(payload) => drop(payload),
                CompletionAction::Nothing => {}
            }
        }
        *self.arrived.borrow_mut() = arrived;
    }

    /// Hands queued entries over and waits for a completion, at most for `timeout_ns`.
    fn submit_and_wait(&self, timeout_ns: Option<u64>) {
        let ring = self.ring.borrow();
        let result = match timeout_ns {
            None => ring.submit_and_wait(1),
            Some(timeout_ns) => {
                let timeout = types::Timespec::new()
                    .sec(timeout_ns / 1_000_000_000)
                    .nsec((timeout_ns % 1_000_000_000) as u32);
                let arguments = types::SubmitArgs::new().timespec(&timeout);
                ring.submitter().submit_with_args(1, &arguments)
            }
        };
        if let Err(error) = result {
            tolerate(&error);
        }
    }

    /// Enters a file into the ring's table, if there is room.
    pub(super) fn register_file(&self, fd: i32) -> Option<u32> {
        let index = self.files.borrow_mut().take(1)?;
        let ring = self.ring.borrow();
        if ring.submitter().register_files_update(index, &[fd]).is_ok() {
            return Some(index);
        }
        self.files.borrow_mut().give_back(index, 1);
        None
    }

    /// Removes a file from the table.
    pub(super) fn unregister_file(&self, index: u32) {
        let ring = self.ring.borrow();
        // Entries not yet handed over name the file by its index; but their `InFlight` holds the file,
        // so there are none.
        if ring.submitter().register_files_update(index, &[-1]).is_ok() {
            self.files.borrow_mut().give_back(index, 1);
        }
    }

    /// Enters pieces of memory into the ring's table, side by side.
    ///
    /// # Safety
    /// The memory must stay mapped until [`Reactor::unregister_memory`].
    pub(super) unsafe fn register_memory(&self, pieces: &[libc::iovec]) -> Option<u32> {
        let count = u32::try_from(pieces.len()).ok()?;
        let first = self.buffers.borrow_mut().take(count)?;
        let ring = self.ring.borrow();
        // SAFETY: the caller promises that the memory stays.
        let result = unsafe {
            ring.submitter()
                .register_buffers_update(first, pieces, None)
        };
        if result.is_ok() {
            return Some(first);
        }
        drop(ring);
        self.unregister_memory(first, count); // Some of the pieces may have got in.
        None
    }

    /// Removes pieces of memory from the table.
    pub(super) fn unregister_memory(&self, first: u32, count: u32) {
        let nothing = libc::iovec {
            iov_base: std::ptr::null_mut(),
            iov_len: 0,
        };
        let pieces = vec![nothing; count as usize];
        let ring = self.ring.borrow();
        // SAFETY: empty entries name no memory.
        let result = unsafe {
            ring.submitter()
                .register_buffers_update(first, &pieces, None)
        };
        if result.is_ok() {
            self.buffers.borrow_mut().give_back(first, count);
        }
    }
}

/// Sets up a ring in the quickest way that this kernel knows.
fn build_ring(options: &UringOptions) -> Result<IoUring, UringError> {
    let mut quickest = IoUring::builder();
    quickest
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag(); // Linux 6.1
    let mut quick = IoUring::builder();
    quick.setup_coop_taskrun().setup_taskrun_flag(); // Linux 5.19
    let plain = IoUring::builder();
    let mut failure = UringError::NotAvailable;
    for mut builder in [quickest, quick, plain] {
        builder.dontfork().setup_clamp();
        builder.setup_cqsize(options.completion_entries);
        match builder.build(options.submission_entries) {
            Ok(ring) => return Ok(ring),
            Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => {
                failure = UringError::System(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(failure)
}

fn takes_fixed_vectors(ring: &IoUring) -> bool {
    let mut probe = Probe::new();
    let probed = ring.submitter().register_probe(&mut probe);
    probed.is_ok()
        && probe.is_supported(opcode::ReadvFixed::CODE)
        && probe.is_supported(opcode::WritevFixed::CODE)
}

/// Accepts the failures of entering the ring that pass by themselves.
fn tolerate(error: &std::io::Error) {
    match Errno::from_io_error(error) {
        // A timeout, a signal, or a backlog of completions that the next round takes away.
        Some(Errno::TIME | Errno::INTR | Errno::BUSY | Errno::AGAIN) => {}
        _ => panic!("the ring no longer works: {error}"),
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
        let must_enter = {
            let mut ring = self.ring.borrow_mut();
            let queue = ring.submission();
            !queue.is_empty() || queue.taskrun() || queue.cq_overflow()
        };
        if must_enter && let Err(error) = self.ring.borrow().submit() {
            tolerate(&error);
        }
        self.reap();
    }

    fn attend(&self, urgent: bool) {
        let queued = self.ring.borrow_mut().submission().len();
        let enough = queued >= BATCH_REQUESTS || (urgent && queued > 0);
        if enough || self.now_ns() >= self.turned_ns.get() + BATCH_NS {
            self.turn();
        }
    }

    fn park(&self, deadline_ns: Option<u64>) {
        self.arm_wake();
        let timeout_ns = deadline_ns.map(|deadline_ns| deadline_ns.saturating_sub(self.now_ns()));
        self.submit_and_wait(timeout_ns);
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
        register(self, mapping, slot_bytes)
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
            self.submit_and_wait(None);
            self.reap();
        }
    }
}

impl Runtime {
    /// A runtime on the real clock, whose I/O goes through an io_uring of its own.
    ///
    /// # Errors
    /// If the kernel refuses the ring; the error says what to change.
    pub fn wall_clock(options: &UringOptions) -> Result<Self, UringError> {
        Ok(Self::with_driver(Rc::new(Reactor::new(options)?)))
    }
}

impl Handle {
    /// Waits until something can be read from a socket or pipe, or its other end is closed; `None`
    /// where time is simulated, and nothing comes from outside.
    ///
    /// Who gives the wait up early must shut the socket down before it closes it: until then the
    /// kernel keeps it open for the wait.
    #[must_use]
    pub fn readable<'a>(&self, file: BorrowedFd<'a>) -> Option<Readable<'a>> {
        Some(Reactor::of(self)?.readable(file))
    }
}

/// Waits for something to read; whatever comes, reading says more. Who gives it up early and closes
/// the file must shut it down first: the kernel holds it as long as the entry waits.
pub struct Readable<'a> {
    reactor: Rc<Reactor>,
    slot: Option<u32>,
    file: PhantomData<BorrowedFd<'a>>,
}

impl Future for Readable<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let slot = self.slot.expect("a finished wait is not polled again");
        let poll = self.reactor.readers.borrow_mut().poll(slot, context);
        if poll.is_ready() {
            self.slot = None;
        }
        poll.map(drop)
    }
}

impl Drop for Readable<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            // Should the entry be handed over only after its file is closed, it may name another
            // one by then: what comes of that wakes nobody.
            self.reactor.readers.borrow_mut().abandon(slot);
        }
    }
}

/// Waits for a request. Dropping it lets the request finish alone.
pub(crate) struct Request {
    reactor: Rc<Reactor>,
    slot: Option<u32>,
}

impl Future for Request {
    type Output = (InFlight, i32);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(InFlight, i32)> {
        let slot = self.slot.expect("a finished request is not polled again");
        let poll = self.reactor.slots.borrow_mut().poll(slot, context);
        if poll.is_ready() {
            self.slot = None;
        }
        poll
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            let payload = self.reactor.slots.borrow_mut().abandon(slot);
            drop(payload); // Outside the borrow: it may be the last holder of a file.
        }
    }
}
