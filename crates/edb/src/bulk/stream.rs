//! Pages on their way to the file: filled in ascending order, written in large requests.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use runtime::sync::Semaphore;
use runtime::{Buffer, BufferArena, File, Handle, IoError, Persistence};

use crate::format::layout::page_offset;
use crate::format::page::seal;
use crate::format::space::Extent;
use crate::integrity::Version;

use super::earlier::Earlier;
use super::tree::PageSink;

/// Bytes of one write.
const WRITE_BYTES: usize = 512 * 1024;
/// Writes under way at the same time.
const WRITES_IN_FLIGHT: usize = 8;
/// Batches of which there is memory: those under way, the one being filled, and the one before it,
/// whose last page may still be open.
const BATCHES: usize = WRITES_IN_FLIGHT + 2;

/// Some pages in a row that become one write.
struct Batch {
    first_page: u32,
    buffer: Buffer,
    /// Pages handed out and not finished.
    open_pages: u32,
}

/// Hands out page numbers in ascending order and writes finished pages.
pub(super) struct PageStream<F: File> {
    handle: Handle,
    file: F,
    page_size_bytes: usize,
    next_page: u32,
    batches: VecDeque<Batch>,
    permits: Rc<Semaphore>,
    /// Memory of the batches, known to the device where that is possible. Without it every batch
    /// comes from the heap: slower, not wrong.
    arena: Option<BufferArena>,
    /// The first failure of a write.
    failure: Rc<RefCell<Option<IoError>>>,
    written_bytes: u64,
    /// Runs of pages that were left out, in ascending order.
    skipped: Vec<Extent>,
    /// What an interrupted build has left in the file.
    earlier: Option<Rc<Earlier>>,
}

impl<F: File> PageStream<F> {
    /// A stream whose first page is `first_page`. What is there of an `earlier` build is not written again.
    pub(super) fn new(
        handle: &Handle,
        file: &F,
        page_size_bytes: usize,
        first_page: u32,
        earlier: Option<Rc<Earlier>>,
    ) -> Self {
        Self {
            earlier,
            handle: handle.clone(),
            file: file.clone(),
            page_size_bytes,
            next_page: first_page,
            batches: VecDeque::new(),
            permits: Semaphore::new(WRITES_IN_FLIGHT),
            arena: BufferArena::new(handle, WRITE_BYTES, BATCHES as u32).ok(),
            failure: Rc::default(),
            written_bytes: 0,
            skipped: Vec::new(),
        }
    }

    /// The versions of the pages so far, if all that were filled are of version `filled`.
    pub(super) fn versions(&self, filled: Version) -> Vec<u16> {
        let mut versions = vec![filled.code(); self.next_page as usize - 1];
        for extent in &self.skipped {
            let places = extent.first() as usize - 1..extent.last as usize;
            versions[places].fill(Version::NEVER_WRITTEN.code());
        }
        versions
    }

    /// The number the next page will get.
    pub(super) fn next_page(&self) -> u32 {
        self.next_page
    }

    /// Bytes written so far, or found to be there.
    pub(super) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Leaves out the next `count` pages: they are zero until somebody else writes them.
    pub(super) fn skip(&mut self, count: u32) -> u32 {
        let first = self.next_page;
        match self.skipped.last_mut() {
            Some(before) if before.last + 1 == first => {
                before.last += count;
                before.pages += count;
            }
            _ => self.skipped.push(Extent::from_first(first, count)),
        }
        for _ in 0..count {
            let page = self.allocate();
            self.page(page).fill(0);
            self.batch(page).open_pages -= 1;
        }
        first
    }

    /// Whether [`Self::flush_full`] has something to do. Cheap: ask after every row.
    pub(super) fn has_full(&self) -> bool {
        self.batches.len() > 1 && self.batches[0].open_pages == 0
    }

    /// Writes the batches that are complete; waits only while too many writes are under way.
    pub(super) async fn flush_full(&mut self) -> Result<(), IoError> {
        while self.has_full() {
            self.write_first().await?;
        }
        Ok(())
    }

    /// Writes everything and waits for it.
    pub(super) async fn finish(&mut self) -> Result<(), IoError> {
        while let Some(batch) = self.batches.front() {
            assert_eq!(batch.open_pages, 0, "a page was never finished");
            self.write_first().await?;
        }
        let mut all = Vec::new();
        for _ in 0..WRITES_IN_FLIGHT {
            all.push(self.permits.acquire().await);
        }
        if let Some(earlier) = &self.earlier {
            earlier.finish(page_offset(self.next_page, self.page_size_bytes));
        }
        self.check()
    }

    async fn write_first(&mut self) -> Result<(), IoError> {
        let permit = self.permits.acquire().await;
        self.check()?;
        let Some(batch) = self.batches.pop_front() else {
            return Ok(());
        };
        let buffer = self.cut(batch);
        let (first_page, bytes) = buffer;
        let offset = page_offset(first_page, self.page_size_bytes);
        self.written_bytes += bytes.len() as u64;
        let (file, failure) = (self.file.clone(), Rc::clone(&self.failure));
        let earlier = self.earlier.clone();
        self.handle.spawn(async move {
            let written = match earlier {
                Some(earlier) => earlier.write(&file, offset, bytes).await,
                None => {
                    let bytes = Rc::new(bytes);
                    file.write(offset, bytes, Persistence::Volatile).await
                }
            };
            if let Err(error) = written {
                failure.borrow_mut().get_or_insert(error);
            }
            drop(permit);
        });
        // Let the new task hand its write to the storage before more pages are filled.
        self.handle.yield_now().await;
        Ok(())
    }

    /// The bytes of a batch, without the pages beyond the last one handed out.
    fn cut(&self, batch: Batch) -> (u32, Buffer) {
        let pages = (self.next_page - batch.first_page) as usize;
        let used = pages * self.page_size_bytes;
        if used >= batch.buffer.len() {
            return (batch.first_page, batch.buffer);
        }
        let mut short = Buffer::zeroed(used);
        short.copy_from_slice(&batch.buffer[..used]);
        (batch.first_page, short)
    }

    fn check(&self) -> Result<(), IoError> {
        self.failure.borrow().clone().map_or(Ok(()), Err)
    }

    fn pages_per_batch(&self) -> u32 {
        (WRITE_BYTES / self.page_size_bytes) as u32
    }

    fn index_of(&self, page: u32) -> usize {
        let holds = |batch: &Batch| batch.first_page <= page;
        match self.batches.iter().rposition(holds) {
            Some(index) => index,
            None => panic!("page {page} is written already"),
        }
    }

    fn batch(&mut self, page: u32) -> &mut Batch {
        let index = self.index_of(page);
        &mut self.batches[index]
    }
}

impl<F: File> PageSink for PageStream<F> {
    fn page_size_bytes(&self) -> usize {
        self.page_size_bytes
    }

    fn allocate(&mut self) -> u32 {
        let page = self.next_page;
        let size = self.page_size_bytes;
        let full = |batch: &Batch| page >= batch.first_page + (batch.buffer.len() / size) as u32;
        if self.batches.back().is_none_or(full) {
            // Whole batches end on multiples of their size in the file.
            let pages = self.pages_per_batch();
            let slot = page + crate::format::layout::HEADER_PAGES - 1;
            let count = pages - slot % pages;
            let bytes = count as usize * size;
            let buffer = match &self.arena {
                Some(arena) if arena.slot_bytes() == bytes => arena.buffer(),
                _ => Buffer::zeroed(bytes),
            };
            self.batches.push_back(Batch {
                first_page: page,
                buffer,
                open_pages: 0,
            });
        }
        self.next_page += 1;
        self.batch(page).open_pages += 1;
        page
    }

    fn page(&mut self, page: u32) -> &mut [u8] {
        let size = self.page_size_bytes;
        let batch = self.batch(page);
        let start = (page - batch.first_page) as usize * size;
        &mut batch.buffer[start..start + size]
    }

    fn finished(&mut self, page: u32) {
        seal(self.page(page), page);
        self.batch(page).open_pages -= 1;
    }
}
