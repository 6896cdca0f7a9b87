//! The storage under test: what may be used, what must be left alone, and what goes where.
//!
//! [`survey`] looks at every path of `--on` and `--log-on` before anything is written and either
//! gives a [`Layout`] or the one sentence that says what is in the way. [`target`] finds out what a
//! path is, [`directory`] and [`device`] whether it may be used, [`space`] whether everything fits.
//! [`marker`] is the file by which Proofload knows its own directories again; its lock is held by
//! the run that uses them. [`under_way`] waits for the requests of a run that was killed. [`claim`]
//! makes and removes what a run needs on its targets. [`copies`] looks at the directories that copies of
//! databases go to and come from; [`survey_for_probes`] looks at the one target that is calibrated. [`examine`] finds everything that is in the way of a run
//! at one place, without a profile.

mod claim;
mod copies;
mod device;
mod directory;
mod examine;
mod in_use;
mod kernel;
mod marker;
mod memory;
mod probes;
mod shell;
mod signature;
pub mod space;
mod target;
mod under_way;

#[cfg(test)]
mod claim_tests;
#[cfg(test)]
mod device_tests;
#[cfg(test)]
mod probes_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::Source;
use runtime::host::DirectoryHandle;
use workload::{DatabaseNeeds, Profile, Refusal, StorageNeeds};

use marker::Marker;
use under_way::Wait;

pub use claim::{Claim, ClaimedDirectory};
pub use copies::{CopyRequest, survey_copies, survey_sources};
pub use examine::{Examination, Obstacle, ObstacleKind, examine, open_for_trial};
pub use in_use::{lock_target_of, refuse_used};
pub use probes::{PROBES_FILE, ProbeAccess, ProbeSite, survey_for_probes};
pub use target::{Target, TargetKind};
pub use under_way::wait_for_requests;

/// What the user asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Paths for the databases.
    pub on: &'a [PathBuf],
    /// Paths for the logs; empty puts them beside the databases.
    pub log_on: &'a [PathBuf],
    /// What will be built there.
    pub profile: &'a dyn Profile,
    /// Whether to run on databases that are there already.
    pub reuse: bool,
    /// Whether block devices may be overwritten.
    pub erase_device: bool,
}

/// Where databases and logs of a run lie, and on which targets.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Every target once, in the order given.
    pub targets: Vec<Target>,
    /// The databases, in order.
    pub databases: Vec<DatabasePlace>,
}

/// Where one database and its log go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabasePlace {
    /// The database's name in messages and results.
    pub name: String,
    /// The database file's place.
    pub data: Place,
    /// The log files' place.
    pub log: Place,
    /// Index of the database's target in [`Layout::targets`].
    pub data_target: usize,
    /// Index of the log's target.
    pub log_target: usize,
}

/// A place that holds the files of one database or of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A directory of its own, below the target.
    Directory(PathBuf),
    /// A whole block device.
    Device(PathBuf),
}

impl Place {
    /// The path, for messages and results.
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory(path) | Self::Device(path) => path,
        }
    }
}

/// Looks at the targets and decides what goes where. Writes nothing, except that a file system
/// without unnamed files sees an empty probe file come and go. With `--reuse` and on block
/// devices it waits for the requests of a killed run; `notify` hears when that takes a while.
pub fn survey(request: &Request<'_>, notify: &mut dyn FnMut(&str)) -> Result<Layout, Refusal> {
    let on = targets(request.on, "--on")?;
    let log_on = targets(request.log_on, "--log-on")?;
    let needs = request.profile.storage_needs();
    let mut layout = match &needs {
        StorageNeeds::Databases(needs) => lay_out(on, log_on, needs)?,
        StorageNeeds::Server { data, log } => lay_out_server(on, log_on, data, log)?,
    };
    refuse_idle(&layout)?;
    refuse_nested(&layout.targets)?;
    let mut wait = Wait::begin(notify);
    for index in 0..layout.targets.len() {
        let names = layout.names_on(index);
        let target = &mut layout.targets[index];
        let lock = match &target.handle {
            Some(handle) => directory::check(target, handle, request, &names, &mut wait)?,
            None => {
                let lock = device::lock(target)?;
                wait.on(&lock, &target.given)?;
                device::check(target, request.reuse, request.erase_device)?;
                Some(lock)
            }
        };
        target.lock = lock.map(Arc::new);
    }
    let StorageNeeds::Databases(needs) = needs else {
        return Ok(layout); // A server goes through the page cache, and its size is known elsewhere.
    };
    space::check(&layout, &needs)?;
    for target in &layout.targets {
        if let Some(handle) = &target.handle {
            directory::check_direct_io(target, handle)?;
        }
    }
    Ok(layout)
}

/// Data over all databases, without room to grow and logs, of databases that take this part of the room on
/// each volume together with both.
///
/// # Errors
/// A target that cannot be used, and room for no databases.
pub fn fitting_data_bytes(
    on: &[PathBuf],
    log_on: &[PathBuf],
    profile: &dyn Profile,
    percent: f64,
) -> Result<u64, Refusal> {
    let StorageNeeds::Databases(needs) = profile.storage_needs() else {
        return Err(Refusal::usage(
            "The data of a database server cannot be sized by the room on its volume.",
            "Give --target-size.",
        ));
    };
    let layout = lay_out(targets(on, "--on")?, targets(log_on, "--log-on")?, &needs)?;
    space::fitting(&layout, &needs, percent / 100.0)?.ok_or_else(|| {
        Refusal::environment(
            format!(
                "{percent} % of the free room on the volumes holds no databases with their logs."
            ),
            "Name storage with more room, or raise --capacity-percent.",
        )
    })
}

/// The settings that kept databases were built with, when they were built for this workload. With
/// another one nothing is taken over, and [`survey`] says what differs.
pub fn kept_settings(on: &[PathBuf], workload: &str, built_with: &[&'static str]) -> Vec<Source> {
    let mut handles = on
        .iter()
        .filter_map(|path| DirectoryHandle::open(path).ok());
    let marker = handles.find_map(|handle| Marker::read(&handle));
    let same = marker.filter(|marker| marker.workload == workload);
    same.map_or_else(Vec::new, |marker| marker.sources(built_with))
}

/// The directories that were made on these targets for databases of this workload, by their paths.
pub fn made_directories(on: &[PathBuf], workload: &str) -> Vec<PathBuf> {
    let mut made = Vec::new();
    for path in on {
        let marker = DirectoryHandle::open(path).ok();
        let marker = marker.and_then(|handle| Marker::read(&handle));
        if let Some(marker) = marker.filter(|marker| marker.workload == workload) {
            made.extend(marker.directories.iter().map(|name| path.join(name)));
        }
    }
    made
}

/// Finds out what each path of one option is; none may be given twice.
fn targets(paths: &[PathBuf], option: &'static str) -> Result<Vec<Target>, Refusal> {
    let mut targets: Vec<Target> = Vec::new();
    for path in paths {
        let target = Target::find(path, option)?;
        if let Some(same) = targets
            .iter()
            .find(|other| other.identity == target.identity)
        {
            let message = if same.given == target.given {
                format!("{option} names {} twice.", target.given.display())
            } else {
                format!(
                    "{option} names the same place twice: {} and {} are one.",
                    same.given.display(),
                    target.given.display()
                )
            };
            return Err(Refusal::usage(
                message,
                "Name each target once. Several databases share a directory; --databases sets \
                 how many there are.",
            ));
        }
        targets.push(target);
    }
    Ok(targets)
}

/// Deals the databases out over the targets in turn, and their logs likewise.
fn lay_out(on: Vec<Target>, log_on: Vec<Target>, needs: &DatabaseNeeds) -> Result<Layout, Refusal> {
    let data_sites = on.len();
    let mut targets = on;
    let mut log_sites: Vec<usize> = Vec::new();
    for target in log_on {
        let known = targets
            .iter()
            .position(|other| other.identity == target.identity);
        log_sites.push(known.unwrap_or(targets.len()));
        if known.is_none() {
            targets.push(target);
        }
    }
    let mut places = Vec::new();
    for number in 0..needs.count as usize {
        let data_target = number % data_sites;
        let log_target = if log_sites.is_empty() {
            data_target
        } else {
            log_sites[number % log_sites.len()]
        };
        let place = |target: &Target, prefix: &str| match target.kind {
            TargetKind::Directory => {
                Place::Directory(target.path.join(format!("{prefix}-{:03}", number + 1)))
            }
            TargetKind::Device { .. } => Place::Device(target.path.clone()),
        };
        places.push(DatabasePlace {
            name: format!("{}-{:03}", needs.prefix, number + 1),
            data: place(&targets[data_target], needs.prefix),
            log: place(&targets[log_target], "log"),
            data_target,
            log_target,
        });
    }
    let layout = Layout {
        targets,
        databases: places,
    };
    refuse_shared_devices(&layout)?;
    Ok(layout)
}

/// One database server with its data on the first target, and its log on that of `--log-on` or
/// beside the data.
fn lay_out_server(
    on: Vec<Target>,
    log_on: Vec<Target>,
    data_name: &str,
    log_name: &str,
) -> Result<Layout, Refusal> {
    for (targets, option) in [(&on, "--on"), (&log_on, "--log-on")] {
        if let [first, _, ..] = targets.as_slice() {
            return Err(Refusal::usage(
                format!(
                    "A database server has one database, and {option} names several directories."
                ),
                format!("Give {option} {}.", first.given.display()),
            ));
        }
    }
    let mut targets = on;
    let log_target = log_on.into_iter().next().map(|target| {
        let known = targets
            .iter()
            .position(|other| other.identity == target.identity);
        known.unwrap_or_else(|| {
            targets.push(target);
            targets.len() - 1
        })
    });
    if let Some(device) = targets
        .iter()
        .find(|target| target.kind != TargetKind::Directory)
    {
        return Err(Refusal::usage(
            format!(
                "{} is a block device, and a database server needs a file system.",
                device.given.display()
            ),
            "Make a file system on it, mount it, and name a directory on it.",
        ));
    }
    let place = |target: usize, name: &str| Place::Directory(targets[target].path.join(name));
    let data = place(0, data_name);
    let apart = log_target.filter(|&target| target != 0);
    let log = apart.map_or_else(|| data.clone(), |target| place(target, log_name));
    Ok(Layout {
        databases: vec![DatabasePlace {
            name: data_name.to_owned(),
            data,
            log,
            data_target: 0,
            log_target: apart.unwrap_or(0),
        }],
        targets,
    })
}

/// A block device holds one database, one log, or one database with its own log.
fn refuse_shared_devices(layout: &Layout) -> Result<(), Refusal> {
    for (index, target) in layout.targets.iter().enumerate() {
        let users = layout.databases.iter();
        let users = users
            .filter(|place| place.data_target == index || place.log_target == index)
            .count();
        if users > 1 && target.kind != TargetKind::Directory {
            let devices = layout
                .targets
                .iter()
                .filter(|target| target.kind != TargetKind::Directory);
            return Err(Refusal::usage(
                format!(
                    "The block device {} would have to hold {users} databases or logs, but it \
                     takes one database with its log.",
                    target.given.display()
                ),
                format!(
                    "Give as many devices as databases, take fewer databases with --databases {}, \
                     or make a file system on the device.",
                    devices.count()
                ),
            ));
        }
    }
    Ok(())
}

/// A target without a database or log would be in the report, and not be tested.
fn refuse_idle(layout: &Layout) -> Result<(), Refusal> {
    let busy = |index: usize| {
        let mut places = layout.databases.iter();
        places.any(|place| place.data_target == index || place.log_target == index)
    };
    let idle = (0..layout.targets.len()).find(|index| !busy(*index));
    let Some(target) = idle.map(|index| &layout.targets[index]) else {
        return Ok(());
    };
    let (shown, databases) = (target.given.display(), layout.databases.len() as u64);
    Err(Refusal::usage(
        format!(
            "{shown} would not be tested: there are more targets than databases ({databases}), and \
             nothing would go there."
        ),
        format!("Raise the number with --databases, or omit {shown}."),
    ))
}

/// A target inside another would be filled from two sides.
fn refuse_nested(targets: &[Target]) -> Result<(), Refusal> {
    for outer in targets {
        for inner in targets {
            let distinct = outer.identity != inner.identity;
            if distinct && inner.path.starts_with(&outer.path) {
                return Err(Refusal::usage(
                    format!(
                        "{} is inside {}, and both are targets.",
                        inner.given.display(),
                        outer.given.display()
                    ),
                    "Name directories that lie beside each other.",
                ));
            }
        }
    }
    Ok(())
}

impl Layout {
    /// This layout and another one as one.
    fn and(&self, other: &Layout) -> Layout {
        let mut both = self.clone();
        let targets = both.targets.len();
        both.targets.extend(other.targets.iter().cloned());
        both.databases
            .extend(other.databases.iter().map(|place| DatabasePlace {
                data_target: place.data_target + targets,
                log_target: place.log_target + targets,
                ..place.clone()
            }));
        both
    }

    /// The seed that kept databases were built with; `None` when no marker has it.
    pub fn built_seed(&self) -> Option<u64> {
        let markers = self
            .targets
            .iter()
            .filter_map(|target| Marker::read(target.handle.as_ref()?));
        markers.map(|marker| marker.seed).next()
    }

    /// The names of the directories that Proofload makes on a target.
    pub fn names_on(&self, target: usize) -> Vec<String> {
        let mut names = Vec::new();
        for place in &self.databases {
            let pairs = [
                (place.data_target, &place.data),
                (place.log_target, &place.log),
            ];
            for (_, place) in pairs.into_iter().filter(|(index, _)| *index == target) {
                if let (Place::Directory(path), TargetKind::Directory) =
                    (place, &self.targets[target].kind)
                {
                    let name = path.file_name();
                    let name = name.map(|name| name.to_string_lossy().into_owned());
                    // A server may keep its log beside its data.
                    names.extend(name.filter(|name| !names.contains(name)));
                }
            }
        }
        names
    }
}
