//! Opening and closing a simulated database: the engine's parts put together over empty pages.

use super::core::Core;
use super::geometry::Geometry;
use super::replaced::LongValueIds;
use super::shape::Shape;
use super::transactions::Transactions;
use edb::cache::{Cache, PageError};
use edb::checkpoint::{CheckpointFile, CheckpointSource, Checkpointer, HeaderWriter};
use edb::database::LOG_PREFIX;
use edb::format::database_header::{DatabaseHeader, DatabaseState, LogTime, Signature};
use edb::log::{Log, LogSettings};
use edb::maintenance::{MaintenanceScan, ScanTarget};
use edb::position::LogPosition;
use edb::store::{ContentlessStore, FileStore};
use edb::{EngineError, EngineSettings};
use runtime::sync::{Notify, Semaphore};
use runtime::{Directory, Handle, IoObserver};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

/// 2013-01-01, as good as any other day for a simulation.
const SIMULATED_ORIGIN_MS: u64 = 1_356_998_400_000;

type SimulatedCheckpointer<D> =
    Checkpointer<(), ContentlessStore<<D as Directory>::File>, <D as Directory>::File>;

/// An open database. It ends when the last holder drops it.
pub(crate) struct OpenSimulation<D: Directory> {
    pub(crate) core: Rc<Core<D>>,
    checkpointer: SimulatedCheckpointer<D>,
    headers: HeaderWriter<D::File>,
    scan: RefCell<Option<MaintenanceScan>>,
}

/// Where a database lies and what it is like.
pub(crate) struct Opening<'a, D: Directory> {
    pub(crate) handle: &'a Handle,
    pub(crate) file: D::File,
    pub(crate) log_directory: &'a D,
    pub(crate) settings: EngineSettings,
    pub(crate) observer: Rc<dyn IoObserver>,
    pub(crate) geometry: Geometry,
    pub(crate) built_rows: u64,
    pub(crate) seed: u64,
}

impl<D: Directory> Opening<'_, D> {
    pub(crate) async fn open(self) -> Result<OpenSimulation<D>, EngineError> {
        self.settings.check().map_err(EngineError::Settings)?;
        let (handle, settings) = (self.handle, &self.settings);
        let (shape, last_page) = Shape::built(
            self.geometry,
            self.built_rows,
            settings.engine.extension_pages,
        );
        let log = self.new_log().await?;
        let observer = || Rc::clone(&self.observer);
        let pages = ContentlessStore::new(handle, self.file.clone(), settings, observer());
        let write_ahead = Rc::new(log.clone());
        let cache = Cache::new(handle, settings, pages, write_ahead);
        let store = FileStore::new(handle, self.file.clone(), settings, observer());
        let headers = self.headers(&store, &log);
        let transactions = Rc::new(RefCell::new(Transactions::default()));
        let source = Source {
            transactions: Rc::clone(&transactions),
            log: log.clone(),
        };
        let file = CheckpointFile::open(handle, self.log_directory, LOG_PREFIX, observer()).await?;
        let checkpointer = Checkpointer::start(
            handle,
            settings,
            &cache,
            &log,
            file,
            headers.clone(),
            Rc::new(source),
            LogPosition::START,
        );
        headers.update(|_| {}).await?;
        let file_pages = store.pages().await?;
        let core = Rc::new(Core {
            handle: handle.clone(),
            settings: *settings,
            cache,
            log,
            file: store,
            shape: RefCell::new(shape),
            long_values: RefCell::new(LongValueIds::new(self.built_rows)),
            deleted: RefCell::default(),
            transactions,
            owned_pages: Cell::new(last_page),
            file_pages: Cell::new(file_pages.max(last_page)),
            growth_turn: Semaphore::new(1),
            closing: Cell::new(false),
            cleanup_wanted: Notify::default(),
            cleanup_turn: Semaphore::new(1),
        });
        core.spawn_cleanup();
        core.prepare_next_extension();
        let scan = RefCell::new(start_scan(&core));
        Ok(OpenSimulation {
            core,
            checkpointer,
            headers,
            scan,
        })
    }

    async fn new_log(&self) -> Result<Log, EngineError> {
        let created = LogTime {
            unix_ms: SIMULATED_ORIGIN_MS,
        };
        let signature = Signature {
            random: self.seed as u32,
            created,
        };
        let mut settings = LogSettings::new(&self.settings, LOG_PREFIX, signature);
        settings.attached = vec!["mail.edb".to_owned()];
        settings.with_contents = false;
        let observer = Rc::clone(&self.observer);
        Ok(Log::create(self.handle, self.log_directory, &settings, observer).await?)
    }

    fn headers(&self, store: &FileStore<D::File>, log: &Log) -> HeaderWriter<D::File> {
        let page_bytes = self.settings.engine.page_bytes() as u32;
        let mut header = DatabaseHeader::new(page_bytes, log.signature());
        header.state = DatabaseState::Dirty;
        header.lowest_log_needed = log.generation();
        header.highest_log_needed = log.generation();
        HeaderWriter::new(store.clone(), header)
    }
}

impl<D: Directory> OpenSimulation<D> {
    /// Writes everything and ends the tasks.
    pub(crate) async fn close(&self) -> Result<(), EngineError> {
        drop(self.scan.borrow_mut().take());
        let core = &self.core;
        core.transactions.borrow_mut().purge();
        let closed = self.close_cleanly().await;
        core.closing.set(true);
        core.cleanup_wanted.notify_all();
        closed
    }

    async fn close_cleanly(&self) -> Result<(), EngineError> {
        let core = &self.core;
        core.clean_up().await?;
        core.log.make_durable(core.log.end()).await?;
        core.cache.flush_all().await?;
        core.cache.sync().await?;
        self.checkpointer.advance().await?;
        core.log.close().await?;
        self.headers
            .update(|header| header.state = DatabaseState::Clean)
            .await?;
        Ok(())
    }
}

/// What transactions report to the checkpoint.
struct Source {
    transactions: Rc<RefCell<Transactions>>,
    log: Log,
}

impl CheckpointSource for Source {
    fn oldest_transaction(&self) -> Option<LogPosition> {
        let durable = self.log.durable();
        self.transactions.borrow_mut().oldest_needed(durable)
    }
}

struct Target<D: Directory> {
    core: Weak<Core<D>>,
}

impl<D: Directory> ScanTarget for Target<D> {
    fn pages(&self) -> u32 {
        let core = self.core.upgrade();
        core.map_or(0, |core| core.file_pages.get())
    }

    fn damaged(&self, _error: &PageError) {
        // Pages without contents are not damaged; whoever uses an unreadable one says so.
    }
}

fn start_scan<D: Directory>(core: &Rc<Core<D>>) -> Option<MaintenanceScan> {
    let target = Rc::new(Target {
        core: Rc::downgrade(core),
    });
    let start = || MaintenanceScan::start(&core.handle, &core.settings, &core.cache, target);
    core.settings.maintenance.enabled.then(start)
}
