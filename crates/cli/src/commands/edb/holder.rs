//! Whether somebody else has a file open.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::error::CommandError;

/// A file that nobody else may use for as long as this value lives.
#[derive(Debug)]
pub(super) struct Held {
    /// The lock goes with it.
    _file: File,
}

/// Takes a database file for this process alone.
///
/// # Errors
/// If another process has it open, or it cannot be opened for writing.
pub(super) fn hold(path: &Path) -> Result<Held, CommandError> {
    let shown = path.display();
    let refuse = |error: std::io::Error| {
        CommandError::environment(
            format!("{shown} cannot be opened for writing: {error}."),
            "Run as a user who may, such as root.",
        )
    };
    let file = OpenOptions::new().read(true).write(true).open(path);
    let file = file.map_err(refuse)?;
    let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
    let holder = other_process(&file);
    if locked.is_err() || holder.is_some() {
        let holder = holder.unwrap_or_else(|| "another process".to_owned());
        return Err(CommandError::environment(
            format!("{shown} is in use by {holder}."),
            "Wait for its end, or stop it; it will close the database itself.",
        ));
    }
    Ok(Held { _file: file })
}

/// A process that has the same file open, as far as this user may see.
fn other_process(file: &File) -> Option<String> {
    let own = file.metadata().ok()?;
    let same = |path: &Path| {
        fs::metadata(path).is_ok_and(|other| (other.dev(), other.ino()) == (own.dev(), own.ino()))
    };
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let name = process.file_name();
        let number = name.to_str().and_then(|name| name.parse::<u32>().ok());
        let Some(number) = number.filter(|&number| number != std::process::id()) else {
            continue;
        };
        let Ok(open) = fs::read_dir(process.path().join("fd")) else {
            continue;
        };
        if open.flatten().any(|entry| same(&entry.path())) {
            let command = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            return Some(format!("process {number} ({})", command.trim()));
        }
    }
    None
}
