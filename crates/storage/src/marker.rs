//! The file by which Proofload knows its own directories again.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Component, Path};
use std::time::Duration;

use config::Source;
use runtime::host::{DirectoryHandle, FileLock, LockError, LockKind};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use workload::Profile;

/// Name of the marker in every target directory.
pub const MARKER_NAME: &str = "proofload.json";

/// First words of a marker; its number changes when older programs would misread it.
const SCHEMA: &str = "proofload/target/1";

/// What stands for a workload in the marker of probes. No profile has this name: it is that of a command.
const PROBES_WORKLOAD: &str = "calibrate";

/// Longer ones are not ours.
const BYTES_MAX: u64 = 1 << 20;

/// Somebody who only looks what a marker is holds its lock for a moment, and a new marker has none
/// for a moment.
pub const LOCK_ATTEMPTS: u32 = 20;
pub const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// What Proofload has put into a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Always [`SCHEMA`] when written by this version.
    pub schema: String,
    /// The program that made it, with its version.
    pub program: String,
    /// The workload it was made for.
    pub workload: String,
    /// The seed that the contents were made with.
    pub seed: u64,
    /// The settings that the contents depend on, by their paths.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The directories that Proofload made beside the marker. It touches nothing else.
    pub directories: Vec<String>,
}

fn built_with(profile: &dyn Profile) -> BTreeMap<String, serde_json::Value> {
    let mut settings = profile.settings();
    let built_with = profile.workload().built_with();
    settings.retain(|path, _| built_with.contains(&path.as_str()));
    settings
}

/// A value as it stands in a profile, texts without their quotes.
fn shown(value: &serde_json::Value) -> String {
    let text = value.as_str();
    text.map_or_else(|| value.to_string(), str::to_owned)
}

impl Marker {
    /// A marker for directories that are about to be made.
    pub fn new(workload: &str, profile: &dyn Profile, directories: Vec<String>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            program: format!("proofload {}", env!("CARGO_PKG_VERSION")),
            workload: workload.to_owned(),
            seed: profile.run().seed,
            settings: built_with(profile),
            directories,
        }
    }

    /// A marker for the directory that is about to be made for the file of probes.
    pub fn of_probes(directories: Vec<String>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            program: format!("proofload {}", env!("CARGO_PKG_VERSION")),
            workload: PROBES_WORKLOAD.to_owned(),
            seed: 0,
            settings: BTreeMap::new(),
            directories,
        }
    }

    /// Whether it was made for the file of probes, in which there is nothing to be kept.
    pub fn is_of_probes(&self) -> bool {
        self.workload == PROBES_WORKLOAD
    }

    /// What the contents were made with, as a source of settings each.
    pub fn sources(&self, built_with: &[&'static str]) -> Vec<Source> {
        let given = built_with
            .iter()
            .filter_map(|path| Some((*path, self.settings.get(*path)?)));
        let given = given.map(|(path, value)| Source::option(MARKER_NAME, path, &shown(value)));
        given.collect()
    }

    /// The first setting in which a profile differs from the one that was built, with the value it
    /// was built with.
    pub fn difference(&self, profile: &dyn Profile) -> Option<(String, String)> {
        let wanted = built_with(profile);
        let differs = self
            .settings
            .iter()
            .find(|(path, value)| wanted.get(*path) != Some(value));
        differs.map(|(path, value)| (path.clone(), shown(value)))
    }

    /// Reads the marker of a target; `None` when there is none of ours.
    pub fn read(target: &DirectoryHandle) -> Option<Self> {
        Self::parse(&target.read_file(MARKER_NAME).ok()?)
    }

    /// Reads the marker of a target under its lock, which nobody else then has until it is dropped;
    /// `None` when there is none of ours.
    ///
    /// # Errors
    /// Somebody else has it locked, or there are no locks.
    pub fn lock(target: &DirectoryHandle) -> Result<Option<(Self, FileLock)>, LockError> {
        let Ok(file) = target.open_file(MARKER_NAME) else {
            return Ok(None);
        };
        let same = file.try_clone();
        let same = same.map_err(|error| LockError::System(errno_of(&error)))?;
        let lock = FileLock::take(file.into(), LockKind::Exclusive)?;
        // Its run may have removed it between our opening it and the lock.
        let found = target.identity_of(MARKER_NAME);
        let found = found.map_err(|error| LockError::System(errno_of(&error)))?;
        if found != Some(lock.identity()) {
            return Ok(None);
        }
        Ok(Self::parse(&same).map(|marker| (marker, lock)))
    }

    fn parse(file: &File) -> Option<Self> {
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut text = String::new();
        file.take(BYTES_MAX).read_to_string(&mut text).ok()?;
        let marker: Self = serde_json::from_str(&text).ok()?;
        let is_ours =
            marker.schema == SCHEMA && marker.directories.iter().all(|name| is_name(name));
        is_ours.then_some(marker)
    }

    /// Writes the marker into an empty target, and locks it. It is durable before anything else is
    /// made there.
    ///
    /// # Errors
    /// There is one already, or the file system fails or has no locks.
    pub fn write(&self, target: &DirectoryHandle) -> io::Result<FileLock> {
        let file = target.create_file(MARKER_NAME)?;
        let written = self.write_into(&file, target);
        if written.is_err()
            && let Ok(identity) = runtime::host::FileIdentity::of(&file)
        {
            let _ = target.remove_file(MARKER_NAME, identity);
        }
        written
    }

    fn write_into(&self, file: &File, target: &DirectoryHandle) -> io::Result<FileLock> {
        let mut attempts = 1;
        let lock = loop {
            match FileLock::take(file.try_clone()?.into(), LockKind::Exclusive) {
                Ok(lock) => break lock,
                Err(LockError::InUse(_)) if attempts < LOCK_ATTEMPTS => attempts += 1,
                Err(error) => return Err(io::Error::other(error.to_string())),
            }
            std::thread::sleep(LOCK_PAUSE);
        };
        let mut text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        text.push(b'\n');
        file.write_all_at(&text, 0)?;
        file.sync_all()?;
        target.sync()?;
        Ok(lock)
    }
}

/// Whether it is the name of something in a directory and leads nowhere else. One that does was not written by
/// us, and must not be in a command to remove what is there.
fn is_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let first = parts.next();
    let is_plain = matches!(first, Some(Component::Normal(part)) if part == name);
    is_plain && parts.next().is_none()
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
