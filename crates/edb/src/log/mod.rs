//! The log: what has to be on disk before a page may be.
//!
//! A tour:
//! - [`Log`] takes records without waiting ([`Log::append`]) and makes them durable together
//!   ([`Log::make_durable`]): one writer, everything that has come in goes out in one request.
//! - `layout` says how records lie in segments and files, `buffer` cuts them, `writer` writes them.
//! - `files` turns one file into the next: pre-zeroed or re-used, renamed so that a power cut at any
//!   instant leaves a set of files that can be read.
//! - `replication` reads every full file again, as the shipping of logs to copies does.
//! - `read_back` verifies full files while the log is in use, `verify` all of them afterwards.
//! - [`LogReader`] reads the records back and distinguishes a torn end from damage.
//!
//! Differences from ESE: no segment is ever written twice, so there are no shadow segments; a log
//! opened again goes on in a new file.

mod buffer;
mod error;
mod facts;
mod files;
mod header;
mod layout;
mod names;
mod prepare;
mod read_back;
mod reader;
mod replication;
mod set;
mod state;
mod verify;
mod waiters;
mod writer;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod shape_tests;

pub use error::LogError;
pub use facts::{LogFileFacts, log_files};
pub(crate) use layout::{eight, put, word};
pub(crate) use names::checkpoint_name;
pub use reader::LogReader;
pub use set::LogEnd;
pub use state::LogStatistics;
pub use verify::{LogVerification, verify_log};

use crate::format::database_header::{LogTime, Signature};
use crate::integrity::FileFinding;
use crate::position::{LogPosition, LogSpan};
use crate::settings::EngineSettings;
use config::ByteSize;
use files::LogFiles;
use runtime::{Directory, Handle, IoObserver};
use state::LogCore;
use std::future::Future;
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

/// The log of one database. Clones share it. When the last one is dropped without [`Log::close`],
/// what has not been written is lost, as in a crash.
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

    /// Adds a record. Never waits; [`Log::admit`] is the brake.
    ///
    /// # Panics
    /// If the record is larger than [`Log::most_record_bytes`].
    pub fn append(&self, record: &[u8]) -> LogSpan {
        self.core.append(record)
    }

    /// Bytes of the largest record.
    #[must_use]
    pub fn most_record_bytes(&self) -> usize {
        self.core.geometry.most_record_bytes()
    }

    /// Waits while more is buffered than the buffer should hold. To be called before new work.
    ///
    /// # Errors
    /// If the log has failed, or no space is left for its next file.
    pub async fn admit(&self) -> Result<(), LogError> {
        self.core.admit().await
    }

    /// Waits until everything before `end` is on stable storage.
    ///
    /// # Errors
    /// If the log has failed before.
    pub async fn make_durable(&self, end: LogPosition) -> Result<(), LogError> {
        self.core.make_durable(end).await
    }

    /// Asks for everything before `end` to become durable within so many nanoseconds; does not wait.
    pub fn request(&self, end: LogPosition, within_ns: u64) {
        self.core.request(end, within_ns);
    }

    /// Everything before this position is on stable storage.
    #[must_use]
    pub fn durable(&self) -> LogPosition {
        self.core.durable()
    }

    /// Where the next record will begin, or a little before.
    #[must_use]
    pub fn tip(&self) -> LogPosition {
        self.core.tip()
    }

    /// The file being written.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.core.generation()
    }

    /// Bytes of a log file.
    #[must_use]
    pub fn file_size_bytes(&self) -> u64 {
        self.core.geometry.file_bytes
    }

    /// What distinguishes this log from all others.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.core.settings.signature
    }

    /// The time of day now.
    #[must_use]
    pub fn time(&self) -> LogTime {
        self.core.time()
    }

    /// The files before `generation` are not needed any more. With circular logging they are removed or
    /// used again.
    pub fn release_before(&self, generation: u32) {
        self.core.release_before(generation);
    }

    /// Sets who is notified when the log moves to a new file.
    pub fn on_rollover(&self, rollover: Rc<dyn LogRollover>) {
        self.core.set_rollover(rollover);
    }

    /// Why the log takes no new work, if so.
    ///
    /// # Errors
    /// The reason.
    pub fn check(&self) -> Result<(), LogError> {
        self.core.check()
    }

    /// What the log has done.
    #[must_use]
    pub fn statistics(&self) -> LogStatistics {
        self.core.statistics()
    }

    /// What has been found wrong in log files that were read back, since the last call.
    #[must_use]
    pub fn take_findings(&self) -> Vec<FileFinding> {
        self.core.take_findings()
    }

    /// Writes what is left and ends the log's tasks.
    ///
    /// # Errors
    /// If the log has failed.
    pub async fn close(&self) -> Result<(), LogError> {
        self.core.close().await
    }
}
