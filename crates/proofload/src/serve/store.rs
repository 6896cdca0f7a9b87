//! The store of a served array: opened for it, or refused in a sentence.

use std::io;
use std::path::Path;

use ::serve::{Description, Progress, ServedVolume, Store, StoreError};
use array::Array;
use array::description::PlannedArray;
use array::payload::Bytes;
use execution::Error;
use measure::display::number::percent;
use measure::units;

/// Opens the store at `path` for an array with these volumes.
pub fn open_store(
    path: &Path,
    planned: &PlannedArray,
    volumes: &[ServedVolume],
    has_checksums: bool,
) -> Result<Store, Error> {
    let array = Array::<Bytes>::new(&planned.settings, 0);
    let array = array.map_err(|error| Error::usage(error.to_string(), ""))?;
    let description = Description::new(&planned.settings, volumes, &array.disk_sectors());
    let opened = description.and_then(|mut description| {
        description.has_checksums = has_checksums;
        Store::open(path, description)
    });
    opened.map_err(|error| refused_store(path, error))
}

/// Says how far it is when a store is read back.
pub fn report(notify: impl Fn(&str) + Send + 'static) -> Progress {
    Box::new(move |done, all| {
        let writes = units::count(all, "write");
        let percent = percent(done as f64 / all as f64);
        notify(&format!(
            "Reading the store back: {percent} % of {writes} that the cache held are repeated."
        ));
    })
}

/// Why the store at `path` is not served, and what to do.
pub fn refused_store(path: &Path, error: StoreError) -> Error {
    let shown = path.display();
    match error {
        StoreError::InUse(process) => Error::environment(
            format!("The store {shown} is served by process {process}."),
            "End that process with Ctrl-C or SIGTERM, or name another place with --store.",
        ),
        StoreError::NotAStore => Error::usage(
            format!("{shown} is no store, and is not empty."),
            "Name a store, an empty directory, or one that is not there yet, with --store.",
        ),
        StoreError::Damaged => Error::usage(
            format!(
                "The description or the state of the store {shown} is damaged: a checksum is wrong."
            ),
            "Bring the store back from a copy, or name another place with --store.",
        ),
        StoreError::OtherVersion(version) => Error::usage(
            format!(
                "The store {shown} has version {version} of the format, which this version of proofload does not know."
            ),
            "Serve it with the version of proofload that made it, or name another place with --store.",
        ),
        StoreError::OtherArray { stored, instead } => Error::usage(
            format!(
                "The store {shown} is of another array or size: {stored} there; here {instead}."
            ),
            "Serve the array with the volumes and the size that the store was made with, or name another place with --store.",
        ),
        StoreError::DisksMissing(files) => Error::environment(
            format!("The store {shown} lacks {files}, and without them data are lost."),
            "Put the files back.",
        ),
        StoreError::NoChecksums => Error::usage(
            format!("The store {shown} was made without checksums."),
            "Omit --checksums, or copy what is on its volumes to those of a new store.",
        ),
        StoreError::SpreadSpares(group) => Error::usage(
            format!(
                "Disk group '{group}' has no spares and spreads what failed disks held over the others, which a store does not keep."
            ),
            "Serve it without --store, or with spares in place of that space, as --set array.group.protection_level=none --set array.group.spares=2 says.",
        ),
        StoreError::Misfit(misfit) => Error::usage(
            format!("The store {shown} does not fit the array: {misfit}."),
            "Serve it as the array that it was made for, or name another place with --store.",
        ),
        StoreError::System(error) => Error::environment(
            format!("The store {shown} cannot be used: {error}."),
            "Name a place that you may read and write, with room, with --store.",
        ),
    }
}

/// The store could not be written while it was served.
pub fn store_not_written(path: &Path, error: &io::Error) -> Error {
    Error::environment(
        format!(
            "The store {} could not be written, and requests failed since: {error}.",
            path.display()
        ),
        "Make room, or repair the storage, and serve the store again: what was acknowledged is there.",
    )
}
