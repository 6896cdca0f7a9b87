//! What is known while a check goes on.

use runtime::File;

use super::bitmap::Bitmap;
use super::finding::Findings;
use crate::reading::Reader;

/// What is known while a check goes on.
pub(super) struct Checker<F: File> {
    pub(super) reader: Reader<F>,
    pub(super) findings: Findings,
    /// Pages that trees point at.
    pub(super) reached: Bitmap,
    /// Pages listed as free.
    pub(super) available: Bitmap,
    /// Pages owned by the database root, by its tables, by what takes its space from tables.
    pub(super) owned: [Bitmap; 3],
    /// Whether all extent trees could be read.
    pub(super) space_complete: bool,
    /// Whether all trees could be walked completely.
    pub(super) trees_complete: bool,
    pub(super) rows: u64,
    /// Nodes with the deleted flag.
    pub(super) deleted_nodes: u64,
    done_pages: u64,
    progress: Box<dyn FnMut(u64, u64)>,
}

impl<F: File> Checker<F> {
    pub(super) fn new(reader: Reader<F>, progress: Box<dyn FnMut(u64, u64)>) -> Self {
        Self {
            reader,
            findings: Findings::default(),
            reached: Bitmap::default(),
            available: Bitmap::default(),
            owned: Default::default(),
            space_complete: true,
            trees_complete: true,
            rows: 0,
            deleted_nodes: 0,
            done_pages: 0,
            progress,
        }
    }

    /// Counts `pages` as done and reports that to the caller of the check, with the total.
    pub(super) fn advance(&mut self, pages: u32) {
        self.done_pages += u64::from(pages);
        let total = u64::from(self.reader.last_page).max(self.done_pages);
        (self.progress)(self.done_pages, total);
    }
}
