//! The task that moves the checkpoint.

use super::contents::Checkpoint;
use super::file::CheckpointFile;
use super::headers::HeaderWriter;
use crate::cache::{Cache, CacheError, PageStore, Payload};
use crate::integrity::{FileFinding, LastWritten};
use crate::log::LocalFuture;
use crate::log::{Log, LogError, LogRollover};
use crate::position::LogPosition;
use crate::seeded_bugs::{SeededBug, is_seeded};
use crate::settings::EngineSettings;
use crate::signal::Signal;
use runtime::sync::Semaphore;
use runtime::time::MILLISECOND_NS;
use runtime::{File, Handle, IoError};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What besides dirty pages holds the checkpoint back.
pub trait CheckpointSource: 'static {
    /// The first record of the oldest transaction that has written and not ended.
    fn oldest_transaction(&self) -> Option<LogPosition>;
}

/// Moves the checkpoint of one database. Clones share it; the last one dropped ends the task.
pub struct Checkpointer<P: Payload, S: PageStore<P>, F: File> {
    shared: Rc<Shared<P, S, F>>,
    signal: Rc<Signal>,
}

impl<P: Payload, S: PageStore<P>, F: File> Clone for Checkpointer<P, S, F> {
    fn clone(&self) -> Self {
        Self {
            shared: Rc::clone(&self.shared),
            signal: Rc::clone(&self.signal),
        }
    }
}

struct Shared<P: Payload, S: PageStore<P>, F: File> {
    cache: Cache<P, S>,
    log: Log,
    file: CheckpointFile<F>,
    headers: HeaderWriter<F>,
    source: Rc<dyn CheckpointSource>,
    position: Cell<LogPosition>,
    turn: Rc<Semaphore>,
    /// Whether it stays where it is, and with it the log files behind it.
    is_held: Cell<bool>,
    failure: RefCell<Option<CacheError>>,
}

impl<P: Payload, S: PageStore<P>, F: File> Drop for Checkpointer<P, S, F> {
    fn drop(&mut self) {
        self.signal.raise();
    }
}

impl<P: Payload, S: PageStore<P>, F: File> Checkpointer<P, S, F> {
    /// Starts the task. The checkpoint file holds `position`, or nothing yet.
    #[must_use]
    #[allow(clippy::too_many_arguments)] // Each is one part of a database; they meet only here.
    pub fn start(
        handle: &Handle,
        settings: &EngineSettings,
        cache: &Cache<P, S>,
        log: &Log,
        file: CheckpointFile<F>,
        headers: HeaderWriter<F>,
        source: Rc<dyn CheckpointSource>,
        position: LogPosition,
    ) -> Self {
        let shared = Rc::new(Shared {
            cache: cache.clone(),
            log: log.clone(),
            file,
            headers: headers.clone(),
            source,
            position: Cell::new(position),
            turn: Semaphore::new(1),
            is_held: Cell::new(false),
            failure: RefCell::new(None),
        });
        log.on_rollover(Rc::new(HeaderAtRollover {
            headers,
            flusher: cache.flusher_signal(),
        }));
        let signal = Rc::new(Signal::default());
        let interval_ns = settings.internals.checkpoint_interval_ms.max(1) * MILLISECOND_NS;
        let (weak, waits) = (Rc::downgrade(&shared), Rc::clone(&signal));
        let clock = handle.clone();
        drop(handle.spawn(async move {
            loop {
                waits.wait_until(&clock, clock.now_ns() + interval_ns).await;
                let Some(shared) = weak.upgrade() else { return };
                if shared.advance().await.is_err() {
                    return; // The failure is kept, and nothing may move any more.
                }
            }
        }));
        Self { shared, signal }
    }

    /// The checkpoint as it is on disk.
    #[must_use]
    pub fn position(&self) -> LogPosition {
        self.shared.position.get()
    }

    /// How far the checkpoint lags behind the end of the log.
    #[must_use]
    pub fn lag_bytes(&self) -> u64 {
        self.shared
            .log
            .end()
            .bytes_since(self.shared.position.get())
    }

    /// Has the checkpoint stay where it is, so that no log file behind it is used again, or lets it go
    /// on.
    pub fn hold(&self, held: bool) {
        self.shared.is_held.set(held);
    }

    /// Moves the checkpoint as far as it may go now; nowhere while it is held.
    ///
    /// # Errors
    /// If the storage fails; every later call returns the same failure.
    pub async fn advance(&self) -> Result<(), CacheError> {
        self.shared.advance().await
    }

    /// What both copies in the checkpoint file must be.
    #[must_use]
    pub fn written(&self) -> Rc<LastWritten> {
        self.shared.file.written()
    }

    /// Reads both copies in the checkpoint file back and says what is wrong with them.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn read_back(&self) -> Result<Vec<FileFinding>, IoError> {
        self.shared.file.read_back().await
    }

    /// Why the checkpoint does not move any more.
    ///
    /// # Errors
    /// The failure of an earlier move.
    pub fn check(&self) -> Result<(), CacheError> {
        self.shared.check()
    }
}

impl<P: Payload, S: PageStore<P>, F: File> Shared<P, S, F> {
    fn check(&self) -> Result<(), CacheError> {
        match &*self.failure.borrow() {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }

    /// Recovery could start here if all completed page writes were durable.
    fn goal(&self) -> LogPosition {
        // What is not yet durable in the log is not needed from before its own place, either.
        let mut goal = self.log.durable();
        let mut pages = self.cache.oldest_change();
        let mut transactions = self.source.oldest_transaction();
        if is_seeded(SeededBug::CheckpointIgnoresDirtyPages) {
            pages = None;
        }
        if is_seeded(SeededBug::CheckpointIgnoresTransactions) {
            transactions = None;
        }
        for position in [pages, transactions] {
            goal = goal.min(position.unwrap_or(goal));
        }
        goal
    }

    async fn advance(&self) -> Result<(), CacheError> {
        let _turn = self.turn.acquire().await;
        self.check()?;
        let outcome = self.try_advance().await;
        if let Err(failure) = &outcome {
            *self.failure.borrow_mut() = Some(failure.clone());
        }
        outcome
    }

    async fn try_advance(&self) -> Result<(), CacheError> {
        self.cache.check()?;
        if self.is_held.get() {
            return Ok(());
        }
        // The goal is fixed first: pages whose write completes later are not part of it.
        let goal = self.goal();
        if goal <= self.position.get() {
            return Ok(());
        }
        if !is_seeded(SeededBug::CheckpointWithoutFlush) {
            self.cache.sync().await?;
        }
        let file_bytes = self.log.file_size_bytes();
        let lowest = goal.generation(file_bytes);
        let highest = self.log.generation();
        let failed = |error: IoError| CacheError::Log(LogError::Io(error));
        if self.headers.header().lowest_log_needed != lowest {
            let update = self.headers.update(|header| {
                header.lowest_log_needed = lowest;
                header.highest_log_needed = header.highest_log_needed.max(highest);
                header.highest_log_committed = header.highest_log_committed.max(highest);
            });
            update.await.map_err(failed)?;
        }
        let checkpoint = Checkpoint {
            position: goal,
            log_file_size_bytes: file_bytes,
            signature: self.log.signature(),
            time: self.log.time(),
        };
        self.file.write(&checkpoint).await.map_err(failed)?;
        self.position.set(goal);
        let too_early = u32::from(is_seeded(SeededBug::LogFileReusedTooEarly));
        self.log.release_before(lowest + too_early);
        Ok(())
    }
}

/// Writes the header copies when the log moves to a new file, before the file is used: no page may
/// ever need a log file that the header does not know. The header may know one that a power cut
/// prevented.
struct HeaderAtRollover<F: File> {
    headers: HeaderWriter<F>,
    /// Wakes the flusher of the cache, without keeping the cache alive.
    flusher: Rc<Signal>,
}

impl<F: File> LogRollover for HeaderAtRollover<F> {
    fn rolled(&self, generation: u32) -> LocalFuture<'_, Result<(), LogError>> {
        Box::pin(async move {
            self.flusher.raise();
            let update = self.headers.update(|header| {
                header.highest_log_needed = generation;
                header.highest_log_committed = generation;
            });
            update.await.map_err(LogError::Io)
        })
    }
}
