//! What all parts of one database share, and the loop every operation runs in.

use crate::acknowledged::{AcknowledgedCommit, CommitObserver};
use crate::cache::{Cache, PageError, PageRef};
use crate::catalog::Catalog;
use crate::damage::Damage;
use crate::error::EngineError;
use crate::log::{Log, LogError};
use crate::position::{LogSpan, PageNumber};
use crate::settings::EngineSettings;
use crate::store::FileStore;
use crate::tree::{Need, Page, Pages, Step, StepOperations};
use crate::versions::Transactions;
use runtime::sync::{Notify, Semaphore};
use runtime::{Directory, Handle};
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What kind of work wants to write to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// New work: refused while there is no space for the next log file.
    New,
    /// Work that brings to an end what is under way, such as rollback: goes on in the reserve files.
    Finishing,
}

/// How large the file is.
pub(crate) struct Growth {
    /// Pages 1 to this one belong to the database root.
    pub(crate) owned_pages: Cell<u32>,
    /// Pages the file has.
    pub(crate) file_pages: Cell<u32>,
    /// Only one extension at a time.
    pub(crate) turn: Rc<Semaphore>,
}

impl Growth {
    pub(crate) fn new() -> Self {
        Self {
            owned_pages: Cell::new(0),
            file_pages: Cell::new(0),
            turn: Semaphore::new(1),
        }
    }
}

/// The shared state of one open database.
pub(crate) struct Core<D: Directory> {
    pub(crate) handle: Handle,
    pub(crate) settings: EngineSettings,
    pub(crate) cache: Cache<Page, FileStore<D::File>>,
    pub(crate) log: Log,
    /// The database time of the newest page change.
    pub(crate) dbtime: Rc<Cell<u64>>,
    pub(crate) transactions: Rc<RefCell<Transactions>>,
    pub(crate) catalog: RefCell<Catalog>,
    /// The highest object id in use.
    pub(crate) last_object_id: Rc<Cell<u32>>,
    pub(crate) growth: Growth,
    /// The first failure after which nothing may be written any more.
    failure: RefCell<Option<EngineError>>,
    pub(crate) closing: Cell<bool>,
    /// What work that nobody waits for has met and nobody has taken yet.
    pub(crate) damage: RefCell<Vec<Damage>>,
    /// Pages that have been noted, so that none is reported in each pass anew.
    damaged_pages: RefCell<FxHashSet<u32>>,
    /// Raised when there is something to clean up, or the database closes.
    pub(crate) cleanup_wanted: Notify,
    /// Only one cleanup at a time.
    pub(crate) cleanup_turn: Rc<Semaphore>,
    /// Rollbacks of dropped transactions under way.
    pub(crate) rollbacks: Cell<usize>,
    /// Raised when one of them ends.
    pub(crate) rollback_ended: Notify,
    /// Is notified of commits that are durable.
    pub(crate) commit_observer: RefCell<Option<Rc<dyn CommitObserver>>>,
}

impl<D: Directory> Core<D> {
    pub(crate) fn new(
        handle: &Handle,
        settings: &EngineSettings,
        cache: Cache<Page, FileStore<D::File>>,
        log: Log,
        shared: SharedState,
    ) -> Rc<Self> {
        Rc::new(Self {
            handle: handle.clone(),
            settings: *settings,
            cache,
            log,
            dbtime: shared.dbtime,
            transactions: shared.transactions,
            catalog: RefCell::default(),
            last_object_id: shared.last_object_id,
            growth: Growth::new(),
            failure: RefCell::new(None),
            closing: Cell::new(false),
            damage: RefCell::default(),
            damaged_pages: RefCell::default(),
            cleanup_wanted: Notify::default(),
            cleanup_turn: Semaphore::new(1),
            rollbacks: Cell::new(0),
            rollback_ended: Notify::default(),
            commit_observer: RefCell::new(None),
        })
    }

    /// A commit is durable, and its session is about to be notified of it.
    pub(crate) fn acknowledge(&self, commit: AcknowledgedCommit) {
        if let Some(observer) = &*self.commit_observer.borrow() {
            observer.acknowledged(commit);
        }
    }

    /// Refuses work after a failed write, and once the database closes.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        if let Some(error) = self.failure.borrow().as_ref() {
            return Err(EngineError::Poisoned {
                cause: error.to_string(),
                failure: error.io_failure().cloned(),
            });
        }
        self.cache.check()?;
        if self.closing.get() {
            return Err(EngineError::Closed);
        }
        Ok(())
    }

    /// Notes a failure after which nothing may be written any more.
    pub(crate) fn poison(&self, cause: impl Into<EngineError>) {
        self.failure
            .borrow_mut()
            .get_or_insert_with(|| cause.into());
        self.cleanup_wanted.notify_all();
    }

    /// Notes a damaged page that work in the background has met, unless it has been noted before.
    pub(crate) fn note_damage(&self, error: &PageError) {
        if self.damaged_pages.borrow_mut().insert(error.page.0) {
            self.note(Damage::Page(error.clone()));
        }
    }

    /// Whether the page of this error has been noted.
    pub(crate) fn is_noted_as_damaged(&self, error: &PageError) -> bool {
        self.damaged_pages.borrow().contains(&error.page.0)
    }

    /// Notes something that is wrong with the files.
    pub(crate) fn note(&self, damage: Damage) {
        self.damage.borrow_mut().push(damage);
    }

    /// Reads pages, fetching those that are missing. `work` runs from its beginning after each
    /// fetch; the pages fetched so far stay in the cache meanwhile.
    pub(crate) async fn read<T>(
        &self,
        mut work: impl FnMut(&Step<'_>) -> Result<T, Need>,
    ) -> Result<T, EngineError> {
        let mut pins: Vec<PageRef<Page>> = Vec::new();
        let mut missed = None;
        loop {
            self.check()?;
            let step = Step::again(self, missed);
            let missing = match work(&step) {
                Ok(done) => return Ok(done),
                Err(Need::Page(page)) => page,
                Err(Need::Refused(error)) => return Err(error),
                Err(Need::Space { .. }) => unreachable!("reading takes no space"),
            };
            missed = step.missed();
            drop(step);
            pins.push(self.cache.fetch(PageNumber(missing)).await?);
        }
    }

    /// Changes pages. `work` prepares a step and commits it as its last act; when something is
    /// missing it runs again from its beginning, having changed nothing.
    pub(crate) async fn write<T>(
        &self,
        work: impl FnMut(Step<'_>) -> Result<T, Need>,
    ) -> Result<T, EngineError> {
        self.write_as(Admission::New, work).await
    }

    /// As [`Core::write`], for work of this kind.
    pub(crate) async fn write_as<T>(
        &self,
        admission: Admission,
        mut work: impl FnMut(Step<'_>) -> Result<T, Need>,
    ) -> Result<T, EngineError> {
        let mut pins: Vec<PageRef<Page>> = Vec::new();
        loop {
            self.check()?;
            self.admit(admission).await?;
            match work(Step::new(self)) {
                Ok(done) => return Ok(done),
                Err(Need::Page(page)) => pins.push(self.cache.fetch(PageNumber(page)).await?),
                Err(Need::Space { pages }) => self.grow(pages).await?,
                Err(Need::Refused(error)) => return Err(error),
            }
        }
    }

    /// Waits until the log takes more.
    pub(crate) async fn admit(&self, admission: Admission) -> Result<(), EngineError> {
        match (self.log.admit().await, admission) {
            (Err(LogError::OutOfSpace(_)), Admission::Finishing) => Ok(()),
            (result, _) => Ok(result?),
        }
    }

    /// Logs the operations of a step and carries them out.
    pub(crate) fn commit_step(
        &self,
        step: Step<'_>,
        record: impl FnOnce(&StepOperations) -> Vec<u8>,
    ) -> LogSpan {
        let operations = step.finish();
        let span = self.log.append(&record(&operations));
        // Creating a page may push another one out of the cache: hold those of the step first.
        let mut pages: Vec<PageRef<Page>> = Vec::new();
        let mut held = operations.iter();
        while let Some(Some(one)) = held.next() {
            let number = PageNumber(one.page);
            if !pages.iter().any(|page| page.page() == number) {
                pages.extend(self.cache.get(number));
            }
        }
        let mut logged = operations.iter();
        while let Some(one) = logged.next() {
            let Some(one) = one else {
                panic!("a step reads what it has encoded");
            };
            let number = PageNumber(one.page);
            let place = pages.iter().position(|page| page.page() == number);
            let place = place.unwrap_or_else(|| {
                assert!(
                    one.operation.formats(),
                    "page {number} left the cache within a step"
                );
                pages.push(self.cache.create(number));
                pages.len() - 1
            });
            pages[place].change(span.begin, span.end, |bytes| {
                one.operation.apply(bytes, one.page, one.after);
            });
            self.dbtime.set(one.after);
        }
        span
    }
}

/// State that exists before the core does, because the checkpoint asks for it.
#[derive(Clone)]
pub(crate) struct SharedState {
    pub(crate) dbtime: Rc<Cell<u64>>,
    pub(crate) transactions: Rc<RefCell<Transactions>>,
    /// The highest object id in use.
    pub(crate) last_object_id: Rc<Cell<u32>>,
}

impl SharedState {
    pub(crate) fn new(dbtime: u64, last_object_id: u32) -> Self {
        Self {
            dbtime: Rc::new(Cell::new(dbtime)),
            transactions: Rc::default(),
            last_object_id: Rc::new(Cell::new(last_object_id)),
        }
    }
}

impl<D: Directory> Pages for Core<D> {
    #[inline]
    fn cached(&self, page: u32) -> Option<Rc<Page>> {
        self.cache.snapshot(PageNumber(page))
    }

    fn blank(&self) -> Page {
        Page::zeroed(self.settings.engine.page_bytes())
    }

    fn dbtime(&self) -> u64 {
        self.dbtime.get()
    }

    fn extension_pages(&self) -> u32 {
        self.settings.engine.extension_pages
    }
}
