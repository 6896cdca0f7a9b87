//! The lock of a run: a file beside the database, which is locked (`flock`) and says who did it.
//! The file of the database itself cannot be used: closing it would release SQLite's own locks.

use super::failure::not_own;
use crate::database::run_lock::{LockError, RunLock, own_name};
use crate::error::DatabaseError;
use runtime::host::require_own;
use rustix::fs::{FlockOperation, OFlags, flock};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub(super) struct SqliteLock {
    /// Locked until it is closed.
    _file: File,
}

impl SqliteLock {
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let failed = |error: std::io::Error| {
            DatabaseError::Refused(format!("{} cannot be locked: {error}", path.display()))
        };
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut file = options
            .custom_flags(flags.bits().cast_signed())
            .open(path)
            .map_err(failed)?;
        require_own(&file).map_err(|why| not_own(path, &why))?;
        if let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if error != rustix::io::Errno::WOULDBLOCK {
                return Err(failed(error.into()).into());
            }
            let mut holder = String::new();
            // Whoever holds it may not have written its name yet.
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim();
            let unnamed = if holder.is_empty() {
                "a process"
            } else {
                holder
            };
            return Err(LockError::Held(unnamed.to_owned()));
        }
        let since = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S");
        let name = format!("{} (since {since} UTC)", own_name());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(name.as_bytes()))
            .map_err(failed)?;
        Ok(Self { _file: file })
    }
}

impl RunLock for SqliteLock {
    fn keep(&mut self) -> Result<(), LockError> {
        Ok(())
    }
}
