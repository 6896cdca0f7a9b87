//! Log shipping: each full file is read, verified and handed to whoever keeps a copy of the database.
//!
//! A file that was not read yet is not used again, however long the reader takes. The log itself never
//! waits for a reader.

use super::error::LogError;
use super::names::Names;
use super::state::LogCore;
use super::verify::Expected;
use super::{Log, LogEnd};
use crate::accounting::notify_observer;
use crate::format::database_header::LogTime;
use crate::integrity::FileFinding;
use runtime::{Buffer, Directory, File, Handle, IoCause, IoDirection, IoObserver};
use std::rc::Rc;

/// Reads the full files of a log, in their order. Dropping it lets the log use its files again.
pub(crate) struct FullFiles<D: Directory> {
    core: Rc<LogCore>,
    directory: D,
    names: Names,
    observer: Rc<dyn IoObserver>,
    reader: usize,
    next: u32,
}

/// A log file as it was read and found right.
pub(crate) struct ShippedFile {
    pub(crate) generation: u32,
    /// Its name among the files of the log.
    pub(crate) name: String,
    pub(crate) bytes: Buffer,
}

impl Log {
    /// Reads the full files from that of `generation` on, which is still there, in `directory`.
    pub(crate) fn full_files<D: Directory>(
        &self,
        directory: &D,
        generation: u32,
        observer: Rc<dyn IoObserver>,
    ) -> FullFiles<D> {
        FullFiles {
            core: Rc::clone(&self.core),
            directory: directory.clone(),
            names: Names::new(&self.core.settings.prefix),
            observer,
            reader: self.core.add_reader(generation),
            next: generation,
        }
    }
}

impl<D: Directory> Drop for FullFiles<D> {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl<D: Directory> FullFiles<D> {
    /// The generation of the file that [`FullFiles::next`] gives next.
    pub(crate) fn next_generation(&self) -> u32 {
        self.next
    }

    /// The log they are of.
    pub(crate) fn log(&self) -> &Rc<LogCore> {
        &self.core
    }

    /// Lets the log use its files again, whether they were read or not.
    pub(crate) fn let_go(&self) {
        self.core.has_read(self.reader, u32::MAX);
        self.core.advanced.notify_all();
    }

    /// Full files that were not read yet.
    fn waiting(&self) -> u32 {
        self.core.generation().saturating_sub(self.next)
    }

    /// The next file, as soon as it is full. `None`: all full files were read, and the log is over.
    ///
    /// # Errors
    /// If the file cannot be read or is not as it was written.
    pub(crate) async fn next(&mut self) -> Result<Option<ShippedFile>, LogError> {
        loop {
            let rolled = self.core.rolled.notified();
            if self.waiting() > 0 {
                break;
            }
            if self.core.is_over() {
                return Ok(None);
            }
            rolled.await;
        }
        let generation = self.next;
        let file = self.read(generation, self.names.full(generation), None);
        let file = file.await?;
        self.next = generation + 1;
        self.core.has_read(self.reader, self.next);
        Ok(Some(file))
    }

    /// The file that was being written when the log was closed, as far as it was written.
    ///
    /// # Errors
    /// As [`FullFiles::next`].
    pub(crate) async fn last(&self) -> Result<ShippedFile, LogError> {
        let (generation, next_segment) = self.end();
        let end_segment = next_segment.unwrap_or(self.core.geometry.last_segment() + 1);
        self.read(generation, self.names.current(), Some(end_segment))
            .await
    }

    /// Where a log that was closed ends: its last file, and the segment of it behind the last one that was
    /// written; `None` if the file is complete.
    pub(crate) fn end(&self) -> (u32, Option<u32>) {
        let (geometry, generation) = (self.core.geometry, self.core.generation());
        let end = geometry.normalised(self.core.durable());
        let (at, segment, byte) = geometry.place(end);
        let used = segment + u32::from(byte > super::layout::SEGMENT_HEADER);
        let is_full = at > generation || used > geometry.last_segment();
        (generation, (!is_full).then_some(used))
    }

    /// What the reader of the shipped files needs to know of the log, which they are all of that were
    /// shipped before `generation`.
    pub(crate) fn end_before(&self, generation: u32) -> LogEnd {
        LogEnd {
            generation: generation - 1,
            next_segment: None,
            signature: self.core.settings.signature,
            file_size_bytes: self.core.geometry.file_bytes,
            created: LogTime::default(),
            attached: Vec::new(),
        }
    }

    fn handle(&self) -> &Handle {
        &self.core.handle
    }

    async fn read(
        &self,
        generation: u32,
        name: String,
        end_segment: Option<u32>,
    ) -> Result<ShippedFile, LogError> {
        let (settings, geometry) = (&self.core.settings, self.core.geometry);
        let expected = Expected {
            file: format!("{}/{name}", self.directory.describe()),
            generation,
            signature: &settings.signature,
            geometry,
            end_segment,
        };
        let file = self.directory.open(&name).await?;
        let step = settings.engine.internals.log_replication_read_bytes;
        let mut bytes = Buffer::zeroed(geometry.file_bytes as usize);
        let mut offset = 0;
        while offset < geometry.file_bytes {
            let length = step.min(geometry.file_bytes - offset);
            let issued_ns = self.handle().now_ns();
            let (part, result) = file.read(offset, Buffer::zeroed(length as usize)).await;
            let shape = (IoDirection::Read, offset, length);
            let (cause, error) = (IoCause::LogReplication, result.as_ref().err());
            notify_observer(
                self.handle(),
                &*self.observer,
                cause,
                shape,
                issued_ns,
                error,
            );
            result?;
            bytes[offset as usize..(offset + length) as usize].copy_from_slice(&part);
            offset += length;
        }
        match expected.verify(&bytes).findings.into_iter().next() {
            Some(FileFinding { problem, .. }) => Err(LogError::Damaged {
                file: expected.file,
                problem,
            }),
            None => Ok(ShippedFile {
                generation,
                name,
                bytes,
            }),
        }
    }
}
