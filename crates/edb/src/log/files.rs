//! The life of log files: made, filled with zeros, written, renamed, used again or removed.
//!
//! The switch from one file to the next goes in steps, each durable before the following begins:
//!
//! 1. the next file is made, still under its temporary name, and gets its header ([`super::prepare`]);
//! 2. the current file gets the name of its generation;
//! 3. the next file becomes the current one.
//!
//! The first step is done ahead, so that the log stands still only for the other two. A power cut
//! after 2 leaves no current file, but a temporary one with a valid header, which then becomes the
//! current one ([`super::set`]).

use super::error::LogError;
use super::header::LogFileHeader;
use super::layout::{SEGMENT, SegmentHead};
use super::names::Names;
use super::set::LogEnd;
use super::state::LogCore;
use crate::accounting::{Shape, notify_observer};
use crate::format::database_header::LogTime;
use crate::position::SEGMENT_BYTES;
use crate::seeded_bugs::{SeededBug, is_seeded};
use runtime::sync::Notify;
use runtime::{
    Buffer, Directory, File, IoCause, IoDirection, IoError, IoFailure, IoObserver, Persistence,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The file being written.
pub(super) struct CurrentFile<F> {
    pub(super) generation: u32,
    pub(super) file: F,
    pub(super) created: LogTime,
}

/// How far the file to follow the current one is prepared.
pub(super) enum Next<F> {
    /// Nobody has begun to prepare it.
    Missing,
    /// It is being prepared.
    Underway,
    /// It has its full size and its header.
    Ready(CurrentFile<F>),
    /// It could not be made.
    Failed(LogError),
}

/// What the header of a file says of its place in the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilePlace {
    pub(super) generation: u32,
    /// When the file before was created.
    pub(super) previous_created: LogTime,
}

impl FilePlace {
    /// The place of the first file of a log.
    const FIRST: Self = Self {
        generation: 1,
        previous_created: LogTime { unix_ms: 0 },
    };
}

impl<F> CurrentFile<F> {
    /// The place of the file that follows.
    fn next_place(&self) -> FilePlace {
        FilePlace {
            generation: self.generation + 1,
            previous_created: self.created,
        }
    }
}

pub(super) struct LogFiles<D: Directory> {
    pub(super) core: Rc<LogCore>,
    pub(super) directory: D,
    pub(super) names: Names,
    observer: Rc<dyn IoObserver>,
    pub(super) next: RefCell<Next<D::File>>,
    pub(super) next_changed: Notify,
    /// The next file is needed now.
    pub(super) needed_now: Cell<bool>,
    /// Files of earlier generations were there when the log was opened: nobody has looked at them since.
    pub(super) opened_at: u32,
    /// How far the current file has been written.
    pub(super) current_bytes: Cell<u64>,
    /// Numbers of the reserve files.
    pub(super) reserves: RefCell<BTreeSet<u32>>,
    /// Generations of files of which it has been noted that they are wrong.
    pub(super) reported: RefCell<BTreeSet<u32>>,
}

impl<D: Directory> LogFiles<D> {
    pub(super) fn new(directory: &D, core: Rc<LogCore>, observer: Rc<dyn IoObserver>) -> Rc<Self> {
        Rc::new(Self {
            names: Names::new(&core.settings.prefix),
            opened_at: core.generation(),
            core,
            directory: directory.clone(),
            observer,
            next: RefCell::new(Next::Missing),
            next_changed: Notify::default(),
            needed_now: Cell::new(false),
            current_bytes: Cell::new(0),
            reserves: RefCell::default(),
            reported: RefCell::default(),
        })
    }

    /// Makes the first file of a new log.
    pub(super) async fn create_first(self: &Rc<Self>) -> Result<CurrentFile<D::File>, LogError> {
        let present = self.directory.list().await?;
        let next = self.names.next();
        let holds_records = |name: &&String| **name != next && self.names.is_log(name);
        if let Some(file) = present.iter().find(holds_records) {
            return Err(LogError::Exists {
                directory: self.directory.describe(),
                file: file.clone(),
            });
        }
        if present.contains(&next) {
            // An earlier creation was interrupted before it had written anything.
            self.directory.remove(&next).await?;
        }
        self.needed_now.set(true);
        self.prepare_next(FilePlace::FIRST);
        let next = self.take_next(FilePlace::FIRST).await?;
        let current = self.become_current(next, FilePlace::FIRST).await?;
        self.settle(current).await
    }

    /// Ends the last file of a log that was read and makes the next one.
    pub(super) async fn continue_after(
        self: &Rc<Self>,
        end: &LogEnd,
    ) -> Result<CurrentFile<D::File>, LogError> {
        let present = self.directory.list().await?;
        if present.contains(&self.names.next()) {
            self.directory.remove(&self.names.next()).await?;
        }
        let generations = present
            .iter()
            .filter_map(|name| self.names.generation_of(name));
        self.core.full.borrow_mut().extend(generations);
        self.note_gaps(end.generation);
        let file = self.directory.open(&self.names.current()).await?;
        let marked = !is_seeded(SeededBug::TornEndNotMarked);
        if let Some(number) = end.next_segment.filter(|_| marked) {
            self.end_torn_file(&file, end.generation, number).await?;
        }
        self.needed_now.set(true);
        let last = CurrentFile {
            generation: end.generation,
            file,
            created: end.created,
        };
        self.prepare_next(last.next_place());
        let current = self.roll_over_quietly(&last).await?;
        self.settle(current).await
    }

    /// What a new current file needs around it: reserves, and a successor.
    async fn settle(
        self: &Rc<Self>,
        current: CurrentFile<D::File>,
    ) -> Result<CurrentFile<D::File>, LogError> {
        self.core.set_generation(current.generation);
        self.make_reserves().await?;
        self.prepare_next(current.next_place());
        Ok(current)
    }

    /// Writes the segment that says that the file ends here and that a record cut off before it is
    /// void.
    async fn end_torn_file(
        &self,
        file: &D::File,
        generation: u32,
        number: u32,
    ) -> Result<(), LogError> {
        let mut segment = Buffer::zeroed(SEGMENT);
        let head = SegmentHead {
            generation,
            number,
            time: self.core.time(),
            stream: self.core.settings.signature.random,
            request: number,
            file_ends: true,
            cuts_record: true,
        };
        head.seal(&mut segment);
        let offset = u64::from(number) * SEGMENT_BYTES;
        self.write(file, offset, Rc::new(segment), IoCause::Log)
            .await
    }

    /// Moves on to the next file and notifies those who must know, both at the same time. Nothing is
    /// written to the new file before they know.
    pub(super) async fn roll_over(
        self: &Rc<Self>,
        last: &CurrentFile<D::File>,
    ) -> Result<CurrentFile<D::File>, LogError> {
        let generation = last.generation + 1;
        let notification = self.core.rollover().map(|rollover| {
            let rolled = async move { rollover.rolled(generation).await };
            self.core.handle.spawn_urgent(rolled)
        });
        let current = self.roll_over_quietly(last).await?;
        self.core.set_generation(current.generation);
        self.core.count(|statistics| statistics.rollovers += 1);
        self.prepare_next(current.next_place());
        if let Some(notification) = notification {
            notification.await?;
        }
        Ok(current)
    }

    async fn roll_over_quietly(
        self: &Rc<Self>,
        last: &CurrentFile<D::File>,
    ) -> Result<CurrentFile<D::File>, LogError> {
        let next = self.take_next(last.next_place()).await?;
        let full_name = self.names.full(last.generation);
        self.directory
            .rename(&self.names.current(), &full_name)
            .await?;
        if !is_seeded(SeededBug::RolloverWithoutDirectorySync) {
            self.directory.sync().await?;
        }
        self.core.full.borrow_mut().insert(last.generation);
        self.become_current(next, last.next_place()).await
    }

    async fn become_current(
        &self,
        next: CurrentFile<D::File>,
        place: FilePlace,
    ) -> Result<CurrentFile<D::File>, LogError> {
        let (from, to) = (self.names.next(), self.names.current());
        let is_whole = next.file.size_bytes().await? == self.core.settings.file_bytes();
        let renamed = match is_whole {
            true => self.directory.rename(&from, &to).await,
            false => Ok(()),
        };
        let next = match renamed {
            Ok(()) if is_whole => next,
            Err(error) if error.failure != IoFailure::NotFound => return Err(error.into()),
            _ => {
                let next = self.make_again(place).await?;
                self.directory.rename(&from, &to).await?;
                next
            }
        };
        if !is_seeded(SeededBug::RolloverWithoutDirectorySync) {
            self.directory.sync().await?;
        }
        self.current_bytes.set(0);
        Ok(next)
    }

    /// Writes the header that gives `file` its place; what is to become the current file.
    pub(super) async fn with_header(
        &self,
        file: D::File,
        place: FilePlace,
    ) -> Result<CurrentFile<D::File>, LogError> {
        let settings = &self.core.settings;
        let created = self.core.time();
        let header = LogFileHeader {
            generation: place.generation,
            file_segments: (settings.file_bytes() / SEGMENT_BYTES) as u16,
            page_size_bytes: settings.engine.engine.page_bytes(),
            created,
            previous_created: place.previous_created,
            signature: settings.signature,
            attached: settings.attached.clone(),
        };
        let header = Rc::new(header.encode());
        self.write(&file, 0, header, IoCause::LogFormat).await?;
        Ok(CurrentFile {
            generation: place.generation,
            file,
            created,
        })
    }

    pub(super) async fn write(
        &self,
        file: &D::File,
        offset: u64,
        bytes: Rc<Buffer>,
        cause: IoCause,
    ) -> Result<(), LogError> {
        let length = bytes.len() as u64;
        let issued_ns = self.core.handle.now_ns();
        let result = file.write(offset, bytes, Persistence::Durable).await;
        let shape = (IoDirection::Write, offset, length);
        self.notify_observer(cause, shape, issued_ns, result.as_ref().err());
        Ok(result?)
    }

    /// The current file has been written up to `bytes`.
    pub(super) fn advance(&self, bytes: u64) {
        self.current_bytes.set(bytes);
    }

    pub(super) fn notify_observer(
        &self,
        cause: IoCause,
        shape: Shape,
        issued_ns: u64,
        error: Option<&IoError>,
    ) {
        let (handle, observer) = (&self.core.handle, &*self.observer);
        notify_observer(handle, observer, cause, shape, issued_ns, error);
    }
}
