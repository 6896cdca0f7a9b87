//! What is said of a target that somebody else uses, and how programs that are no run take part.

use std::path::Path;

use runtime::host::{DirectoryHandle, FileLock, Holder, LockError, LockKind};

use crate::marker::{MARKER_NAME, Marker};
use workload::Refusal;

/// Locks the target that a database file lies on, so that no run uses it meanwhile, also not one that
/// has the file closed at the moment. `None` when it lies on none of ours.
///
/// # Errors
/// Somebody else uses it.
pub fn lock_target_of(file: &Path, kind: LockKind) -> Result<Option<FileLock>, Refusal> {
    let Some(marker) = open_marker_of(file) else {
        return Ok(None);
    };
    match FileLock::take(marker.into(), kind) {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Unsupported) => Ok(None),
        Err(error) => Err(refusal(file, &error)),
    }
}

/// Refuses a target that a run uses at this moment. A place that cannot be looked at is left to whoever opens it.
///
/// # Errors
/// A run uses it.
pub fn refuse_used(target: &Path) -> Result<(), Refusal> {
    let marker = DirectoryHandle::open(target).and_then(|target| target.read_file(MARKER_NAME));
    let Ok(marker) = marker else {
        return Ok(());
    };
    match FileLock::take(marker.into(), LockKind::Shared) {
        Err(error @ LockError::InUse(_)) => Err(refusal(target, &error)),
        _ => Ok(()),
    }
}

/// The marker of the target of a database file; `None` when there is none.
fn open_marker_of(file: &Path) -> Option<std::fs::File> {
    let whole = file.canonicalize().ok()?;
    let directory = whole.parent()?;
    let target = DirectoryHandle::open(directory.parent()?).ok()?;
    let name = directory.file_name()?.to_string_lossy();
    let marker = Marker::read(&target)?;
    let is_ours = marker.directories.iter().any(|own| *own == name);
    is_ours
        .then(|| target.read_file(MARKER_NAME).ok())
        .flatten()
}

/// The refusal of a path that could not be locked.
pub fn refusal(path: &Path, error: &LockError) -> Refusal {
    let shown = path.display();
    match error {
        LockError::InUse(Some(holder)) => by(path, holder),
        LockError::InUse(None) => Refusal::environment(
            format!("{shown} is in use by a process in another container or on another host."),
            "Wait until it has ended, or name another place.",
        ),
        LockError::Unsupported => Refusal::environment(
            format!(
                "The file system of {shown} has no file locks (flock), without which two runs could \
                 destroy each other's databases."
            ),
            "Mount it with locks, or name a place on another file system.",
        ),
        LockError::System(errno) => Refusal::environment(
            format!(
                "{shown} cannot be locked: {}.",
                std::io::Error::from(*errno)
            ),
            "See whether its file system is well ('dmesg' shows I/O errors).",
        ),
    }
}

/// The refusal of a path that this process uses.
pub fn by(path: &Path, holder: &Holder) -> Refusal {
    Refusal::environment(
        format!("{} is in use by {holder}.", path.display()),
        "Wait until that process has ended, or name another place.",
    )
}
