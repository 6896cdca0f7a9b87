//! The database file as the pool sees it: pages read and verified, sealed and written.

use crate::accounting::{Shape, notify_observer};
use crate::format::page;
use crate::pool::{PageError, PageProblem, PageStore};
use crate::position::PageNumber;
use crate::settings::{EngineSettings, WritePolicy};
use runtime::{
    Buffer, BufferArena, File, Handle, IoCause, IoDirection, IoError, IoObserver, Persistence,
    SharedBuffer,
};
use std::rc::Rc;

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
        let arena = BufferArena::new(handle, settings.engine.page_bytes(), slots as u32).ok();
        Self {
            arena,
            handle: handle.clone(),
            file,
            page_size_bytes: settings.engine.page_bytes(),
            zero_fill_write_bytes: settings.internals.zero_fill_write_bytes as usize,
            persistence: match settings.engine.database_writes {
                WritePolicy::WriteThrough => Persistence::Durable,
                WritePolicy::FlushAtCheckpoint => Persistence::Volatile,
            },
            observer,
        }
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

    /// Grows the file to `pages` pages and fills the new ones with zeros by large writes, so that no
    /// later write has to allocate space. A file that is long enough already is left alone.
    ///
    /// # Errors
    /// If the storage is full or fails.
    pub async fn extend_to(&self, pages: u32, cause: IoCause) -> Result<(), IoError> {
        let end = PageNumber(pages)
            .after(1)
            .offset_bytes(self.page_size_bytes);
        let mut offset = self.file.size_bytes().await?;
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
        self.file.sync().await
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

    fn verified(&self, page: PageNumber, bytes: Buffer) -> Result<Buffer, PageError> {
        match page::verify(&bytes, page.0) {
            Ok(()) => Ok(bytes),
            Err(damage) => Err(self.failed(page, PageProblem::Damaged(damage))),
        }
    }
}

impl<F: File> PageStore<Buffer> for FileStore<F> {
    async fn read_page(&self, page: PageNumber, cause: IoCause) -> Result<Buffer, PageError> {
        let offset = page.offset_bytes(self.page_size_bytes);
        let issued_ns = self.handle.now_ns();
        let (bytes, result) = self.file.read(offset, self.buffer()).await;
        let shape = (IoDirection::Read, offset, self.page_size_bytes as u64);
        self.notify_observer(cause, shape, issued_ns, result.as_ref().err());
        match result {
            Ok(()) => self.verified(page, bytes),
            Err(error) => Err(self.failed(page, PageProblem::Io(error))),
        }
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
        let buffers = (0..count).map(|_| self.buffer());
        let (buffers, result) = self.file.read_vectored(offset, buffers.collect()).await;
        let shape = (IoDirection::Read, offset, length);
        self.notify_observer(cause, shape, issued_ns, result.as_ref().err());
        let pages = (first.0..).map(PageNumber).zip(buffers);
        match result {
            Ok(()) => pages
                .map(|(page, bytes)| self.verified(page, bytes))
                .collect(),
            Err(error) => pages
                .map(|(page, _)| Err(self.failed(page, PageProblem::Io(error.clone()))))
                .collect(),
        }
    }

    fn seal(&self, page: PageNumber, payload: &mut Buffer) {
        page::seal(payload);
        let number = page::PageView::new(payload).page_number();
        assert_eq!(number, page.0, "a page is written to its own place");
    }

    fn is_sound(&self, page: PageNumber, payload: &Buffer) -> bool {
        page::verify(payload, page.0).is_ok()
    }

    async fn write(
        &self,
        first: PageNumber,
        mut pages: Vec<SharedBuffer>,
        cause: IoCause,
    ) -> Result<(), PageError> {
        let offset = first.offset_bytes(self.page_size_bytes);
        let length = (pages.len() * self.page_size_bytes) as u64;
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
        result.map_err(|error| self.failed(first, PageProblem::Io(error)))
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
}
