//! A page that somebody uses, and the pin that keeps it in the cache.

use super::state::{Core, Frame};
use super::traits::Payload;
use crate::position::{LogPosition, PageNumber};
use std::cell::Ref;
use std::fmt;
use std::rc::Rc;

/// A page that somebody uses. It stays in the cache while this lives.
pub struct PageRef<P: Payload> {
    frame: Rc<Frame<P>>,
    core: Rc<Core<P>>,
}

impl<P: Payload> PageRef<P> {
    pub(super) fn new(frame: Rc<Frame<P>>, core: Rc<Core<P>>) -> Self {
        let pins = frame.pins.get();
        frame.pins.set(pins + 1);
        if pins == 0 && frame.resident.get() {
            core.pinned_pages.set(core.pinned_pages.get() + 1);
        }
        Self { frame, core }
    }

    /// Number of the page in the file.
    #[must_use]
    pub fn page(&self) -> PageNumber {
        self.frame.page
    }

    /// The page's contents, borrowed until the end of the synchronous step.
    #[must_use]
    pub fn payload(&self) -> Ref<'_, P> {
        Ref::map(self.frame.payload.borrow(), |payload| &**payload)
    }

    /// The contents as they are now, unmoved by later changes (those go on in a copy).
    #[must_use]
    pub fn snapshot(&self) -> Rc<P> {
        Rc::clone(&self.frame.payload.borrow())
    }

    /// Whether the page differs from the disk.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.core.is_dirty(&self.frame)
    }

    /// Changes the page. `begin` is the oldest log position recovery needs to repeat the change
    /// (the start of the transaction's first record, or of the record itself); `end` is how far the
    /// log must be durable before the page may be written.
    ///
    /// # Panics
    /// If a [`PageRef::payload`] of the page is still borrowed.
    pub fn change<R>(
        &self,
        begin: LogPosition,
        end: LogPosition,
        apply: impl FnOnce(&mut P) -> R,
    ) -> R {
        assert!(begin <= end, "a change begins at {begin} and ends at {end}");
        let result = {
            let mut payload = self.frame.payload.borrow_mut();
            if Rc::get_mut(&mut payload).is_none() {
                *payload = Rc::new(payload.copy());
                self.core.count_copy();
            }
            let payload = Rc::get_mut(&mut payload).expect("a fresh copy has one owner");
            apply(payload)
        };
        self.core.note_change(&self.frame, begin, end);
        result
    }

    /// Gives the page other contents, whoever else may share the old ones.
    pub(super) fn replace_payload(&self, payload: P) {
        *self.frame.payload.borrow_mut() = Rc::new(payload);
    }

    /// Lets the page leave the cache before others, as after a scan or when it has been freed.
    pub fn make_super_cold(&self) {
        self.core.make_super_cold(&self.frame);
    }
}

impl PageRef<runtime::Buffer> {
    /// The page's bytes, borrowed until the end of the synchronous step.
    #[must_use]
    pub fn bytes(&self) -> Ref<'_, [u8]> {
        Ref::map(self.frame.payload.borrow(), |payload| &***payload)
    }
}

impl<P: Payload> Clone for PageRef<P> {
    fn clone(&self) -> Self {
        Self::new(Rc::clone(&self.frame), Rc::clone(&self.core))
    }
}

impl<P: Payload> Drop for PageRef<P> {
    fn drop(&mut self) {
        let pins = self.frame.pins.get();
        assert!(pins > 0, "a held page is pinned");
        self.frame.pins.set(pins - 1);
        if pins == 1 && self.frame.resident.get() {
            self.core.unpinned();
        }
    }
}

impl<P: Payload> fmt::Debug for PageRef<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PageRef({})", self.frame.page)
    }
}

impl<P: Payload> Core<P> {
    /// The page, if it is in the cache.
    pub(super) fn get(self: &Rc<Self>, page: PageNumber) -> Option<PageRef<P>> {
        let frame = self.show(page, Rc::clone)?;
        Some(PageRef::new(frame, Rc::clone(self)))
    }
}
