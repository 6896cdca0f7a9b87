//! A pool of threads, each of which makes one system call at a time: for kernels and containers that
//! refuse io_uring.
//!
//! A request under way has a thread, so storage sees the queue depth that it would see of a ring, up
//! to the size of the pool. Threads are started as they are needed. `call` is the system call of a
//! request, `exchange` what the threads and the reactor give each other, `readers` where the reactor
//! sleeps.

mod call;
mod exchange;
mod readers;

pub(super) use call::Call;

use super::completion::Completion;
use super::options::{ThreadOptions, WallClockError};
use exchange::Exchange;
use readers::Readers;
use std::cell::RefCell;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Memory for the stack of a thread that does nothing but system calls.
const STACK_BYTES: usize = 128 << 10;

/// The threads of one reactor.
pub(super) struct Pool {
    exchange: Arc<Exchange>,
    threads: RefCell<Vec<JoinHandle<()>>>,
    threads_max: usize,
    /// Calls that are not handed over.
    queued: RefCell<Vec<(u32, Call)>>,
    readers: RefCell<Readers>,
}

impl Pool {
    /// A pool with one thread to begin with. Its waits end when `wake` can be read.
    pub(super) fn new(options: &ThreadOptions, wake: Arc<OwnedFd>) -> Result<Self, WallClockError> {
        let pool = Self {
            exchange: Arc::new(Exchange::new(Arc::clone(&wake))),
            threads: RefCell::default(),
            threads_max: options.threads_max.max(1),
            queued: RefCell::default(),
            readers: RefCell::new(Readers::new(wake)),
        };
        pool.start_thread().map_err(WallClockError::NoThread)?;
        Ok(pool)
    }

    fn start_thread(&self) -> std::io::Result<()> {
        let exchange = Arc::clone(&self.exchange);
        let thread = std::thread::Builder::new()
            .name("proofload-io".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || exchange.serve())?;
        self.threads.borrow_mut().push(thread);
        Ok(())
    }

    pub(super) fn push(&self, number: u32, call: Call) {
        self.queued.borrow_mut().push((number, call));
    }

    pub(super) fn queued(&self) -> usize {
        self.queued.borrow().len()
    }

    pub(super) fn await_readable(&self, number: u32, file: BorrowedFd<'_>) {
        self.readers.borrow_mut().add(number, file);
    }

    /// Returns `false` if the wait is over, and its completion not yet taken.
    pub(super) fn forget_readable(&self, number: u32) -> bool {
        self.readers.borrow_mut().forget(number)
    }

    /// Gives queued calls to threads and looks who can read, without waiting.
    pub(super) fn turn(&self) {
        self.hand_over();
        let mut readers = self.readers.borrow_mut();
        if !readers.is_empty() {
            readers.sleep(Some(0));
        }
    }

    /// Gives queued calls to threads and waits for a completion, at most for `timeout_ns`.
    pub(super) fn wait(&self, timeout_ns: Option<u64>) {
        self.hand_over();
        let timeout_ns = match self.exchange.begin_sleep() {
            true => timeout_ns,
            false => Some(0),
        };
        self.readers.borrow_mut().sleep(timeout_ns);
        self.exchange.end_sleep();
    }

    pub(super) fn take(&self, arrived: &mut Vec<Completion>) {
        self.exchange.take(arrived);
        self.readers.borrow_mut().take(arrived);
    }

    fn hand_over(&self) {
        let mut queued = self.queued.borrow_mut();
        if queued.is_empty() {
            return;
        }
        let without_thread = self.exchange.hand_over(&mut queued);
        let room = self.threads_max.saturating_sub(self.threads.borrow().len());
        for _ in 0..without_thread.min(room) {
            // Where the system gives no further thread, those that are there do the work.
            if self.start_thread().is_err() {
                break;
            }
        }
    }

    /// Ends the threads, which have nothing to do any more.
    pub(super) fn shut_down(&self) {
        self.exchange.close();
        for thread in self.threads.take() {
            // It only makes system calls, and reports a panic by itself.
            let _ = thread.join();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shut_down();
    }
}
