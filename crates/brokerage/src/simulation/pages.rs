//! The pages of a database, striped over its files in extents of eight pages.

use edb::format::layout::HEADER_PAGES;
use edb::pool::{PageError, PageProblem, PageStore};
use edb::position::PageNumber;
use runtime::{File, Handle, IoCause, IoDirection, IoError, IoEvent, IoObserver, Persistence};
use std::rc::Rc;

/// Pages in a row in one file before the next file follows.
pub(crate) const EXTENT_PAGES: u64 = 8;

/// Pages without contents in several files.
pub(crate) struct StripedPages<F: File> {
    handle: Handle,
    files: Vec<F>,
    page_bytes: u64,
    observer: Rc<dyn IoObserver>,
}

/// The part of a request in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    file: usize,
    offset_bytes: u64,
    length_bytes: u64,
}

impl<F: File> StripedPages<F> {
    pub(crate) fn new(
        handle: &Handle,
        files: Vec<F>,
        page_bytes: u64,
        observer: Rc<dyn IoObserver>,
    ) -> Self {
        Self {
            handle: handle.clone(),
            files,
            page_bytes,
            observer,
        }
    }

    /// The parts of a request for consecutive pages, one for each extent that it touches.
    fn pieces(&self, first: PageNumber, count: u64) -> impl Iterator<Item = Piece> + use<F> {
        let (files, page_bytes) = (self.files.len() as u64, self.page_bytes);
        let mut page = u64::from(first.0) - 1;
        let end = page + count;
        std::iter::from_fn(move || {
            if page == end {
                return None;
            }
            let (extent, within) = (page / EXTENT_PAGES, page % EXTENT_PAGES);
            let pages = (EXTENT_PAGES - within).min(end - page);
            page += pages;
            let place = extent / files * EXTENT_PAGES + within + u64::from(HEADER_PAGES);
            Some(Piece {
                file: (extent % files) as usize,
                offset_bytes: place * page_bytes,
                length_bytes: pages * page_bytes,
            })
        })
    }

    fn event(
        &self,
        cause: IoCause,
        direction: IoDirection,
        piece: Piece,
        issued_ns: u64,
    ) -> IoEvent {
        IoEvent {
            cause,
            direction,
            offset_bytes: piece.offset_bytes,
            length_bytes: piece.length_bytes,
            issued_ns,
            completed_ns: self.handle.now_ns(),
            succeeded: true,
        }
    }

    fn complete(
        &self,
        mut event: IoEvent,
        piece: Piece,
        first: PageNumber,
        result: Result<(), IoError>,
    ) -> Result<(), PageError> {
        event.succeeded = result.is_ok();
        self.observer.completed(&event);
        result.map_err(|error| {
            self.observer.failed(&event, &error);
            PageError {
                file: self.files[piece.file].name(),
                page: first,
                problem: PageProblem::Io(error),
            }
        })
    }
}

/// Bytes of each of `files` files that together hold this many pages.
#[must_use]
pub fn file_bytes(pages: u64, files: u64, page_bytes: u64) -> u64 {
    let extents = pages.div_ceil(EXTENT_PAGES).div_ceil(files);
    (extents * EXTENT_PAGES + u64::from(HEADER_PAGES)) * page_bytes
}

impl<F: File> PageStore<()> for StripedPages<F> {
    async fn read(
        &self,
        first: PageNumber,
        count: u32,
        cause: IoCause,
    ) -> Vec<Result<(), PageError>> {
        let mut results = Vec::with_capacity(count as usize);
        for piece in self.pieces(first, u64::from(count)) {
            let issued_ns = self.handle.now_ns();
            let file = &self.files[piece.file];
            let read = file.read_by_size(piece.offset_bytes, piece.length_bytes);
            let result = read.await;
            let event = self.event(cause, IoDirection::Read, piece, issued_ns);
            let result = self.complete(event, piece, first, result);
            let pages = (piece.length_bytes / self.page_bytes) as usize;
            results.extend(std::iter::repeat_n(result, pages));
        }
        results
    }

    fn seal(&self, _page: PageNumber, _payload: &mut ()) {}

    fn is_sound(&self, _page: PageNumber, _payload: &()) -> bool {
        true
    }

    async fn write(
        &self,
        first: PageNumber,
        pages: Vec<Rc<()>>,
        cause: IoCause,
    ) -> Result<(), PageError> {
        for piece in self.pieces(first, pages.len() as u64) {
            let issued_ns = self.handle.now_ns();
            let (offset, length) = (piece.offset_bytes, piece.length_bytes);
            let file = &self.files[piece.file];
            let result = file
                .write_by_size(offset, length, Persistence::Durable)
                .await;
            let event = self.event(cause, IoDirection::Write, piece, issued_ns);
            self.complete(event, piece, first, result)?;
        }
        Ok(())
    }

    async fn sync(&self) -> Result<(), PageError> {
        Ok(()) // Each write was durable when it completed.
    }

    fn blank(&self) {}
}
