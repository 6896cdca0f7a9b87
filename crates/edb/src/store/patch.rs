//! Pages that are wrong on the medium and whose contents are known elsewhere: they are put right in place.

use super::FileStore;
use crate::format::page;
use crate::integrity::{DamageClass, PageFinding, Persistence};
use crate::position::PageNumber;
use runtime::time::MILLISECOND_NS;
use runtime::{Buffer, File, IoCause};
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

/// Pages that are tried at most while a database is open. Each takes a pass over the log, and storage
/// that loses more is not helped by repairs.
const MOST_PATCHES: u32 = 100;
/// Wait for another patch of the page to end, in milliseconds.
const PATCH_WAIT_MS: u64 = 1;

/// The contents of a page, or nothing if they are not known.
pub(crate) type Rebuilding<'a> = Pin<Box<dyn Future<Output = Option<Buffer>> + 'a>>;

/// Somebody who knows what has been written to pages.
pub(crate) trait PageSource {
    /// The newest state of `page`, without its checksum. `older` is an older state of it, if one is known,
    /// and `blank` a page of zeros. With `until`, changes of later database times are left out.
    fn rebuild<'a>(
        &'a self,
        page: u32,
        until: Option<u64>,
        older: Option<Buffer>,
        blank: Buffer,
    ) -> Rebuilding<'a>;
}

/// What all clones of a store know of patches.
#[derive(Default)]
pub(super) struct Patches {
    source: RefCell<Option<Rc<dyn PageSource>>>,
    tried: Cell<u32>,
    /// Pages that are being rebuilt.
    rebuilding: RefCell<FxHashSet<u32>>,
    /// Pages that are being put right in the file: nobody else may write them.
    writing: RefCell<FxHashSet<u32>>,
}

/// A page in a set, until it is dropped.
struct Claimed<'a>(&'a RefCell<FxHashSet<u32>>, u32);

impl<'a> Claimed<'a> {
    /// `None` if it is in it already.
    fn new(set: &'a RefCell<FxHashSet<u32>>, page: u32) -> Option<Self> {
        // A claim that is made must be dropped, so it is made only if it is to be.
        let is_new = set.borrow_mut().insert(page);
        is_new.then(|| Self(set, page))
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().remove(&self.1);
    }
}

impl<F: File> FileStore<F> {
    /// From now on wrong pages are rebuilt by this source where it can.
    pub(crate) fn set_source(&self, source: Rc<dyn PageSource>) {
        *self.shared.patches.source.borrow_mut() = Some(source);
    }

    /// Tries to put a page right that was wrong in every read. `found` is what was read last. The page
    /// is given only if the result is what the table of versions expects, and was written.
    pub(super) async fn patched(
        &self,
        page: PageNumber,
        mut finding: PageFinding,
        found: Buffer,
    ) -> Option<Buffer> {
        let patches = &self.shared.patches;
        let source = patches.source.borrow().clone()?;
        if self.shared.known_wrong.borrow().contains(&page.0) {
            return None;
        }
        let Some(_claimed) = Claimed::new(&patches.rebuilding, page.0) else {
            return self.patched_by_another(page).await;
        };
        if patches.tried.get() == MOST_PATCHES {
            return None;
        }
        patches.tried.set(patches.tried.get() + 1);
        let expected = self.versions.version(page.0);
        let older = (finding.class == DamageClass::LostWrite).then_some(found);
        // The cache may hold a later state that has not been written yet.
        let until = finding.last_write.map(|write| write.dbtime);
        let blank = Buffer::zeroed(self.page_size_bytes);
        let mut rebuilt = source.rebuild(page.0, until, older, blank);
        let mut rebuilt = rebuilt.as_mut().await?;
        page::seal(&mut rebuilt, page.0);
        // A page that was written meanwhile has nothing to do with what was rebuilt.
        let is_free =
            !self.versions.is_writing(page.0) && self.versions.version(page.0) == expected;
        let reading = self.versions.begin_read();
        if !is_free || self.examined(&reading, page, &rebuilt).is_err() {
            return None;
        }
        drop(reading);
        let _writing = Claimed::new(&patches.writing, page.0)?;
        let copy = Rc::new(rebuilt.copied());
        self.write_pages(page, vec![copy], IoCause::Database)
            .await
            .ok()?;
        finding.persistence = Persistence::Patched;
        let error = self.damaged(finding);
        self.shared.settled.borrow_mut().push(error);
        Some(rebuilt)
    }

    /// Waits until another reader has rebuilt the page, and reads it.
    async fn patched_by_another(&self, page: PageNumber) -> Option<Buffer> {
        while self.shared.patches.rebuilding.borrow().contains(&page.0) {
            self.handle.sleep_ns(PATCH_WAIT_MS * MILLISECOND_NS).await;
        }
        let reading = self.versions.begin_read();
        let bytes = self.read_one(page, IoCause::Database).await.ok()?;
        self.examined(&reading, page, &bytes)
            .is_ok()
            .then_some(bytes)
    }

    /// Waits until none of these pages is being put right.
    pub(super) async fn wait_for_patches(&self, first: PageNumber, count: usize) {
        let is_patched = || {
            let writing = self.shared.patches.writing.borrow();
            !writing.is_empty() && (first.0..).take(count).any(|page| writing.contains(&page))
        };
        while is_patched() {
            self.handle.sleep_ns(PATCH_WAIT_MS * MILLISECOND_NS).await;
        }
    }
}
