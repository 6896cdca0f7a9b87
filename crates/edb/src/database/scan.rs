//! The background scan of this database.

use super::Database;
use crate::cache::PageError;
use crate::damage::Damage;
use crate::engine::Core;
use crate::maintenance::{MaintenanceScan, ScanTarget};
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
    let start = || MaintenanceScan::start(&core.handle, &core.settings, &core.cache, target);
    core.settings.maintenance.enabled.then(start)
}

impl<D: Directory> Database<D> {
    /// Adds to what [`Database::take_damage`] returns: what whoever opened the database knows to be
    /// damage of it.
    pub fn add_damage(&self, damage: Damage) {
        self.inner.core.note(damage);
    }

    /// What work in the background has found wrong since the last call: the scan that verifies every
    /// page, the removal of deleted records, reading ahead, reading the log and the headers back.
    /// Also pages that were wrong once and right when they were read again, or were rebuilt from the log. A page that stays wrong
    /// is given once.
    #[must_use]
    pub fn take_damage(&self) -> Vec<Damage> {
        let core = &self.inner.core;
        for error in core.cache.take_preread_damage() {
            core.note_damage(&error);
        }
        let mut damage = core.damage.take();
        damage.extend(core.log.take_findings().into_iter().map(Damage::File));
        let settled = core.cache.store().take_settled();
        damage.extend(settled.into_iter().map(Damage::Page));
        damage
    }
}
