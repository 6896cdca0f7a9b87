//! Sockets in the file system: what a killed server has left is replaced, and nothing else.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A socket belongs to who serves, as the files of volumes do.
const MODE: u32 = 0o600;

/// Why nothing is listened at.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Another program listens there.
    #[error("{0} is in use")]
    InUse(PathBuf),
    /// There is a file that is no socket.
    #[error("{0} is no socket")]
    NoSocket(PathBuf),
    /// The system has refused it.
    #[error("{0}: {1}")]
    System(PathBuf, io::Error),
}

/// The socket in the file system, which is removed at the end unless it is another one by then.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    /// Listens on a socket at `path`, which nobody but its owner can use. One at which nobody listens any more is
    /// replaced.
    ///
    /// # Errors
    /// Another program listens there, something else is there, or the system refuses it.
    pub(crate) fn listen(path: &Path) -> Result<(UnixListener, Self), SocketError> {
        let failed = |error| SocketError::System(path.to_owned(), error);
        let bound = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                replace_stale(path)?;
                UnixListener::bind(path)
            }
            bound => bound,
        };
        let bound = bound.map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => SocketError::InUse(path.to_owned()),
            _ => failed(error),
        })?;
        let file = Self {
            path: path.to_owned(),
            identity: identity(path).map_err(failed)?,
        };
        fs::set_permissions(path, Permissions::from_mode(MODE)).map_err(failed)?;
        Ok((bound, file))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Removes a socket that nobody listens at any more.
fn replace_stale(path: &Path) -> Result<(), SocketError> {
    let failed = |error| SocketError::System(path.to_owned(), error);
    let in_use = || SocketError::InUse(path.to_owned());
    // Two servers that find the same socket would otherwise remove that of the other.
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = File::open(directory.unwrap_or(Path::new("."))).map_err(failed)?;
    match directory.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use()),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if !found.file_type().is_socket() {
        return Err(SocketError::NoSocket(path.to_owned()));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        // A server that is busy has no room for connections, and one of another user none for ours.
        Ok(_) | Err(_) => Err(in_use()),
    }
}
