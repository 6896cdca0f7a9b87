//! Where the kernel's trace files are.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// Where people and systems mount them.
const MOUNTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The kernel's trace files, reachable for as long as this lives.
#[derive(Debug)]
pub(super) struct TraceFiles {
    /// The directory of all of them.
    pub path: PathBuf,
    _mount: Option<OwnedFd>,
}

impl TraceFiles {
    /// Finds them; `None` where the kernel has none, or none for this user.
    pub fn find() -> Option<TraceFiles> {
        let mounted = MOUNTS.iter().map(PathBuf::from);
        let mounted = mounted.map(|path| TraceFiles { path, _mount: None });
        let mut all =
            mounted.chain(std::iter::once_with(TraceFiles::unseen).filter_map(Result::ok));
        all.find(|files| files.path.join("instances").is_dir())
    }

    /// A directory that stands for them in a test.
    #[cfg(test)]
    pub fn at(path: PathBuf) -> TraceFiles {
        TraceFiles { path, _mount: None }
    }

    /// Mounts them where nobody else sees it: the mount has no place in the tree of directories,
    /// and is gone when its descriptor is closed, however this process ends.
    fn unseen() -> io::Result<TraceFiles> {
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        Ok(TraceFiles {
            path: Path::new("/proc/self/fd").join(mount.as_raw_fd().to_string()),
            _mount: Some(mount),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Needs root; says so and passes without.
    #[test]
    fn files_that_nobody_has_mounted_are_reached_and_leave_no_mount() {
        let mounts = || std::fs::read_to_string("/proc/self/mounts").unwrap();
        let before = mounts();
        let files = match TraceFiles::unseen() {
            Ok(files) => files,
            Err(error) => {
                return test_support::skip(format_args!("no trace of the block layer: {error}"));
            }
        };
        assert!(
            files
                .path
                .join("events/block/block_rq_issue/format")
                .is_file()
        );
        assert!(files.path.join("instances").is_dir());
        // That the mount is gone with its descriptor cannot be seen by the descriptor's number:
        // a test on another thread may have been given the same number by then.
        assert_eq!(mounts(), before);
    }
}
