//! From the engine's requests to the streams that are measured.

use super::pending_errors::PendingErrors;
use crate::failure::Failure;
use measure::metric::Stream;
use measure::sample::Recorder;
use runtime::{IoCause, IoDirection, IoError, IoEvent, IoObserver};
use std::cell::RefCell;
use std::rc::Rc;

/// Counts the requests of one database, and keeps those that failed.
pub struct CountingObserver {
    recorder: Rc<RefCell<Recorder>>,
    database: usize,
    page_bytes: u64,
    errors: PendingErrors,
}

impl CountingObserver {
    /// Counts into `recorder` for the database of this index, which has pages of `page_bytes`. Requests
    /// that fail go to `errors`, whoever made them.
    #[must_use]
    pub fn new(
        recorder: Rc<RefCell<Recorder>>,
        database: usize,
        page_bytes: u64,
        errors: PendingErrors,
    ) -> Self {
        Self {
            recorder,
            database,
            page_bytes,
            errors,
        }
    }

    /// The number of the page at this offset, which two header pages come before.
    fn page_at(&self, event: &IoEvent) -> Option<u64> {
        let has_pages = matches!(
            event.cause,
            IoCause::Database | IoCause::Maintenance | IoCause::Backup
        );
        let page = (event.offset_bytes / self.page_bytes).checked_sub(1)?;
        (has_pages && page > 0).then_some(page)
    }
}

/// What a request was made for, in words.
fn purpose(cause: IoCause, direction: IoDirection) -> &'static str {
    match (cause, direction) {
        (IoCause::Database, IoDirection::Read) => "reading database pages",
        (IoCause::Database, _) => "writing database pages",
        (IoCause::Log, IoDirection::Read) => "reading the log",
        (IoCause::Log, _) => "writing the log",
        (IoCause::LogReadBack, _) => "reading the log back",
        (IoCause::LogReplication, _) => "reading a full log file for a copy",
        (IoCause::LogFormat, _) => "preparing a log file",
        (IoCause::Checkpoint, _) => "keeping the checkpoint",
        (IoCause::Maintenance, _) => "background maintenance",
        (IoCause::Backup, _) => "backing up the database",
        (IoCause::Build, _) => "growing the database",
    }
}

/// The stream that a request belongs to; `None` for those that no report shows.
#[must_use]
pub fn stream_of(cause: IoCause, direction: IoDirection) -> Option<Stream> {
    match (cause, direction) {
        (IoCause::Database, IoDirection::Read) => Some(Stream::DatabaseRead),
        (IoCause::Database, IoDirection::Write) => Some(Stream::DatabaseWrite),
        (IoCause::Log, IoDirection::Write) => Some(Stream::LogWrite),
        (IoCause::Log | IoCause::LogReplication, IoDirection::Read) => Some(Stream::LogRead),
        (IoCause::Maintenance | IoCause::LogReadBack | IoCause::Backup, IoDirection::Read) => {
            Some(Stream::MaintenanceRead)
        }
        (IoCause::Checkpoint, IoDirection::Write) => Some(Stream::HeaderWrite),
        (_, IoDirection::Write | IoDirection::Flush) => Some(Stream::OtherWrite),
        (_, IoDirection::Read) => None,
    }
}

/// Counts the requests of the passive copy of one database. One that fails ends the replication of the copy,
/// which says so, and is no error of the database.
pub struct CopyObserver {
    recorder: Rc<RefCell<Recorder>>,
    database: usize,
}

impl CopyObserver {
    /// Counts into `recorder` for the database of this index.
    #[must_use]
    pub fn new(recorder: Rc<RefCell<Recorder>>, database: usize) -> Self {
        Self { recorder, database }
    }
}

impl IoObserver for CopyObserver {
    fn completed(&self, event: &IoEvent) {
        let stream = match (event.cause, event.direction) {
            (IoCause::Log, IoDirection::Write) => Stream::CopyLogWrite,
            (IoCause::Log, IoDirection::Read) => Stream::CopyLogRead,
            (IoCause::Database, IoDirection::Read) => Stream::CopyRead,
            (IoCause::Database | IoCause::Checkpoint, IoDirection::Write) => Stream::CopyWrite,
            _ => return,
        };
        if event.succeeded {
            let (bytes, latency_ns) = (event.length_bytes, event.latency_ns());
            let mut recorder = self.recorder.borrow_mut();
            recorder.io(self.database, stream, bytes, latency_ns);
        }
    }
}

impl IoObserver for CountingObserver {
    fn failed(&self, event: &IoEvent, error: &IoError) {
        let failure = Failure {
            page: self.page_at(event),
            ..Failure::of_io(error, purpose(event.cause, event.direction))
        };
        self.errors.note(Some(self.database), failure);
    }

    fn completed(&self, event: &IoEvent) {
        let Some(stream) = stream_of(event.cause, event.direction) else {
            return;
        };
        let mut recorder = self.recorder.borrow_mut();
        if event.succeeded {
            recorder.io(
                self.database,
                stream,
                event.length_bytes,
                event.latency_ns(),
            );
        } else {
            recorder.io_error(self.database, stream);
        }
    }
}
