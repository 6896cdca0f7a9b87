//! The log: what has to be on disk before a page may be.
//!
//! A tour:
//! - [`Log`] takes records without waiting ([`LogCore::append`]) and makes them durable together
//!   ([`LogCore::make_durable`]): one writer, everything that has come in goes out in one request.
//! - `layout` says how records lie in segments and files, `buffer` cuts them, `writer` writes them.
//! - `files` turns one file into the next: pre-zeroed or re-used, renamed so that a power cut at any
//!   instant leaves a set of files that can be read.
//! - `replication` reads every full file again, as the shipping of logs to copies does; `shipping` hands
//!   them to a copy that is there.
//! - `background` counts tasks and readers for which the log waits.
//! - `activate` makes what was shipped all of the log of a copy whose database is gone.
//! - `read_back` verifies full files while the log is in use, `verify` all of them afterwards.
//! - `left` says which files a closed database has left, and which of them are gone.
//! - [`RecordChain`] is hashes by which records that are read back are known to be those that were
//!   written.
//! - [`LogReader`] reads the records back and distinguishes a torn end from damage.
//!
//! Differences from ESE: no segment is ever written twice, so there are no shadow segments; a log
//! opened again goes on in a new file.

mod activate;
mod background;
mod buffer;
mod chain;
mod error;
mod facts;
mod files;
mod header;
mod layout;
mod left;
mod names;
mod prepare;
mod read_back;
mod reader;
mod replication;
mod set;
mod shipping;
mod state;
mod verify;
mod waiters;
mod writer;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod shape_tests;

pub(crate) use activate::{end_with_last_committed, end_with_last_full, is_shipped};
pub use chain::RecordChain;
pub use error::LogError;
pub use facts::{LogFileFacts, log_files};
pub(crate) use layout::{eight, put, word};
pub(crate) use left::missing_file;
pub use left::{full_log_files, missing_log_files};
pub(crate) use names::{checkpoint_name, full_name, is_needed_from};
pub use reader::LogReader;
pub use set::LogEnd;
pub(crate) use set::{KnownLog, rebuild_first_header};
pub(crate) use shipping::{FullFiles, ShippedFile};
pub use state::{LogCore, LogStatistics};
pub use verify::{ClosedLog, LogVerification, verify_log};

use crate::format::database_header::{LogTime, Signature};
use crate::settings::EngineSettings;
use config::ByteSize;
use files::LogFiles;
use runtime::{Directory, Handle, IoObserver};
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::rc::Rc;

/// What the files of the log begin with.
pub const LOG_PREFIX: &str = "E00";

/// What a log needs to know.
#[derive(Debug, Clone)]
pub struct LogSettings {
    /// What all its file names begin with, such as `E00`.
    pub prefix: String,
    /// Those of the database.
    pub engine: EngineSettings,
    /// Files of earlier generations are not needed when the log is opened: on a full disk, where no
    /// new file can be made, the log goes on in one of them.
    pub needed_from_generation: u32,
    /// What distinguishes this log from all others.
    pub signature: Signature,
    /// The time of day when the runtime's clock was zero.
    pub clock_origin: LogTime,
    /// Names of the databases whose changes are logged.
    pub attached: Vec<String>,
    /// Whether records are kept. Without, only their lengths count: segments are written empty, and
    /// the log cannot be read back.
    pub with_contents: bool,
}

impl LogSettings {
    /// The settings of the log of a database with `settings`.
    #[must_use]
    pub fn new(settings: &EngineSettings, prefix: &str, signature: Signature) -> Self {
        Self {
            prefix: prefix.to_owned(),
            engine: *settings,
            needed_from_generation: 0,
            signature,
            clock_origin: signature.created,
            attached: Vec::new(),
            with_contents: true,
        }
    }

    fn file_bytes(&self) -> u64 {
        self.engine.engine.log_file_size.bytes()
    }

    fn buffer_bytes(&self) -> u64 {
        self.engine.engine.log_buffer.bytes()
    }

    /// Full log files that may be there before released ones are removed: twice the checkpoint
    /// depth, as far as the lag of the checkpoint reaches in a burst, so that a steady load makes no
    /// new files.
    fn kept_files(&self) -> usize {
        const FEWEST: usize = 2;
        let files = 2 * self.engine.engine.checkpoint_depth.bytes() / self.file_bytes();
        usize::try_from(files).unwrap_or(usize::MAX).max(FEWEST)
    }
}

/// A future that stays on its thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Somebody who must act when the log moves to a new file, before anything is written to it.
pub trait LogRollover: 'static {
    /// The log moves to file `generation`; it may not have its name yet. Errors stop the log.
    fn rolled(&self, generation: u32) -> LocalFuture<'_, Result<(), LogError>>;
}

/// The log of one database. Clones share its [`LogCore`]. When the last one is dropped without
/// [`LogCore::close`], what has not been written is lost, as in a crash.
#[derive(Clone)]
pub struct Log {
    core: Rc<LogCore>,
    _owner: Rc<state::Owner>,
}

impl Log {
    /// Makes a new log in a directory that holds none.
    ///
    /// # Errors
    /// [`LogError::Exists`] if there is a log of that prefix; otherwise as the storage fails.
    pub async fn create<D: Directory>(
        handle: &Handle,
        directory: &D,
        settings: &LogSettings,
        observer: Rc<dyn IoObserver>,
    ) -> Result<Self, LogError> {
        let core = LogCore::new(handle, settings, 1);
        let files = LogFiles::new(directory, Rc::clone(&core), observer);
        let current = files.create_first().await?;
        Ok(Self::start(core, files, current))
    }

    /// Goes on with a log that has been read to its `end`, in a new file. The signature and the file
    /// size are those of the log, whatever `settings` say.
    ///
    /// # Errors
    /// As the storage fails.
    pub async fn open<D: Directory>(
        handle: &Handle,
        directory: &D,
        settings: &LogSettings,
        end: &LogEnd,
        observer: Rc<dyn IoObserver>,
    ) -> Result<Self, LogError> {
        let mut settings = LogSettings {
            signature: end.signature,
            ..settings.clone()
        };
        settings.engine.engine.log_file_size = ByteSize(end.file_size_bytes);
        let core = LogCore::new(handle, &settings, end.generation + 1);
        core.release_before(settings.needed_from_generation.min(end.generation));
        let files = LogFiles::new(directory, Rc::clone(&core), observer);
        let current = files.continue_after(end).await?;
        Ok(Self::start(core, files, current))
    }

    fn start<D: Directory>(
        core: Rc<LogCore>,
        files: Rc<LogFiles<D>>,
        current: files::CurrentFile<D::File>,
    ) -> Self {
        files.start_replication(current.generation);
        files.start_read_back(current.generation);
        writer::spawn(&core, files, current);
        Self {
            _owner: Rc::new(state::Owner(Rc::clone(&core))),
            core,
        }
    }
}

impl Deref for Log {
    type Target = LogCore;

    fn deref(&self) -> &LogCore {
        &self.core
    }
}
