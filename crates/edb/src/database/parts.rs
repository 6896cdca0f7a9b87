//! The parts a database is put together from, when it is created and when it is opened.

use crate::cache::{Cache, WriteAhead};
use crate::checkpoint::{CheckpointFile, CheckpointSource, Checkpointer, HeaderWriter};
use crate::engine::SharedState;
use crate::error::EngineError;
use crate::format::database_header::{DatabaseHeader, LogTime, Signature};
use crate::integrity::DbtimeRange;
use crate::log::LocalFuture;
use crate::log::{Log, LogError, LogSettings};
use crate::position::LogPosition;
use crate::recovery::LoggedContents;
use crate::settings::EngineSettings;
use crate::store::FileStore;
use crate::tree::Page;
use crate::verification::half_written;
use runtime::{Directory, Handle, IoObserver};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where a database lives and how it is run.
pub(crate) struct Parts<'a, D: Directory> {
    pub(crate) handle: &'a Handle,
    pub(crate) database_directory: &'a D,
    pub(crate) name: &'a str,
    pub(crate) log_directory: &'a D,
    pub(crate) settings: &'a EngineSettings,
    pub(crate) observer: Rc<dyn IoObserver>,
    /// Whether it is a passive copy that is activated.
    pub(crate) is_passive_copy: bool,
}

/// Where a database file and its log lie.
pub(crate) struct Place<D: Directory> {
    pub(crate) directory: D,
    pub(crate) name: String,
    pub(crate) log_directory: D,
}

/// What keeps header and checkpoint.
pub(crate) struct CheckpointParts<D: Directory> {
    pub(crate) headers: HeaderWriter<D::File>,
    pub(crate) checkpointer: Checkpointer<Page, FileStore<D::File>, D::File>,
}

impl<'a, D: Directory> Parts<'a, D> {
    /// A database in these places, if the settings can work.
    pub(crate) fn new(
        handle: &'a Handle,
        (database_directory, name): (&'a D, &'a str),
        log_directory: &'a D,
        settings: &'a EngineSettings,
        observer: Rc<dyn IoObserver>,
    ) -> Result<Self, EngineError> {
        settings.check().map_err(EngineError::Settings)?;
        Ok(Self {
            handle,
            database_directory,
            name,
            log_directory,
            settings,
            observer,
            is_passive_copy: false,
        })
    }

    /// A signature for a new database or a new log. On the virtual clock it depends on nothing but
    /// the name and the time.
    pub(crate) fn signature(&self, purpose: &str) -> Signature {
        let created = self.time_of_day();
        let mut random: u32 = 0x811C_9DC5;
        let time = created.unix_ms.to_le_bytes();
        for &byte in self
            .name
            .as_bytes()
            .iter()
            .chain(purpose.as_bytes())
            .chain(&time)
        {
            random = (random ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
        Signature { random, created }
    }

    /// The time of day when the runtime's clock was zero.
    fn clock_origin(&self) -> LogTime {
        let since_start_ms = self.handle.now_ns() / 1_000_000;
        LogTime {
            unix_ms: self.time_of_day().unix_ms.saturating_sub(since_start_ms),
        }
    }

    fn time_of_day(&self) -> LogTime {
        // 2013-01-01 is as good as any other day for a simulation.
        const SIMULATED_ORIGIN_MS: u64 = 1_356_998_400_000;
        let unix_ms = if self.handle.is_virtual() {
            SIMULATED_ORIGIN_MS + self.handle.now_ns() / 1_000_000
        } else {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            now.map_or(SIMULATED_ORIGIN_MS, |now| now.as_millis() as u64)
        };
        LogTime { unix_ms }
    }

    pub(crate) fn log_settings(&self, signature: Signature) -> LogSettings {
        let mut settings = LogSettings::new(self.settings, super::LOG_PREFIX, signature);
        settings.clock_origin = self.clock_origin();
        settings.attached = vec![self.name.to_owned()];
        settings
    }

    /// Where database file and log lie.
    pub(crate) fn place(&self) -> Place<D> {
        Place {
            directory: self.database_directory.clone(),
            name: self.name.to_owned(),
            log_directory: self.log_directory.clone(),
        }
    }

    /// The pages of the database in `file`, which hands out the database times in `range`; none on
    /// the disk is later than `newest`.
    pub(crate) fn store(
        &self,
        file: D::File,
        range: DbtimeRange,
        newest: u64,
    ) -> FileStore<D::File> {
        let store = FileStore::new(self.handle, file, self.settings, Rc::clone(&self.observer));
        store.versions().set_range(range, newest);
        store
            .versions()
            .set_clock_origin(self.clock_origin().unix_ms);
        let Place {
            directory, name, ..
        } = self.place();
        store.set_note_half_written(Box::new(move || {
            half_written::leave_note(&directory, &name)
        }));
        store
    }

    /// The task that moves the checkpoint, which the file states as `position`.
    pub(crate) async fn checkpoint_parts(
        &self,
        cache: &Cache<Page, FileStore<D::File>>,
        log: &Log,
        shared: &SharedState,
        header: DatabaseHeader,
        position: LogPosition,
    ) -> Result<CheckpointParts<D>, EngineError> {
        let file = CheckpointFile::open(
            self.handle,
            self.log_directory,
            super::LOG_PREFIX,
            Rc::clone(&self.observer),
        );
        let file = file.await?;
        cache.store().set_source(Rc::new(LoggedContents {
            handle: self.handle.clone(),
            directory: self.log_directory.clone(),
            signature: log.signature(),
            observer: Rc::clone(&self.observer),
        }));
        let headers = HeaderWriter::new(cache.store().clone(), header);
        let source = Rc::new(Source {
            shared: shared.clone(),
            log: log.clone(),
            headers: headers.clone(),
        });
        let checkpointer = Checkpointer::start(
            self.handle,
            self.settings,
            cache,
            log,
            file,
            headers.clone(),
            source,
            position,
        );
        Ok(CheckpointParts {
            headers,
            checkpointer,
        })
    }
}

/// What transactions report to the checkpoint.
struct Source<F: runtime::File> {
    shared: SharedState,
    log: Log,
    headers: HeaderWriter<F>,
}

impl<F: runtime::File> CheckpointSource for Source<F> {
    fn oldest_transaction(&self) -> Option<LogPosition> {
        // The header that is written before the checkpoint moves must know the database time of
        // every change recovery will not read about.
        self.headers.amend(|header| {
            header.dbtime = header.dbtime.max(self.shared.dbtime.get());
            header.last_object_id = header.last_object_id.max(self.shared.last_object_id.get());
        });
        self.shared
            .transactions
            .borrow_mut()
            .oldest_needed(self.log.durable())
    }
}

/// The log as the cache sees it while a restart still reads it: everything that happens is in the log
/// already. Afterwards the log itself.
#[derive(Default)]
pub(crate) struct LateLog {
    log: RefCell<Option<Log>>,
    redone: Cell<LogPosition>,
}

impl LateLog {
    /// Says how far redo has come.
    pub(crate) fn set_redone(&self, position: LogPosition) {
        self.redone.set(position);
    }

    /// From now on records are written to `log`.
    pub(crate) fn set(&self, log: Log) {
        *self.log.borrow_mut() = Some(log);
    }

    fn log(&self) -> Option<Log> {
        self.log.borrow().clone()
    }
}

impl WriteAhead for LateLog {
    fn durable(&self) -> LogPosition {
        self.log()
            .map_or(LogPosition(u64::MAX), |log| log.durable())
    }

    fn end(&self) -> LogPosition {
        self.log().map_or(self.redone.get(), |log| log.end())
    }

    fn request(&self, position: LogPosition) {
        if let Some(log) = self.log() {
            log.request(position);
        }
    }

    fn make_durable(&self, position: LogPosition) -> LocalFuture<'_, Result<(), LogError>> {
        Box::pin(async move {
            match self.log() {
                Some(log) => log.make_durable(position).await,
                None => Ok(()),
            }
        })
    }
}
