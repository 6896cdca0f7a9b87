//! The copies that are put in the places of the databases: whether they can be.

use execution::Error;
use execution::storage_run::{OpenedPlace, Places, wall_clock};
use storage::Claim;
use workload::failure::Failure;

use crate::edb_host::DatabaseDirectories;
use crate::edb_host::restoring::open_copy;
use crate::profile::MailProfile;

/// Opens all copies, so that nothing is removed for the sake of one that cannot be restored. Gives the bytes
/// of their pages.
///
/// # Errors
/// The first one that cannot be.
pub fn check(sources: &Claim, profile: &MailProfile) -> Result<u64, Error> {
    let refuse = |failure: Failure| {
        Error::environment(
            format!("The copies cannot be restored: {failure}."),
            "Make copies again with --test backup --backup-to DIR --keep. Nothing was changed.",
        )
    };
    let runtime = wall_clock(profile.run.io_driver).map_err(refuse)?;
    let places = Places::of(sources, false);
    let mut bytes = 0;
    for number in 0..sources.layout().databases.len() {
        let OpenedPlace { data, log } = places.open(&runtime, number).map_err(refuse)?;
        let profile = profile.clone();
        let opened = runtime.block_on(async move {
            let places = DatabaseDirectories { data, log };
            let opened = open_copy(number, &places, &profile).await;
            opened.map(|(copy, _)| copy.page_bytes())
        });
        bytes += opened.map_err(refuse)?;
    }
    Ok(bytes)
}
