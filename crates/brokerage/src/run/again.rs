//! Who tries again after a conflict.
//!
//! Transactions that were in each other's way are in each other's way again when all of them are
//! tried again at once, and each try costs the server and us as much as one that succeeds. So
//! they take turns, one of a kind at a time; whoever waited too long tries without a turn.

use super::line::lock;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Where those wait whose transactions are of one kind.
#[derive(Debug, Default)]
pub struct Again {
    is_taken: Mutex<bool>,
    given_back: Condvar,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub struct Turn<'a>(&'a Again);

impl Again {
    /// Waits for a turn, at most so long.
    pub fn wait(&self, patience: Duration) -> Option<Turn<'_>> {
        let is_taken = lock(&self.is_taken);
        let waited = self
            .given_back
            .wait_timeout_while(is_taken, patience, |is_taken| *is_taken);
        let (mut is_taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_free = !std::mem::replace(&mut *is_taken, true);
        is_free.then(|| Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.0.is_taken) = false;
        self.0.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn there_is_one_turn_and_the_next_gets_it() {
        let again = Again::default();
        let turn = again.wait(Duration::ZERO).unwrap();
        assert!(again.wait(Duration::from_millis(1)).is_none());
        thread::scope(|scope| {
            let next = scope.spawn(|| again.wait(Duration::from_secs(60)).is_some());
            drop(turn);
            assert!(next.join().unwrap());
        });
        assert!(again.wait(Duration::ZERO).is_some());
    }
}
