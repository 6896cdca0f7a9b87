//! Taking the targets for a run and giving them back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use workload::{Profile, Workload};

use crate::error::StorageError;
use crate::marker::Marker;
use crate::target::TargetKind;
use crate::{Layout, Place, device};

/// The targets of a run, with the directories that it works in.
#[derive(Debug)]
pub struct Claim {
    layout: Layout,
    /// The workload for which the directories were made; `None` when an earlier run made and kept
    /// them, so that they are never removed.
    made_for: Option<&'static dyn Workload>,
}

impl Claim {
    /// Makes the directories of a new layout, each target marked as ours first.
    pub fn make(
        layout: Layout,
        workload: &str,
        profile: &dyn Profile,
        erase_device: bool,
    ) -> Result<Self, StorageError> {
        let claim = Self {
            layout,
            made_for: Some(profile.workload()),
        };
        if let Err(failure) = claim.take_sites(workload, profile, erase_device) {
            // What was made so far is empty and goes again; the first failure is the one to report.
            let _ = claim.release();
            return Err(failure);
        }
        Ok(claim)
    }

    /// Takes a layout over that an earlier run kept.
    pub fn reuse(layout: Layout) -> Self {
        Self {
            layout,
            made_for: None,
        }
    }

    /// Where databases and logs lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn take_sites(
        &self,
        workload: &str,
        profile: &dyn Profile,
        erase_device: bool,
    ) -> Result<(), StorageError> {
        for (index, target) in self.layout.targets.iter().enumerate() {
            if target.kind != TargetKind::Directory {
                if erase_device {
                    device::erase_ends(target)?;
                }
                continue;
            }
            let names = self.layout.names_on(index);
            let made = Marker::new(workload, profile, names.clone())
                .write(&target.path)
                .and_then(|()| make_directories(&target.path, &names));
            made.map_err(|error| {
                StorageError::environment(
                    format!("{} cannot be prepared: {error}.", target.given.display()),
                    "See whether another run has taken it, and whether its file system is well.",
                )
            })?;
        }
        Ok(())
    }

    /// Removes the databases and logs that this run made, and the marks. Gives back what it left
    /// because it did not make it.
    pub fn release(self) -> Result<Vec<PathBuf>, StorageError> {
        let mut left = Vec::new();
        let Some(workload) = self.made_for else {
            return Ok(left);
        };
        for place in &self.layout.databases {
            for place in [&place.data, &place.log] {
                if let Place::Directory(path) = place {
                    remove_directory(path, workload, &mut left)
                        .map_err(|error| unremovable(path, &error))?;
                }
            }
        }
        for target in &self.layout.targets {
            let has_rest = left.iter().any(|path| path.starts_with(&target.path));
            match target.kind {
                TargetKind::Directory if !has_rest => {
                    let marker = Marker::path(&target.path);
                    remove_if_there(&marker).map_err(|error| unremovable(&marker, &error))?;
                }
                TargetKind::Directory => {}
                // Our table of files stands at the beginning; without it the device is blank.
                TargetKind::Device { .. } => device::erase_ends(target)?,
            }
        }
        Ok(left)
    }
}

fn unremovable(path: &Path, error: &io::Error) -> StorageError {
    StorageError::environment(
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

fn remove_directory(
    path: &Path,
    workload: &dyn Workload,
    left: &mut Vec<PathBuf>,
) -> io::Result<()> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut has_rest = false;
    for entry in entries {
        let entry = entry?;
        let ours = workload.makes_file(&entry.file_name().to_string_lossy());
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
