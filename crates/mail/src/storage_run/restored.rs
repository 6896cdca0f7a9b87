//! The copies that are put in the places of the databases: whether they can be.

use execution::Error;
use execution::storage_run::{OpenedPlace, Places, wall_clock};
use storage::Claim;
use workload::failure::Failure;

use crate::edb_host::DatabaseDirectories;
use crate::edb_host::restoring::open_copy;
use crate::profile::MailProfile;
use crate::state_file::Condition;
use measure::units;

/// What is put in the places of the databases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restored {
    /// Bytes of their pages.
    pub bytes: u64,
    /// Those that no check of a backup, and no comparison of a passive copy, has passed as copies: databases that a
    /// run kept.
    pub unchecked: u64,
}

impl Restored {
    /// That they were not checked as copies are, as a sentence; `None` when all were.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        (self.unchecked > 0).then(|| {
            format!(
                "{} to be restored {} kept by a run and never checked as a copy of a backup is: its pages are \
                 verified while they are restored, the order of its trees is not ('proofload edb check' does that).",
                units::count(self.unchecked, "database"),
                if self.unchecked == 1 { "was" } else { "were" }
            )
        })
    }
}

/// Opens all copies, so that nothing is removed for the sake of one that cannot be restored.
///
/// # Errors
/// The first one that cannot be.
pub fn check(sources: &Claim, profile: &MailProfile) -> Result<Restored, Error> {
    let refuse = |failure: Failure| {
        Error::environment(
            format!("The copies cannot be restored: {failure}."),
            "Make copies again with --test backup --backup-to DIR --keep. Nothing was changed.",
        )
    };
    let runtime = wall_clock(profile.run.io_driver).map_err(refuse)?;
    let places = Places::of(sources, false);
    let mut all = Restored::default();
    for number in 0..sources.layout().databases.len() {
        let OpenedPlace { data, log } = places.open(&runtime, number).map_err(refuse)?;
        let (handle, profile) = (runtime.handle(), profile.clone());
        let opened = runtime.block_on(async move {
            let places = DatabaseDirectories { data, log };
            let opened = open_copy(&handle, number, &places, &profile).await;
            opened.map(|(copy, state)| (copy.page_bytes(), state.condition))
        });
        let (bytes, condition) = opened.map_err(refuse)?;
        all.bytes += bytes;
        // The check of a copy leaves it in use, from the moment of the backup; a run closes its databases.
        all.unchecked += u64::from(condition == Condition::Ready);
    }
    Ok(all)
}
