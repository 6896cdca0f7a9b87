//! Taking the targets for a run and giving them back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use workload::profile::Profile;

use super::marker::Marker;
use super::site::SiteKind;
use super::{Layout, Place, device};
use crate::failure::Failure;

/// The targets of a run, with the directories that it works in.
#[derive(Debug)]
pub struct Claim {
    layout: Layout,
    /// Whether the directories were made for this run. What an earlier run kept is never removed.
    fresh: bool,
}

impl Claim {
    /// Makes the directories of a new layout, each target marked as ours first.
    pub fn make(
        layout: Layout,
        workload: &str,
        profile: &Profile,
        erase_device: bool,
    ) -> Result<Self, Failure> {
        let claim = Self {
            layout,
            fresh: true,
        };
        if let Err(failure) = claim.take_sites(workload, profile, erase_device) {
            // What was made so far is empty and goes again; the first failure is the one to tell.
            let _ = claim.release();
            return Err(failure);
        }
        Ok(claim)
    }

    /// Takes a layout over that an earlier run kept.
    pub fn reuse(layout: Layout) -> Self {
        Self {
            layout,
            fresh: false,
        }
    }

    /// Where everything goes.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn take_sites(
        &self,
        workload: &str,
        profile: &Profile,
        erase_device: bool,
    ) -> Result<(), Failure> {
        for (index, site) in self.layout.sites.iter().enumerate() {
            if site.kind != SiteKind::Directory {
                if erase_device {
                    device::erase_ends(site)?;
                }
                continue;
            }
            let names = self.layout.names_on(index);
            let made = Marker::new(workload, profile, names.clone())
                .write(&site.path)
                .and_then(|()| make_directories(&site.path, &names));
            made.map_err(|error| {
                Failure::environment(
                    format!("{} cannot be prepared: {error}.", site.given.display()),
                    "See whether another run has taken it, and whether its file system is well.",
                )
            })?;
        }
        Ok(())
    }

    /// Removes the databases and logs that this run made, and the marks. Gives back what it left
    /// because it did not make it.
    pub fn release(self) -> Result<Vec<PathBuf>, Failure> {
        let mut left = Vec::new();
        if !self.fresh {
            return Ok(left);
        }
        for place in &self.layout.databases {
            for place in [&place.data, &place.log] {
                if let Place::Directory(path) = place {
                    remove_directory(path, &mut left).map_err(|error| unremovable(path, &error))?;
                }
            }
        }
        for site in &self.layout.sites {
            let has_rest = left.iter().any(|path| path.starts_with(&site.path));
            match site.kind {
                SiteKind::Directory if !has_rest => {
                    let marker = Marker::path(&site.path);
                    remove_if_there(&marker).map_err(|error| unremovable(&marker, &error))?;
                }
                SiteKind::Directory => {}
                // Our table of files stands at the beginning; without it the device is blank.
                SiteKind::Device { .. } => device::erase_ends(site)?,
            }
        }
        Ok(left)
    }
}

fn unremovable(path: &Path, error: &io::Error) -> Failure {
    Failure::environment(
        format!("{} cannot be removed: {error}.", path.display()),
        "Remove it by hand; everything in it was made by Proofload.",
    )
}

fn make_directories(target: &Path, names: &[String]) -> io::Result<()> {
    for name in names {
        fs::create_dir(target.join(name))?;
    }
    fs::File::open(target)?.sync_all()
}

/// Whether a file in one of our directories is one that Proofload makes: databases, logs with their
/// checkpoint, and the state of a database.
fn is_made_by_us(name: &str) -> bool {
    name.ends_with(".edb") || name.starts_with("E00") || name.starts_with("mail.state")
}

fn remove_directory(path: &Path, left: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut has_rest = false;
    for entry in entries {
        let entry = entry?;
        let ours = is_made_by_us(&entry.file_name().to_string_lossy());
        if ours && entry.file_type()?.is_file() {
            remove_if_there(&entry.path())?;
        } else {
            has_rest = true;
            left.push(entry.path());
        }
    }
    if !has_rest {
        fs::remove_dir(path)?;
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
