//! Opens the places of the databases on the thread that runs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use runtime::host::{CreatedFiles, DirectoryHandle, OpenError};
use runtime::raw::FormatOptions;
use runtime::{
    AnyDirectory, DriverInUse, Handle, HostDirectory, HostFile, IoDriver, RawDirectory, Runtime,
    WallClockOptions,
};
use storage::{Claim, DatabasePlace, Place};
use workload::failure::{Failure, FailureKind};
use workload::profile::IoDriverChoice;

/// What is to be opened for each database, by its number in the run. Threads take it from here: one
/// whose storage does not answer may outlive the run.
#[derive(Debug)]
pub struct Places {
    left: Mutex<BTreeMap<usize, Result<Site, Failure>>>,
    /// Whether block devices are made empty directories first. What is on them then was allowed to
    /// be lost.
    fresh: bool,
}

/// The directories of a database and of its log. One block device for both is one directory twice.
pub struct OpenedPlace {
    /// Where the database is.
    pub data: AnyDirectory,
    /// Where its log is.
    pub log: AnyDirectory,
}

impl Places {
    /// The places of the databases of a claim. `fresh` makes block devices empty directories when
    /// they are opened.
    #[must_use]
    pub fn of(claim: &Claim, fresh: bool) -> Self {
        let databases = claim.layout().databases.iter().enumerate();
        let sites = databases.map(|(number, place)| (number, Site::of(claim, place)));
        Self {
            left: Mutex::new(sites.collect()),
            fresh,
        }
    }

    /// Opens the place of a database on the thread of `runtime`.
    ///
    /// # Errors
    /// What the storage reported.
    ///
    /// # Panics
    /// When the place was opened before.
    pub fn open(&self, runtime: &Runtime, database: usize) -> Result<OpenedPlace, Failure> {
        let site = {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            let site = left.remove(&database).transpose()?;
            site.unwrap_or_else(|| panic!("each database is opened by one shard, once"))
        };
        let (handle, fresh) = (runtime.handle(), self.fresh);
        runtime.block_on(async move {
            let data = open_one(&handle, site.data, fresh).await?;
            // A second table of files over one block device would contradict the first.
            let log = match site.log {
                Some(log) => open_one(&handle, log, fresh).await?,
                None => data.clone(),
            };
            Ok(OpenedPlace { data, log })
        })
    }
}

/// A runtime by the wall clock for this thread.
///
/// # Errors
/// When the kernel does not let us use the I/O driver, or any.
pub fn wall_clock(driver: IoDriverChoice) -> Result<Runtime, Failure> {
    let driver = match driver {
        IoDriverChoice::Auto => None,
        IoDriverChoice::IoUring => Some(IoDriver::IoUring),
        IoDriverChoice::Threads => Some(IoDriver::Threads),
    };
    Runtime::wall_clock(&WallClockOptions::with_driver(driver)).map_err(|error| {
        let error = error.to_string();
        Failure::new(
            FailureKind::ProcessLimit,
            "I/O driver",
            "starting a thread",
            error,
        )
    })
}

/// The I/O driver that a run gets; better known now than from every thread.
///
/// # Errors
/// When it gets none.
pub fn io_driver(driver: IoDriverChoice) -> Result<DriverInUse, Error> {
    let runtime = wall_clock(driver).map_err(|failure| {
        Error::environment(format!("The run cannot begin: {}.", failure.error), "")
    })?;
    let driver = runtime.handle().io_driver();
    Ok(driver.expect("a runtime by the wall clock has a driver"))
}

/// What is to be opened for a database and its log.
#[derive(Debug)]
struct Site {
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
#[derive(Debug)]
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
        let handle = handle.map_err(|error| {
            let path = place.path().to_owned();
            unopened(place.path(), &OpenError::System { path, error })
        })?;
        Ok(Self::Directory(handle, Arc::clone(directory.created())))
    }
}

fn unopened(path: &Path, error: &OpenError) -> Failure {
    let failure = error.io_failure();
    let kind = failure.as_ref().map_or(FailureKind::Io, FailureKind::from);
    let text = match (kind, failure) {
        (FailureKind::ProcessLimit, Some(limit)) => limit.to_string(),
        _ => error.to_string(),
    };
    refused(path, kind, text)
}

fn refused(path: &Path, kind: FailureKind, error: String) -> Failure {
    Failure::new(kind, path.display().to_string(), "opening a target", error)
}

async fn open_one(handle: &Handle, opening: Opening, fresh: bool) -> Result<AnyDirectory, Failure> {
    match opening {
        Opening::Directory(directory, created) => {
            let path = directory.path().to_owned();
            HostDirectory::at(handle, directory, created)
                .map(AnyDirectory::Host)
                .map_err(|error| unopened(&path, &error))
        }
        Opening::Device(path) => {
            let device = HostFile::open_device(handle, &path);
            let device = device.map_err(|error| unopened(&path, &error))?;
            let opened = if fresh {
                RawDirectory::format(device, &FormatOptions::new(identity())).await
            } else {
                RawDirectory::open(device).await
            };
            opened
                .map(AnyDirectory::Raw)
                .map_err(|error| refused(&path, FailureKind::Io, error.to_string()))
        }
    }
}

/// A number that no other formatted device has: the time in nanoseconds, and the process.
fn identity() -> u128 {
    let now = jiff::Timestamp::now().as_nanosecond().unsigned_abs();
    now << 32 | u128::from(std::process::id())
}
