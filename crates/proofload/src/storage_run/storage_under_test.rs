//! Opens the places of the databases on the thread that runs them.

use std::collections::BTreeMap;
use std::sync::Arc;

use mail::edb_host::{DatabaseDirectories, EdbHost, file_name};
use mail::plan::MailPlan;
use mail::state_file::DatabaseState;
use runtime::raw::FormatOptions;
use runtime::{
    AnyDirectory, Directory, Handle, HostDirectory, HostFile, RawDirectory, Runtime, UringOptions,
};
use storage::{DatabasePlace, Layout, Place};
use workload::failure::{Failure, FailureKind};

use crate::error::Error;

/// The runtime and the databases of one shard. `fresh` makes block devices empty directories
/// first; what is on them then was allowed to be lost.
pub fn host(
    shard: usize,
    plan: &MailPlan,
    layout: &Layout,
    fresh: bool,
) -> Result<(Runtime, EdbHost<AnyDirectory>), Failure> {
    let runtime = Runtime::wall_clock(&UringOptions::default()).map_err(|error| Failure {
        kind: FailureKind::Io,
        file: "io_uring".to_owned(),
        page: None,
        operation: "starting a thread".to_owned(),
        error: error.to_string(),
    })?;
    let handle = runtime.handle();
    let mut places = BTreeMap::new();
    for &database in &plan.run.shards[shard] {
        let place = layout.databases[database].clone();
        let opener = handle.clone();
        let opened = runtime.block_on(async move { open(&opener, &place, fresh).await });
        places.insert(database, opened?);
    }
    let host = EdbHost::new(handle, Arc::new(plan.clone()), places);
    Ok((runtime, host))
}

/// What is there of a database that an earlier run kept.
pub struct Kept {
    /// What it says of itself; `None` when its build has not begun, or when that file is lost.
    pub state: Option<DatabaseState>,
    /// Whether the file of the database is there.
    pub has_file: bool,
}

/// What is there of kept databases, in the order of the layout.
pub fn kept(layout: &Layout) -> Result<Vec<Kept>, Error> {
    let unreadable = |error: String| {
        Error::integrity(
            format!("The kept databases cannot be read: {error}."),
            "See whether the storage is well ('dmesg' shows I/O errors).",
        )
    };
    let runtime = Runtime::wall_clock(&UringOptions::default())
        .map_err(|error| unreadable(error.to_string()))?;
    let mut all = Vec::new();
    for (number, place) in layout.databases.iter().enumerate() {
        let (handle, data) = (runtime.handle(), place.data.clone());
        let kept = runtime.block_on(async move {
            let directory = open_one(&handle, &data, false).await?;
            let names = directory.list().await;
            let names =
                names.map_err(|error| Failure::of_io(&error, "looking for the database"))?;
            Ok::<Kept, Failure>(Kept {
                state: DatabaseState::read(&directory).await?,
                has_file: names.contains(&file_name(number)),
            })
        });
        all.push(kept.map_err(|failure| unreadable(failure.to_string()))?);
    }
    Ok(all)
}

/// The directories of a database and of its log.
async fn open(
    handle: &Handle,
    place: &DatabasePlace,
    fresh: bool,
) -> Result<DatabaseDirectories<AnyDirectory>, Failure> {
    let data = open_one(handle, &place.data, fresh).await?;
    // One block device for both: a second table of files over it would contradict the first.
    let log = if place.log == place.data {
        data.clone()
    } else {
        open_one(handle, &place.log, fresh).await?
    };
    Ok(DatabaseDirectories { data, log })
}

async fn open_one(handle: &Handle, place: &Place, fresh: bool) -> Result<AnyDirectory, Failure> {
    let shown = place.path().display().to_string();
    let failure = |error: String| Failure {
        kind: FailureKind::Io,
        file: shown.clone(),
        page: None,
        operation: "opening a target".to_owned(),
        error,
    };
    match place {
        Place::Directory(path) => HostDirectory::open(handle, path)
            .map(AnyDirectory::Host)
            .map_err(|error| failure(error.to_string())),
        Place::Device(path) => {
            let device =
                HostFile::open_device(handle, path).map_err(|error| failure(error.to_string()))?;
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
