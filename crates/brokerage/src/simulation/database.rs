//! Opening and closing a simulated database: database cache, log and checkpoint over pages without
//! contents.

use super::measured::{LogWrites, Measured};
use super::pages::{StripedPages, pages_of_file};
use crate::profile::BrokerageProfile;
use crate::simulation::trees::Trees;
use config::ByteSize;
use edb::cache::Cache;
use edb::checkpoint::{CheckpointFile, CheckpointSource, Checkpointer, HeaderWriter};
use edb::database::LOG_PREFIX;
use edb::format::database_header::{DatabaseHeader, DatabaseState, LogTime, Signature};
use edb::log::{Log, LogSettings};
use edb::position::LogPosition;
use edb::settings::{Engine, Maintenance};
use edb::store::FileStore;
use edb::{EngineError, EngineSettings};
use runtime::{Directory, Handle, IoObserver};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Creation time of the log, 2016-01-01: any time will do.
const SIMULATED_ORIGIN_MS: u64 = 1_451_606_400_000;

/// Size of the log buffer.
const LOG_BUFFER: ByteSize = ByteSize::mib(1);

type SimulatedCheckpointer<D> =
    Checkpointer<(), StripedPages<<D as Directory>::File>, <D as Directory>::File>;

/// A database of pages without contents that has been opened.
pub(crate) struct Database<D: Directory> {
    pub(crate) handle: Handle,
    pub(crate) cache: Cache<(), StripedPages<D::File>>,
    pub(crate) log: Log,
    pub(crate) trees: RefCell<Trees>,
    pub(crate) open: Rc<OpenTransactions>,
    pub(super) page_bytes: u64,
    pub(super) measured: Rc<Measured>,
    checkpointer: SimulatedCheckpointer<D>,
    headers: HeaderWriter<D::File>,
}

/// Settings of the database cache and log for this profile.
pub(crate) fn engine_settings(profile: &BrokerageProfile) -> EngineSettings {
    let database = &profile.brokerage.database;
    EngineSettings {
        engine: Engine {
            page_size: database.page_size,
            cache_size_per_database: database.memory,
            log_file_size: database.log_file_size,
            log_buffer: LOG_BUFFER,
            checkpoint_depth: database.checkpoint_depth,
            max_coalesced_read: database.largest_request,
            max_coalesced_write: database.largest_request,
            coalesce_read_gap: ByteSize(0),
            coalesce_write_gap: ByteSize(0),
            ..Engine::default()
        },
        maintenance: Maintenance {
            enabled: false,
            ..Maintenance::default()
        },
        ..EngineSettings::default()
    }
}

impl<D: Directory> Database<D> {
    /// Opens the database over files that have been laid out.
    pub(crate) async fn open(
        handle: &Handle,
        profile: &BrokerageProfile,
        files: Vec<D::File>,
        log_directory: &D,
        observer: Rc<dyn IoObserver>,
    ) -> Result<Self, EngineError> {
        let settings = engine_settings(profile);
        settings.check().map_err(EngineError::Settings)?;
        let page_bytes = settings.engine.page_size.bytes();
        let measured = Measured::new(&profile.brokerage.measured_io, page_bytes);
        let of_log: Rc<dyn IoObserver> = Rc::new(LogWrites {
            measured: Rc::clone(&measured),
            observer: Rc::clone(&observer),
        });
        let log = new_log(handle, profile, &settings, log_directory, &of_log).await?;
        let trees = Trees::build(&profile.brokerage);
        let file_pages = pages_of_file(trees.all_pages(), files.len() as u64) as u32;
        let store = FileStore::new(handle, files[0].clone(), &settings, Rc::clone(&observer));
        let pages = StripedPages::new(
            handle,
            files,
            file_pages,
            &settings,
            &observer,
            Rc::clone(&measured),
        );
        let write_ahead = Rc::new(log.clone());
        let cache = Cache::new(handle, &settings, pages, write_ahead);
        let mut header = DatabaseHeader::new(page_bytes as u32, log.signature());
        header.state = DatabaseState::Dirty;
        header.lowest_log_needed = log.generation();
        header.highest_log_needed = log.generation();
        let headers = HeaderWriter::new(store, header);
        let open = Rc::new(OpenTransactions::default());
        let file = CheckpointFile::open(handle, log_directory, LOG_PREFIX, observer).await?;
        let checkpointer = Checkpointer::start(
            handle,
            &settings,
            &cache,
            &log,
            file,
            headers.clone(),
            Rc::clone(&open) as Rc<dyn CheckpointSource>,
            LogPosition::START,
        );
        headers.update(|_| {}).await?;
        Ok(Self {
            handle: handle.clone(),
            cache,
            log,
            trees: RefCell::new(trees),
            open,
            page_bytes,
            measured,
            checkpointer,
            headers,
        })
    }

    /// Writes all dirty pages and closes the database.
    pub(crate) async fn close(&self) -> Result<(), EngineError> {
        self.log.make_durable(self.log.end()).await?;
        self.cache.flush_all().await?;
        self.cache.sync().await?;
        self.checkpointer.advance().await?;
        self.log.close().await?;
        self.headers
            .update(|header| header.state = DatabaseState::Clean)
            .await?;
        Ok(())
    }

    /// Bytes of the pages in use.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.trees.borrow().used_pages() * self.page_bytes
    }

    /// Filled share of the database cache, of what it could hold.
    pub(crate) fn cache_fill(&self) -> f64 {
        let cache = self.cache.statistics();
        let could_hold = cache.capacity_pages.min(self.trees.borrow().used_pages());
        cache.resident_pages as f64 / could_hold.max(1) as f64
    }
}

async fn new_log<D: Directory>(
    handle: &Handle,
    profile: &BrokerageProfile,
    settings: &EngineSettings,
    directory: &D,
    observer: &Rc<dyn IoObserver>,
) -> Result<Log, EngineError> {
    let created = LogTime {
        unix_ms: SIMULATED_ORIGIN_MS,
    };
    let signature = Signature {
        random: profile.run.seed as u32,
        created,
    };
    let mut settings = LogSettings::new(settings, LOG_PREFIX, signature);
    settings.attached = vec!["brokerage".to_owned()];
    settings.with_contents = false;
    Ok(Log::create(handle, directory, &settings, Rc::clone(observer)).await?)
}

/// Log positions at which open transactions begin: the checkpoint does not pass them.
#[derive(Debug, Default)]
pub(crate) struct OpenTransactions(RefCell<BTreeMap<LogPosition, u32>>);

impl OpenTransactions {
    pub(crate) fn hold(&self, position: LogPosition) {
        *self.0.borrow_mut().entry(position).or_default() += 1;
    }

    pub(crate) fn release(&self, position: LogPosition) {
        let mut held = self.0.borrow_mut();
        let count = held.get_mut(&position);
        let count = count.unwrap_or_else(|| panic!("{position} is not held"));
        *count -= 1;
        if *count == 0 {
            held.remove(&position);
        }
    }
}

impl CheckpointSource for OpenTransactions {
    fn oldest_transaction(&self) -> Option<LogPosition> {
        self.0.borrow().keys().next().copied()
    }
}
