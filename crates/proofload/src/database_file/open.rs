//! Opening the file or block device that was named.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use runtime::{
    AnyDirectory, AnyFile, Directory, HostDirectory, HostFile, IoError, IoFailure, RawDirectory,
    Runtime,
};

use super::DatabaseFileError;

/// How the names of database files end.
const DATABASE_SUFFIX: &str = ".edb";

/// Opens a database file for reading, or the database on a block device of ours.
pub(super) fn open(runtime: &Runtime, path: &Path) -> Result<AnyFile, DatabaseFileError> {
    if path
        .metadata()
        .is_ok_and(|facts| facts.file_type().is_block_device())
    {
        return open_on_device(runtime, path);
    }
    let name = path.file_name().and_then(|name| name.to_str());
    // A pipe would keep us waiting, and a device such as /dev/zero has no end.
    let is_other = path.metadata().is_ok_and(|facts| !facts.is_file());
    let Some(name) = name.filter(|_| !is_other) else {
        return Err(DatabaseFileError::NotAFile(path.to_owned()));
    };
    let parent = directory_of(path);
    if !parent.is_dir() {
        return Err(DatabaseFileError::Missing(path.to_owned()));
    }
    let directory =
        HostDirectory::open_for_reading(&runtime.handle(), parent).map_err(|error| {
            DatabaseFileError::Directory {
                path: path.to_owned(),
                error,
            }
        })?;
    let name = name.to_owned();
    let opened = runtime.block_on(async move { directory.open(&name).await });
    opened
        .map(AnyFile::Host)
        .map_err(|error| not_opened(path, error))
}

/// The one database that Proofload keeps on a block device.
fn open_on_device(runtime: &Runtime, path: &Path) -> Result<AnyFile, DatabaseFileError> {
    let device = HostFile::open_device(&runtime.handle(), path);
    let device = device.map_err(DatabaseFileError::Device)?;
    let found = runtime.block_on(async move {
        let directory = AnyDirectory::Raw(RawDirectory::open(device).await.ok()?);
        let names = directory.list().await.ok()?;
        let name = names.iter().find(|name| name.ends_with(DATABASE_SUFFIX))?;
        directory.open(name).await.ok()
    });
    found.ok_or_else(|| DatabaseFileError::NoDatabaseOnDevice(path.to_owned()))
}

fn not_opened(path: &Path, error: IoError) -> DatabaseFileError {
    let path = path.to_owned();
    match error.failure {
        IoFailure::NotFound => DatabaseFileError::Missing(path),
        holder @ IoFailure::InUse(_) => DatabaseFileError::Busy { path, holder },
        IoFailure::PermissionDenied => DatabaseFileError::Forbidden(path),
        _ => DatabaseFileError::Storage(error),
    }
}

/// The directory that a file is in.
pub(super) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
