//! One file in memory, shared by all who have it open.

use super::claims::Claims;
use super::entry::Entry;
use super::space::Space;
use crate::sync::Notify;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A file. It outlives its name while somebody has it open; then its space goes back.
pub(super) struct Inode {
    /// Its pair of slots in the table; `None` once it has no name any more.
    pub(super) pair: Cell<Option<u32>>,
    /// What the table says, or would say if the file still had a name.
    pub(super) entry: RefCell<Entry>,
    pub(super) claims: RefCell<Claims>,
    /// Rings whenever a request or claim ends.
    pub(super) ended: Notify,
    requests: Cell<usize>,
    /// Set while the file is cut: requests wait.
    cutting: Cell<bool>,
    /// Set when a request was given up half-way. The device may still be working on it, so the
    /// space is not given to anybody else until the device is opened again.
    abandoned: Cell<bool>,
    space: Rc<RefCell<Space>>,
}

impl Inode {
    pub(super) fn new(pair: u32, entry: Entry, space: Rc<RefCell<Space>>) -> Rc<Self> {
        Rc::new(Self {
            pair: Cell::new(Some(pair)),
            claims: RefCell::new(Claims::new(entry.initialised_bytes)),
            entry: RefCell::new(entry),
            ended: Notify::default(),
            requests: Cell::new(0),
            cutting: Cell::new(false),
            abandoned: Cell::new(false),
            space,
        })
    }

    /// Keeps the space of a file for itself, whatever becomes of the file.
    pub(super) fn abandon_space(&self) {
        self.abandoned.set(true);
    }

    pub(super) fn may_release_space(&self) -> bool {
        !self.abandoned.get()
    }

    /// Waits until `condition` holds; it may change whenever a request ends.
    pub(super) async fn until(&self, condition: impl Fn(&Self) -> bool) {
        loop {
            let ended = self.ended.notified();
            if condition(self) {
                return;
            }
            ended.await;
        }
    }

    /// Begins a request: the file is not cut while it lasts.
    pub(super) async fn begin_request(&self) -> RunningRequest<'_> {
        self.until(|inode| !inode.cutting.get()).await;
        self.requests.set(self.requests.get() + 1);
        RunningRequest {
            inode: self,
            finished: false,
        }
    }

    /// Keeps requests out and waits for those under way.
    pub(super) async fn begin_cutting(&self) -> Cutting<'_> {
        assert!(!self.cutting.replace(true), "sizes change one at a time");
        let cutting = Cutting { inode: self };
        self.until(|inode| inode.requests.get() == 0).await;
        cutting
    }
}

impl Drop for Inode {
    fn drop(&mut self) {
        if self.pair.get().is_none() && self.may_release_space() {
            let mut space = self.space.borrow_mut();
            for extent in &self.entry.borrow().extents {
                space.release(*extent);
            }
        }
    }
}

/// A request on a file that is under way.
pub(super) struct RunningRequest<'a> {
    inode: &'a Inode,
    finished: bool,
}

impl RunningRequest<'_> {
    /// The device is done with the request.
    pub(super) fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for RunningRequest<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.inode.abandon_space();
        }
        self.inode.requests.set(self.inode.requests.get() - 1);
        self.inode.ended.notify_all();
    }
}

/// No request runs while it is held.
pub(super) struct Cutting<'a> {
    inode: &'a Inode,
}

impl Drop for Cutting<'_> {
    fn drop(&mut self) {
        self.inode.cutting.set(false);
        self.inode.ended.notify_all();
    }
}

/// A claim (see [`Claims`]) that is being written.
pub(super) struct RunningClaim<'a> {
    inode: &'a Inode,
    claim: (u64, u64),
    finished: bool,
}

impl<'a> RunningClaim<'a> {
    /// Waits for claims on the range, then claims what of it was not yet written, and the gap
    /// before it. `None` if all of it was.
    pub(super) async fn begin(
        inode: &'a Inode,
        start_bytes: u64,
        end_bytes: u64,
    ) -> Option<RunningClaim<'a>> {
        let is_free = |inode: &Inode| !inode.claims.borrow().overlaps(start_bytes, end_bytes);
        inode.until(is_free).await;
        let claim = inode.claims.borrow_mut().claim(end_bytes)?;
        Some(Self {
            inode,
            claim,
            finished: false,
        })
    }

    pub(super) fn start_bytes(&self) -> u64 {
        self.claim.0
    }

    /// All of the claim was written.
    pub(super) fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for RunningClaim<'_> {
    fn drop(&mut self) {
        let mut claims = self.inode.claims.borrow_mut();
        claims.finish(self.claim);
        claims.failed |= !self.finished;
        drop(claims);
        self.inode.ended.notify_all();
    }
}
