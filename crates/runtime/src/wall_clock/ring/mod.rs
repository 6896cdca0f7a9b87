//! io_uring: a ring of requests and a ring of completions, shared with the kernel.
//!
//! `entry` makes ring entries of requests, `tables` registers files and memory.

#![allow(unsafe_code)] // Entries hold raw pointers; the ring asks for a promise about them.

mod entry;
mod tables;

pub(super) use tables::register;

use super::completion::Completion;
use super::options::{IoUringError, RingOptions};
use io_uring::{IoUring, Probe, opcode, squeue, types};
use rustix::io::Errno;
use std::cell::{Cell, RefCell};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tables::Table;

/// The number of the entry that waits for other threads; requests are numbered from 0.
const WAKE: u64 = u64::MAX;
/// Added to the numbers of entries that wait for something to read: those of requests have 32 bits.
const READABLE: u64 = 1 << 32;

/// A ring of one thread.
pub(super) struct Ring {
    ring: RefCell<IoUring>,
    wake: Arc<OwnedFd>,
    wake_is_armed: Cell<bool>,
    /// Completions that were taken out of the ring to make room.
    early: RefCell<Vec<Completion>>,
    files: RefCell<Table>,
    buffers: RefCell<Table>,
    /// Whether the kernel takes lists of pieces of registered memory (Linux 6.15).
    takes_fixed_vectors: bool,
    identity: u64,
}

impl Ring {
    /// Sets up a ring for this thread.
    pub(super) fn new(options: &RingOptions, wake: Arc<OwnedFd>) -> Result<Self, IoUringError> {
        static NEXT_IDENTITY: AtomicU64 = AtomicU64::new(0);
        let ring = build(options)?;
        if !is_sufficient(&ring) {
            return Err(IoUringError::NotAvailable);
        }
        // Without the tables everything works, a little slower: their failure is none of ours.
        let submitter = ring.submitter();
        let files = submitter.register_files_sparse(options.registered_files);
        let buffers = submitter.register_buffers_sparse(options.registered_buffers);
        let size_of = |table: std::io::Result<()>, size: u32| table.map_or(0, |()| size);
        Ok(Self {
            files: RefCell::new(Table::new(size_of(files, options.registered_files))),
            buffers: RefCell::new(Table::new(size_of(buffers, options.registered_buffers))),
            takes_fixed_vectors: has_operations(
                &ring,
                &[opcode::ReadvFixed::CODE, opcode::WritevFixed::CODE],
            ),
            ring: RefCell::new(ring),
            wake,
            wake_is_armed: Cell::new(false),
            early: RefCell::default(),
            identity: NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// A number that no other ring of the process has.
    fn identity(&self) -> u64 {
        self.identity
    }

    pub(super) fn push_request(&self, number: u32, entry: squeue::Entry) {
        self.push(&entry.user_data(u64::from(number)));
    }

    pub(super) fn await_readable(&self, number: u32, file: BorrowedFd<'_>) {
        let fd = types::Fd(file.as_raw_fd());
        let entry = opcode::PollAdd::new(fd, libc::POLLIN as u32).build();
        self.push(&entry.user_data(READABLE + u64::from(number)));
    }

    fn push(&self, entry: &squeue::Entry) {
        loop {
            // SAFETY: the entry points only into its `InFlight`, which the reactor keeps until it has
            // taken the completion of the request, or, for `WAKE` and `READABLE`, at nothing.
            if unsafe { self.ring.borrow_mut().submission().push(entry) }.is_ok() {
                return;
            }
            // The queue is full: hand it over. If the kernel has no room for more completions
            // either, it takes nothing in until some are taken out.
            let submitted = self.ring.borrow().submit();
            if let Err(error) = submitted {
                tolerate(&error);
                self.collect(&mut self.early.borrow_mut());
            }
        }
    }

    pub(super) fn queued(&self) -> usize {
        self.ring.borrow_mut().submission().len()
    }

    /// Hands queued entries over, if there are any or the kernel waits for a call to go on.
    pub(super) fn hand_over(&self) {
        let must_enter = {
            let mut ring = self.ring.borrow_mut();
            let queue = ring.submission();
            !queue.is_empty() || queue.taskrun() || queue.cq_overflow()
        };
        if must_enter && let Err(error) = self.ring.borrow().submit() {
            tolerate(&error);
        }
    }

    /// Hands queued entries over and waits for a completion, at most for `timeout_ns`.
    pub(super) fn wait(&self, timeout_ns: Option<u64>) {
        if !self.early.borrow().is_empty() {
            return self.hand_over();
        }
        self.arm_wake();
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

    /// Asks for a completion when another thread writes to the event descriptor.
    fn arm_wake(&self) {
        if self.wake_is_armed.replace(true) {
            return;
        }
        let fd = types::Fd(self.wake.as_raw_fd());
        let entry = opcode::PollAdd::new(fd, libc::POLLIN as u32).build();
        self.push(&entry.user_data(WAKE));
    }

    /// Takes completions out of the ring.
    pub(super) fn take(&self, arrived: &mut Vec<Completion>) {
        arrived.append(&mut self.early.borrow_mut());
        self.collect(arrived);
    }

    fn collect(&self, arrived: &mut Vec<Completion>) {
        let mut ring = self.ring.borrow_mut();
        for entry in ring.completion() {
            let number = entry.user_data();
            if number == WAKE {
                self.wake_is_armed.set(false);
                let _ = rustix::io::read(&*self.wake, &mut [0; 8]);
            } else if number & READABLE != 0 {
                arrived.push(Completion::Readable(number as u32));
            } else {
                arrived.push(Completion::Request(number as u32, entry.result()));
            }
        }
    }
}

/// Sets up a ring in the quickest way that this kernel knows.
fn build(options: &RingOptions) -> Result<IoUring, IoUringError> {
    let mut quickest = IoUring::builder();
    quickest
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag(); // Linux 6.1
    let mut quick = IoUring::builder();
    quick.setup_coop_taskrun().setup_taskrun_flag(); // Linux 5.19
    let plain = IoUring::builder();
    let mut failure = IoUringError::NotAvailable;
    for mut builder in [quickest, quick, plain] {
        builder.dontfork().setup_clamp();
        builder.setup_cqsize(options.completion_entries);
        match builder.build(options.submission_entries) {
            Ok(ring) => return Ok(ring),
            Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => {
                failure = IoUringError::System(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(failure)
}

/// Whether the kernel serves everything that requests here ask for: waiting with a time limit and
/// completions that are never lost (Linux 5.11), and changes of names (Linux 5.11).
fn is_sufficient(ring: &IoUring) -> bool {
    let parameters = ring.params();
    parameters.is_feature_ext_arg()
        && parameters.is_feature_nodrop()
        && has_operations(
            ring,
            &[
                opcode::Read::CODE,
                opcode::Write::CODE,
                opcode::Fsync::CODE,
                opcode::Fallocate::CODE,
                opcode::RenameAt::CODE,
                opcode::UnlinkAt::CODE,
                opcode::PollAdd::CODE,
            ],
        )
}

fn has_operations(ring: &IoUring, codes: &[u8]) -> bool {
    let mut probe = Probe::new();
    let probed = ring.submitter().register_probe(&mut probe);
    probed.is_ok() && codes.iter().all(|code| probe.is_supported(*code))
}

/// Accepts the failures of entering the ring that pass by themselves.
fn tolerate(error: &std::io::Error) {
    match Errno::from_io_error(error) {
        // A timeout, a signal, or a backlog of completions that the next round takes away.
        Some(Errno::TIME | Errno::INTR | Errno::BUSY | Errno::AGAIN) => {}
        _ => panic!("the ring no longer works: {error}"),
    }
}
