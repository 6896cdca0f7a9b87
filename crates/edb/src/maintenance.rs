//! The background scan: an endless, paced pass over the file that verifies every page.
//!
//! Pages are read straight from the disk, also those in the cache, so that what is checked is what
//! the disk holds. Nothing of it stays in memory. Slots that were never written are legal.

use crate::cache::{Cache, PageError, PageStore, Payload, WeakCache};
use crate::position::PageNumber;
use crate::settings::{EngineSettings, Maintenance};
use crate::signal::Signal;
use config::ByteSize;
use runtime::time::{MILLISECOND_NS, SECOND_NS};
use runtime::{Handle, IoCause};
use std::cell::Cell;
use std::rc::Rc;

/// The smallest batch. Source: ESE.
const LEAST_BATCH_BYTES: u64 = 64 * 1024;
/// How often a page of a request that failed is read again.
const MOST_READS_AGAIN: u32 = 3;
/// Wait for a page that is on its way to the disk.
const WRITE_WAIT_NS: u64 = MILLISECOND_NS;

/// What the scan has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MaintenanceStatistics {
    /// Times that the scan reached the end of the file.
    pub passes: u64,
    /// Read requests of the scan, each of several pages.
    pub batches: u64,
    /// Pages verified, in all passes.
    pub pages: u64,
    /// Of those, slots that were never written.
    pub never_written: u64,
    /// Pages reported as damaged or unreadable.
    pub damaged: u64,
    /// The page the pass under way will read next.
    pub next_page: u32,
}

/// What the scan needs to know of the database.
pub trait ScanTarget: 'static {
    /// Pages in the file now.
    fn pages(&self) -> u32;

    /// A page is damaged or cannot be read. Called in each pass that finds it.
    fn damaged(&self, error: &PageError);
}

/// The scan of one database. Dropping it, or the last handle of the cache, ends the scan.
pub struct MaintenanceScan {
    statistics: Rc<Cell<MaintenanceStatistics>>,
    stop: Rc<Stop>,
}

#[derive(Default)]
struct Stop {
    asked: Cell<bool>,
    signal: Signal,
}

impl Drop for MaintenanceScan {
    fn drop(&mut self) {
        self.stop.asked.set(true);
        self.stop.signal.raise();
    }
}

impl MaintenanceScan {
    /// Starts the scan at page 1.
    #[must_use]
    pub fn start<P: Payload, S: PageStore<P>>(
        handle: &Handle,
        settings: &EngineSettings,
        cache: &Cache<P, S>,
        target: Rc<dyn ScanTarget>,
    ) -> Self {
        let page_bytes = settings.engine.page_size.bytes();
        let batch_bytes = settings
            .engine
            .max_coalesced_read
            .bytes()
            .max(LEAST_BATCH_BYTES);
        let scan = Self {
            statistics: Rc::default(),
            stop: Rc::default(),
        };
        let task = Task {
            handle: handle.clone(),
            cache: cache.downgrade(),
            target,
            settings: settings.maintenance,
            batch_pages: (batch_bytes / page_bytes).max(1) as u32,
            page_bytes,
            statistics: Rc::clone(&scan.statistics),
            stop: Rc::clone(&scan.stop),
            due_ns: Cell::new(handle.now_ns()),
        };
        drop(handle.spawn(async move { task.run().await }));
        scan
    }

    /// What the scan has done.
    #[must_use]
    pub fn statistics(&self) -> MaintenanceStatistics {
        self.statistics.get()
    }
}

struct Task<P: Payload, S: PageStore<P>> {
    handle: Handle,
    cache: WeakCache<P, S>,
    target: Rc<dyn ScanTarget>,
    settings: Maintenance,
    batch_pages: u32,
    page_bytes: u64,
    statistics: Rc<Cell<MaintenanceStatistics>>,
    stop: Rc<Stop>,
    /// When the next batch may start, by a throttle in bytes per second.
    due_ns: Cell<u64>,
}

impl<P: Payload, S: PageStore<P>> Task<P, S> {
    async fn run(&self) {
        while !self.stop.asked.get() {
            let pass_began_ns = self.handle.now_ns();
            let mut first = PageNumber(1);
            while first.0 <= self.target.pages() {
                let Some(cache) = self.cache.upgrade().filter(|_| !self.stop.asked.get()) else {
                    return;
                };
                let left = self.target.pages() - first.0 + 1;
                let count = left.min(self.batch_pages);
                self.scan_batch(&cache, first, count).await;
                drop(cache);
                first = first.after(count);
                self.count(|statistics| statistics.next_page = first.0);
                self.pause(count).await;
            }
            self.count(|statistics| statistics.passes += u64::from(first.0 > 1));
            let empty_ns = if first.0 == 1 { SECOND_NS } else { 0 };
            self.sleep_until(pass_began_ns + empty_ns).await;
        }
    }

    async fn scan_batch(&self, cache: &Cache<P, S>, first: PageNumber, count: u32) {
        let results = cache.store().read(first, count, IoCause::Maintenance).await;
        let (mut never_written, mut damaged, mut suspects) = (0, Vec::new(), Vec::new());
        for (page, result) in (first.0..).map(PageNumber).zip(results) {
            match result {
                Ok(_) => {}
                Err(error) if error.is_never_written() => never_written += 1,
                // The store has read it again before it said so.
                Err(error) if error.finding().is_some() => damaged.push(error),
                Err(_) => suspects.push(page),
            }
        }
        self.count(|statistics| {
            statistics.batches += 1;
            statistics.pages += u64::from(count);
            statistics.never_written += never_written;
        });
        for page in suspects {
            damaged.extend(self.read_again(cache, page).await.err());
        }
        for error in damaged {
            self.count(|statistics| statistics.damaged += 1);
            self.target.damaged(&error);
        }
    }

    /// Reads one page of a request that failed by itself, until it is read or there is no hope.
    async fn read_again(&self, cache: &Cache<P, S>, page: PageNumber) -> Result<(), PageError> {
        let mut last = Ok(());
        for _ in 0..MOST_READS_AGAIN {
            while cache.is_writing(page) && !self.stop.asked.get() {
                self.handle.sleep_ns(WRITE_WAIT_NS).await;
            }
            let mut results = cache.store().read(page, 1, IoCause::Maintenance).await;
            last = match results.pop() {
                Some(Err(error)) if !error.is_never_written() => Err(error),
                _ => return Ok(()),
            };
        }
        last
    }

    async fn pause(&self, count: u32) {
        let now_ns = self.handle.now_ns();
        let until_ns = match self.settings.max_rate_per_second {
            None => now_ns + self.settings.pause.as_ns(),
            Some(ByteSize(rate)) => {
                let bytes = u128::from(count) * u128::from(self.page_bytes);
                let step_ns = bytes * u128::from(SECOND_NS) / u128::from(rate.max(1));
                self.due_ns
                    .set((self.due_ns.get() + step_ns as u64).max(now_ns));
                self.due_ns.get()
            }
        };
        self.sleep_until(until_ns).await;
    }

    async fn sleep_until(&self, until_ns: u64) {
        if until_ns <= self.handle.now_ns() {
            self.handle.yield_now().await; // An unthrottled scan lets others run.
        } else {
            self.stop.signal.wait_until(&self.handle, until_ns).await;
        }
    }

    fn count(&self, change: impl FnOnce(&mut MaintenanceStatistics)) {
        let mut statistics = self.statistics.get();
        change(&mut statistics);
        self.statistics.set(statistics);
    }
}
