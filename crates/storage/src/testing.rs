//! What tests need of the system: mounts and loop devices that go away by themselves.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use runtime::host::FileIdentity;

use workload::{ErrorClass, Refusal};

use crate::Claim;

/// A directory on a disk: the build directory, while /tmp may lie in memory.
pub fn disk() -> PathBuf {
    let binary = std::env::current_exe().expect("the path of the test binary");
    binary.parent().expect("its directory").to_owned()
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// A mount that ends when dropped.
pub struct Mount(PathBuf);

impl Mount {
    /// A tmpfs, or `None` where that is not allowed.
    pub fn tmpfs(at: &Path) -> Option<Self> {
        let done = succeeds(
            "mount",
            &["-t", "tmpfs", "-o", "size=64m", "tmpfs", text(at)],
        );
        done.then(|| Self(at.to_owned()))
    }

    /// An overlay whose layers lie below `layers`: `lower`, `upper` and `work`.
    pub fn overlay(layers: &Path, at: &Path) -> Option<Self> {
        for layer in ["lower", "upper", "work"] {
            std::fs::create_dir(layers.join(layer)).ok()?;
        }
        let layers = text(layers);
        let options =
            format!("lowerdir={layers}/lower,upperdir={layers}/upper,workdir={layers}/work");
        let done = succeeds(
            "mount",
            &["-t", "overlay", "-o", &options, "overlay", text(at)],
        );
        done.then(|| Self(at.to_owned()))
    }

    /// `what` at a second place.
    pub fn bind(what: &Path, at: &Path) -> Option<Self> {
        succeeds("mount", &["--bind", text(what), text(at)]).then(|| Self(at.to_owned()))
    }

    /// A directory bound onto itself and made read-only.
    pub fn read_only(at: &Path) -> Option<Self> {
        let mount = Self::bind(at, at)?;
        succeeds("mount", &["-o", "remount,bind,ro", text(at)]).then_some(mount)
    }

    /// A device's file system.
    pub fn device(device: &Path, at: &Path) -> Option<Self> {
        succeeds("mount", &[text(device), text(at)]).then(|| Self(at.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        succeeds("umount", &["-l", text(&self.0)]);
    }
}

/// A loop device over a file, detached when dropped.
pub struct LoopDevice(PathBuf);

impl LoopDevice {
    /// A device over `file`, or `None` where that is not allowed. `-P` looks for partitions.
    pub fn attach(file: &Path, options: &[&str]) -> Option<Self> {
        let mut command = Command::new("losetup");
        command.args(["--find", "--show"]).args(options).arg(file);
        let output = command.stderr(Stdio::null()).output().ok()?;
        let path = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !path.trim().is_empty())
            .then(|| Self(PathBuf::from(path.trim())))
    }

    /// Path of the loop device.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        succeeds("losetup", &["--detach", text(&self.0)]);
    }
}

/// Makes a file as a run would, in the directory of the database `index`.
pub fn make_file(claim: &Claim, index: usize, name: &str) {
    let place = &claim.layout().databases[index].data;
    let directory = claim.directory(place).expect("a directory");
    let file = directory.handle().create_file(name).expect("a new file");
    let identity = FileIdentity::of(&file).expect("its identity");
    directory.created().add(identity);
}

/// The exit status that a program derives from an error.
pub fn exit_status(error: &Refusal) -> u8 {
    match error.class {
        ErrorClass::Usage => 2,
        ErrorClass::Environment => 3,
        ErrorClass::Integrity => 4,
    }
}
