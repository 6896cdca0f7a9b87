//! A backup: all of an open database is read in ascending order, and every page verified.
//!
//! Pages are read straight from the disk, whatever the cache holds, and may be written meanwhile. What
//! is read that way is of different moments; the log since the beginning makes one state of it, as in
//! ESE. So the checkpoint is held while a copy is made.

use super::Database;
use super::copy::DatabaseCopy;
use crate::cache::{PageError, PageStore};
use crate::position::PageNumber;
use crate::tree::Page;
use runtime::{Buffer, Directory, IoCause, IoError, JoinHandle};
use std::collections::VecDeque;

/// How a backup reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupReads {
    /// Pages of one read.
    pub pages: u32,
    /// Reads outstanding at one time.
    pub outstanding: u32,
}

/// What a backup has read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BackupPass {
    /// Pages read, empty ones among them.
    pub pages: u64,
    /// Of those, the ones that nobody has ever written.
    pub never_written_pages: u64,
    /// Pages that are damaged or could not be read. [`Database::take_damage`] says which.
    pub bad_pages: u64,
    /// Bytes read, without those that were read again.
    pub bytes: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// What was read of a page.
type ReadPage = Result<Buffer, PageError>;

/// A read under way: its first page, the number of its pages, what it gives.
type Reading = (u32, u32, JoinHandle<Vec<ReadPage>>);

impl<D: Directory> Database<D> {
    /// Reads every page of the file and verifies it; writes it to `copy`, if there is one. `progress`
    /// hears the bytes read so far, and says whether to go on. With a copy the checkpoint is held from now
    /// on, until [`Database::complete_copy`].
    ///
    /// # Errors
    /// If the copy cannot be written. Pages that are damaged are damage of this database.
    pub async fn back_up(
        &self,
        reads: BackupReads,
        mut copy: Option<&mut DatabaseCopy<D>>,
        progress: impl Fn(u64) -> bool,
    ) -> Result<BackupPass, IoError> {
        let core = &self.inner.core;
        let began_ns = core.handle.now_ns();
        self.hold_checkpoint(copy.is_some());
        let mut pass = BackupPass::default();
        let mut under_way: VecDeque<Reading> = VecDeque::new();
        let mut first = 1;
        loop {
            // The file may grow meanwhile.
            let last = core.growth.file_pages.get();
            while under_way.len() < reads.outstanding.max(1) as usize && first <= last {
                let count = reads.pages.max(1).min(last - first + 1);
                under_way.push_back((first, count, self.start_read(first, count)));
                first += count;
            }
            let Some((begin, count, reading)) = under_way.pop_front() else {
                break;
            };
            let pages = self.taken(begin, reading.await, &mut pass).await;
            if let Some(copy) = &mut copy {
                copy.write(begin, pages).await?;
            }
            pass.pages += u64::from(count);
            pass.bytes += u64::from(count) * core.settings.engine.page_size.bytes();
            if !progress(pass.bytes) {
                pass.stopped = true;
                break;
            }
        }
        if let Some(copy) = copy {
            copy.sync().await?;
        }
        pass.seconds = (core.handle.now_ns() - began_ns) as f64 / 1e9;
        Ok(pass)
    }

    /// Bytes of all pages of the file, its headers not counted.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        let core = &self.inner.core;
        u64::from(core.growth.file_pages.get()) * core.settings.engine.page_size.bytes()
    }

    fn start_read(&self, first: u32, count: u32) -> JoinHandle<Vec<ReadPage>> {
        let core = &self.inner.core;
        let cache = core.cache.clone();
        core.handle.spawn(async move {
            let first = PageNumber(first);
            cache.store().read(first, count, IoCause::Backup).await
        })
    }

    /// Counts the pages of a request. Gives those to be kept; an empty one for a page that is damaged or
    /// was never written.
    async fn taken(&self, first: u32, results: Vec<ReadPage>, pass: &mut BackupPass) -> Vec<Page> {
        let core = &self.inner.core;
        let mut pages = Vec::with_capacity(results.len());
        for (number, result) in (first..).map(PageNumber).zip(results) {
            let result = match result {
                // One bad page fails a whole request.
                Err(error) if error.finding().is_none() => {
                    core.cache.store().read_page(number, IoCause::Backup).await
                }
                result => result,
            };
            pages.push(match result {
                Ok(page) => page,
                Err(error) => {
                    if error.is_never_written() {
                        pass.never_written_pages += 1;
                    } else {
                        pass.bad_pages += 1;
                        core.note_damage(&error);
                    }
                    core.cache.store().blank()
                }
            });
        }
        pages
    }
}
