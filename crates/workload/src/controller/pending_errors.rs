//! Errors that a shard has met and not reported yet.
//!
//! A page that many sessions meet in a moment is one error with a count, so that a damaged page in
//! everybody's way fills neither memory nor the line to the run controller.

use super::error_key::ErrorKey;
use crate::failure::Failure;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// One error, and how often it was met since the last report.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingError {
    /// The database that it belongs to, by its number in the run.
    pub database: Option<usize>,
    /// The error that was met.
    pub failure: Failure,
    /// How many times it was met.
    pub times: u64,
}

/// Collects errors of one shard. Clones share it.
#[derive(Clone, Default)]
pub struct PendingErrors(Rc<RefCell<BTreeMap<ErrorKey, PendingError>>>);

impl PendingErrors {
    /// Notes an error of a database.
    pub fn note(&self, database: Option<usize>, failure: Failure) {
        self.note_times(database, failure, 1);
    }

    /// Notes an error that a transaction has met. Its requests that failed have been noted already.
    pub fn note_in_transaction(&self, database: Option<usize>, failure: Failure) {
        let times = u64::from(!failure.is_failed_request());
        self.note_times(database, failure, times);
    }

    fn note_times(&self, database: Option<usize>, failure: Failure, times: u64) {
        let key = ErrorKey::of(database, &failure);
        let mut met = self.0.borrow_mut();
        let error = met.entry(key).or_insert(PendingError {
            database,
            failure,
            times: 0,
        });
        error.times += times;
    }

    /// What was met since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<PendingError> {
        std::mem::take(&mut *self.0.borrow_mut())
            .into_values()
            .collect()
    }

    /// Takes one of the errors out, if there is one: for whoever ends at the first.
    #[must_use]
    pub fn take_first(&self) -> Option<Failure> {
        let first = self.0.borrow_mut().pop_first();
        first.map(|(_, error)| error.failure)
    }

    /// Takes out the first error after which nothing can follow, if there is one.
    #[must_use]
    pub fn take_ending(&self) -> Option<PendingError> {
        let mut met = self.0.borrow_mut();
        let ends = |error: &PendingError| error.failure.ends_run();
        let key = met.iter().find(|(_, error)| ends(error))?.0.clone();
        met.remove(&key)
    }
}
