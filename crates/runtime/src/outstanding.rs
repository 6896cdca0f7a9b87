//! Requests that storage has not answered.
//!
//! Nothing is counted for them: whoever drives requests knows those under way, and is asked now and
//! then. A request carries the time at which it was handed over, which the driver has at hand.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// A request that storage has not answered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutstandingRequest {
    /// When it was handed over, on the runtime's clock.
    pub issued_ns: u64,
    /// The file or directory, as a person knows it.
    pub file: String,
    /// What was asked for.
    pub operation: &'static str,
    /// Whether it is a write, a flush or another change; `false` for a read.
    pub is_change: bool,
    /// Where in the file.
    pub offset_bytes: u64,
    /// How many bytes were asked for; 0 where no bytes move.
    pub length_bytes: u64,
}

/// Requests of simulated storage, which no driver knows.
#[derive(Default)]
pub(crate) struct SimulatedRequests(RefCell<(u64, BTreeMap<u64, OutstandingRequest>)>);

impl SimulatedRequests {
    pub(crate) fn begin(&self, request: OutstandingRequest) -> u64 {
        let (next, requests) = &mut *self.0.borrow_mut();
        *next += 1;
        requests.insert(*next, request);
        *next
    }

    pub(crate) fn end(&self, number: u64) {
        self.0.borrow_mut().1.remove(&number);
    }

    pub(crate) fn issued_before(&self, before_ns: u64) -> Vec<OutstandingRequest> {
        let requests = self.0.borrow();
        let old = requests.1.values().filter(|one| one.issued_ns < before_ns);
        old.cloned().collect()
    }
}
