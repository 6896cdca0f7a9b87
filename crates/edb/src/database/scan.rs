//! The background scan of this database.

use super::Database;
use crate::engine::Core;
use crate::maintenance::{MaintenanceScan, ScanTarget};
use crate::pool::PageError;
use runtime::Directory;
use std::rc::{Rc, Weak};

struct Target<D: Directory> {
    core: Weak<Core<D>>,
}

impl<D: Directory> ScanTarget for Target<D> {
    fn pages(&self) -> u32 {
        let core = self.core.upgrade();
        core.map_or(0, |core| core.growth.file_pages.get())
    }

    fn damaged(&self, error: &PageError) {
        if let Some(core) = self.core.upgrade() {
            core.note_damage(error);
        }
    }
}

/// Starts the scan if the settings ask for it.
pub(super) fn start<D: Directory>(core: &Rc<Core<D>>) -> Option<MaintenanceScan> {
    let target = Rc::new(Target {
        core: Rc::downgrade(core),
    });
    let start = || MaintenanceScan::start(&core.handle, &core.settings, &core.pool, target);
    core.settings.maintenance.enabled.then(start)
}

impl<D: Directory> Database<D> {
    /// The first damaged page that work in the background has met, if any: the scan that verifies
    /// every page, the removal of deleted records, or reading ahead.
    #[must_use]
    pub fn damage(&self) -> Option<PageError> {
        let core = &self.inner.core;
        let noted = core.damage.borrow().clone();
        noted.or_else(|| core.pool.preread_damage())
    }
}
