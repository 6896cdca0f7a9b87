//! What the sessions and the writer share.

use super::buffer::{Batch, LogBuffer, SegmentMemory};
use super::chain::RecordChain;
use super::error::LogError;
use super::layout::Geometry;
use super::waiters::Waiters;
use super::{LogRollover, LogSettings};
use crate::format::database_header::{LogTime, Signature};
use crate::integrity::FileFinding;
use crate::position::{LogPosition, LogSpan, SEGMENT_BYTES};
use crate::signal::Signal;
use runtime::sync::Notify;
use runtime::time::MILLISECOND_NS;
use runtime::{Buffer, BufferArena, Handle};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What the log has done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogStatistics {
    /// Records accepted, written or not.
    pub records: u64,
    /// Their bytes, without framing.
    pub record_bytes: u64,
    /// Write requests to the log stream.
    pub writes: u64,
    /// Bytes of those requests, with framing and padding.
    pub written_bytes: u64,
    /// Of those writes, the ones begun only because the buffer was half full.
    pub capacity_writes: u64,
    /// Calls that waited for the log to become durable.
    pub durable_waits: u64,
    /// Calls that waited because the buffer was full.
    pub admission_waits: u64,
    /// Times the log moved to a new file.
    pub rollovers: u64,
    /// New files used instead of released ones.
    pub files_created: u64,
    /// Released files used again.
    pub files_reused: u64,
    /// Released files removed because there were enough for new files.
    pub files_removed: u64,
    /// Reserve files used because the disk was full.
    pub reserves_used: u64,
    /// Times that a full file was read back and verified.
    pub read_back_files: u64,
    /// Segments in them that were right.
    pub read_back_segments: u64,
}

/// What the writer should do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Write; `pad`: the open segment, too; `capacity`: only because the buffer is half full.
    Write { pad: bool, capacity: bool },
    /// Sleep until asked, or until this time.
    Wait(Option<u64>),
    /// End: the log is closed, and everything is written; or it was abandoned.
    Stop,
}

struct LogState {
    buffer: LogBuffer,
    durable: LogPosition,
    /// Somebody waits for the log to be durable up to here.
    requested: LogPosition,
    /// The earliest time by which somebody wants the log to be durable.
    deadline_ns: Option<u64>,
    failure: Option<LogError>,
    /// New work is refused; what is under way may end.
    refusal: Option<LogError>,
    closing: bool,
    statistics: LogStatistics,
    /// Hashes of records, if somebody wants them.
    chain: Option<RecordChain>,
}

/// What the sessions and the writer of a log share.
pub struct LogCore {
    pub(super) handle: Handle,
    pub(super) settings: LogSettings,
    pub(super) geometry: Geometry,
    state: RefCell<LogState>,
    waiters: Waiters,
    pub(super) writer: Signal,
    admission: Notify,
    abandoned: Cell<bool>,
    stopped: Cell<bool>,
    generation: Cell<u32>,
    /// Files before this one are not needed any more.
    pub(super) released: Cell<u32>,
    /// Notified of every write and of every release of files.
    pub(super) advanced: Notify,
    /// Notified when a file is full, and when the log is over.
    pub(super) rolled: Notify,
    /// The generation that each reader of full files reads next; the greatest one for those that have
    /// ended.
    pub(super) replicated: RefCell<Vec<u32>>,
    /// Tasks that have not ended and for which a log that is closed waits: readers of full files, and the
    /// one that prepares the next file and removes old ones meanwhile.
    pub(super) tasks: Cell<usize>,
    rollover: RefCell<Option<Rc<dyn LogRollover>>>,
    /// Generations of full files that are still there.
    pub(super) full: RefCell<BTreeSet<u32>>,
    /// What was found wrong in files that were read back.
    findings: RefCell<Vec<FileFinding>>,
}

/// Held by every handle of the log: when the last goes, the writer ends.
pub(super) struct Owner(pub(super) Rc<LogCore>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.abandoned.set(true);
        self.0.writer.raise();
        self.0.advanced.notify_all();
        self.0.rolled.notify_all();
    }
}

impl LogCore {
    /// The state of a log whose next record goes to the beginning of `generation`.
    pub(super) fn new(handle: &Handle, settings: &LogSettings, generation: u32) -> Rc<Self> {
        let geometry = Geometry::new(settings.file_bytes());
        let end = LogPosition::new(generation, 0, settings.file_bytes());
        // Twice the buffer: one half is being filled while the other is being written.
        let slots = (2 * settings.buffer_bytes() / SEGMENT_BYTES + 2) as u32;
        let memory = if settings.with_contents {
            let arena = BufferArena::new(handle, SEGMENT_BYTES as usize, slots);
            arena.map_or(SegmentMemory::Heap, SegmentMemory::Arena)
        } else {
            SegmentMemory::Blank(Rc::new(Buffer::zeroed(SEGMENT_BYTES as usize)))
        };
        Rc::new(Self {
            handle: handle.clone(),
            settings: settings.clone(),
            geometry,
            state: RefCell::new(LogState {
                buffer: LogBuffer::new(geometry, settings.signature.random, end, memory),
                durable: end,
                requested: LogPosition::START,
                deadline_ns: None,
                failure: None,
                refusal: None,
                closing: false,
                statistics: LogStatistics::default(),
                chain: None,
            }),
            waiters: Waiters::default(),
            writer: Signal::default(),
            admission: Notify::default(),
            abandoned: Cell::new(false),
            stopped: Cell::new(false),
            generation: Cell::new(generation),
            released: Cell::new(0),
            advanced: Notify::default(),
            rolled: Notify::default(),
            replicated: RefCell::default(),
            tasks: Cell::new(0),
            rollover: RefCell::new(None),
            full: RefCell::default(),
            findings: RefCell::default(),
        })
    }

    /// Adds a record. Never waits; [`LogCore::admit`] is the brake.
    ///
    /// # Panics
    /// If the record is larger than [`LogCore::most_record_bytes`].
    pub fn append(&self, record: &[u8]) -> LogSpan {
        let mut borrowed = self.state.borrow_mut();
        let state = &mut *borrowed;
        let span = state.buffer.append(record);
        if let Some(chain) = &mut state.chain {
            chain.add(span.begin, record);
        }
        state.statistics.records += 1;
        state.statistics.record_bytes += record.len() as u64;
        let half_full = state.buffer.buffered_bytes() * 2 >= self.settings.buffer_bytes();
        drop(borrowed);
        if half_full {
            self.writer.raise();
        }
        span
    }

    /// Keeps hashes of the records from now on; where the first of them will begin, or a little before.
    pub(crate) fn start_chain(&self) -> LogPosition {
        let mut state = self.state.borrow_mut();
        let (from, stream) = (state.buffer.end(), self.settings.signature.random);
        state.chain = Some(RecordChain::new(from, self.file_size_bytes(), stream));
        from
    }

    /// The hash of the record that was appended last; 0 if none are kept.
    pub(crate) fn hash_of_last(&self, begin: LogPosition, record: &[u8]) -> u64 {
        let state = self.state.borrow();
        let chain = state.chain.as_ref();
        chain.map_or(0, |chain| chain.hash(begin, record))
    }

    /// Bytes of the largest record.
    #[must_use]
    pub fn most_record_bytes(&self) -> usize {
        self.geometry.most_record_bytes()
    }

    /// Bytes of a log file.
    #[must_use]
    pub fn file_size_bytes(&self) -> u64 {
        self.geometry.file_bytes
    }

    /// What distinguishes this log from all others.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.settings.signature
    }

    /// Waits while more is buffered than the buffer should hold. To be called before new work.
    ///
    /// # Errors
    /// If the log has failed, or no space is left for its next file.
    pub async fn admit(&self) -> Result<(), LogError> {
        let mut waited = false;
        loop {
            self.check()?;
            let admission = self.admission.notified();
            if self.state.borrow().buffer.buffered_bytes() <= self.settings.buffer_bytes() {
                return Ok(());
            }
            if !waited {
                waited = true;
                self.count(|statistics| statistics.admission_waits += 1);
            }
            admission.await;
        }
    }

    /// Waits until everything before `end` is on stable storage.
    ///
    /// # Errors
    /// If the log has failed before.
    pub async fn make_durable(&self, end: LogPosition) -> Result<(), LogError> {
        if self.durable() >= end {
            return Ok(());
        }
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        self.count(|statistics| statistics.durable_waits += 1);
        self.request(end, 0);
        self.waiters.wait(end).await
    }

    /// Asks for everything before `end` to become durable within so many nanoseconds; does not wait.
    pub fn request(&self, end: LogPosition, within_ns: u64) {
        let mut state = self.state.borrow_mut();
        assert!(
            end <= state.buffer.end(),
            "{end} has not been written by anybody"
        );
        if state.durable >= end {
            return;
        }
        if within_ns == 0 {
            state.requested = state.requested.max(end);
        } else {
            let deadline_ns = self.handle.now_ns().saturating_add(within_ns);
            if state
                .deadline_ns
                .is_some_and(|earlier_ns| earlier_ns <= deadline_ns)
            {
                return;
            }
            state.deadline_ns = Some(deadline_ns);
        }
        drop(state);
        self.writer.raise();
    }

    /// What the writer should do now.
    pub(super) fn next_action(&self) -> Action {
        if self.abandoned.get() {
            return Action::Stop;
        }
        let state = &mut *self.state.borrow_mut();
        let due = |deadline_ns: &mut u64| *deadline_ns <= self.handle.now_ns();
        if state.closing || state.deadline_ns.take_if(due).is_some() {
            state.requested = state.buffer.end();
        }
        if state.requested > state.durable {
            let pad = state.requested > state.buffer.closed_end();
            return Action::Write {
                pad,
                capacity: false,
            };
        }
        let half_full = state.buffer.buffered_bytes() * 2 >= self.settings.buffer_bytes();
        if half_full && state.buffer.next_generation().is_some() {
            return Action::Write {
                pad: false,
                capacity: true,
            };
        }
        if state.closing {
            return Action::Stop;
        }
        Action::Wait(state.deadline_ns)
    }

    /// Prepares a write; the generation it goes to.
    pub(super) fn prepare_batch(&self, pad: bool) -> Option<u32> {
        let mut state = self.state.borrow_mut();
        if pad {
            state.buffer.pad();
        }
        state.buffer.next_generation()
    }

    pub(super) fn take_batch(&self) -> Option<Batch> {
        let time = self.time();
        let mut state = self.state.borrow_mut();
        let batch = state.buffer.take(time);
        if state.buffer.buffered_bytes() == 0 {
            state.deadline_ns = None; // All that had a deadline is on its way.
        }
        batch
    }

    /// A request has completed.
    pub(super) fn written(&self, end: LogPosition, bytes: u64) {
        let mut state = self.state.borrow_mut();
        assert!(end > state.durable, "the log only grows");
        state.durable = end;
        state.statistics.writes += 1;
        state.statistics.written_bytes += bytes;
        let has_room = state.buffer.buffered_bytes() <= self.settings.buffer_bytes();
        drop(state);
        self.waiters.wake(end);
        if has_room {
            self.admission.notify_all();
        }
        self.advanced.notify_all();
    }

    /// New work is refused from now on.
    pub(super) fn refuse(&self, reason: LogError) {
        self.state.borrow_mut().refusal.get_or_insert(reason);
        self.admission.notify_all();
    }

    /// Nothing can be written from now on.
    pub(super) fn fail(&self, failure: &LogError) {
        let mut state = self.state.borrow_mut();
        let failure = state.failure.get_or_insert_with(|| failure.clone()).clone();
        drop(state);
        self.waiters.fail(&failure);
        self.admission.notify_all();
        self.advanced.notify_all();
        self.rolled.notify_all();
    }

    fn failure(&self) -> Option<LogError> {
        self.state.borrow().failure.clone()
    }

    /// Why the log takes no new work, if so.
    ///
    /// # Errors
    /// The reason.
    pub fn check(&self) -> Result<(), LogError> {
        let state = self.state.borrow();
        match state.failure.as_ref().or(state.refusal.as_ref()) {
            Some(reason) => Err(reason.clone()),
            None if state.closing => Err(LogError::Closed),
            None => Ok(()),
        }
    }

    /// Whether the writer will not come back.
    pub(super) fn is_over(&self) -> bool {
        self.abandoned.get() || self.stopped.get() || self.state.borrow().failure.is_some()
    }

    /// Writes what is left and ends the log's tasks.
    ///
    /// # Errors
    /// If the log has failed.
    pub async fn close(&self) -> Result<(), LogError> {
        let end = self.end();
        self.state.borrow_mut().closing = true;
        self.writer.raise();
        let outcome = self.make_durable(end).await;
        while !self.is_over() || self.tasks.get() > 0 {
            self.advanced.notified().await;
        }
        outcome
    }

    /// The files before `generation` are not needed any more. With circular logging they are removed or
    /// used again.
    pub fn release_before(&self, generation: u32) {
        if generation > self.released.get() {
            self.released.set(generation);
            self.advanced.notify_all();
        }
    }

    /// Everything before this position is on stable storage.
    #[must_use]
    pub fn durable(&self) -> LogPosition {
        self.state.borrow().durable
    }

    /// Where the next record will begin, or a little before.
    #[must_use]
    pub fn end(&self) -> LogPosition {
        self.state.borrow().buffer.end()
    }

    /// The file being written.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation.get()
    }

    pub(super) fn set_generation(&self, generation: u32) {
        self.generation.set(generation);
        self.rolled.notify_all();
    }

    /// Notes what is wrong in a file that was read back.
    pub(super) fn note(&self, findings: Vec<FileFinding>) {
        self.findings.borrow_mut().extend(findings);
    }

    /// What has been found wrong in log files that were read back, since the last call.
    #[must_use]
    pub fn take_findings(&self) -> Vec<FileFinding> {
        self.findings.take()
    }

    /// The writer has ended.
    pub(super) fn stop(&self) {
        self.stopped.set(true);
        self.advanced.notify_all();
        self.rolled.notify_all();
    }

    /// Sets who is notified when the log moves to a new file.
    pub fn on_rollover(&self, rollover: Rc<dyn LogRollover>) {
        *self.rollover.borrow_mut() = Some(rollover);
    }

    pub(super) fn rollover(&self) -> Option<Rc<dyn LogRollover>> {
        self.rollover.borrow().clone()
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut LogStatistics)) {
        change(&mut self.state.borrow_mut().statistics);
    }

    /// What the log has done.
    #[must_use]
    pub fn statistics(&self) -> LogStatistics {
        self.state.borrow().statistics
    }

    /// The time of day now.
    #[must_use]
    pub fn time(&self) -> LogTime {
        LogTime {
            unix_ms: self.settings.clock_origin.unix_ms + self.handle.now_ns() / MILLISECOND_NS,
        }
    }
}
