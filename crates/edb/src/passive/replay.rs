//! Replays shipped log files in a copy, by the code of recovery, and moves the copy's checkpoint.

use super::progress::Progress;
use super::ship::ShipTo;
use super::{CopyPlace, Seeded};
use crate::cache::Cache;
use crate::checkpoint::{
    Checkpoint, CheckpointFile, HeaderWriter, read_checkpoint_back, read_header_back,
};
use crate::database::{LateLog, Parts};
use crate::error::EngineError;
use crate::integrity::{DbtimeRange, FileFinding, LastWritten};
use crate::log::{
    ClosedLog, LOG_PREFIX, LogEnd, LogReader, ShippedFile, full_name, missing_file, verify_log,
};
use crate::position::LogPosition;
use crate::recovery::Recovery;
use crate::store::FileStore;
use crate::tree::Page;
use runtime::{Directory, Handle, IoError, IoFailure, IoObserver};
use std::rc::Rc;

/// Records that are replayed before other tasks have their turn.
const RECORDS_AT_ONCE: u32 = 64;

/// The replay of one copy.
pub(super) struct Replay<D: Directory> {
    handle: Handle,
    log_directory: D,
    observer: Rc<dyn IoObserver>,
    cache: Cache<Page, FileStore<D::File>>,
    recovery: Recovery<D>,
    write_ahead: Rc<LateLog>,
    headers: HeaderWriter<D::File>,
    checkpoint_file: CheckpointFile<D::File>,
    checkpoint: LogPosition,
    /// Up to where the log has been replayed.
    replayed: LogPosition,
    /// Files before this one have been removed.
    oldest_file: u32,
    /// What is known of the log; the generation is that of the last file read.
    log: LogEnd,
    reader: Option<LogReader<D>>,
    /// What was found wrong with its log files.
    findings: Vec<FileFinding>,
}

/// Replays file after file, until there will be no more.
pub(super) async fn replay<D: Directory>(
    mut replay: Replay<D>,
    progress: Rc<Progress>,
) -> Replay<D> {
    loop {
        let changed = progress.changed.notified();
        if progress.is_over() {
            return replay;
        }
        match progress.next_to_replay() {
            Some(generation) => match replay.replay_file(generation, &progress).await {
                Ok(()) => progress.set_replayed(generation + 1),
                Err(error) => progress.suspend(generation, error),
            },
            None if progress.has_shipping_ended() => return replay,
            None => changed.await,
        }
    }
}

impl<D: Directory> Replay<D> {
    pub(super) async fn new(
        handle: &Handle,
        place: &CopyPlace<'_, D>,
        seeded: &Seeded<D>,
    ) -> Result<Self, EngineError> {
        let parts = Parts::new(
            handle,
            (place.directory, place.name),
            place.log_directory,
            &place.settings,
            Rc::clone(&place.observer),
        )?;
        let file = place.directory.open(place.name).await?;
        let header = seeded.header.clone();
        let range = DbtimeRange::of_existing(header.signature, header.dbtime);
        let store = parts.store(file, range, u64::MAX);
        let file_name = format!("{}/{}", place.directory.describe(), place.name);
        let write_ahead = Rc::new(LateLog::default());
        let cache = Cache::new(handle, &place.settings, store, write_ahead.clone());
        let known = (seeded.checkpoint, header.dbtime);
        // Images in the log repair torn pages, and this copy has none: nothing has cut its writes off.
        let mut recovery = Recovery::new(&cache, &file_name, known, false);
        recovery.set_extension_pages(place.settings.engine.extension_pages);
        let observer = Rc::clone(&place.observer);
        let checkpoint_file =
            CheckpointFile::open(handle, place.log_directory, LOG_PREFIX, observer);
        let oldest_file = seeded.files.next_generation();
        let mut replay = Self {
            handle: handle.clone(),
            log_directory: place.log_directory.clone(),
            observer: Rc::clone(&place.observer),
            headers: HeaderWriter::new(cache.store().clone(), header),
            recovery,
            write_ahead,
            checkpoint_file: checkpoint_file.await?,
            checkpoint: seeded.checkpoint,
            replayed: seeded.checkpoint,
            oldest_file,
            log: seeded.files.end_before(oldest_file),
            reader: None,
            findings: Vec::new(),
            cache,
        };
        replay.write_checkpoint(seeded.checkpoint).await?;
        for written in replay.written_copies() {
            written.set_reads_before_overwriting(handle);
        }
        Ok(replay)
    }

    fn written_copies(&self) -> [Rc<LastWritten>; 2] {
        [self.headers.written(), self.checkpoint_file.written()]
    }

    pub(super) fn page_bytes(&self) -> usize {
        self.cache.store().page_size_bytes()
    }

    /// The beginning of the file that the checkpoint of the seeded copy is in: transactions may have begun
    /// there.
    fn from(&self) -> LogPosition {
        LogPosition::new(self.oldest_file, 0, self.log.file_size_bytes)
    }

    async fn replay_file(
        &mut self,
        generation: u32,
        progress: &Progress,
    ) -> Result<(), EngineError> {
        self.log.generation = generation;
        match &mut self.reader {
            Some(reader) => reader.go_on_to(generation),
            None => {
                let (from, observer) = (self.from(), Rc::clone(&self.observer));
                let directory = &self.log_directory;
                let (handle, log) = (&self.handle, &self.log);
                let reader = LogReader::reopen(handle, directory, LOG_PREFIX, from, log, observer);
                self.reader = Some(reader.await?);
            }
        }
        self.replay_records().await?;
        if let Some(limit) = progress.not_needed_at(self.replayed) {
            self.advance_checkpoint(limit).await?;
        }
        Ok(())
    }

    async fn replay_records(&mut self) -> Result<(), EngineError> {
        let Some(reader) = &mut self.reader else {
            return Ok(());
        };
        let mut records = 0;
        while let Some((span, record)) = reader.next().await? {
            self.write_ahead.set_redone(span.end);
            self.recovery.read(span, record).await?;
            self.replayed = span.end;
            self.cache.check()?;
            records += 1;
            if records % RECORDS_AT_ONCE == 0 {
                self.handle.yield_now().await;
            }
        }
        Ok(self.cache.check()?)
    }

    /// Ships the file that was being written when the log was closed.
    pub(super) async fn ship_last(&self, file: &ShippedFile) -> Result<(), EngineError> {
        let to = ShipTo {
            handle: self.handle.clone(),
            directory: self.log_directory.clone(),
            observer: Rc::clone(&self.observer),
        };
        Ok(to.write(file).await?)
    }

    /// Replays that file and writes every page. Gives the end of the log as it was found.
    pub(super) async fn replay_last(&mut self, generation: u32) -> Result<LogEnd, EngineError> {
        self.log.generation = generation;
        match &mut self.reader {
            Some(reader) => reader.go_on_to_last(generation),
            None => {
                let (from, observer) = (self.from(), Rc::clone(&self.observer));
                let (handle, directory) = (&self.handle, &self.log_directory);
                self.reader =
                    LogReader::open(handle, directory, LOG_PREFIX, from, observer).await?;
            }
        }
        self.replay_records().await?;
        self.cache.flush_all().await?;
        self.advance_checkpoint(self.replayed).await?;
        let end = self
            .reader
            .as_ref()
            .and_then(|reader| reader.end())
            .cloned();
        Ok(end.unwrap_or_else(|| self.log.clone()))
    }

    /// Verifies the log files that are left, which is those that the checkpoint still needs. The log ends at `end`.
    pub(super) async fn verify_log(&mut self, end: LogPosition) -> Result<(), IoError> {
        let log = ClosedLog {
            signature: self.log.signature,
            oldest_full: Some(self.oldest_file),
            end,
            file_size_bytes: self.log.file_size_bytes,
        };
        let verified = verify_log(&self.handle, &self.log_directory, &log).await?;
        self.findings.extend(verified.findings);
        Ok(())
    }

    /// What was wrong with the log files, and with the copies of the header and of the checkpoint, also with those
    /// that have been written over. To be called after the last file was replayed.
    pub(super) async fn verify_copies(&mut self) -> Result<Vec<FileFinding>, IoError> {
        let mut findings = std::mem::take(&mut self.findings);
        let copies = self.written_copies();
        findings.extend(copies.iter().flat_map(|copy| copy.take_overwritten()));
        let [header, checkpoint] = &copies;
        let (handle, directory) = (&self.handle, &self.log_directory);
        let (file, page_bytes) = (self.cache.store().file(), self.page_bytes() as u64);
        findings.extend(read_header_back(handle, file, header, page_bytes).await?);
        findings.extend(read_checkpoint_back(handle, directory, LOG_PREFIX, checkpoint).await?);
        Ok(findings)
    }

    /// Moves the checkpoint as far as pages that are not written yet allow, but not beyond `limit`. Log
    /// files before it are removed.
    async fn advance_checkpoint(&mut self, limit: LogPosition) -> Result<(), EngineError> {
        let goal = self.cache.oldest_change().unwrap_or(limit).min(limit);
        let goal = goal.min(self.replayed);
        if goal <= self.checkpoint {
            return Ok(());
        }
        self.cache.sync().await?;
        self.write_checkpoint(goal).await?;
        self.recovery.forget_deleted_before(goal);
        let lowest = goal.generation(self.log.file_size_bytes);
        while self.oldest_file < lowest {
            let name = full_name(LOG_PREFIX, self.oldest_file);
            match self.log_directory.remove(&name).await {
                Err(error) if error.failure == IoFailure::NotFound => {
                    let missing = missing_file(&self.log_directory, self.oldest_file);
                    if !self.findings.contains(&missing) {
                        self.findings.push(missing);
                    }
                }
                removed => removed?,
            }
            self.oldest_file += 1;
        }
        Ok(())
    }

    async fn write_checkpoint(&mut self, position: LogPosition) -> Result<(), EngineError> {
        let file_size_bytes = self.log.file_size_bytes;
        let (lowest, highest) = (position.generation(file_size_bytes), self.log.generation);
        let dbtime = self.recovery.dbtime();
        let update = self.headers.update(|header| {
            header.dbtime = header.dbtime.max(dbtime);
            header.lowest_log_needed = lowest;
            header.highest_log_needed = header.highest_log_needed.max(highest);
            header.highest_log_committed = header.highest_log_committed.max(highest);
        });
        update.await?;
        let checkpoint = Checkpoint {
            position,
            log_file_size_bytes: file_size_bytes,
            signature: self.log.signature,
            time: self.log.created,
        };
        self.checkpoint_file.write(&checkpoint).await?;
        self.checkpoint = position;
        Ok(())
    }
}
