//! What a path is: a directory, a block device, or nothing to run on.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runtime::host::{DirectoryHandle, FileLock};

use crate::{kernel, shell};
use workload::Refusal;

/// A place that storage under test was given by: a directory or a block device.
#[derive(Clone, Debug)]
pub struct Target {
    /// The path as it was typed.
    pub given: PathBuf,
    /// The path without symbolic links.
    pub path: PathBuf,
    /// Directory or block device.
    pub kind: TargetKind,
    /// What makes it the same as another path, whatever links and bind mounts lie between.
    pub identity: Identity,
    /// The directory, held open; `None` of a block device.
    pub(crate) handle: Option<Arc<DirectoryHandle>>,
    /// The lock on its marker, or on the block device. Until this is dropped nobody else takes it.
    pub(crate) lock: Option<Arc<FileLock>>,
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A directory of a file system.
    Directory,
    /// A block device with its size.
    Device {
        /// Size of the device.
        size_bytes: u64,
    },
}

/// The kernel's name for a directory or a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// A directory: its file system and its number there.
    Directory {
        /// Device number of the file system (`st_dev`).
        file_system: u64,
        /// Inode number of the directory (`st_ino`).
        number: u64,
    },
    /// A block device: `st_rdev`.
    Device {
        /// Major and minor number as the kernel packs them.
        number: u64,
    },
}

impl Target {
    /// Finds out what `given` is. `option` is the option it was given with.
    pub fn find(given: &Path, option: &str) -> Result<Self, Refusal> {
        if given.as_os_str().is_empty() {
            return Err(Refusal::usage(
                format!("{option} has an empty path in it."),
                format!("Write {option} DIR or {option} DIR,DIR without spaces around the comma."),
            ));
        }
        let path = fs::canonicalize(given).map_err(|error| unreachable_path(given, &error))?;
        let facts = fs::metadata(&path).map_err(|error| unreachable_path(given, &error))?;
        let kind = facts.file_type();
        if kind.is_dir() {
            return Self::of_directory(given, path);
        }
        if kind.is_block_device() {
            let number = facts.rdev();
            let size_bytes = kernel::device_size_bytes(number);
            return Ok(Self {
                given: given.to_owned(),
                path,
                kind: TargetKind::Device { size_bytes },
                identity: Identity::Device { number },
                handle: None,
                lock: None,
            });
        }
        let what = if kind.is_file() {
            "a regular file"
        } else if kind.is_char_device() {
            "a character device"
        } else {
            "neither a directory nor a block device"
        };
        Err(Refusal::usage(
            format!("{} is {what}.", given.display()),
            format!("Give {option} an empty directory on the storage to test, or a block device."),
        ))
    }
}

impl Target {
    /// Holds the directory open, so that everything from now on is about this very one.
    fn of_directory(given: &Path, path: PathBuf) -> Result<Self, Refusal> {
        let opened = DirectoryHandle::open(&path);
        let handle = opened.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => forbidden(given),
            _ => unreachable_path(given, &error),
        })?;
        let identity = handle.identity();
        let identity = identity.map_err(|error| unreachable_path(given, &error))?;
        Ok(Self {
            given: given.to_owned(),
            path,
            kind: TargetKind::Directory,
            identity: Identity::Directory {
                file_system: identity.file_system,
                number: identity.number,
            },
            handle: Some(Arc::new(handle)),
            lock: None,
        })
    }
}

/// The refusal of a directory for lack of permissions.
pub(crate) fn forbidden(given: &Path) -> Refusal {
    Refusal::environment(
        format!("You may not read and write {}.", given.display()),
        "Run as a user who may, such as root, or change its owner with 'chown'.",
    )
}

fn unreachable_path(given: &Path, error: &io::Error) -> Refusal {
    let shown = given.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let is_link = fs::symlink_metadata(given).is_ok_and(|facts| facts.is_symlink());
            if is_link {
                return Refusal::usage(
                    format!("{shown} is a symbolic link to nothing."),
                    "Correct the link, or name the directory itself.",
                );
            }
            Refusal::usage(
                format!("{shown} does not exist."),
                format!(
                    "Make it with 'mkdir {}', or correct the path.",
                    shell::word(given)
                ),
            )
        }
        io::ErrorKind::NotADirectory => Refusal::usage(
            format!("Part of {shown} is not a directory."),
            "Correct the path.",
        ),
        io::ErrorKind::PermissionDenied => Refusal::environment(
            format!("The directories above {shown} may not be entered."),
            "Run as a user who may, such as root.",
        ),
        _ => Refusal::environment(
            format!("{shown} cannot be examined: {error}."),
            "Check its file system ('dmesg' shows I/O errors).",
        ),
    }
}
