//! The queues of tasks that can go on, and the wakers that lead there.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

/// The tasks of the runtime that runs on this thread at the moment.
///
/// Nearly all wakes come from the runtime's own thread; they must not pay for a lock.
pub(super) struct LocalQueue {
    /// Identity of the runtime; 0 when none runs.
    pub(super) runtime: Cell<u64>,
    pub(super) tasks: RefCell<VecDeque<usize>>,
}

thread_local! {
    pub(super) static LOCAL: LocalQueue = const {
        LocalQueue {
            runtime: Cell::new(0),
            tasks: RefCell::new(VecDeque::new()),
        }
    };
}

/// The way into the queue of tasks that can go on, for wakers on any thread.
pub(super) struct ReadyQueue {
    pub(super) runtime: u64,
    /// Tasks woken by other threads, or while the runtime was not running.
    remote: Mutex<Vec<usize>>,
    pub(super) remote_waits: AtomicBool,
    unpark: Option<Box<dyn Fn() + Send + Sync>>,
}

impl ReadyQueue {
    pub(super) fn new(unpark: Option<Box<dyn Fn() + Send + Sync>>) -> Self {
        static NEXT_RUNTIME: AtomicU64 = AtomicU64::new(1);
        Self {
            runtime: NEXT_RUNTIME.fetch_add(1, Ordering::Relaxed),
            remote: Mutex::default(),
            remote_waits: AtomicBool::new(false),
            unpark,
        }
    }

    #[inline]
    pub(super) fn push(&self, task: usize, urgent: bool) {
        let is_local = LOCAL.try_with(|local| {
            let is_local = local.runtime.get() == self.runtime;
            if is_local && urgent {
                local.tasks.borrow_mut().push_front(task);
            } else if is_local {
                local.tasks.borrow_mut().push_back(task);
            }
            is_local
        });
        if is_local != Ok(true) {
            self.push_from_outside(task);
        }
    }

    #[cold]
    fn push_from_outside(&self, task: usize) {
        let mut remote = self.remote.lock().unwrap_or_else(PoisonError::into_inner);
        remote.push(task);
        drop(remote);
        self.remote_waits.store(true, Ordering::Release);
        if let Some(unpark) = &self.unpark {
            unpark();
        }
    }

    /// Moves tasks woken from outside into the queue of this thread.
    #[inline]
    pub(super) fn fetch_remote(&self) {
        if !self.remote_waits.load(Ordering::Acquire) {
            return;
        }
        self.remote_waits.store(false, Ordering::Relaxed);
        let mut remote = self.remote.lock().unwrap_or_else(PoisonError::into_inner);
        LOCAL.with(|local| local.tasks.borrow_mut().extend(remote.drain(..)));
    }
}

/// Wakes a task of a runtime, once for each time it is run.
pub(super) struct TaskWaker {
    pub(super) task: usize,
    /// Goes before the tasks that are ready already.
    pub(super) urgent: bool,
    pub(super) queued: AtomicBool,
    pub(super) ready: Arc<ReadyQueue>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.ready.push(self.task, self.urgent);
        }
    }
}
