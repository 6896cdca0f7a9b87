//! The volumes as block devices with file systems: what is asked for, and what may be wrong with that.

use std::fs;
use std::path::{Path, PathBuf};

use super::refuse_directory;
use ::serve::{BlockDevices, BlockError, ServedVolume, make_file_system};
use execution::Error;
use measure::units;

/// What is made of the files of volumes.
#[derive(Debug, Clone, Default)]
pub struct BlockScenario {
    /// The type of the file system that each device gets, unless it has one of that type.
    pub file_system: Option<String>,
    /// Where the devices are mounted, one directory for each volume; empty if nowhere.
    pub directories: Vec<PathBuf>,
}

impl BlockScenario {
    /// Checks what can be checked before the volumes are there.
    pub(super) fn check(&self, volumes: u32) -> Result<(), Error> {
        if !rustix::process::geteuid().is_root() {
            return Err(Error::environment(
                "Loop devices are attached by root.",
                "Run it with sudo, or without --block, --mkfs and --mount.",
            ));
        }
        let is_name = |kind: &str| kind.chars().all(|one| one.is_ascii_alphanumeric());
        if let Some(kind) = self.file_system.as_deref().filter(|kind| !is_name(kind)) {
            return Err(Error::usage(
                format!("{kind} is no type of a file system."),
                "Name one that 'mkfs -t' knows, such as xfs or ext4, with --mkfs.",
            ));
        }
        if !self.directories.is_empty() && self.directories.len() != volumes as usize {
            return Err(Error::usage(
                format!(
                    "There are {} volumes, and directories for {}.",
                    volumes,
                    self.directories.len()
                ),
                "Name a directory for each volume with --mount.",
            ));
        }
        let mut places = Vec::new();
        for directory in &self.directories {
            refuse_directory(directory, "--mount")?;
            let place = directory.canonicalize().ok();
            if places.contains(&place) {
                return Err(Error::usage(
                    format!("{} is named twice.", directory.display()),
                    "Name a directory for each volume with --mount.",
                ));
            }
            places.push(place);
        }
        Ok(())
    }

    /// Attaches the volumes below `at`, makes file systems and mounts them, and says so.
    pub(super) fn open(
        &self,
        at: &Path,
        volumes: &[ServedVolume],
        notify: impl Fn(&str),
    ) -> Result<BlockDevices, Error> {
        let files = volumes.iter().map(|volume| at.join(&volume.name));
        let files: Vec<PathBuf> = files.collect();
        let mut devices = BlockDevices::attach(&files).map_err(|error| no_block(&error))?;
        let mut is_new = vec![false; volumes.len()];
        for ((device, volume), is_new) in devices.paths().zip(volumes).zip(&mut is_new) {
            notify(&format!("{} is {}.", volume.name, device.display()));
            let Some(kind) = &self.file_system else {
                continue;
            };
            *is_new = make_file_system(device, kind).map_err(|error| no_block(&error))?;
            notify(&match is_new {
                true => format!("It has a new file system of type {kind}."),
                false => format!("It has a file system of type {kind}, which is kept."),
            });
        }
        for (index, directory) in self.directories.iter().enumerate() {
            // Whoever owns the directory can use what is mounted there.
            let owner = fs::metadata(directory).ok().filter(|_| is_new[index]);
            let mounted = devices.mount(index, directory, owner.as_ref());
            mounted.map_err(|error| no_block(&error))?;
            notify(&format!(
                "{} is mounted on {}.",
                volumes[index].name,
                directory.display()
            ));
        }
        Ok(devices)
    }
}

fn no_block(error: &BlockError) -> Error {
    let sentence = units::sentence(error);
    let remedy = match error {
        BlockError::NoProgram(program) if program.starts_with("mkfs.") => {
            "Install the package of that file system (xfsprogs, e2fsprogs), or name another with --mkfs."
        }
        BlockError::NoProgram(_) => "Install the packages util-linux and mount.",
        BlockError::NoDirectIo(_) => {
            "A newer kernel, or another file system below a store, may allow it; without it the page cache would answer."
        }
        BlockError::Occupied { .. } => {
            "Leave --mkfs out to mount what is there, or name another place with --store."
        }
        BlockError::Failed { program, .. } if program == "losetup" => {
            "See whether a loop device is free (losetup --list) and allowed; a container needs --privileged."
        }
        BlockError::Failed { program, .. } if program == "mount" => {
            "Give the volume a file system with --mkfs, or attach it alone with --block."
        }
        BlockError::Failed { .. } | BlockError::System { .. } => {
            "What was set up has been taken down again."
        }
    };
    match error {
        BlockError::Occupied { .. } => Error::usage(format!("{sentence}."), remedy),
        _ => Error::environment(format!("{sentence}."), remedy),
    }
}
