//! Volumes that are mounted, and how they are unmounted.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fuser::BackgroundSession;
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use crate::holders::holders_of;

/// The program that unmounts for users who are not root.
const HELPER: &str = "fusermount3";

/// Volumes that are mounted until [`Mounted::unmount`] is called or somebody else unmounts them.
pub struct Mounted {
    session: BackgroundSession,
    /// The mount point, absolute and without links, as the kernel names it.
    at: PathBuf,
}

/// How volumes were unmounted.
#[derive(Debug, PartialEq, Eq)]
pub enum Unmounted {
    /// Nobody had a file open: nothing is left of the mount.
    Whole,
    /// Files were open: the mount point is free, and what has them open keeps them until it closes them or this
    /// process ends.
    InUse {
        /// Processes and loop devices that had files open, as far as this user may see them.
        holders: Vec<String>,
    },
}

impl Mounted {
    pub(crate) fn new(session: BackgroundSession, at: &Path) -> io::Result<Self> {
        let at = at.canonicalize()?;
        Ok(Self { session, at })
    }

    /// Whether the volumes are still there: somebody else may have unmounted them.
    #[must_use]
    pub fn is_mounted(&self) -> bool {
        !self.session.guard.is_finished()
    }

    /// Unmounts the volumes, unless somebody else has. Where files are open the mount is taken away from its
    /// directory all the same.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn unmount(self) -> io::Result<Unmounted> {
        if !self.is_mounted() || unmount(&self.at, false)? {
            return self.session.join().map(|()| Unmounted::Whole);
        }
        let holders = holders_of(&self.at);
        if unmount(&self.at, true)? {
            // The threads of the session end when the last file is closed.
            std::mem::forget(self.session);
            return Ok(Unmounted::InUse { holders });
        }
        Err(Errno::BUSY.into())
    }
}

/// Unmounts what is at `at`, lazily if files may be open there; `false` when it is in use.
pub(crate) fn unmount(at: &Path, lazily: bool) -> io::Result<bool> {
    let flags = match lazily {
        true => UnmountFlags::DETACH,
        false => UnmountFlags::empty(),
    };
    match rustix::mount::unmount(at, flags) {
        Ok(()) => Ok(true),
        Err(Errno::BUSY) => Ok(false),
        Err(Errno::PERM) => {
            let mut helper = Command::new(HELPER);
            helper.arg("-u").args(lazily.then_some("-z")).arg(at);
            let status = helper
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()?;
            Ok(status.success())
        }
        Err(error) => Err(error.into()),
    }
}
