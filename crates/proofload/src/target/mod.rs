//! The storage under test: what may be used, what must be left alone, and what goes where.
//!
//! [`survey`] looks at every path of `--on` and `--log-on` before anything is written and either
//! gives a [`Layout`] or the one sentence that says what is in the way. [`site`] finds out what a
//! path is, [`directory`] and [`device`] whether it may be used, [`space`] whether everything fits.
//! [`marker`] is the file by which Proofload knows its own directories again.

mod claim;
mod device;
mod directory;
mod kernel;
mod marker;
mod memory;
mod signature;
mod site;
pub mod space;

#[cfg(test)]
mod device_tests;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use workload::brokerage::kinds;
use workload::profile::{Kind, Layer, Profile};

use crate::failure::Failure;
use marker::Marker;

pub use claim::Claim;
pub use site::{Site, SiteKind};

/// What the user asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Paths for the databases.
    pub on: &'a [PathBuf],
    /// Paths for the logs; empty puts them beside the databases.
    pub log_on: &'a [PathBuf],
    /// What will be built there.
    pub profile: &'a Profile,
    /// Whether to run on databases that are there already.
    pub reuse: bool,
    /// Whether block devices may be overwritten.
    pub erase_device: bool,
}

/// Where everything goes.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Every target once, in the order given.
    pub sites: Vec<Site>,
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
    /// Index of the database's target in [`Layout::sites`].
    pub data_site: usize,
    /// Index of the log's target.
    pub log_site: usize,
}

/// A place that holds the files of one database or of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A directory of its own, below the target.
    Directory(PathBuf),
    /// A whole block device.
    Device(PathBuf),
}

/// Name of the directory for a server's log on a volume of its own.
const LOG_OF_SERVER: &str = "brokerage-log";

impl DatabasePlace {
    /// Whether a database server keeps its files here, and not our own engine.
    pub fn has_server(&self) -> bool {
        self.name == kinds::DATABASE
    }
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
/// without unnamed files sees an empty probe file come and go.
pub fn survey(request: &Request<'_>) -> Result<Layout, Failure> {
    let on = sites(request.on, "--on")?;
    let log_on = sites(request.log_on, "--log-on")?;
    let layout = match request.profile.kind {
        Kind::Mail => lay_out(on, log_on, request.profile.mail.databases)?,
        Kind::Brokerage => lay_out_server(on, log_on)?,
    };
    refuse_idle(&layout)?;
    refuse_nested(&layout.sites)?;
    for (index, site) in layout.sites.iter().enumerate() {
        match site.kind {
            SiteKind::Directory => directory::check(site, request, &layout.names_on(index))?,
            SiteKind::Device { .. } => device::check(site, request.reuse, request.erase_device)?,
        }
    }
    if request.profile.kind == Kind::Brokerage {
        return Ok(layout); // A server goes through the page cache, and its size is known elsewhere.
    }
    space::check(&layout, request.profile)?;
    for site in &layout.sites {
        if site.kind == SiteKind::Directory {
            directory::check_direct_io(site)?;
        }
    }
    Ok(layout)
}

/// The settings that kept databases were built with, when they were built for this workload. With
/// another one nothing is taken over, and [`survey`] says what differs.
pub fn kept_settings(on: &[PathBuf], workload: &str) -> Vec<Layer> {
    let marker = on.iter().find_map(|path| Marker::read(path));
    let same = marker.filter(|marker| marker.workload == workload);
    same.map_or_else(Vec::new, |marker| marker.layers())
}

/// Finds out what each path of one option is; none may be given twice.
fn sites(paths: &[PathBuf], option: &'static str) -> Result<Vec<Site>, Failure> {
    let mut sites: Vec<Site> = Vec::new();
    for path in paths {
        let site = Site::find(path, option)?;
        if let Some(same) = sites.iter().find(|other| other.identity == site.identity) {
            let message = if same.given == site.given {
                format!("{option} names {} twice.", site.given.display())
            } else {
                format!(
                    "{option} names the same place twice: {} and {} are one.",
                    same.given.display(),
                    site.given.display()
                )
            };
            return Err(Failure::usage(
                message,
                "Name each target once. Several databases share a directory; --databases sets \
                 how many there are.",
            ));
        }
        sites.push(site);
    }
    Ok(sites)
}

/// Deals the databases out over the targets in turn, and their logs likewise.
fn lay_out(on: Vec<Site>, log_on: Vec<Site>, databases: u32) -> Result<Layout, Failure> {
    let data_sites = on.len();
    let mut sites = on;
    let mut log_sites: Vec<usize> = Vec::new();
    for site in log_on {
        let known = sites
            .iter()
            .position(|other| other.identity == site.identity);
        log_sites.push(known.unwrap_or(sites.len()));
        if known.is_none() {
            sites.push(site);
        }
    }
    let mut places = Vec::new();
    for number in 0..databases as usize {
        let data_site = number % data_sites;
        let log_site = if log_sites.is_empty() {
            data_site
        } else {
            log_sites[number % log_sites.len()]
        };
        let place = |site: &Site, prefix: &str| match site.kind {
            SiteKind::Directory => {
                Place::Directory(site.path.join(format!("{prefix}-{:03}", number + 1)))
            }
            SiteKind::Device { .. } => Place::Device(site.path.clone()),
        };
        places.push(DatabasePlace {
            name: format!("mail-{:03}", number + 1),
            data: place(&sites[data_site], "mail"),
            log: place(&sites[log_site], "log"),
            data_site,
            log_site,
        });
    }
    let layout = Layout {
        sites,
        databases: places,
    };
    refuse_shared_devices(&layout)?;
    Ok(layout)
}

/// One database server with its data on the first target, and its log on that of `--log-on` or
/// beside the data.
fn lay_out_server(on: Vec<Site>, log_on: Vec<Site>) -> Result<Layout, Failure> {
    for (sites, option) in [(&on, "--on"), (&log_on, "--log-on")] {
        if let [first, _, ..] = sites.as_slice() {
            return Err(Failure::usage(
                format!("A brokerage has one database, and {option} names several directories."),
                format!("Give {option} {}.", first.given.display()),
            ));
        }
    }
    let mut sites = on;
    let log_site = log_on.into_iter().next().map(|site| {
        let known = sites
            .iter()
            .position(|other| other.identity == site.identity);
        known.unwrap_or_else(|| {
            sites.push(site);
            sites.len() - 1
        })
    });
    if let Some(device) = sites.iter().find(|site| site.kind != SiteKind::Directory) {
        return Err(Failure::usage(
            format!(
                "{} is a block device, and a database server needs a file system.",
                device.given.display()
            ),
            "Make a file system on it, mount it, and name a directory on it.",
        ));
    }
    let place = |site: usize, name: &str| Place::Directory(sites[site].path.join(name));
    let data = place(0, kinds::DATABASE);
    let apart = log_site.filter(|&site| site != 0);
    let log = apart.map_or_else(|| data.clone(), |site| place(site, LOG_OF_SERVER));
    Ok(Layout {
        databases: vec![DatabasePlace {
            name: kinds::DATABASE.to_owned(),
            data,
            log,
            data_site: 0,
            log_site: apart.unwrap_or(0),
        }],
        sites,
    })
}

/// A block device holds one database, one log, or one database with its own log.
fn refuse_shared_devices(layout: &Layout) -> Result<(), Failure> {
    for (index, site) in layout.sites.iter().enumerate() {
        let users = layout.databases.iter();
        let users = users
            .filter(|place| place.data_site == index || place.log_site == index)
            .count();
        if users > 1 && site.kind != SiteKind::Directory {
            let devices = layout
                .sites
                .iter()
                .filter(|site| site.kind != SiteKind::Directory);
            return Err(Failure::usage(
                format!(
                    "The block device {} would have to hold {users} databases or logs, but it \
                     takes one database with its log.",
                    site.given.display()
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
fn refuse_idle(layout: &Layout) -> Result<(), Failure> {
    let busy = |index: usize| {
        let mut places = layout.databases.iter();
        places.any(|place| place.data_site == index || place.log_site == index)
    };
    let idle = (0..layout.sites.len()).find(|index| !busy(*index));
    let Some(site) = idle.map(|index| &layout.sites[index]) else {
        return Ok(());
    };
    let (shown, databases) = (site.given.display(), layout.databases.len() as u64);
    Err(Failure::usage(
        format!(
            "{shown} would not be tested: there are more targets than databases ({databases}), and \
             nothing would go there."
        ),
        format!("Raise the number with --databases, or leave {shown} away."),
    ))
}

/// A target inside another would be filled from two sides.
fn refuse_nested(sites: &[Site]) -> Result<(), Failure> {
    for outer in sites {
        for inner in sites {
            let distinct = outer.identity != inner.identity;
            if distinct && inner.path.starts_with(&outer.path) {
                return Err(Failure::usage(
                    format!(
                        "{} lies inside {}, and both are targets.",
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
    /// The seed that kept databases were built with; `None` when no marker tells.
    pub fn built_seed(&self) -> Option<u64> {
        let markers = self
            .sites
            .iter()
            .filter_map(|site| Marker::read(&site.path));
        markers.map(|marker| marker.seed).next()
    }

    /// The names of the directories that Proofload makes on a target.
    pub fn names_on(&self, site: usize) -> Vec<String> {
        let mut names = Vec::new();
        for place in &self.databases {
            let pairs = [(place.data_site, &place.data), (place.log_site, &place.log)];
            for (_, place) in pairs.into_iter().filter(|(index, _)| *index == site) {
                if let (Place::Directory(path), SiteKind::Directory) =
                    (place, &self.sites[site].kind)
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
