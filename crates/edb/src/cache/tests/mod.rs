//! The cache without page contents, on a store that only takes time.

mod replacement_tests;
mod write_tests;

use super::{Cache, PageError, PageProblem, PageStore, WriteAhead};
use crate::log::LocalFuture;
use crate::log::LogError;
use crate::position::{LogPosition, PageNumber};
use crate::settings::{Engine, EngineSettings};
use config::ByteSize;
use runtime::{Handle, IoCause, IoError, IoFailure, IoOperation};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A request made to the store: first page, number of pages.
type Request = (u32, u32);

#[derive(Default)]
struct Disk {
    reads: RefCell<Vec<Request>>,
    writes: RefCell<Vec<Request>>,
    being_written: RefCell<BTreeSet<u32>>,
    most_writes_at_once: Cell<usize>,
    writes_at_once: Cell<usize>,
    fail_writes: Cell<bool>,
    /// This page cannot be read.
    bad_page: Cell<Option<u32>>,
}

/// What a request on `page` fails with.
fn failed(page: PageNumber, operation: IoOperation, failure: IoFailure) -> PageError {
    PageError {
        file: "test.edb".to_owned(),
        page,
        problem: PageProblem::Io(IoError {
            operation,
            file: "test.edb".to_owned(),
            offset_bytes: 0,
            length_bytes: 0,
            failure,
        }),
    }
}

/// A store of no bytes that takes 100 us per request.
struct EmptyStore {
    handle: Handle,
    disk: Rc<Disk>,
    write_ns: u64,
}

impl PageStore<()> for EmptyStore {
    async fn read(
        &self,
        first: PageNumber,
        count: u32,
        _cause: IoCause,
    ) -> Vec<Result<(), PageError>> {
        self.disk.reads.borrow_mut().push((first.0, count));
        self.handle.sleep_ns(100_000).await;
        let read = |page: u32| match self.disk.bad_page.get() {
            Some(bad) if bad == page => Err(failed(
                PageNumber(page),
                IoOperation::Read,
                IoFailure::Device("a bad sector".to_owned()),
            )),
            _ => Ok(()),
        };
        (first.0..first.0 + count).map(read).collect()
    }

    fn seal(&self, _page: PageNumber, _payload: &mut ()) {}

    fn is_sound(&self, _page: PageNumber, _payload: &()) -> bool {
        true
    }

    async fn write(
        &self,
        first: PageNumber,
        pages: Vec<Rc<()>>,
        _cause: IoCause,
    ) -> Result<(), PageError> {
        let disk = &self.disk;
        let range = first.0..first.0 + pages.len() as u32;
        disk.writes.borrow_mut().push((first.0, pages.len() as u32));
        for page in range.clone() {
            let alone = disk.being_written.borrow_mut().insert(page);
            assert!(alone, "page {page} is written once at a time");
        }
        disk.writes_at_once.set(disk.writes_at_once.get() + 1);
        let most = disk
            .most_writes_at_once
            .get()
            .max(disk.writes_at_once.get());
        disk.most_writes_at_once.set(most);
        self.handle.sleep_ns(self.write_ns).await;
        disk.writes_at_once.set(disk.writes_at_once.get() - 1);
        for page in range {
            disk.being_written.borrow_mut().remove(&page);
        }
        if disk.fail_writes.get() {
            return Err(failed(first, IoOperation::Write, IoFailure::OutOfSpace));
        }
        Ok(())
    }

    async fn sync(&self) -> Result<(), PageError> {
        Ok(())
    }

    fn blank(&self) {}
}

/// A log that is durable as far as the test says.
#[derive(Default)]
struct TestLog {
    end: Cell<u64>,
    durable: Cell<u64>,
    requests: Cell<u64>,
}

impl WriteAhead for TestLog {
    fn durable(&self) -> LogPosition {
        LogPosition(self.durable.get())
    }

    fn end(&self) -> LogPosition {
        LogPosition(self.end.get())
    }

    fn request(&self, position: LogPosition) {
        self.requests.set(self.requests.get() + 1);
        self.durable.set(self.durable.get().max(position.0));
    }

    fn make_durable(&self, position: LogPosition) -> LocalFuture<'_, Result<(), LogError>> {
        self.request(position);
        Box::pin(async { Ok(()) })
    }
}

struct Bench {
    handle: Handle,
    cache: Cache<(), EmptyStore>,
    disk: Rc<Disk>,
    log: Rc<TestLog>,
}

impl Bench {
    fn new(handle: &Handle, settings: &EngineSettings, write_ns: u64) -> Self {
        let disk = Rc::new(Disk::default());
        let log = Rc::new(TestLog::default());
        log.end.set(settings.engine.log_file_size.bytes());
        let store = EmptyStore {
            handle: handle.clone(),
            disk: Rc::clone(&disk),
            write_ns,
        };
        let write_ahead = Rc::clone(&log);
        let cache = Cache::new(handle, settings, store, write_ahead);
        Self {
            handle: handle.clone(),
            cache,
            disk,
            log,
        }
    }

    /// Changes the page as a record of `bytes` of log would.
    async fn change(&self, page: u32, bytes: u64) {
        let held = self.cache.fetch(PageNumber(page)).await.expect("readable");
        let begin = LogPosition(self.log.end.get());
        self.log.end.set(begin.0 + bytes);
        held.change(begin, LogPosition(begin.0 + bytes), |()| ());
    }
}

fn small_settings(cache_pages: u64) -> EngineSettings {
    EngineSettings {
        engine: Engine {
            page_size: ByteSize::kib(32),
            cache_size_per_database: ByteSize::kib(32 * cache_pages),
            checkpoint_depth: ByteSize::mib(20),
            coalesce_read_gap: ByteSize::kib(512),
            coalesce_write_gap: ByteSize::kib(512),
            ..Engine::default()
        },
        ..EngineSettings::default()
    }
}
