//! The database file as the pool sees it: pages without contents, read and written by size.

use edb::EngineSettings;
use edb::pool::{PageError, PageProblem, PageStore};
use edb::position::PageNumber;
use edb::settings::WritePolicy;
use runtime::{File, Handle, IoCause, IoDirection, IoError, IoEvent, IoObserver, Persistence};
use std::rc::Rc;

/// Pages in a file of which nobody looks at a byte.
pub(crate) struct SimulatedPages<F: File> {
    handle: Handle,
    file: F,
    page_bytes: usize,
    persistence: Persistence,
    observer: Rc<dyn IoObserver>,
}

impl<F: File> SimulatedPages<F> {
    pub(crate) fn new(
        handle: &Handle,
        file: F,
        settings: &EngineSettings,
        observer: Rc<dyn IoObserver>,
    ) -> Self {
        Self {
            handle: handle.clone(),
            file,
            page_bytes: settings.engine.page_bytes(),
            persistence: match settings.engine.database_writes {
                WritePolicy::WriteThrough => Persistence::Durable,
                WritePolicy::FlushAtCheckpoint => Persistence::Volatile,
            },
            observer,
        }
    }

    fn notify_observer(
        &self,
        (cause, direction): (IoCause, IoDirection),
        (offset_bytes, length_bytes): (u64, u64),
        issued_ns: u64,
        succeeded: bool,
    ) {
        self.observer.completed(&IoEvent {
            cause,
            direction,
            offset_bytes,
            length_bytes,
            issued_ns,
            completed_ns: self.handle.now_ns(),
            succeeded,
        });
    }

    fn place(&self, first: PageNumber, count: usize) -> (u64, u64) {
        let offset = first.offset_bytes(self.page_bytes);
        (offset, (count * self.page_bytes) as u64)
    }

    fn failed(&self, page: PageNumber, error: IoError) -> PageError {
        PageError {
            file: self.file.name(),
            page,
            problem: PageProblem::Io(error),
        }
    }
}

impl<F: File> PageStore<()> for SimulatedPages<F> {
    async fn read(
        &self,
        first: PageNumber,
        count: u32,
        cause: IoCause,
    ) -> Vec<Result<(), PageError>> {
        let (offset, length) = self.place(first, count as usize);
        let issued_ns = self.handle.now_ns();
        let result = self.file.read_by_size(offset, length).await;
        let what = (cause, IoDirection::Read);
        self.notify_observer(what, (offset, length), issued_ns, result.is_ok());
        let pages = (first.0..).map(PageNumber).take(count as usize);
        pages
            .map(|page| match &result {
                Ok(()) => Ok(()),
                Err(error) => Err(self.failed(page, error.clone())),
            })
            .collect()
    }

    async fn read_page(&self, page: PageNumber, cause: IoCause) -> Result<(), PageError> {
        let (offset, length) = self.place(page, 1);
        let issued_ns = self.handle.now_ns();
        let result = self.file.read_by_size(offset, length).await;
        let what = (cause, IoDirection::Read);
        self.notify_observer(what, (offset, length), issued_ns, result.is_ok());
        result.map_err(|error| self.failed(page, error))
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
        let (offset, length) = self.place(first, pages.len());
        let issued_ns = self.handle.now_ns();
        let written = self.file.write_by_size(offset, length, self.persistence);
        let result = written.await;
        let what = (cause, IoDirection::Write);
        self.notify_observer(what, (offset, length), issued_ns, result.is_ok());
        result.map_err(|error| self.failed(first, error))
    }

    async fn sync(&self) -> Result<(), PageError> {
        if self.persistence == Persistence::Durable {
            return Ok(()); // Each write was durable when it completed.
        }
        let issued_ns = self.handle.now_ns();
        let result = self.file.sync().await;
        let what = (IoCause::Checkpoint, IoDirection::Flush);
        self.notify_observer(what, (0, 0), issued_ns, result.is_ok());
        result.map_err(|error| self.failed(PageNumber(0), error))
    }

    fn blank(&self) {}
}
