//! From the engine's requests to the streams that are measured.

use measure::sample::{Recorder, Stream};
use runtime::{IoCause, IoDirection, IoEvent, IoObserver};
use std::cell::RefCell;
use std::rc::Rc;

/// Counts the requests of one database.
pub struct CountingObserver {
    recorder: Rc<RefCell<Recorder>>,
    database: usize,
}

impl CountingObserver {
    /// Counts into `recorder` for the database of this index.
    #[must_use]
    pub fn new(recorder: Rc<RefCell<Recorder>>, database: usize) -> Self {
        Self { recorder, database }
    }
}

/// The stream that a request belongs to; `None` for those that no report shows.
#[must_use]
pub fn stream_of(cause: IoCause, direction: IoDirection) -> Option<Stream> {
    match (cause, direction) {
        (IoCause::Database, IoDirection::Read) => Some(Stream::DatabaseRead),
        (IoCause::Database, IoDirection::Write) => Some(Stream::DatabaseWrite),
        (IoCause::Log, IoDirection::Write) => Some(Stream::LogWrite),
        (IoCause::Log, IoDirection::Read) => Some(Stream::LogRead),
        (IoCause::Maintenance, IoDirection::Read) => Some(Stream::MaintenanceRead),
        (IoCause::Checkpoint, IoDirection::Write) => Some(Stream::HeaderWrite),
        (_, IoDirection::Write | IoDirection::Flush) => Some(Stream::OtherWrite),
        (_, IoDirection::Read) => None,
    }
}

impl IoObserver for CountingObserver {
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
