//! Requests that the storage does not answer: found while they hang, once a second.

use runtime::time::SECOND_NS;
use runtime::{Handle, OutstandingRequest};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// How often a shard looks for them.
const CHECK_INTERVAL_NS: u64 = SECOND_NS;
/// Requests that one report lists.
const MOST_REPORTED: usize = 1_000;

/// A request that has been outstanding for too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HungRequest {
    /// What was asked for.
    pub request: OutstandingRequest,
    /// The database that it belongs to, by its number in the run, if that is known.
    pub database: Option<usize>,
    /// How long it has been outstanding, or was.
    pub outstanding_ns: u64,
}

/// The hung requests of a shard at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HungReport {
    /// Those that have not been answered yet.
    pub hanging: Vec<HungRequest>,
    /// Those that were answered since the last report.
    pub answered: Vec<HungRequest>,
}

/// Looks for hung requests on one runtime.
pub struct HungWatch {
    after_ns: u64,
    next_check_ns: Cell<u64>,
    /// Requests that were too old at the last check, and whether they were at the one before as well. A
    /// process that was suspended finds old requests whose answers have come in the meantime; they are
    /// gone at the next check.
    known: RefCell<BTreeMap<OutstandingRequest, bool>>,
}

impl HungWatch {
    /// A request is hung when it has not been answered for `after_ns`.
    #[must_use]
    pub fn new(after_ns: u64) -> Self {
        Self {
            after_ns,
            next_check_ns: Cell::new(0),
            known: RefCell::default(),
        }
    }

    /// The hung requests, once a second: `None` when it is not time yet, or when there is nothing to
    /// say. `database` is the one that requests belong to, if it is known.
    pub fn check(&self, handle: &Handle, database: Option<usize>) -> Option<HungReport> {
        let now_ns = handle.now_ns();
        if now_ns < self.next_check_ns.get() {
            return None;
        }
        self.next_check_ns.set(now_ns + CHECK_INTERVAL_NS);
        let outstanding = handle.outstanding_requests(self.after_ns);
        let mut known = self.known.borrow_mut();
        if outstanding.is_empty() && known.is_empty() {
            return None;
        }
        let hung = |request: &OutstandingRequest| HungRequest {
            database,
            outstanding_ns: now_ns.saturating_sub(request.issued_ns),
            request: request.clone(),
        };
        let before = std::mem::take(&mut *known);
        let mut report = HungReport::default();
        for request in outstanding.iter().take(MOST_REPORTED) {
            let is_confirmed = before.contains_key(request);
            if is_confirmed {
                report.hanging.push(hung(request));
            }
            known.insert(request.clone(), is_confirmed);
        }
        let reported = before.iter().filter(|(_, was_confirmed)| **was_confirmed);
        let gone = reported.filter(|(request, _)| !known.contains_key(*request));
        report.answered = gone.map(|(request, _)| hung(request)).collect();
        let is_known = before.values().any(|was_confirmed| *was_confirmed);
        (is_known || !report.hanging.is_empty()).then_some(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::simulated::{Fault, FaultEffect};
    use runtime::{Buffer, Directory, File, IoOperation, Runtime, SimulatedDisk, SimulatedOptions};

    /// The reports of two minutes in which one read takes `by_ns` longer, with this limit.
    fn reports(limit_ns: u64, by_ns: u64) -> Vec<HungReport> {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::default());
        let effect = FaultEffect::Delay { by_ns };
        disk.set_fault(Fault::once(IoOperation::Read, 2, effect));
        runtime.block_on(async move {
            let file = disk.directory("d").create("f").await.unwrap();
            file.set_size_bytes(8192).await.unwrap();
            let reader = file.clone();
            handle.spawn_alone(async move {
                for offset in [0, 4096, 0] {
                    let (_, result) = reader.read(offset, Buffer::zeroed(4096)).await;
                    result.unwrap();
                }
            });
            let watch = HungWatch::new(limit_ns);
            let mut reports = Vec::new();
            for _ in 0..12_000 {
                handle.sleep_ns(10_000_000).await;
                reports.extend(watch.check(&handle, Some(3)));
            }
            reports
        })
    }

    #[test]
    fn a_request_is_reported_while_it_hangs_and_when_it_is_answered() {
        assert_eq!(reports(30 * SECOND_NS, 29 * SECOND_NS), []);
        let reports = reports(30 * SECOND_NS, 60 * SECOND_NS);
        let (last, hanging) = reports.split_last().unwrap();
        assert!((28..=31).contains(&hanging.len()), "{}", hanging.len());
        for report in hanging {
            assert_eq!((report.hanging.len(), report.answered.len()), (1, 0));
            let one = &report.hanging[0];
            assert_eq!(
                (one.request.offset_bytes, one.request.length_bytes),
                (4096, 4096)
            );
            assert!(one.request.file.contains('f') && one.database == Some(3));
            assert!(one.outstanding_ns >= 30 * SECOND_NS, "{one:?}");
        }
        assert!(hanging[0].hanging[0].outstanding_ns < 33 * SECOND_NS);
        assert_eq!((last.hanging.len(), last.answered.len()), (0, 1));
        let took_ns = last.answered[0].outstanding_ns;
        assert!(
            (60 * SECOND_NS..62 * SECOND_NS).contains(&took_ns),
            "{took_ns}"
        );
    }

    #[test]
    fn a_request_that_is_never_answered_is_reported_all_the_time() {
        let reports = reports(30 * SECOND_NS, u64::MAX);
        assert!(reports.len() > 80 && reports.iter().all(|one| one.hanging.len() == 1));
    }
    #[test]
    fn the_limit_decides_which_requests_are_reported() {
        let is_reported = |limit_s| !reports(limit_s * SECOND_NS, 20 * SECOND_NS).is_empty();
        assert_eq!([5, 15, 25].map(is_reported), [true, true, false]);
    }
}
