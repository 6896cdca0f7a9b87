//! I/O per transaction that a run has measured, in place of what the model of the database would make.
//!
//! The measurement says how much, the model where: reads are those that miss its cache, and further
//! reads of leaves of large tables that a transaction looks at; writes go to leaves that were changed;
//! commits are as long as the log needs them to be. What is made is counted against what transactions
//! have brought, so that the totals are those of the measurement, whatever a single transaction does.

use crate::profile::MeasuredIo;
use edb::position::PageNumber;
use runtime::sync::Notify;
use runtime::{IoCause, IoDirection, IoError, IoEvent, IoObserver};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// Writes of pages that are under way at the same time.
pub(super) const WRITES_OUTSTANDING: usize = 16;
/// Writes that may be due before transactions wait for them, beside those of some transactions.
const WRITES_DUE_MAX: f64 = 64.0;
/// Transactions whose reads the model may be ahead of the measurement.
const TRANSACTIONS_AHEAD: f64 = 2.0;
/// Changed leaves that are remembered, the latest ones.
const CHANGED_MAX: usize = 4_096;

/// How many of something transactions have brought, less those that were made.
#[derive(Debug)]
struct Quota {
    per_transaction: f64,
    due: Cell<f64>,
}

impl Quota {
    fn new(per_transaction: Option<f64>) -> Option<Self> {
        per_transaction.map(|per_transaction| Self {
            per_transaction,
            due: Cell::new(0.0),
        })
    }

    fn add_transaction(&self) {
        self.due.set(self.due.get() + self.per_transaction);
    }

    fn make(&self, amount: f64) {
        self.due.set(self.due.get() - amount);
    }

    /// Takes one that is due.
    fn take(&self) -> bool {
        let is_due = self.due.get() >= 1.0;
        if is_due {
            self.make(1.0);
        }
        is_due
    }

    /// Takes one that the model makes, unless it is too far ahead.
    fn admit(&self) -> bool {
        let is_admitted = self.due.get() - 1.0 >= -TRANSACTIONS_AHEAD * self.per_transaction;
        if is_admitted {
            self.make(1.0);
        }
        is_admitted
    }
}

/// The measured I/O of a database, and what was made of it.
pub(super) struct Measured {
    reads: Option<Quota>,
    writes: Option<Quota>,
    log_writes: Option<Quota>,
    log_bytes: Option<Quota>,
    /// Pages of a write.
    pub(super) pages_of_write: u32,
    /// Leaves that were changed, the oldest first.
    changed: RefCell<VecDeque<PageNumber>>,
    /// Number of the next request for which the model has no page.
    next_page: Cell<u64>,
    /// A transaction has begun, a write has ended, or the load.
    pub(super) progress: Notify,
}

impl Measured {
    pub(super) fn new(settings: &MeasuredIo, page_bytes: u64) -> Rc<Self> {
        let pages = settings.write_size.bytes() as f64 / page_bytes as f64;
        Rc::new(Self {
            reads: Quota::new(settings.reads_per_transaction),
            writes: Quota::new(settings.writes_per_transaction),
            log_writes: Quota::new(settings.log_writes_per_transaction),
            log_bytes: Quota::new(settings.log_bytes_per_transaction),
            pages_of_write: pages.round().max(1.0) as u32,
            changed: RefCell::default(),
            next_page: Cell::new(0),
            progress: Notify::default(),
        })
    }

    /// A transaction of a user begins.
    pub(super) fn begin_transaction(&self) {
        let quotas = [&self.reads, &self.writes, &self.log_writes, &self.log_bytes];
        quotas
            .into_iter()
            .flatten()
            .for_each(Quota::add_transaction);
        self.progress.notify_all();
    }

    /// Whether a read that misses the cache of the model reaches the storage.
    pub(super) fn admits_read(&self) -> bool {
        self.reads.as_ref().is_none_or(Quota::admit)
    }

    /// Whether a read is due that the model has no need of.
    pub(super) fn owes_read(&self) -> bool {
        self.reads
            .as_ref()
            .is_some_and(|reads| reads.due.get() >= 1.0)
    }

    /// Takes such a read.
    pub(super) fn take_read(&self) -> bool {
        self.reads.as_ref().is_some_and(Quota::take)
    }

    /// Takes a read that transactions have not found a page for; one of `pages`.
    pub(super) fn take_late_read(&self, pages: u64) -> Option<PageNumber> {
        let reads = self.reads.as_ref()?;
        let is_late = reads.due.get() >= (TRANSACTIONS_AHEAD * reads.per_transaction).max(1.0);
        (is_late && reads.take()).then(|| self.any_page(pages))
    }

    /// The next of `pages` in Weyl's sequence of the golden ratio, which spreads them evenly.
    fn any_page(&self, pages: u64) -> PageNumber {
        let number = self.next_page.get();
        self.next_page.set(number + 1);
        let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        PageNumber(((spread * pages) >> 32) as u32 + 1)
    }

    /// Whether the model writes no pages of its own.
    pub(super) fn replaces_writes(&self) -> bool {
        self.writes.is_some()
    }

    /// A leaf was changed, which will be written some time.
    pub(super) fn note_change(&self, leaf: PageNumber) {
        if self.writes.is_none() {
            return;
        }
        let mut changed = self.changed.borrow_mut();
        if changed.len() == CHANGED_MAX {
            changed.pop_front();
        }
        changed.push_back(leaf);
    }

    /// Takes a write that is due, and its first page; where no leaf was changed, one of `pages`.
    pub(super) fn take_write(&self, pages: u64) -> Option<PageNumber> {
        let is_due = self.writes.as_ref().is_some_and(Quota::take);
        let changed = is_due.then(|| self.changed.borrow_mut().pop_front())?;
        Some(changed.unwrap_or_else(|| self.any_page(pages)))
    }

    /// Whether transactions have to wait for writes.
    pub(super) fn must_wait_for_writes(&self) -> bool {
        let has_many = |writes: &Quota| {
            let most = WRITES_DUE_MAX + WRITES_OUTSTANDING as f64 * writes.per_transaction;
            writes.due.get() > most
        };
        self.writes.as_ref().is_some_and(has_many)
    }

    /// Whether log writes are made beside those of commits.
    pub(super) fn has_log_writes(&self) -> bool {
        self.log_writes.is_some()
    }

    /// Whether one is due.
    pub(super) fn owes_log_write(&self) -> bool {
        self.log_writes
            .as_ref()
            .is_some_and(|writes| writes.due.get() >= 1.0)
    }

    /// Bytes that a commit has to be longer, when so many bytes of the log are not written yet.
    pub(super) fn log_bytes_due(&self, pending_bytes: u64) -> u64 {
        let due = self.log_bytes.as_ref().map_or(0.0, |one| one.due.get());
        (due - pending_bytes as f64).max(0.0) as u64
    }
}

/// Passes the requests of the log on, and counts its writes and their bytes.
pub(super) struct LogWrites {
    pub(super) measured: Rc<Measured>,
    pub(super) observer: Rc<dyn IoObserver>,
}

impl IoObserver for LogWrites {
    fn completed(&self, event: &IoEvent) {
        if (event.cause, event.direction) == (IoCause::Log, IoDirection::Write) {
            let Measured {
                log_writes,
                log_bytes,
                ..
            } = &*self.measured;
            let made = [(log_writes, 1.0), (log_bytes, event.length_bytes as f64)];
            for (quota, amount) in made {
                quota.iter().for_each(|quota| quota.make(amount));
            }
        }
        self.observer.completed(event);
    }

    fn failed(&self, event: &IoEvent, error: &IoError) {
        self.observer.failed(event, error);
    }
}
