//! Everything the cache knows, changed in synchronous steps only.

use super::Limits;
use super::oldest::OldestChanges;
use super::pending::Pending;
use super::replacement::{LruKSettings, Replacement};
use super::statistics::CacheStatistics;
use super::traits::{CacheError, Payload};
use crate::position::{LogPosition, PageNumber};
use crate::settings::EngineSettings;
use crate::signal::Signal;
use prefetch_index::prefetch_index;
use runtime::Handle;
use runtime::sync::Notify;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Extra frames are kept on their way; so many more when free frames run short, one fewer when they do
/// not.
const EXTRA_FRAMES_STEP: usize = 4;

/// A page in memory. The payload is shared with a write that is on its way.
pub(super) struct Frame<P> {
    pub(super) page: PageNumber,
    pub(super) slot: u32,
    pub(super) payload: RefCell<Rc<P>>,
    pub(super) pins: Cell<u32>,
    /// False once the page has left the cache by [`super::Cache::discard`].
    pub(super) resident: Cell<bool>,
}

impl<P> Frame<P> {
    pub(super) fn new(page: PageNumber, slot: u32, payload: P) -> Rc<Self> {
        Rc::new(Self {
            page,
            slot,
            payload: RefCell::new(Rc::new(payload)),
            pins: Cell::new(0),
            resident: Cell::new(true),
        })
    }

    pub(super) fn is_pinned(&self) -> bool {
        self.pins.get() > 0
    }
}

/// What is known of the page in a slot besides its frame.
pub(super) struct Slot<P> {
    pub(super) frame: Rc<Frame<P>>,
    /// How far the log must be durable before this page may be written.
    pub(super) newest_change: LogPosition,
    /// An image of the page is on its way to the disk.
    pub(super) writing: bool,
    /// The image on its way was dirty: it must arrive before the index may let go of it.
    pub(super) writing_dirty: bool,
    /// The oldest change made since the image was taken.
    pub(super) changed_since_image: Option<LogPosition>,
    /// The page leaves as soon as its write completes, unless somebody uses it first.
    pub(super) leaving: bool,
}

pub(super) struct State<P> {
    pub(super) slots: Vec<Option<Slot<P>>>,
    free_slots: Vec<u32>,
    /// The frames themselves, as the way to a page is a row of reads of memory that no CPU
    /// cache holds, each of which waits for the one before.
    pub(super) pages: FxHashMap<PageNumber, Rc<Frame<P>>>,
    pub(super) reading: FxHashMap<PageNumber, Rc<Pending>>,
    pub(super) replacement: Replacement,
    pub(super) oldest: OldestChanges,
    /// Frames promised to reads on their way.
    pub(super) reserved: usize,
    /// Fetches that wait for a frame.
    pub(super) stalled: usize,
    pub(super) writes_outstanding: u32,
    /// Pages that leave as soon as their write completes: frames on their way to being free.
    leaving_pages: usize,
    /// Frames wanted on top of the marks because writes take long: see [`State::adapt`].
    extra_frames: usize,
    /// Counts [`super::Cache::discard`]: work begun before it must not touch what came after.
    pub(super) epoch: u64,
    pub(super) failure: Option<CacheError>,
    pub(super) counters: CacheStatistics,
}

/// The part of the cache that knows nothing of stores and logs.
pub(super) struct Core<P> {
    pub(super) handle: Handle,
    pub(super) limits: Limits,
    pub(super) state: RefCell<State<P>>,
    pub(super) pinned_pages: Cell<usize>,
    /// A frame has become free, or a write has completed.
    pub(super) progress: Notify,
    pub(super) scavenger: Rc<Signal>,
    /// Whether the scavenger wakes by itself in a moment.
    pub(super) scavenger_is_due: Cell<bool>,
    pub(super) flusher: Rc<Signal>,
}

impl<P: Payload> Core<P> {
    pub(super) fn new(handle: &Handle, settings: &EngineSettings) -> Rc<Self> {
        Rc::new(Self {
            handle: handle.clone(),
            limits: Limits::new(settings),
            state: RefCell::new(State {
                slots: Vec::new(),
                free_slots: Vec::new(),
                pages: FxHashMap::default(),
                reading: FxHashMap::default(),
                replacement: Replacement::new(LruKSettings::from(&settings.engine)),
                oldest: OldestChanges::default(),
                reserved: 0,
                stalled: 0,
                writes_outstanding: 0,
                leaving_pages: 0,
                extra_frames: 0,
                epoch: 0,
                failure: None,
                counters: CacheStatistics::default(),
            }),
            pinned_pages: Cell::new(0),
            progress: Notify::default(),
            scavenger: Rc::default(),
            scavenger_is_due: Cell::new(false),
            flusher: Rc::default(),
        })
    }

    /// The contents of the page, if it is in the cache, unmoved by later changes; nothing is pinned.
    #[inline]
    pub(super) fn snapshot(&self, page: PageNumber) -> Option<Rc<P>> {
        self.show(page, |frame| Rc::clone(&frame.payload.borrow()))
    }

    /// Counts a use of the page; says whether it is in the cache.
    #[inline]
    pub(super) fn touch(&self, page: PageNumber) -> bool {
        let Some(was_pinned) = self.show(page, |frame| frame.is_pinned()) else {
            return false;
        };
        if !was_pinned {
            self.notify_stalled(); // Held for an instant, it is let go of again.
        }
        true
    }

    /// Counts a use of the page, if it is in the cache, and shows its frame.
    #[inline]
    pub(super) fn show<T>(
        &self,
        page: PageNumber,
        show: impl FnOnce(&Rc<Frame<P>>) -> T,
    ) -> Option<T> {
        let state = &mut *self.state.borrow_mut();
        let frame = state.pages.get(&page)?;
        let (slot, shown) = (frame.slot, show(frame));
        state.replacement.touch(slot, self.handle.turn_ns());
        state.counters.hits += 1;
        if state.leaving_pages > 0 {
            state.set_leaving(slot, false);
        }
        Some(shown)
    }

    /// Puts a page into the cache; its frame must have been taken before.
    pub(super) fn insert(&self, page: PageNumber, payload: P, ahead: bool) -> Rc<Frame<P>> {
        let mut state = self.state.borrow_mut();
        let slot = match state.free_slots.pop() {
            Some(slot) => slot,
            None => {
                state.slots.push(None);
                let slots = state.slots.len();
                state.replacement.grow(slots);
                state.oldest.grow(slots);
                (slots - 1) as u32
            }
        };
        let frame = Frame::new(page, slot, payload);
        assert!(state.slots[slot as usize].is_none(), "a free slot is empty");
        state.slots[slot as usize] = Some(Slot {
            frame: Rc::clone(&frame),
            newest_change: LogPosition::START,
            writing: false,
            writing_dirty: false,
            changed_since_image: None,
            leaving: false,
        });
        let old = state.pages.insert(page, Rc::clone(&frame));
        assert!(old.is_none(), "page {page} is in the cache once");
        let now_ns = self.handle.turn_ns();
        state.replacement.insert(slot, page, now_ns, ahead);
        frame
    }

    pub(super) fn note_change(&self, frame: &Frame<P>, begin: LogPosition, end: LogPosition) {
        if !frame.resident.get() {
            return; // The page was discarded under its user: the change goes nowhere.
        }
        let state = &mut *self.state.borrow_mut();
        let slot = frame.slot;
        let entry = state.slots[slot as usize].as_mut();
        let entry = entry.expect("a resident page has a slot");
        entry.newest_change = entry.newest_change.max(end);
        if entry.writing && entry.writing_dirty {
            let since = entry
                .changed_since_image
                .map_or(begin, |old| old.min(begin));
            entry.changed_since_image = Some(since);
        }
        if state.oldest.position(slot).is_none() {
            state.oldest.insert(slot, begin);
        } else {
            state.oldest.lower(slot, begin);
        }
    }

    pub(super) fn is_dirty(&self, frame: &Frame<P>) -> bool {
        frame.resident.get() && self.state.borrow().oldest.position(frame.slot).is_some()
    }

    pub(super) fn make_super_cold(&self, frame: &Frame<P>) {
        if frame.resident.get() {
            self.state
                .borrow_mut()
                .replacement
                .make_super_cold(frame.slot);
        }
    }

    pub(super) fn count_copy(&self) {
        self.state.borrow_mut().counters.copies += 1;
    }

    pub(super) fn unpinned(&self) {
        self.pinned_pages.set(self.pinned_pages.get() - 1);
        self.notify_stalled();
    }

    /// Somebody has let go of a page: fetches that wait for a frame look again.
    #[inline]
    fn notify_stalled(&self) {
        if self.state.borrow().stalled > 0 {
            self.progress.notify_all();
        }
    }

    pub(super) fn fail(&self, failure: CacheError) {
        let mut state = self.state.borrow_mut();
        if state.failure.is_none() {
            state.failure = Some(failure);
        }
        drop(state);
        self.progress.notify_all();
    }

    pub(super) fn failure(&self) -> Result<(), CacheError> {
        match &self.state.borrow().failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }
}

impl<P: Payload> State<P> {
    pub(super) fn slot(&self, slot: u32) -> &Slot<P> {
        self.slots[slot as usize]
            .as_ref()
            .expect("a slot in use holds a page")
    }

    pub(super) fn slot_mut(&mut self, slot: u32) -> &mut Slot<P> {
        self.slots[slot as usize]
            .as_mut()
            .expect("a slot in use holds a page")
    }

    pub(super) fn is_dirty(&self, slot: u32) -> bool {
        self.oldest.position(slot).is_some()
    }

    /// Frames neither holding a page nor promised to one.
    pub(super) fn available(&self, limits: &Limits) -> usize {
        limits
            .capacity()
            .saturating_sub(self.pages.len() + self.reserved)
    }

    /// Frames that are free or will be when the writes under way have completed, less the extra frames.
    /// This is what is held against the marks.
    pub(super) fn supply(&self, limits: &Limits) -> usize {
        (self.available(limits) + self.leaving_pages).saturating_sub(self.extra_frames)
    }

    /// Called for every frame that is taken: so many frames must be on their way that the free ones
    /// do not run out before they arrive. How many that are depends on how long the disk takes, so
    /// the extra frames follow the free frames.
    pub(super) fn adapt(&mut self, limits: &Limits) {
        let available = self.available(limits);
        if available < limits.low().div_ceil(2) {
            self.extra_frames = (self.extra_frames + EXTRA_FRAMES_STEP).min(limits.capacity() / 4);
        } else if available > limits.low() {
            self.extra_frames = self.extra_frames.saturating_sub(1);
        }
    }

    /// Whether the page in `slot` shall leave as soon as its write completes.
    pub(super) fn set_leaving(&mut self, slot: u32, leaving: bool) {
        let entry = self.slot_mut(slot);
        match (std::mem::replace(&mut entry.leaving, leaving), leaving) {
            (false, true) => self.leaving_pages += 1,
            (true, false) => self.leaving_pages -= 1,
            _ => {}
        }
    }

    /// Whether the page in `slot` may leave at once.
    pub(super) fn is_evictable(&self, slot: u32) -> bool {
        let entry = self.slot(slot);
        !entry.frame.is_pinned() && !entry.writing && !self.is_dirty(slot)
    }

    /// Takes the page out of the cache and frees its frame.
    pub(super) fn evict(&mut self, slot: u32) {
        assert!(
            self.is_evictable(slot),
            "a page that is in use or dirty stays"
        );
        self.set_leaving(slot, false);
        let entry = self.slots[slot as usize].take();
        let entry = entry.expect("a slot in use holds a page");
        let page = entry.frame.page;
        entry.frame.resident.set(false);
        self.counters.evictions += 1;
        self.counters.preread_unused += u64::from(self.replacement.is_unused(slot));
        self.replacement.remove(slot, page);
        let removed = self.pages.remove(&page).map(|frame| frame.slot);
        assert_eq!(removed, Some(slot), "the map knows where page {page} is");
        self.free_slots.push(slot);
        self.ask_for_coldest();
    }

    /// Asks for what will be looked at when the coldest page leaves, which is soon.
    fn ask_for_coldest(&self) {
        if let Some(slot) = self.replacement.likely_coldest()
            && let Some(entry) = &self.slots[slot as usize]
        {
            prefetch_index(std::slice::from_ref(&*entry.frame), 0);
        }
    }

    /// Drops all pages, dirty ones too, without writing them. Reads under way are ignored when they
    /// end.
    pub(super) fn clear(&mut self) {
        for entry in self.slots.iter().flatten() {
            entry.frame.resident.set(false);
        }
        for pending in self.reading.values() {
            pending.supersede(); // The order does not matter: each only sets a flag.
        }
        self.leaving_pages = 0;
        self.slots.clear();
        self.free_slots.clear();
        self.pages.clear();
        self.reading.clear();
        self.replacement.clear();
        self.oldest = OldestChanges::default();
        self.epoch += 1;
    }
}
