//! One dirty page goes to the disk, together with neighbours that can go along.

use super::Inner;
use super::state::Frame;
use super::traits::{CacheError, PageStore, Payload};
use crate::position::{LogPosition, PageNumber};
use crate::seeded_bugs::{SeededBug, is_seeded};
use runtime::IoCause;
use std::collections::VecDeque;
use std::rc::Rc;

/// What became of the wish to write a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteStart {
    /// The write is on its way, with so many pages.
    Pages(usize),
    /// The log must first be durable up to here.
    BlockedByLog(LogPosition),
}

/// Pages on their way, in file order.
struct Run<P> {
    first: PageNumber,
    /// Slot and frame of each page.
    frames: Vec<Rc<Frame<P>>>,
    images: Vec<Rc<P>>,
    /// How far the log must be durable because page images were put into it.
    images_end: Option<LogPosition>,
    epoch: u64,
}

impl<P: Payload, S: PageStore<P>> Inner<P, S> {
    /// Starts writing the dirty page in `slot`, with its neighbours.
    pub(super) fn begin_write(self: &Rc<Self>, slot: u32) -> WriteStart {
        if let Some(needed) = self.blocked_by_log(slot) {
            self.core.state.borrow_mut().counters.writes_blocked_by_log += 1;
            return WriteStart::BlockedByLog(needed);
        }
        let slots = self.neighbourhood(slot);
        let run = self.take_images(&slots);
        let pages = run.images.len();
        let inner = Rc::clone(self);
        let handle = &self.core.handle;
        handle.spawn_alone(inner.carry_out(run));
        WriteStart::Pages(pages)
    }

    /// The slots to write with the dirty page in `slot`: dirty neighbours on both sides, and clean
    /// ones where they join dirty ones.
    fn neighbourhood(&self, slot: u32) -> VecDeque<u32> {
        let page = self.core.state.borrow().slot(slot).frame.page;
        let mut slots = VecDeque::from([slot]);
        let most_pages = self.core.limits.write_pages;
        let above = (page.0 + 1..=u32::MAX).map(PageNumber);
        slots.extend(self.companions(above, most_pages - slots.len()));
        let below = (0..page.0).rev().map(PageNumber);
        for slot in self.companions(below, most_pages - slots.len()) {
            slots.push_front(slot);
        }
        if self.bridges_are_sound(&slots) {
            slots
        } else {
            VecDeque::from([slot])
        }
    }

    /// The slots of `pages`, in their order, as long as they can go along: at most `room`, the last
    /// one dirty, no more clean ones in a row than a bridge may have.
    fn companions(&self, pages: impl Iterator<Item = PageNumber>, room: usize) -> Vec<u32> {
        let mut slots = Vec::new();
        let mut up_to_last_dirty = 0;
        for page in pages.take(room) {
            let Some((slot, dirty)) = self.companion(page) else {
                break;
            };
            slots.push(slot);
            if dirty {
                up_to_last_dirty = slots.len();
            } else if slots.len() - up_to_last_dirty > self.core.limits.bridge_pages {
                break;
            }
        }
        slots.truncate(up_to_last_dirty);
        slots
    }

    /// Whether the page could go along in a write, and if so, whether it is dirty.
    fn companion(&self, page: PageNumber) -> Option<(u32, bool)> {
        let state = self.core.state.borrow();
        let slot = state.pages.get(&page)?.slot;
        let entry = state.slot(slot);
        let can_go = !entry.writing && entry.newest_change <= self.write_ahead.durable();
        can_go.then(|| (slot, state.is_dirty(slot)))
    }

    /// Clean pages are only written again if they still are what they were.
    fn bridges_are_sound(&self, slots: &VecDeque<u32>) -> bool {
        let state = self.core.state.borrow();
        slots
            .iter()
            .filter(|&&slot| !state.is_dirty(slot))
            .all(|&slot| {
                let frame = &state.slot(slot).frame;
                self.store.is_sound(frame.page, &frame.payload.borrow())
            })
    }

    /// Seals the pages and marks them as on their way. From here on a change goes into a copy.
    fn take_images(&self, slots: &VecDeque<u32>) -> Run<P> {
        let images_log = self.images.borrow().clone();
        let state = &mut *self.core.state.borrow_mut();
        let mut run = Run {
            first: state.slot(slots[0]).frame.page,
            frames: Vec::with_capacity(slots.len()),
            images: Vec::with_capacity(slots.len()),
            images_end: None,
            epoch: state.epoch,
        };
        for (&slot, expected) in slots.iter().zip(run.first.0..) {
            let dirty = state.is_dirty(slot);
            let entry = state.slot_mut(slot);
            assert!(
                !entry.writing,
                "an older image of page {expected} is on its way"
            );
            assert_eq!(entry.frame.page.0, expected, "a run is consecutive");
            entry.writing = true;
            entry.writing_dirty = dirty;
            entry.changed_since_image = None;
            let frame = Rc::clone(&entry.frame);
            if dirty {
                self.seal(&frame);
                let skipped =
                    is_seeded(SeededBug::PageWithoutImage) && frame.page.0.is_multiple_of(4);
                if let Some(log) = images_log.as_ref().filter(|_| !skipped) {
                    let end = log.log_image(frame.page, &frame.payload.borrow());
                    run.images_end = run.images_end.max(Some(end));
                    state.counters.images_logged += 1;
                }
            } else {
                state.counters.bridge_pages += 1;
            }
            run.images.push(Rc::clone(&frame.payload.borrow()));
            run.frames.push(frame);
        }
        state.writes_outstanding += 1;
        let counters = &mut state.counters;
        counters.writes += 1;
        counters.pages_written += slots.len() as u64;
        counters.largest_write_pages = counters.largest_write_pages.max(slots.len() as u64);
        run
    }

    fn seal(&self, frame: &Frame<P>) {
        let mut payload = frame.payload.borrow_mut();
        if Rc::get_mut(&mut payload).is_none() {
            *payload = Rc::new(payload.copy());
        }
        let payload = Rc::get_mut(&mut payload).expect("a fresh copy has one owner");
        self.store.seal(frame.page, payload);
    }

    async fn carry_out(self: Rc<Self>, run: Run<P>) {
        let mut outcome = match run.images_end {
            Some(end) => self
                .write_ahead
                .make_durable(end)
                .await
                .map_err(CacheError::LogFailed),
            None => Ok(()),
        };
        if outcome.is_ok() {
            let write = self.store.write(run.first, run.images, IoCause::Database);
            outcome = write.await.map_err(CacheError::Poisoned);
        }
        self.core.state.borrow_mut().writes_outstanding -= 1;
        match outcome {
            Ok(()) => self.finish(&run.frames, run.epoch),
            Err(failure) => self.core.fail(failure),
        }
        self.core.progress.notify_all();
        if self.core.state.borrow().supply(&self.core.limits) < self.core.limits.high() {
            self.core.scavenger.raise();
        }
    }

    /// The images are on the disk: pages not changed since are clean.
    fn finish(&self, frames: &[Rc<Frame<P>>], epoch: u64) {
        let state = &mut *self.core.state.borrow_mut();
        if state.epoch != epoch {
            return;
        }
        for frame in frames {
            let slot = frame.slot;
            let entry = state.slot_mut(slot);
            assert!(entry.writing && Rc::ptr_eq(&entry.frame, frame));
            entry.writing = false;
            let (was_dirty, since) = (entry.writing_dirty, entry.changed_since_image.take());
            if was_dirty {
                state.oldest.remove(slot);
                let since = since.filter(|_| !is_seeded(SeededBug::WriteCoversLaterChange));
                if let Some(begin) = since {
                    state.oldest.insert(slot, begin);
                }
            }
            if state.slot(slot).leaving {
                if state.is_evictable(slot) {
                    state.evict(slot);
                } else {
                    state.set_leaving(slot, false); // Somebody uses or has changed it: it stays.
                }
            }
        }
    }

    pub(super) async fn sync(&self) -> Result<(), CacheError> {
        self.core.failure()?;
        self.store.sync().await.map_err(|error| {
            let failure = CacheError::Poisoned(error);
            self.core.fail(failure.clone());
            failure
        })
    }
}
