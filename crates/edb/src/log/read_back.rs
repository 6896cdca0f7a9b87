//! Full log files are read back and verified while the log is in use, at a rate that leaves the
//! storage to the load: one after the other, and from the oldest on again, since a file that was right
//! once is still needed for recovery later. A last time each is read before it is used again or removed,
//! as long as the next file is not waited for.

use super::files::LogFiles;
use super::verify::{Expected, FileVerification, Reads, why_not_own};
use crate::accounting::Shape;
use crate::integrity::{FileFinding, Persistence, READ_AGAIN_AFTER_MS};
use config::ByteSize;
use runtime::time::{MILLISECOND_NS, SECOND_NS};
use runtime::{Buffer, Directory, File, IoCause, IoDirection, IoError, IoFailure};
use std::rc::Rc;

/// Bytes of one read.
const READ_BYTES: u64 = 256 * 1024;

/// What reading a whole file came to.
enum WholeFile {
    Read(Vec<u8>),
    /// It is shorter than a log file is.
    TooShort,
    /// Nobody wanted to wait for its end.
    Stopped,
}

impl<D: Directory> LogFiles<D> {
    /// Starts the task, if the settings ask for it. The first file it reads is that of `generation`,
    /// once it is full.
    pub(super) fn start_read_back(self: &Rc<Self>, generation: u32) {
        let rate = self.core.settings.engine.maintenance.log_read_back_rate;
        let (Some(ByteSize(rate)), true) = (rate, self.core.settings.with_contents) else {
            return;
        };
        let files = Rc::clone(self);
        drop(self.core.handle.spawn(async move {
            let mut next = generation;
            while let Some(generation) = files.next_to_read_back(next).await {
                next = generation + 1;
                files.read_back(generation, rate).await;
            }
        }));
    }

    /// The file to read after those before `from`: the next full one that is still there, or the
    /// oldest. Waits until there is one. `None`: the log is over.
    async fn next_to_read_back(&self, from: u32) -> Option<u32> {
        loop {
            let rolled = self.core.rolled.notified();
            if self.core.is_over() {
                return None;
            }
            let generation = {
                let full = self.core.full.borrow();
                full.range(from..).next().or(full.first()).copied()
            };
            if generation.is_some() {
                return generation;
            }
            rolled.await;
        }
    }

    /// Reads a file that nobody needs any more, before it is used again or removed: what has become of
    /// it until then. Gives up when the next file is needed now, but not on a file that was there when the log
    /// was opened: this may be the only time that it is read.
    pub(super) async fn read_released_back(&self, generation: u32) {
        let settings = &self.core.settings;
        let is_wanted = settings.engine.maintenance.log_read_back_rate.is_some();
        if !is_wanted || !settings.with_contents {
            return;
        }
        let name = self.names.full(generation);
        let expected = self.expected(generation, &name);
        let was_there = generation < self.opened_at;
        let is_needed = || self.core.is_over() || (self.needed_now.get() && !was_there);
        let read = async |_| match self.read_paced(&name, u64::MAX, is_needed).await {
            _ if is_needed() => None,
            Ok(WholeFile::Read(bytes)) => Some(Ok(expected.verify(&bytes))),
            Ok(WholeFile::TooShort) => Some(Err(expected.too_short())),
            // A file that cannot be read is no harm any more, and the observer has seen it.
            Ok(WholeFile::Stopped) | Err(_) => None,
        };
        self.read_until_settled(generation, read).await;
    }

    /// Notes where files are missing between those that are there, by the first of each gap. Files go in
    /// their order, the oldest first, so a power cut leaves no such gap.
    pub(super) fn note_gaps(&self, current: u32) {
        let full: Vec<u32> = self.core.full.borrow().iter().copied().collect();
        let followed_by = full.iter().skip(1).copied().chain([current]);
        for (&before, after) in full.iter().zip(followed_by) {
            if before + 1 < after {
                let generation = before + 1;
                let name = self.names.full(generation);
                let finding = self.expected(generation, &name).missing();
                self.core.note(vec![finding]);
            }
        }
    }

    /// Whether a released file that was to be renamed or removed was there; notes it if not, and the log
    /// goes on without it.
    pub(super) fn was_there(
        &self,
        generation: u32,
        done: Result<(), IoError>,
    ) -> Result<bool, IoError> {
        match done {
            Err(error) if error.failure == IoFailure::NotFound => {
                let name = self.names.full(generation);
                let finding = self.expected(generation, &name).missing();
                self.count_read_back(generation, 0, vec![finding]);
                Ok(false)
            }
            done => done.map(|()| true),
        }
    }

    /// Whether what has the name of a released file is a file of ours, which is used again or removed. What is
    /// not is noted and left where it is, and the log goes on without it.
    pub(super) async fn is_own(&self, generation: u32) -> bool {
        let name = self.names.full(generation);
        let Some(why) = why_not_own(&self.directory, &name).await else {
            return true;
        };
        let finding = self.expected(generation, &name).not_own(&why);
        self.count_read_back(generation, 0, vec![finding]);
        false
    }

    fn expected(&self, generation: u32, name: &str) -> Expected<'_> {
        Expected {
            file: format!("{}/{name}", self.directory.describe()),
            generation,
            signature: &self.core.settings.signature,
            geometry: self.core.geometry,
            end_segment: None,
        }
    }

    /// Counts a file that was read back and notes what is wrong with it: once for each file, but each time that
    /// it was right when it was read again.
    fn count_read_back(&self, generation: u32, segments: u64, findings: Vec<FileFinding>) {
        let is_right = findings.is_empty();
        self.core.count(|statistics| {
            statistics.read_back_files += 1;
            statistics.read_back_segments += if is_right { segments } else { 0 };
        });
        let is_transient =
            |one: &FileFinding| matches!(one.persistence, Persistence::Transient { .. });
        let is_new =
            || findings.iter().all(is_transient) || self.reported.borrow_mut().insert(generation);
        if !is_right && is_new() {
            self.core.note(findings);
        }
    }

    /// Reads one file at this rate and verifies it.
    async fn read_back(&self, generation: u32, rate: u64) {
        let name = self.names.full(generation);
        let expected = self.expected(generation, &name);
        let read = async |is_again| {
            let rate = if is_again { u64::MAX } else { rate };
            self.read_and_verify(&name, &expected, rate).await
        };
        self.read_until_settled(generation, read).await;
    }

    /// Reads a file by `read`, again where it is wrong, and counts what it comes to. `read` gives what is wrong with
    /// the file as a whole as an error, and `None` where it says nothing: the file is being used again, or
    /// the log is over.
    async fn read_until_settled(
        &self,
        generation: u32,
        read: impl AsyncFn(bool) -> Option<Result<FileVerification, FileFinding>>,
    ) {
        let mut reads = Reads::default();
        for wait_ms in [0].into_iter().chain(READ_AGAIN_AFTER_MS) {
            let is_again = wait_ms > 0;
            if is_again {
                self.core.handle.sleep_ns(wait_ms * MILLISECOND_NS).await;
            }
            let settled = match read(is_again).await {
                None => break,
                Some(Err(finding)) => return self.count_read_back(generation, 0, vec![finding]),
                Some(Ok(verified)) => reads.settle(verified),
            };
            if let Some(file) = settled {
                return self.count_read_back(generation, file.segments, file.findings);
            }
        }
        if let Some(file) = reads.end() {
            self.count_read_back(generation, 0, file.findings);
        }
    }

    /// Reads one file and verifies it. `None`: the file is not there any more, so that what was read says
    /// nothing.
    async fn read_and_verify(
        &self,
        name: &str,
        expected: &Expected<'_>,
        rate: u64,
    ) -> Option<Result<FileVerification, FileFinding>> {
        let read = self.read_paced(name, rate, || self.core.is_over()).await;
        if self.core.is_over() || !self.core.full.borrow().contains(&expected.generation) {
            return None;
        }
        match read {
            Ok(WholeFile::Read(bytes)) => Some(Ok(expected.verify(&bytes))),
            Ok(WholeFile::TooShort) => Some(Err(expected.too_short())),
            Err(error) if error.failure == IoFailure::NotFound => Some(Err(expected.missing())),
            Err(IoError {
                failure: IoFailure::NotOwn(why),
                ..
            }) => Some(Err(expected.not_own(&why))),
            Ok(WholeFile::Stopped) => None,
            // The observer of the requests has seen the failure. Storage that fails at once must not
            // be asked again at once, for ever.
            Err(_) => {
                let wait_ms: u64 = READ_AGAIN_AFTER_MS.iter().sum();
                self.core.handle.sleep_ns(wait_ms * MILLISECOND_NS).await;
                None
            }
        }
    }

    /// The bytes of a file, unless `stop` says so before.
    async fn read_paced(
        &self,
        name: &str,
        rate: u64,
        stop: impl Fn() -> bool,
    ) -> Result<WholeFile, IoError> {
        let file = self.directory.open(name).await?;
        let size_bytes = self.core.geometry.file_bytes;
        if file.size_bytes().await? < size_bytes {
            return Ok(WholeFile::TooShort);
        }
        let mut whole = Vec::with_capacity(size_bytes as usize);
        while (whole.len() as u64) < size_bytes && !stop() {
            let offset = whole.len() as u64;
            let length = READ_BYTES.min(size_bytes - offset);
            let issued_ns = self.core.handle.now_ns();
            let (bytes, result) = file.read(offset, Buffer::zeroed(length as usize)).await;
            let shape: Shape = (IoDirection::Read, offset, length);
            let error = result.as_ref().err();
            if error.is_some_and(|error| error.failure == IoFailure::PastEnd) {
                return Ok(WholeFile::TooShort);
            }
            self.notify_observer(IoCause::LogReadBack, shape, issued_ns, error);
            result?;
            whole.extend_from_slice(&bytes);
            let pause_ns = u128::from(length) * u128::from(SECOND_NS) / u128::from(rate.max(1));
            let due_ns = issued_ns + pause_ns as u64;
            if due_ns > self.core.handle.now_ns() {
                self.core.handle.sleep_until_ns(due_ns).await;
            }
        }
        Ok(match whole.len() as u64 == size_bytes {
            true => WholeFile::Read(whole),
            false => WholeFile::Stopped,
        })
    }
}
