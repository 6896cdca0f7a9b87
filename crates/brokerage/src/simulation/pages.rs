//! The pages of a database, striped over its files in extents of eight pages.

use edb::EngineSettings;
use edb::cache::{PageError, PageStore};
use edb::format::layout::HEADER_PAGES;
use edb::position::PageNumber;
use edb::store::ContentlessStore;
use runtime::{File, Handle, IoCause, IoObserver};
use std::rc::Rc;

/// Pages in a row in one file before the next file follows.
pub(crate) const EXTENT_PAGES: u64 = 8;

/// Pages without contents in several files.
pub(crate) struct StripedPages<F: File> {
    files: Vec<ContentlessStore<F>>,
}

/// The part of a request in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    file: usize,
    /// Its first page, by the number in that file.
    first: PageNumber,
    pages: u32,
}

impl<F: File> StripedPages<F> {
    pub(crate) fn new(
        handle: &Handle,
        files: Vec<F>,
        settings: &EngineSettings,
        observer: &Rc<dyn IoObserver>,
    ) -> Self {
        let store = |file| ContentlessStore::new(handle, file, settings, Rc::clone(observer));
        Self {
            files: files.into_iter().map(store).collect(),
        }
    }

    /// The parts of a request for consecutive pages, one for each extent that it touches.
    fn pieces(&self, first: PageNumber, count: u64) -> impl Iterator<Item = Piece> + use<F> {
        let files = self.files.len() as u64;
        let mut page = u64::from(first.0) - 1;
        let end = page + count;
        std::iter::from_fn(move || {
            if page == end {
                return None;
            }
            let (extent, within) = (page / EXTENT_PAGES, page % EXTENT_PAGES);
            let pages = (EXTENT_PAGES - within).min(end - page);
            page += pages;
            let before = extent / files * EXTENT_PAGES + within;
            Some(Piece {
                file: (extent % files) as usize,
                first: PageNumber(before as u32 + 1),
                pages: pages as u32,
            })
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
            let file = &self.files[piece.file];
            results.extend(file.read(piece.first, piece.pages, cause).await);
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
        mut pages: Vec<Rc<()>>,
        cause: IoCause,
    ) -> Result<(), PageError> {
        for piece in self.pieces(first, pages.len() as u64) {
            let rest = pages.split_off(piece.pages as usize);
            let file = &self.files[piece.file];
            file.write(piece.first, pages, cause).await?;
            pages = rest;
        }
        Ok(())
    }

    async fn sync(&self) -> Result<(), PageError> {
        Ok(()) // Each write was durable when it completed.
    }

    fn blank(&self) {}
}
