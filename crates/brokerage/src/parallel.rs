//! Threads that work through a list of items.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. A panic elsewhere ends the run by itself; what mutexes of this crate guard is
/// valid at any time.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The items that no thread has taken yet.
pub(crate) struct Items<'a, T> {
    items: &'a [T],
    next: AtomicUsize,
}

impl<'a, T> Items<'a, T> {
    /// The next item; `None` when all are taken.
    pub(crate) fn take(&self) -> Option<&'a T> {
        self.items.get(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Leaves the remaining items undone.
    pub(crate) fn stop(&self) {
        self.next.store(self.items.len(), Ordering::Relaxed);
    }
}

/// Runs `work` on this many threads, this one included, until it returns on each of them.
///
/// # Errors
/// The first error; the other threads then take no more items.
pub(crate) fn work_through<T: Sync, E: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&Items<'_, T>) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let items = Items {
        items,
        next: AtomicUsize::new(0),
    };
    let failure = Mutex::new(None);
    let run = || {
        if let Err(error) = work(&items) {
            items.stop();
            lock(&failure).get_or_insert(error);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    let failure = lock(&failure).take();
    failure.map_or(Ok(()), Err)
}
