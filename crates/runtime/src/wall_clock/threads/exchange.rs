//! What a reactor and its threads give each other: calls one way, their results the other.

use super::Call;
use crate::wall_clock::completion::Completion;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The two queues between a reactor and its threads.
pub(super) struct Exchange {
    work: Mutex<Work>,
    has_work: Condvar,
    results: Mutex<Vec<Completion>>,
    has_results: AtomicBool,
    /// Whether the reactor has to be woken when there are results.
    reactor_sleeps: AtomicBool,
    wake: Arc<OwnedFd>,
}

/// What threads look for.
#[derive(Default)]
struct Work {
    calls: VecDeque<(u32, Call)>,
    /// Threads that sleep, but for those that are being woken.
    idle: usize,
    /// Threads that are being woken.
    woken: usize,
    is_closed: bool,
}

impl Exchange {
    pub(super) fn new(wake: Arc<OwnedFd>) -> Self {
        Self {
            work: Mutex::default(),
            has_work: Condvar::new(),
            results: Mutex::default(),
            has_results: AtomicBool::new(false),
            reactor_sleeps: AtomicBool::new(false),
            wake,
        }
    }

    /// Gives calls to the threads. Returns how many of them no idle thread was there for.
    pub(super) fn hand_over(&self, calls: &mut Vec<(u32, Call)>) -> usize {
        let count = calls.len();
        let mut work = lock(&self.work);
        work.calls.extend(calls.drain(..));
        let woken = count.min(work.idle);
        work.idle -= woken;
        work.woken += woken;
        drop(work);
        for _ in 0..woken {
            self.has_work.notify_one();
        }
        count - woken
    }

    /// What a thread does: one call after the other, until the exchange is closed.
    pub(super) fn serve(&self) {
        let mut work = lock(&self.work);
        loop {
            if let Some((number, call)) = work.calls.pop_front() {
                drop(work);
                self.give_back(Completion::Request(number, call.perform()));
                work = lock(&self.work);
                continue;
            }
            if work.is_closed {
                return;
            }
            work.idle += 1;
            while work.woken == 0 && !work.is_closed {
                let waited = self.has_work.wait(work);
                work = waited.unwrap_or_else(PoisonError::into_inner);
            }
            // Whoever wakes a thread takes it off `idle`; any of them may be the one.
            work.woken = work.woken.saturating_sub(1);
        }
    }

    fn give_back(&self, completion: Completion) {
        lock(&self.results).push(completion);
        self.has_results.store(true, Ordering::SeqCst);
        if self.reactor_sleeps.swap(false, Ordering::SeqCst) {
            // It fails only when the counter is full, and then the descriptor is readable anyway.
            let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
        }
    }

    /// Notes that the reactor is about to sleep; `false` if there are results by now.
    pub(super) fn begin_sleep(&self) -> bool {
        self.reactor_sleeps.store(true, Ordering::SeqCst);
        !self.has_results.load(Ordering::SeqCst)
    }

    /// Notes that the reactor is awake.
    pub(super) fn end_sleep(&self) {
        self.reactor_sleeps.store(false, Ordering::SeqCst);
    }

    /// Takes the results that are there.
    pub(super) fn take(&self, arrived: &mut Vec<Completion>) {
        if self.has_results.load(Ordering::SeqCst) {
            let mut results = lock(&self.results);
            self.has_results.store(false, Ordering::SeqCst);
            arrived.append(&mut results);
        }
    }

    /// Lets the threads end once there are no calls left.
    pub(super) fn close(&self) {
        lock(&self.work).is_closed = true;
        self.has_work.notify_all();
    }
}

/// A thread that panics in between leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
