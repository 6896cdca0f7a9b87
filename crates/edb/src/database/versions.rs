//! The versions of the pages of an open database.

use super::Database;
use crate::cache::PageStore;
use crate::error::EngineError;
use crate::integrity::{Version, VersionTable};
use crate::position::PageNumber;
use runtime::{Directory, IoCause};
use std::rc::Rc;

/// Bytes of one read of the pass.
const READ_BYTES: u32 = 512 * 1024;

/// What a pass over every page found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rebuilt {
    /// Pages that the pass read.
    pub pages: u64,
    /// Of those, the ones that are damaged; [`Database::take_damage`] has them.
    pub damaged_pages: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
}

impl<D: Directory> Database<D> {
    /// What is known of the versions of pages. It stays valid when the database is closed.
    #[must_use]
    pub fn versions(&self) -> Rc<VersionTable> {
        Rc::clone(self.inner.core.cache.store().versions())
    }

    /// Reads every page of which no version is known, so that from now on each is known. To be
    /// called before there are sessions if [`crate::RecoveryReport::missing_versions`] says so.
    /// `progress` hears the bytes read, and says whether to go on.
    ///
    /// # Errors
    /// If the storage fails as a whole. Single pages that are damaged are counted and noted.
    pub async fn rebuild_versions(
        &self,
        progress: impl Fn(u64) -> bool,
    ) -> Result<Rebuilt, EngineError> {
        let core = &self.inner.core;
        let (store, began_ns) = (core.cache.store(), core.handle.now_ns());
        let page_bytes = store.page_size_bytes() as u32;
        let last = core.growth.file_pages.get();
        let mut rebuilt = Rebuilt::default();
        let mut first = 1;
        while first <= last {
            core.check()?;
            let count = (READ_BYTES / page_bytes).min(last - first + 1);
            let read = store.read(PageNumber(first), count, IoCause::Maintenance);
            for (page, result) in (first..).zip(read.await) {
                match result {
                    Ok(_) => {} // The store has learned its version.
                    Err(error) if error.is_never_written() => {
                        store.versions().learn(page, Version::NEVER_WRITTEN);
                    }
                    Err(error) => {
                        rebuilt.damaged_pages += 1;
                        core.note_damage(&error);
                    }
                }
            }
            rebuilt.pages += u64::from(count);
            first += count;
            if !progress(rebuilt.pages * u64::from(page_bytes)) {
                break;
            }
        }
        rebuilt.seconds = (core.handle.now_ns() - began_ns) as f64 / 1e9;
        Ok(rebuilt)
    }
}
