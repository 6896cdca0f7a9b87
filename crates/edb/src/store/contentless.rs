//! A database file of a prediction: pages without contents, read and written by size.

use crate::accounting::{Shape, notify_observer};
use crate::cache::{PageError, PageProblem, PageStore};
use crate::position::PageNumber;
use crate::settings::EngineSettings;
use runtime::{File, Handle, IoCause, IoDirection, IoError, IoObserver, Persistence};
use std::rc::Rc;

/// Pages in a file of which nobody reads a byte. Every request is reported to the observer.
pub struct ContentlessStore<F: File> {
    handle: Handle,
    file: F,
    page_bytes: usize,
    persistence: Persistence,
    observer: Rc<dyn IoObserver>,
}

impl<F: File> ContentlessStore<F> {
    /// The pages of `file`, which has been laid out.
    #[must_use]
    pub fn new(
        handle: &Handle,
        file: F,
        settings: &EngineSettings,
        observer: Rc<dyn IoObserver>,
    ) -> Self {
        Self {
            handle: handle.clone(),
            file,
            page_bytes: settings.engine.page_bytes(),
            persistence: settings.engine.database_writes.persistence(),
            observer,
        }
    }

    /// Where a run of pages lies, for a request in this direction.
    fn shape(&self, direction: IoDirection, first: PageNumber, count: usize) -> Shape {
        let offset_bytes = first.offset_bytes(self.page_bytes);
        (direction, offset_bytes, (count * self.page_bytes) as u64)
    }

    /// Reports a request that has completed; `page` is the first of it.
    fn complete(
        &self,
        cause: IoCause,
        shape: Shape,
        page: PageNumber,
        issued_ns: u64,
        result: Result<(), IoError>,
    ) -> Result<(), PageError> {
        let (observer, error) = (&*self.observer, result.as_ref().err());
        notify_observer(&self.handle, observer, cause, shape, issued_ns, error);
        result.map_err(|error| PageError {
            file: self.file.name(),
            page,
            problem: PageProblem::Io(error),
        })
    }

    async fn read_run(
        &self,
        first: PageNumber,
        count: usize,
        cause: IoCause,
    ) -> Result<(), PageError> {
        let shape = self.shape(IoDirection::Read, first, count);
        let issued_ns = self.handle.now_ns();
        let result = self.file.read_by_size(shape.1, shape.2).await;
        self.complete(cause, shape, first, issued_ns, result)
    }
}

impl<F: File> PageStore<()> for ContentlessStore<F> {
    async fn read(
        &self,
        first: PageNumber,
        count: u32,
        cause: IoCause,
    ) -> Vec<Result<(), PageError>> {
        let result = self.read_run(first, count as usize, cause).await;
        let pages = (first.0..).map(PageNumber).take(count as usize);
        pages
            .map(|page| result.clone().map_err(|error| PageError { page, ..error }))
            .collect()
    }

    async fn read_page(&self, page: PageNumber, cause: IoCause) -> Result<(), PageError> {
        self.read_run(page, 1, cause).await
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
        let shape = self.shape(IoDirection::Write, first, pages.len());
        let issued_ns = self.handle.now_ns();
        let written = self.file.write_by_size(shape.1, shape.2, self.persistence);
        let result = written.await;
        self.complete(cause, shape, first, issued_ns, result)
    }

    async fn sync(&self) -> Result<(), PageError> {
        if self.persistence == Persistence::Durable {
            return Ok(()); // Each write was durable when it completed.
        }
        let issued_ns = self.handle.now_ns();
        let result = self.file.sync().await;
        let shape = (IoDirection::Flush, 0, 0);
        self.complete(IoCause::Checkpoint, shape, PageNumber(0), issued_ns, result)
    }

    fn blank(&self) {}
}
