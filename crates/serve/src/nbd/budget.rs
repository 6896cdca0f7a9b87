//! What a connection may have under way, so that no client takes memory without bound.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Requests that a connection may have under way at a time; more are not read before others are answered.
const MOST_REQUESTS: usize = 256;
/// Bytes that they may hold, but for a single one.
const MOST_BYTES: usize = 32 << 20;

#[derive(Debug, Default)]
struct Held {
    requests: usize,
    bytes: usize,
}

/// What the requests of a connection hold.
#[derive(Debug, Default)]
pub(super) struct Budget {
    held: Mutex<Held>,
    freed: Condvar,
}

/// What one request holds, until its reply is sent.
#[derive(Debug)]
pub(super) struct Permit {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for a request.
    pub fn take(self: &Arc<Self>, bytes: usize) -> Permit {
        let no_room = |held: &mut Held| {
            held.requests >= MOST_REQUESTS || (held.requests > 0 && held.bytes + bytes > MOST_BYTES)
        };
        let waited = self.freed.wait_while(self.lock(), no_room);
        let mut held = waited.unwrap_or_else(PoisonError::into_inner);
        held.requests += 1;
        held.bytes += bytes;
        let budget = Arc::clone(self);
        Permit { budget, bytes }
    }

    /// Waits until nothing is under way.
    pub fn wait_until_free(&self) {
        let under_way = |held: &mut Held| held.requests > 0;
        drop(self.freed.wait_while(self.lock(), under_way));
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut held = self.budget.lock();
        held.requests -= 1;
        held.bytes -= self.bytes;
        drop(held);
        self.budget.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_request_waits_until_others_make_room() {
        let budget = Arc::new(Budget::default());
        let large = budget.take(MOST_BYTES + 1);
        let other = Arc::clone(&budget);
        let waiting = thread::spawn(move || drop(other.take(1)));
        assert_eq!(budget.lock().requests, 1, "it is alone");
        drop(large);
        waiting.join().unwrap();
        let many: Vec<Permit> = (0..MOST_REQUESTS).map(|_| budget.take(0)).collect();
        let other = Arc::clone(&budget);
        let waiting = thread::spawn(move || drop(other.take(0)));
        assert_eq!(budget.lock().requests, MOST_REQUESTS);
        drop(many);
        waiting.join().unwrap();
        budget.wait_until_free();
        assert_eq!(budget.lock().bytes, 0);
    }
}
