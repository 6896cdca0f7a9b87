//! Opens the places of a database on the thread that runs it.

use runtime::raw::FormatOptions;
use runtime::{AnyDirectory, Handle, HostDirectory, HostFile, RawDirectory};
use workload::mail::store::{Failure, FailureKind};

use crate::target::{DatabasePlace, Place};

/// The directories of a database and of its log. `fresh` makes block devices empty directories
/// first; what is on them then was allowed to be lost.
pub async fn open(
    handle: &Handle,
    place: &DatabasePlace,
    fresh: bool,
) -> Result<(AnyDirectory, AnyDirectory), Failure> {
    let data = open_one(handle, &place.data, fresh).await?;
    if place.log == place.data {
        // One block device for both: a second table of files over it would contradict the first.
        return Ok((data.clone(), data));
    }
    let log = open_one(handle, &place.log, fresh).await?;
    Ok((data, log))
}

async fn open_one(handle: &Handle, place: &Place, fresh: bool) -> Result<AnyDirectory, Failure> {
    let shown = place.path().display().to_string();
    let failure = |error: String| Failure {
        kind: FailureKind::Io,
        file: shown.clone(),
        page: None,
        operation: "open".to_owned(),
        error,
    };
    match place {
        Place::Directory(path) => HostDirectory::open(handle, path)
            .map(AnyDirectory::Host)
            .map_err(|error| failure(error.to_string())),
        Place::Device(path) => {
            let device = HostFile::open_device(handle, path)
                .map_err(|error| failure(error.to_string()))?;
            let opened = if fresh {
                RawDirectory::format(device, &FormatOptions::new(identity())).await
            } else {
                RawDirectory::open(device).await
            };
            opened
                .map(AnyDirectory::Raw)
                .map_err(|error| failure(error.to_string()))
        }
    }
}

/// A number that no other formatted device has: the time in nanoseconds, and the process.
fn identity() -> u128 {
    let now = jiff::Timestamp::now().as_nanosecond().unsigned_abs();
    now << 32 | u128::from(std::process::id())
}
