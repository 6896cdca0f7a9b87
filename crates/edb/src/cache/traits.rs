//! What the cache needs of the world: payloads, a place to keep them, and a log written first.

use crate::integrity::{DamageClass, EseError, PageFinding};
use crate::log::{LocalFuture, Log, LogCore, LogError};
use crate::position::{LogPosition, PageNumber};
use runtime::{IoCause, IoError, IoFailure};
use std::rc::Rc;
use thiserror::Error;

/// What a page holds: its bytes, or nothing at all where only the I/O matters.
pub trait Payload: 'static {
    /// A second payload with the same contents. A page that changes while its image is on the way
    /// to the disk goes on in such a copy.
    #[must_use]
    fn copy(&self) -> Self;
}

impl Payload for () {
    fn copy(&self) -> Self {}
}

impl Payload for runtime::Buffer {
    fn copy(&self) -> Self {
        self.copied()
    }
}

/// How pages reach their file and come back.
#[allow(async_fn_in_trait)] // Single-threaded by design: no caller needs `Send` futures.
pub trait PageStore<P>: 'static {
    /// Reads `count` pages from `first` in one device request and verifies each.
    async fn read(
        &self,
        first: PageNumber,
        count: u32,
        cause: IoCause,
    ) -> Vec<Result<P, PageError>>;

    /// Reads one page and verifies it.
    async fn read_page(&self, page: PageNumber, cause: IoCause) -> Result<P, PageError> {
        let mut pages = self.read(page, 1, cause).await;
        pages.pop().expect("a read of one page has one result")
    }

    /// Makes a payload ready to be written: stores its checksum.
    fn seal(&self, page: PageNumber, payload: &mut P);

    /// Whether a page that has not changed since it was read or written still is what it was.
    fn is_sound(&self, page: PageNumber, payload: &P) -> bool;

    /// Writes sealed pages, the first of them `first`, in one device request.
    async fn write(
        &self,
        first: PageNumber,
        pages: Vec<Rc<P>>,
        cause: IoCause,
    ) -> Result<(), PageError>;

    /// Makes all completed writes durable.
    async fn sync(&self) -> Result<(), PageError>;

    /// The payload of a page that has never been written.
    fn blank(&self) -> P;

    /// The cache has this many frames from now on: memory for more may be given back.
    fn keep_memory(&self, _frames: usize) {}
}

/// The log as the cache sees it: no page may be overwritten before the log holds how to redo it.
pub trait WriteAhead: 'static {
    /// Everything before this position is on stable storage.
    fn durable(&self) -> LogPosition;

    /// Where the next record will begin.
    fn end(&self) -> LogPosition;

    /// Asks for the log to become durable up to `position` soon; does not wait.
    fn request(&self, position: LogPosition);

    /// Waits until the log is durable up to `position`.
    fn make_durable(&self, position: LogPosition) -> LocalFuture<'_, Result<(), LogError>>;
}

impl WriteAhead for Log {
    fn durable(&self) -> LogPosition {
        LogCore::durable(self)
    }

    fn end(&self) -> LogPosition {
        LogCore::end(self)
    }

    fn request(&self, position: LogPosition) {
        LogCore::request(self, position, 0);
    }

    fn make_durable(&self, position: LogPosition) -> LocalFuture<'_, Result<(), LogError>> {
        Box::pin(LogCore::make_durable(self, position))
    }
}

/// Writes the image of a page to the log before the page is overwritten in place, so that a torn
/// write can be repaired ([`crate::settings::TornPages::LogImages`]).
pub trait PageImages<P>: 'static {
    /// Appends the image of the sealed `payload`; returns the position up to which the log must be
    /// durable before the page may be written.
    fn log_image(&self, page: PageNumber, payload: &P) -> LogPosition;
}

/// What is wrong with a page.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PageProblem {
    /// The read or write of the page failed.
    #[error("{0}")]
    Io(IoError),
    /// The bytes are not what was written.
    #[error("{0}")]
    Damaged(Box<PageFinding>),
}

/// A page that could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("Page {page} of {file} failed: {problem}.")]
pub struct PageError {
    /// The file's name as a person knows it.
    pub file: String,
    /// Which page; the first of a request that failed as a whole.
    pub page: PageNumber,
    /// Whether the request failed or the page is damaged.
    pub problem: PageProblem,
}

/// Pages that are kept until somebody asks for them; those behind them are met again.
const MOST_NOTED: usize = 1_000;

/// Notes a page that work in the background could not use, unless it is noted already.
pub(crate) fn note_damage(noted: &mut Vec<PageError>, error: &PageError) {
    let is_known = noted.iter().any(|known| known.page == error.page);
    if noted.len() < MOST_NOTED && !is_known {
        noted.push(error.clone());
    }
}

impl PageError {
    /// Why the request failed, if it did.
    #[must_use]
    pub fn io_failure(&self) -> Option<&IoFailure> {
        match &self.problem {
            PageProblem::Io(error) => Some(&error.failure),
            PageProblem::Damaged(_) => None,
        }
    }

    /// Whether the page has never been written: all its bytes are zero.
    #[must_use]
    pub fn is_never_written(&self) -> bool {
        let class = self.finding().map(|finding| finding.class);
        class == Some(DamageClass::NeverWritten)
    }

    /// What is wrong with the bytes, if the request itself did not fail.
    #[must_use]
    pub fn finding(&self) -> Option<&PageFinding> {
        match &self.problem {
            PageProblem::Damaged(finding) => Some(finding),
            PageProblem::Io(_) => None,
        }
    }

    /// The error that ESE gives for it.
    #[must_use]
    pub fn ese_error(&self) -> EseError {
        match &self.problem {
            PageProblem::Damaged(finding) => finding.ese_error(),
            PageProblem::Io(error) if error.failure == IoFailure::OutOfSpace => EseError::DISK_FULL,
            PageProblem::Io(_) => EseError::DISK_IO,
        }
    }
}

/// Why the cache could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CacheError {
    /// The page could not be read.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The log failed, so that pages cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A page could not be written. What the disk holds is not known any more, so the cache takes no
    /// more work; restart from the log.
    #[error("The database cache has stopped because a page could not be written. {0}")]
    Poisoned(PageError),
    /// The log failed while a page waited for it; as above.
    #[error("The database cache has stopped because the log failed. {0}")]
    LogFailed(LogError),
}

impl CacheError {
    /// Why a request failed, if one did.
    #[must_use]
    pub fn io_failure(&self) -> Option<&IoFailure> {
        match self {
            Self::Page(error) | Self::Poisoned(error) => error.io_failure(),
            Self::Log(error) | Self::LogFailed(error) => error.io_failure(),
        }
    }
}
