//! Opens the places of the databases on the thread that runs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mail::edb_host::{DatabaseDirectories, EdbHost, file_name};
use mail::plan::MailPlan;
use mail::state_file::DatabaseState;
use runtime::host::{CreatedFiles, DirectoryHandle};
use runtime::raw::FormatOptions;
use runtime::{
    AnyDirectory, Directory, Handle, HostDirectory, HostFile, RawDirectory, Runtime, UringOptions,
};
use storage::{Claim, DatabasePlace, Place};
use workload::failure::{Failure, FailureKind};

use crate::error::Error;

/// What is to be opened for each database, by its number in the run. Threads take it from here: one
/// whose storage does not answer may outlive the run.
pub type Sites = Mutex<BTreeMap<usize, Result<Site, Failure>>>;

/// What is to be opened for the databases of a claim.
pub fn sites(claim: &Claim) -> Sites {
    let databases = claim.layout().databases.iter().enumerate();
    Mutex::new(
        databases
            .map(|(number, place)| (number, Site::of(claim, place)))
            .collect(),
    )
}

/// The runtime and the databases of one shard. `fresh` makes block devices empty directories
/// first; what is on them then was allowed to be lost.
pub fn host(
    shard: usize,
    plan: &MailPlan,
    sites: &Sites,
    fresh: bool,
) -> Result<(Runtime, EdbHost<AnyDirectory>), Failure> {
    let runtime = Runtime::wall_clock(&UringOptions::default()).map_err(|error| Failure {
        kind: FailureKind::Io,
        integrity: None,
        file: "io_uring".to_owned(),
        page: None,
        operation: "starting a thread".to_owned(),
        error: error.to_string(),
    })?;
    let handle = runtime.handle();
    let mut places = BTreeMap::new();
    for &database in &plan.run.shards[shard] {
        let mut left = sites.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(site) = left.remove(&database).transpose()? else {
            panic!("each database is opened by one shard, once");
        };
        drop(left);
        let opener = handle.clone();
        let opened = runtime.block_on(async move { open(&opener, site, fresh).await });
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
pub fn kept(claim: &Claim) -> Result<Vec<Kept>, Error> {
    let unreadable = |error: String| {
        Error::integrity(
            format!("The kept databases cannot be read: {error}."),
            "Check the storage ('dmesg' shows I/O errors).",
        )
    };
    let runtime = Runtime::wall_clock(&UringOptions::default())
        .map_err(|error| unreadable(error.to_string()))?;
    let mut all = Vec::new();
    for (number, place) in claim.layout().databases.iter().enumerate() {
        let handle = runtime.handle();
        let data = Opening::of(claim, &place.data);
        let data = data.map_err(|failure| unreadable(failure.to_string()))?;
        let kept = runtime.block_on(async move {
            let directory = open_one(&handle, data, false).await?;
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

/// What is to be opened for a database and its log.
pub struct Site {
    data: Opening,
    /// `None`: one block device for both.
    log: Option<Opening>,
}

impl Site {
    fn of(claim: &Claim, place: &DatabasePlace) -> Result<Self, Failure> {
        let apart = place.log != place.data;
        let log = apart.then(|| Opening::of(claim, &place.log)).transpose();
        Ok(Self {
            data: Opening::of(claim, &place.data)?,
            log: log?,
        })
    }
}

/// A directory that the claim holds open, or the path of a block device.
enum Opening {
    Directory(DirectoryHandle, Arc<CreatedFiles>),
    Device(PathBuf),
}

impl Opening {
    fn of(claim: &Claim, place: &Place) -> Result<Self, Failure> {
        let directory = match (place, claim.directory(place)) {
            (_, Some(directory)) => directory,
            (Place::Device(path) | Place::Directory(path), None) => {
                return Ok(Self::Device(path.clone()));
            }
        };
        let handle = directory.handle().duplicate();
        let handle = handle.map_err(|error| unopened(place.path(), error.to_string()))?;
        Ok(Self::Directory(handle, Arc::clone(directory.created())))
    }
}

fn unopened(path: &Path, error: String) -> Failure {
    Failure {
        kind: FailureKind::Io,
        integrity: None,
        file: path.display().to_string(),
        page: None,
        operation: "opening a target".to_owned(),
        error,
    }
}

/// The directories of a database and of its log.
async fn open(
    handle: &Handle,
    site: Site,
    fresh: bool,
) -> Result<DatabaseDirectories<AnyDirectory>, Failure> {
    let data = open_one(handle, site.data, fresh).await?;
    // One block device for both: a second table of files over it would contradict the first.
    let log = match site.log {
        Some(log) => open_one(handle, log, fresh).await?,
        None => data.clone(),
    };
    Ok(DatabaseDirectories { data, log })
}

async fn open_one(handle: &Handle, opening: Opening, fresh: bool) -> Result<AnyDirectory, Failure> {
    match opening {
        Opening::Directory(directory, created) => {
            let path = directory.path().to_owned();
            HostDirectory::at(handle, directory, created)
                .map(AnyDirectory::Host)
                .map_err(|error| unopened(&path, error.to_string()))
        }
        Opening::Device(path) => {
            let failure = |error: String| unopened(&path, error);
            let device =
                HostFile::open_device(handle, &path).map_err(|error| failure(error.to_string()))?;
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
