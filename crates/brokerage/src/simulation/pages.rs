//! The pages of a database, striped over its files in extents of eight pages.

use super::measured::Measured;
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
    /// Pages of a file.
    file_pages: u32,
    measured: Rc<Measured>,
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
    pub(super) fn new(
        handle: &Handle,
        files: Vec<F>,
        file_pages: u32,
        settings: &EngineSettings,
        observer: &Rc<dyn IoObserver>,
        measured: Rc<Measured>,
    ) -> Self {
        let store = |file| ContentlessStore::new(handle, file, settings, Rc::clone(observer));
        Self {
            files: files.into_iter().map(store).collect(),
            file_pages,
            measured,
        }
    }

    fn piece_of(&self, page: PageNumber) -> Option<Piece> {
        self.pieces(page, 1).next()
    }

    /// Reads a page that the cache has, as a measured run did.
    pub(crate) async fn read_again(&self, page: PageNumber) -> Result<(), PageError> {
        match self.piece_of(page) {
            Some(piece) => {
                self.files[piece.file]
                    .read_page(piece.first, IoCause::Database)
                    .await
            }
            None => Ok(()),
        }
    }

    /// Makes a write of a measured run, from this page on in its file.
    pub(crate) async fn write_measured(&self, page: PageNumber) -> Result<(), PageError> {
        let Some(piece) = self.piece_of(page) else {
            return Ok(());
        };
        let count = self.measured.pages_of_write.min(self.file_pages);
        let first = piece.first.0.min(self.file_pages - count + 1);
        let pages = (0..count).map(|_| Rc::new(())).collect();
        let file = &self.files[piece.file];
        file.write(PageNumber(first), pages, IoCause::Database)
            .await
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
    (pages_of_file(pages, files) + u64::from(HEADER_PAGES)) * page_bytes
}

/// Pages in each of them, headers not counted.
pub(super) fn pages_of_file(pages: u64, files: u64) -> u64 {
    pages.div_ceil(EXTENT_PAGES).div_ceil(files) * EXTENT_PAGES
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
            if !self.measured.admits_read() {
                results.extend((0..piece.pages).map(|_| Ok(())));
                continue;
            }
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
        if self.measured.replaces_writes() {
            return Ok(());
        }
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
