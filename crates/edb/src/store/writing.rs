//! Pages and headers on their way to the file.
//!
//! A write that fails because there is no space left may have written a part of its bytes. So a page may
//! be left that is neither the old nor the new one; whoever reads it learns of the failed write, not of
//! damage, and a note is left for the next opening.

use super::FileStore;
use crate::cache::{PageError, PageProblem};
use crate::format::page::PageView;
use crate::log::LocalFuture;
use crate::position::PageNumber;
use runtime::{Buffer, File, IoCause, IoDirection, IoError, IoFailure, Persistence, SharedBuffer};
use std::cell::RefCell;
use std::rc::Rc;

/// Leaves a note for the next opening that pages may be half written.
pub(crate) type NoteHalfWritten = Box<dyn Fn() -> LocalFuture<'static, ()>>;

/// What all clones of a store know of writes for which there was no space.
#[derive(Default)]
pub(super) struct OutOfSpace {
    note: RefCell<Option<NoteHalfWritten>>,
    /// The first of them.
    failed: RefCell<Option<IoError>>,
}

impl<F: File> FileStore<F> {
    /// Grows the file to `pages` pages and fills the new ones with zeros by large writes, so that no
    /// later write has to allocate space. A file that is long enough already is left alone.
    ///
    /// # Errors
    /// If the storage is full or fails.
    pub async fn extend_to(&self, pages: u32, cause: IoCause) -> Result<(), IoError> {
        let end = PageNumber(pages)
            .after(1)
            .offset_bytes(self.page_size_bytes);
        let size_bytes = self.file.size_bytes().await?;
        let mut offset = size_bytes.next_multiple_of(self.page_size_bytes as u64);
        if offset != size_bytes && size_bytes < end {
            // The storage has lost a part of a page, or something was added. The page's checksum says so.
            self.file.set_size_bytes(offset).await?;
        }
        let first = (offset / self.page_size_bytes as u64)
            .saturating_sub(1)
            .max(1) as u32;
        let zeros = Rc::new(Buffer::zeroed(self.zero_fill_write_bytes));
        while offset < end {
            let length = (end - offset).min(zeros.len() as u64);
            let chunk = if length == zeros.len() as u64 {
                Rc::clone(&zeros)
            } else {
                Rc::new(Buffer::zeroed(length as usize))
            };
            let issued_ns = self.handle.now_ns();
            let result = self.file.write(offset, chunk, self.persistence).await;
            let shape = (IoDirection::Write, offset, length);
            self.notify_observer(cause, shape, issued_ns, result.as_ref().err());
            result?;
            offset += length;
        }
        self.file.sync().await?;
        self.versions
            .zero_filled(first, (pages + 1).saturating_sub(first));
        Ok(())
    }

    /// Writes `header`, one page long, over one of the two copies of the database header (0 or 1) and
    /// waits until it is durable.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn write_header(
        &self,
        copy: u64,
        header: SharedBuffer,
        cause: IoCause,
    ) -> Result<(), IoError> {
        assert!(
            copy < 2 && header.len() == self.page_size_bytes,
            "there are two header copies of one page each"
        );
        let offset = copy * self.page_size_bytes as u64;
        let length = header.len() as u64;
        let issued_ns = self.handle.now_ns();
        let result = self.file.write(offset, header, Persistence::Durable).await;
        let shape = (IoDirection::Write, offset, length);
        self.notify_observer(cause, shape, issued_ns, result.as_ref().err());
        result
    }

    /// Has `note` called when a write of pages fails because there is no space left, before anybody learns of
    /// it.
    pub(crate) fn set_note_half_written(&self, note: NoteHalfWritten) {
        *self.shared.out_of_space.note.borrow_mut() = Some(note);
    }

    async fn note_out_of_space(&self, error: &IoError) {
        let known = &self.shared.out_of_space;
        if known.failed.borrow().is_some() {
            return;
        }
        *known.failed.borrow_mut() = Some(error.clone());
        let noted = known.note.borrow().as_ref().map(|note| note());
        if let Some(noted) = noted {
            noted.await;
        }
    }

    /// The failure that explains why the bytes of `page` are neither those of the old page nor those of the
    /// new one, if there is one.
    pub(super) fn half_written(&self, page: PageNumber) -> Option<PageError> {
        let failed = self.shared.out_of_space.failed.borrow().clone()?;
        let is_it = self.versions.has_failed_write(page.0);
        is_it.then(|| self.failed(page, PageProblem::Io(failed)))
    }

    /// Writes neighbouring pages, which have their checksums.
    pub(super) async fn write_pages(
        &self,
        first: PageNumber,
        mut pages: Vec<SharedBuffer>,
        cause: IoCause,
    ) -> Result<(), PageError> {
        let offset = first.offset_bytes(self.page_size_bytes);
        let length = (pages.len() * self.page_size_bytes) as u64;
        let dbtimes = pages.iter().map(|bytes| PageView::new(bytes).dbtime());
        let writing = self.versions.begin_write(first.0, dbtimes);
        let issued_ns = self.handle.now_ns();
        let result = match pages.pop() {
            Some(only) if pages.is_empty() => self.file.write(offset, only, self.persistence).await,
            Some(last) => {
                pages.push(last);
                self.file
                    .write_vectored(offset, pages, self.persistence)
                    .await
            }
            None => Ok(()),
        };
        let shape = (IoDirection::Write, offset, length);
        self.notify_observer(cause, shape, issued_ns, result.as_ref().err());
        match result {
            Ok(()) => {
                writing.completed();
                Ok(())
            }
            Err(error) => {
                if error.failure == IoFailure::OutOfSpace {
                    self.note_out_of_space(&error).await;
                }
                Err(self.failed(first, PageProblem::Io(error)))
            }
        }
    }
}
