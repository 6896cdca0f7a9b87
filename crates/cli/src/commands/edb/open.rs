//! Opening the file or device that a command names.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use edb::check::CheckError;
use edb::format::database_header::Writer;
use runtime::host::{FileLock, LockKind};
use runtime::{
    AnyDirectory, AnyFile, Directory, HostDirectory, HostFile, IoError, IoFailure, RawDirectory,
    Runtime,
};

use crate::error::CommandError;

/// Keeps runs off the target that a file lies on while it is read or recovered.
///
/// # Errors
/// A run uses it.
pub(super) fn lock(path: &Path, kind: LockKind) -> Result<Option<FileLock>, CommandError> {
    let lock = storage::lock_target_of(path, kind);
    lock.map_err(|error| CommandError::Refused(error.into()))
}

/// Opens a database file for reading, or the database on a block device of ours.
pub(super) fn open(runtime: &Runtime, path: &Path) -> Result<AnyFile, CommandError> {
    if path
        .metadata()
        .is_ok_and(|facts| facts.file_type().is_block_device())
    {
        return open_on_device(runtime, path);
    }
    let shown = path.display();
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| !path.is_dir()) else {
        return Err(CommandError::usage(
            format!("{shown} is not a file."),
            "Name database files, such as mail-001/mail-001.edb.",
        ));
    };
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !parent.is_dir() {
        return Err(missing(path));
    }
    let directory =
        HostDirectory::open_for_reading(&runtime.handle(), parent).map_err(|error| {
            CommandError::environment(format!("{shown} cannot be opened: {error}."), "")
        })?;
    let name = name.to_owned();
    let opened = runtime.block_on(async move { directory.open(&name).await });
    opened
        .map(AnyFile::Host)
        .map_err(|error| not_opened(path, &error))
}

/// The one database that Proofload keeps on a block device.
fn open_on_device(runtime: &Runtime, path: &Path) -> Result<AnyFile, CommandError> {
    let shown = path.display();
    let device = HostFile::open_device(&runtime.handle(), path).map_err(|error| {
        CommandError::environment(
            format!("{error}."),
            "Run as a user who may, such as root, and while nothing else uses the device.",
        )
    })?;
    let found = runtime.block_on(async move {
        let directory = AnyDirectory::Raw(RawDirectory::open(device).await.ok()?);
        let names = directory.list().await.ok()?;
        let name = names.iter().find(|name| name.ends_with(".edb"))?;
        directory.open(name).await.ok()
    });
    found.ok_or_else(|| {
        CommandError::usage(
            format!("{shown} holds no database of Proofload."),
            "Name a block device that a run kept a database on, or a database file.",
        )
    })
}

pub(super) fn missing(path: &Path) -> CommandError {
    let shown = path.display();
    CommandError::usage(format!("{shown} does not exist."), "Correct the path.")
}

fn not_opened(path: &Path, error: &IoError) -> CommandError {
    match error.failure {
        IoFailure::NotFound => missing(path),
        IoFailure::InUse(_) => CommandError::environment(
            format!("{} cannot be examined: {}.", path.display(), error.failure),
            "Its pages change while it is in use. Wait until that process has ended.",
        ),
        IoFailure::PermissionDenied => CommandError::environment(
            format!("You may not open {}.", path.display()),
            "Run as a user who may, such as root.",
        ),
        _ => CommandError::integrity(
            format!("{error}."),
            "See whether the storage is well ('dmesg' shows I/O errors).",
        ),
    }
}

/// A file that cannot be examined at all.
pub(super) fn unusable(error: &CheckError) -> CommandError {
    let message = format!("{error}.");
    match error {
        CheckError::Io(_) => CommandError::integrity(
            message,
            "See whether the storage is well ('dmesg' shows I/O errors).",
        ),
        CheckError::Header { .. } => CommandError::integrity(
            message,
            "Is it a database file at all? If it was one, it is damaged beyond use.",
        ),
        CheckError::NotClean {
            writer: Writer::Other,
            ..
        } => CommandError::environment(
            message,
            "The program that wrote it recovers it, such as 'esentutl /r' on Windows.",
        ),
        CheckError::NotClean { .. } => CommandError::environment(
            message,
            "'proofload edb recover FILE' applies its log; so does a run with --reuse.",
        ),
        CheckError::Unfinished { .. } => CommandError::environment(message, ""),
    }
}
