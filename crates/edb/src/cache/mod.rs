//! The database cache: bounded memory, LRU-2 replacement, write-back driven by the checkpoint depth.
//!
//! A tour:
//! - [`Cache`] is what the trees use: [`Cache::get`] and [`Cache::create`] never wait, [`Cache::fetch`]
//!   reads, [`Cache::preread`] reads ahead. A [`PageRef`] keeps its page in the cache and changes it.
//! - `replacement` decides who leaves, `oldest` knows which dirty page holds the checkpoint back.
//! - `write` turns one dirty page into a request with its neighbours; the `flusher` and the
//!   `scavenger` decide when.
//! - [`PageStore`] is the file below, [`WriteAhead`] the log that must be written first.
//!
//! The cache lives on one thread. Its state changes in synchronous steps, so there are no latches: a
//! page that changes while its image is on the way to the disk goes on in a copy.

mod fetch;
mod flusher;
mod history;
mod limits;
mod list;
mod memory;
mod oldest;
mod page_ref;
mod pending;
mod preread;
mod replacement;
mod scavenger;
mod state;
mod statistics;
#[cfg(test)]
mod tests;
mod traits;
mod write;

pub use memory::SpareMemory;
pub use page_ref::PageRef;
pub use statistics::CacheStatistics;
pub use traits::{CacheError, PageError, PageImages, PageProblem, PageStore, Payload, WriteAhead};

use crate::position::{LogPosition, PageNumber};
use crate::settings::{EngineSettings, OUTSTANDING_IO_MAX};
use crate::signal::Signal;
use limits::Limits;
use runtime::Handle;
use state::Core;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// The database cache of one database. Clones share it; the last one dropped ends its tasks.
pub struct Cache<P: Payload, S: PageStore<P>> {
    inner: Rc<Inner<P, S>>,
}

impl<P: Payload, S: PageStore<P>> Clone for Cache<P, S> {
    fn clone(&self) -> Self {
        Self {
            inner: Rc::clone(&self.inner),
        }
    }
}

/// A way to the cache that does not keep it alive.
pub struct WeakCache<P: Payload, S: PageStore<P>> {
    inner: Weak<Inner<P, S>>,
}

impl<P: Payload, S: PageStore<P>> WeakCache<P, S> {
    /// The cache, if somebody still holds it.
    #[must_use]
    pub fn upgrade(&self) -> Option<Cache<P, S>> {
        self.inner.upgrade().map(|inner| Cache { inner })
    }
}

struct Inner<P: Payload, S: PageStore<P>> {
    core: Rc<Core<P>>,
    store: S,
    write_ahead: Rc<dyn WriteAhead>,
    images: RefCell<Option<Rc<dyn PageImages<P>>>>,
    /// Pages that could not be read ahead of need.
    preread_damage: RefCell<Vec<PageError>>,
    prereads: Rc<runtime::sync::Semaphore>,
}

impl<P: Payload, S: PageStore<P>> Inner<P, S> {
    fn page_ref(&self, frame: Rc<state::Frame<P>>) -> PageRef<P> {
        PageRef::new(frame, Rc::clone(&self.core))
    }
}

impl<P: Payload, S: PageStore<P>> Drop for Inner<P, S> {
    fn drop(&mut self) {
        // The tasks look whether the cache is still there when they wake.
        self.core.scavenger.raise();
        self.core.flusher.raise();
    }
}

impl<P: Payload, S: PageStore<P>> Cache<P, S> {
    /// An empty cache; starts its scavenger and its flusher.
    ///
    /// # Panics
    /// If the settings leave fewer than 16 pages of cache.
    #[must_use]
    pub fn new(
        handle: &Handle,
        settings: &EngineSettings,
        store: S,
        write_ahead: Rc<dyn WriteAhead>,
    ) -> Self {
        let inner = Rc::new(Inner {
            core: Core::new(handle, settings),
            store,
            write_ahead,
            images: RefCell::new(None),
            preread_damage: RefCell::default(),
            prereads: runtime::sync::Semaphore::new(OUTSTANDING_IO_MAX as usize),
        });
        scavenger::spawn(&inner);
        flusher::spawn(&inner);
        Self { inner }
    }

    /// From now on page images are logged before pages are overwritten.
    pub fn log_images_with(&self, images: Rc<dyn PageImages<P>>) {
        *self.inner.images.borrow_mut() = Some(images);
    }

    /// Has the cache grow or shrink to `pages` soon, between the smallest size and the size of its settings. It
    /// shrinks as pages leave, so that nobody waits for a frame because of it.
    pub fn resize(&self, pages: usize) {
        self.inner.core.limits.want(pages);
        self.inner.core.scavenger.raise();
    }

    /// The page, if it is in the cache. Counts as a touch.
    #[must_use]
    pub fn get(&self, page: PageNumber) -> Option<PageRef<P>> {
        self.inner.core.get(page)
    }

    /// Whether the page is in the cache. Counts as a touch, as [`Cache::get`] does.
    #[must_use]
    #[inline]
    pub fn touch(&self, page: PageNumber) -> bool {
        self.inner.core.touch(page)
    }

    /// The contents of the page, if it is in the cache, unmoved by later changes (those go on in a
    /// copy). Counts as a touch; the page may leave the cache at any time.
    #[must_use]
    #[inline]
    pub fn snapshot(&self, page: PageNumber) -> Option<Rc<P>> {
        self.inner.core.snapshot(page)
    }

    /// Whether the page is in the cache; not a touch.
    #[must_use]
    pub fn contains(&self, page: PageNumber) -> bool {
        self.inner.core.state.borrow().pages.contains_key(&page)
    }

    /// Whether an image of the page is on its way to the disk.
    #[must_use]
    pub fn is_writing(&self, page: PageNumber) -> bool {
        let state = self.inner.core.state.borrow();
        let frame = state.pages.get(&page);
        frame.is_some_and(|frame| state.slot(frame.slot).writing)
    }

    /// The page, read if need be. Fetches of one page at the same time share one read.
    ///
    /// # Errors
    /// [`CacheError::Page`] if the page cannot be read; [`CacheError::Poisoned`] or
    /// [`CacheError::LogFailed`] once the cache has stopped.
    pub async fn fetch(&self, page: PageNumber) -> Result<PageRef<P>, CacheError> {
        self.inner.fetch(page).await
    }

    /// The page with blank contents, whatever the disk holds. Never waits; if no frame is free, the
    /// cache grows over its size for a while. The page is clean until it is changed.
    ///
    /// A page already in the cache gets blank contents, too.
    #[must_use]
    pub fn create(&self, page: PageNumber) -> PageRef<P> {
        self.inner.create(page)
    }

    /// Reads pages ahead of need: sorted, neighbours and near neighbours in one request, in the
    /// background. Pages that are there, or for which there is no frame, are passed over.
    pub fn preread(&self, pages: Vec<PageNumber>) {
        Inner::preread(&self.inner, pages);
    }

    /// The pages that could not be read ahead of need since the last call: nobody may ever ask for
    /// them.
    #[must_use]
    pub fn take_preread_damage(&self) -> Vec<PageError> {
        self.inner.preread_damage.take()
    }

    /// Writes every page that differs from the disk because of a change logged before now, and makes
    /// the writes durable.
    ///
    /// # Errors
    /// As [`Cache::fetch`], for writes.
    pub async fn flush_all(&self) -> Result<(), CacheError> {
        Inner::flush_all(&self.inner).await
    }

    /// Makes every page write that has completed durable.
    ///
    /// # Errors
    /// [`CacheError::Poisoned`] if the device cannot; the cache then takes no more work.
    pub async fn sync(&self) -> Result<(), CacheError> {
        self.inner.sync().await
    }

    /// The oldest log position recovery needs because of pages that differ from the disk.
    #[must_use]
    pub fn oldest_change(&self) -> Option<LogPosition> {
        self.inner.core.state.borrow().oldest.oldest()
    }

    /// A way to the cache that does not keep it alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakCache<P, S> {
        WeakCache {
            inner: Rc::downgrade(&self.inner),
        }
    }

    /// What wakes the flusher, as after the log has moved to a new file.
    pub(crate) fn flusher_signal(&self) -> Rc<Signal> {
        Rc::clone(&self.inner.core.flusher)
    }

    /// Forgets every page without writing it, as when the machine stops. Pages somebody still holds
    /// stay readable; their changes go nowhere.
    pub fn discard(&self) {
        self.inner.core.state.borrow_mut().clear();
        self.inner.core.pinned_pages.set(0);
        self.inner.core.progress.notify_all();
    }

    /// Why the cache has stopped, if it has.
    ///
    /// # Errors
    /// [`CacheError::Poisoned`] or [`CacheError::LogFailed`].
    pub fn check(&self) -> Result<(), CacheError> {
        self.inner.core.failure()
    }

    /// What the cache has done and holds.
    #[must_use]
    pub fn statistics(&self) -> CacheStatistics {
        let state = self.inner.core.state.borrow();
        CacheStatistics {
            capacity_pages: self.inner.core.limits.capacity() as u64,
            largest_pages: self.inner.core.limits.largest().map(|pages| pages as u64),
            resident_pages: state.pages.len() as u64,
            dirty_pages: state.oldest.pages() as u64,
            pinned_pages: self.inner.core.pinned_pages.get() as u64,
            writes_outstanding: u64::from(state.writes_outstanding),
            ..state.counters
        }
    }

    /// The store that pages are read from and written to.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.inner.store
    }
}
