//! The database file as the cache sees it: pages read and verified, sealed and written.
//!
//! Every read is held against the table of page versions. A page that is wrong is read again, three
//! times within a second: so that it is known whether the storage holds it wrong or returned it wrong
//! once, and so that a write under way can end first.

mod contentless;
mod patch;
mod writing;

use crate::accounting::{Shape, notify_observer};
use crate::cache::{PageError, PageProblem, PageStore};
use crate::format::page;
use crate::integrity::{
    Evidence, PageFinding, Persistence as Lasting, READ_AGAIN_AFTER_MS, ReadCheck, ReadInProgress,
    VersionTable, classify,
};
use crate::position::PageNumber;
use crate::settings::EngineSettings;
use runtime::time::MILLISECOND_NS;
use runtime::{
    Buffer, BufferArena, File, Handle, IoCause, IoDirection, IoError, IoObserver, Persistence,
    SharedBuffer,
};
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub use contentless::ContentlessStore;
pub(crate) use patch::{PageSource, Rebuilding};

/// Wait for a write of the page to end, in milliseconds.
const WRITE_WAIT_MS: u64 = 1;

/// Pages in a file. Every page is verified after each read and sealed before each write; every
/// request is reported to the observer.
#[derive(Clone)]
pub struct FileStore<F: File> {
    handle: Handle,
    file: F,
    page_size_bytes: usize,
    zero_fill_write_bytes: usize,
    persistence: Persistence,
    /// Memory of pages, known to the device where that is possible.
    arena: Option<BufferArena>,
    observer: Rc<dyn IoObserver>,
    versions: Rc<VersionTable>,
    shared: Rc<Shared>,
}

/// What all clones of a store have in common.
#[derive(Default)]
struct Shared {
    /// Pages that were wrong, and right when they were read again or rebuilt: whoever asked got them.
    settled: RefCell<Vec<PageError>>,
    /// Whether a wrong page is returned at once instead of being read again.
    reads_once: Cell<bool>,
    /// Pages that are wrong on the medium: for these nobody waits a second time.
    known_wrong: RefCell<FxHashSet<u32>>,
    patches: patch::Patches,
    out_of_space: writing::OutOfSpace,
}

/// Slots of the arena beyond the cache: pages being read or copied, and over-commitment.
fn spare_slots(cache_pages: usize) -> usize {
    cache_pages / 16 + 64
}

impl<F: File> FileStore<F> {
    /// Looks at `file` as a database file.
    #[must_use]
    pub fn new(
        handle: &Handle,
        file: F,
        settings: &EngineSettings,
        observer: Rc<dyn IoObserver>,
    ) -> Self {
        let slots = settings.engine.cache_pages() + spare_slots(settings.engine.cache_pages());
        // Without an arena every buffer comes from the heap: slower, not wrong.
        let page_bytes = settings.engine.page_bytes();
        let arena = match settings.engine.cache_minimum_per_database {
            Some(_) => BufferArena::releasable(page_bytes, slots as u32).ok(),
            None => BufferArena::new(handle, page_bytes, slots as u32).ok(),
        };
        Self {
            arena,
            handle: handle.clone(),
            file,
            page_size_bytes: settings.engine.page_bytes(),
            zero_fill_write_bytes: settings.internals.zero_fill_write_bytes as usize,
            persistence: settings.engine.database_writes.persistence(),
            observer,
            versions: VersionTable::new(handle),
            shared: Rc::default(),
        }
    }

    /// What is known of the versions of pages.
    #[must_use]
    pub fn versions(&self) -> &Rc<VersionTable> {
        &self.versions
    }

    /// The pages that were wrong, and right when they were read again or rebuilt from the log, and have
    /// not been taken yet.
    #[must_use]
    pub fn take_settled(&self) -> Vec<PageError> {
        self.shared.settled.take()
    }

    /// Whether wrong pages are returned at once instead of being read again: while a restart goes
    /// over pages that a power cut may have torn, and has their images.
    pub(crate) fn set_reads_once(&self, once: bool) {
        self.shared.reads_once.set(once);
    }

    /// The database file, headers included.
    #[must_use]
    pub fn file(&self) -> &F {
        &self.file
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_size_bytes(&self) -> usize {
        self.page_size_bytes
    }

    /// Whole pages the file has room for, the headers not counted.
    ///
    /// # Errors
    /// If the storage does not know.
    pub async fn pages(&self) -> Result<u32, IoError> {
        let bytes = self.file.size_bytes().await?;
        Ok((bytes / self.page_size_bytes as u64).saturating_sub(2) as u32)
    }

    fn notify_observer(
        &self,
        cause: IoCause,
        shape: Shape,
        issued_ns: u64,
        error: Option<&IoError>,
    ) {
        let observer = &*self.observer;
        notify_observer(&self.handle, observer, cause, shape, issued_ns, error);
    }

    /// A buffer of one page with arbitrary contents.
    fn buffer(&self) -> Buffer {
        match &self.arena {
            Some(arena) => arena.buffer(),
            None => Buffer::zeroed(self.page_size_bytes),
        }
    }

    fn failed(&self, page: PageNumber, problem: PageProblem) -> PageError {
        PageError {
            file: self.file.name(),
            page,
            problem,
        }
    }

    fn damaged(&self, finding: PageFinding) -> PageError {
        let page = PageNumber(finding.page);
        self.failed(page, PageProblem::Damaged(Box::new(finding)))
    }

    fn finding(&self, evidence: &Evidence) -> PageFinding {
        classify(evidence, &self.versions, self.page_size_bytes)
    }

    /// Looks at one page of a request. `Err`: it has to be read again, or is wrong.
    #[inline]
    fn examined(
        &self,
        reading: &ReadInProgress,
        page: PageNumber,
        bytes: &Buffer,
    ) -> Result<(), ReadProblem> {
        let evidence = Evidence::of(bytes, page.0);
        match self.versions.judge(reading, page.0, evidence.contents) {
            ReadCheck::Right => Ok(()),
            ReadCheck::NeverWritten => Err(ReadProblem::NeverWritten(self.finding(&evidence))),
            ReadCheck::Disturbed => Err(ReadProblem::Disturbed),
            ReadCheck::Wrong => {
                let finding = self.finding(&evidence);
                let half_written = finding
                    .may_be_half_written()
                    .then(|| self.half_written(page));
                Err(match half_written.flatten() {
                    Some(failed) => ReadProblem::HalfWritten(failed),
                    None => ReadProblem::Wrong(finding),
                })
            }
        }
    }

    /// Settles the problems of one request, whose pages share the waits: puts in the place of
    /// each the page if it is right after all, or what is wrong with it.
    #[cold]
    async fn investigate(
        &self,
        problems: Vec<(usize, PageNumber, ReadProblem)>,
        results: &mut [Result<Buffer, PageError>],
        cause: IoCause,
    ) {
        let mut suspects = Vec::new();
        for (place, page, problem) in problems {
            match problem {
                ReadProblem::NeverWritten(finding) => results[place] = Err(self.damaged(finding)),
                ReadProblem::HalfWritten(failed) => results[place] = Err(failed),
                ReadProblem::Wrong(finding) if self.shared.reads_once.get() => {
                    results[place] = Err(self.damaged(finding));
                }
                ReadProblem::Wrong(finding) => suspects.push(Suspect {
                    place,
                    page,
                    wrong: Some(finding),
                    wrong_reads: 1,
                    since: Some(self.versions.begin_read()),
                }),
                ReadProblem::Disturbed => suspects.push(Suspect {
                    place,
                    page,
                    wrong: None,
                    wrong_reads: 0,
                    since: None,
                }),
            }
        }
        while !suspects.is_empty() {
            let most = suspects.iter().map(|suspect| suspect.wrong_reads).max();
            let wait_ms = READ_AGAIN_AFTER_MS[most.unwrap_or(0).saturating_sub(1) as usize];
            let is_known =
                |suspect: &Suspect| self.shared.known_wrong.borrow().contains(&suspect.page.0);
            if !suspects.iter().all(is_known) {
                self.handle.sleep_ns(wait_ms * MILLISECOND_NS).await;
            }
            for mut suspect in std::mem::take(&mut suspects) {
                match self.read_again(&mut suspect, cause).await {
                    Some(result) => results[suspect.place] = result,
                    None => suspects.push(suspect),
                }
            }
        }
    }

    /// Reads a suspect again. `None`: it is not settled yet.
    async fn read_again(
        &self,
        suspect: &mut Suspect,
        cause: IoCause,
    ) -> Option<Result<Buffer, PageError>> {
        let page = suspect.page;
        while self.versions.is_writing(page.0) {
            self.handle.sleep_ns(WRITE_WAIT_MS * MILLISECOND_NS).await;
        }
        let reading = self.versions.begin_read();
        let bytes = match self.read_one(page, cause).await {
            Ok(bytes) => bytes,
            Err(error) => return Some(Err(error)),
        };
        match self.examined(&reading, page, &bytes) {
            Ok(()) => {
                self.shared.known_wrong.borrow_mut().remove(&page.0);
                if let Some(mut finding) = suspect.wrong.take() {
                    finding.persistence = suspect.persistence();
                    self.shared.settled.borrow_mut().push(self.damaged(finding));
                }
                Some(Ok(bytes))
            }
            Err(ReadProblem::NeverWritten(finding)) => Some(Err(self.damaged(finding))),
            Err(ReadProblem::HalfWritten(failed)) => Some(Err(failed)),
            Err(ReadProblem::Disturbed) => None,
            Err(ReadProblem::Wrong(mut finding)) => {
                suspect.wrong_reads += 1;
                let since = &mut suspect.since;
                since.get_or_insert_with(|| self.versions.begin_read());
                if suspect.wrong_reads as usize <= READ_AGAIN_AFTER_MS.len() {
                    suspect.wrong = Some(finding);
                    return None;
                }
                let reads = suspect.wrong_reads;
                finding.persistence = Lasting::Medium { reads };
                let damaged = self.damaged(finding.clone());
                if let Some(rebuilt) = self.patched(page, finding, bytes).await {
                    return Some(Ok(rebuilt));
                }
                self.shared.known_wrong.borrow_mut().insert(page.0);
                Some(Err(damaged))
            }
        }
    }

    /// Reads one page, whatever is in it.
    async fn read_one(&self, page: PageNumber, cause: IoCause) -> Result<Buffer, PageError> {
        let offset = page.offset_bytes(self.page_size_bytes);
        let issued_ns = self.handle.now_ns();
        let (bytes, result) = self.file.read(offset, self.buffer()).await;
        let shape = (IoDirection::Read, offset, self.page_size_bytes as u64);
        self.notify_observer(cause, shape, issued_ns, result.as_ref().err());
        match result {
            Ok(()) => Ok(bytes),
            Err(error) => Err(self.failed(page, PageProblem::Io(error))),
        }
    }
}

/// A page that is read again.
struct Suspect {
    /// Its place among the results of the request.
    place: usize,
    page: PageNumber,
    /// What was wrong with it the last time.
    wrong: Option<PageFinding>,
    wrong_reads: u32,
    /// Since it was found wrong: keeps what was written meanwhile.
    since: Option<ReadInProgress>,
}

impl Suspect {
    /// How often a page was wrong that has been read right.
    fn persistence(&self) -> Lasting {
        let wrong_reads = self.wrong_reads;
        let page = self.page.0;
        match &self.since {
            Some(since) if since.was_written(page) => Lasting::Rewritten { wrong_reads },
            _ => Lasting::Transient { wrong_reads },
        }
    }
}

/// What speaks against a page that was read.
enum ReadProblem {
    /// It is empty, and nobody is known to have written it.
    NeverWritten(PageFinding),
    /// It was being written meanwhile.
    Disturbed,
    /// A write of it failed because there was no space left.
    HalfWritten(PageError),
    /// It is not what the storage must return.
    Wrong(PageFinding),
}

impl<F: File> PageStore<Buffer> for FileStore<F> {
    async fn read_page(&self, page: PageNumber, cause: IoCause) -> Result<Buffer, PageError> {
        let reading = self.versions.begin_read();
        let bytes = self.read_one(page, cause).await?;
        let examined = self.examined(&reading, page, &bytes);
        drop(reading);
        let Err(problem) = examined else {
            return Ok(bytes);
        };
        let mut results = [Ok(bytes)];
        let problems = vec![(0, page, problem)];
        self.investigate(problems, &mut results, cause).await;
        let [result] = results;
        result
    }

    async fn read(
        &self,
        first: PageNumber,
        count: u32,
        cause: IoCause,
    ) -> Vec<Result<Buffer, PageError>> {
        let offset = first.offset_bytes(self.page_size_bytes);
        let length = u64::from(count) * self.page_size_bytes as u64;
        let issued_ns = self.handle.now_ns();
        let reading = self.versions.begin_read();
        let buffers = (0..count).map(|_| self.buffer());
        let (buffers, result) = self.file.read_vectored(offset, buffers.collect()).await;
        let shape = (IoDirection::Read, offset, length);
        self.notify_observer(cause, shape, issued_ns, result.as_ref().err());
        let pages = (first.0..).map(PageNumber).zip(buffers);
        if let Err(error) = result {
            let failed = |page| Err(self.failed(page, PageProblem::Io(error.clone())));
            return pages.map(|(page, _)| failed(page)).collect();
        }
        let mut suspects = Vec::new();
        let mut results = Vec::with_capacity(count as usize);
        for (page, bytes) in pages {
            if let Err(problem) = self.examined(&reading, page, &bytes) {
                suspects.push((results.len(), page, problem));
            }
            results.push(Ok(bytes));
        }
        drop(reading);
        if !suspects.is_empty() {
            self.investigate(suspects, &mut results, cause).await;
        }
        results
    }

    fn seal(&self, page: PageNumber, payload: &mut Buffer) {
        page::seal(payload, page.0);
    }

    fn is_sound(&self, page: PageNumber, payload: &Buffer) -> bool {
        page::verify(payload, page.0).is_ok()
    }

    async fn write(
        &self,
        first: PageNumber,
        pages: Vec<SharedBuffer>,
        cause: IoCause,
    ) -> Result<(), PageError> {
        self.wait_for_patches(first, pages.len()).await;
        self.write_pages(first, pages, cause).await
    }

    async fn sync(&self) -> Result<(), PageError> {
        if self.persistence == Persistence::Durable {
            return Ok(()); // Each write was durable when it completed.
        }
        let issued_ns = self.handle.now_ns();
        let result = self.file.sync().await;
        let shape = (IoDirection::Flush, 0, 0);
        self.notify_observer(IoCause::Checkpoint, shape, issued_ns, result.as_ref().err());
        result.map_err(|error| self.failed(PageNumber(0), PageProblem::Io(error)))
    }

    fn blank(&self) -> Buffer {
        let mut buffer = self.buffer();
        buffer.fill(0);
        buffer
    }

    fn keep_memory(&self, frames: usize) {
        if let Some(arena) = &self.arena {
            arena.keep(frames + spare_slots(frames));
        }
    }
}
