//! A read on its way, shared by all who want the page.

use super::traits::PageError;
use runtime::sync::Notify;
use std::cell::{Cell, RefCell};

#[derive(Default)]
pub(super) struct Pending {
    done: Cell<bool>,
    /// Somebody made the page again in the meantime: what the read brings is out of date.
    superseded: Cell<bool>,
    error: RefCell<Option<PageError>>,
    finished: Notify,
}

impl Pending {
    /// Waits until the read has ended; its error, if it failed.
    pub(super) async fn wait(&self) -> Result<(), PageError> {
        while !self.done.get() {
            self.finished.notified().await;
        }
        match &*self.error.borrow() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    pub(super) fn finish(&self, result: Result<(), PageError>) {
        *self.error.borrow_mut() = result.err();
        self.done.set(true);
        self.finished.notify_all();
    }

    /// Says that the page must not be taken from this read.
    pub(super) fn supersede(&self) {
        self.superseded.set(true);
        self.finish(Ok(()));
    }

    pub(super) fn is_superseded(&self) -> bool {
        self.superseded.get()
    }
}
