//! Taking the targets for a run and giving them back.
//!
//! A claim holds every target and every directory in it open, and its marker locked, from before
//! the first change to after the last one. What it removes it finds through these handles, and only
//! if it is still what this run made: whatever was put in its place in the meantime is left.

mod release;

#[cfg(test)]
pub(crate) use release::Step;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runtime::host::{
    CreatedFiles, DirectoryHandle, Entry, EntryKind, FileIdentity, FileLock, LockError,
};
use workload::{Profile, Workload};

use crate::marker::{LOCK_ATTEMPTS, LOCK_PAUSE, MARKER_NAME, Marker};
use crate::probes::{PROBES_FILE, ProbeSite};
use crate::{Layout, Place, device, in_use};
use workload::Refusal;

/// Permissions of the directories that are made.
const DIRECTORY_MODE: u32 = 0o777;

/// The targets of a run, with the directories that it works in.
#[derive(Debug)]
pub struct Claim {
    layout: Layout,
    purpose: Purpose,
    directories: Vec<ClaimedDirectory>,
    /// The targets that this run has marked or erased, so that it clears them again, by their
    /// indices. None of a layout that an earlier run made and kept.
    taken: Vec<usize>,
    /// The files of databases that were there before.
    locks: Vec<Arc<FileLock>>,
}

/// What a claim is for, and so which files may be removed.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    Run(&'static dyn Workload),
    Probes,
}

impl Purpose {
    /// Whether files of this name are made.
    fn makes_file(self, name: &str) -> bool {
        match self {
            Self::Run(workload) => workload.makes_file(name),
            Self::Probes => name == PROBES_FILE,
        }
    }

    /// The file of a database.
    fn database_file(self, name: &str) -> Option<String> {
        match self {
            Self::Run(workload) => workload.database_file(name),
            Self::Probes => None,
        }
    }
}

/// A directory of databases or logs, held open.
#[derive(Debug)]
pub struct ClaimedDirectory {
    path: PathBuf,
    name: String,
    target: usize,
    handle: DirectoryHandle,
    identity: FileIdentity,
    created: Arc<CreatedFiles>,
}

impl ClaimedDirectory {
    /// The directory itself, whatever its path leads to by now.
    pub fn handle(&self) -> &DirectoryHandle {
        &self.handle
    }

    /// The files that this run made in it: nothing else is removed.
    pub fn created(&self) -> &Arc<CreatedFiles> {
        &self.created
    }
}

impl Claim {
    /// Makes the directories of a new layout, each target marked as ours first.
    pub fn make(
        layout: Layout,
        workload: &str,
        profile: &dyn Profile,
        erase_device: bool,
    ) -> Result<Self, Refusal> {
        let marker = |names| Marker::new(workload, profile, names);
        Self::unmade(layout, Purpose::Run(profile.workload())).taken(&marker, erase_device)
    }

    /// Makes the directory for the file of probes, or erases the device. A device that is only read is held
    /// and left as it is.
    ///
    /// # Errors
    /// The target was taken meanwhile, or cannot be prepared.
    pub fn make_for_probes(site: ProbeSite) -> Result<Self, Refusal> {
        let (writes, layout) = (site.writes(), site.layout);
        let claim = Self::unmade(layout, Purpose::Probes);
        match writes {
            true => claim.taken(&Marker::of_probes, true),
            false => Ok(claim),
        }
    }

    /// The claim with all its targets taken.
    fn taken(
        mut self,
        marker: &dyn Fn(Vec<String>) -> Marker,
        erase_device: bool,
    ) -> Result<Self, Refusal> {
        for index in 0..self.layout.targets.len() {
            if let Err(failure) = self.take_target(index, marker, erase_device) {
                // What was made so far is empty and goes again; the failure is what to report.
                let _ = self.release();
                return Err(failure);
            }
        }
        Ok(self)
    }

    /// Takes a layout over that an earlier run kept. Nothing is changed.
    ///
    /// # Errors
    /// A directory is not the one that was made, or its database is in use.
    pub fn reuse(layout: Layout, workload: &'static dyn Workload) -> Result<Self, Refusal> {
        let mut claim = Self::unmade(layout, Purpose::Run(workload));
        for index in 0..claim.layout.targets.len() {
            let target = &claim.layout.targets[index];
            let Some(handle) = target.handle.clone() else {
                continue;
            };
            for name in claim.layout.names_on(index) {
                let path = claim.layout.targets[index].path.join(&name);
                let opened = handle.open_directory(&name);
                let directory =
                    opened.and_then(|opened| claimed(opened, path.clone(), &name, index));
                claim
                    .directories
                    .push(directory.map_err(|error| unusable(&path, &error))?);
            }
        }
        claim.refuse_other_files()?;
        claim.lock_databases()?;
        Ok(claim)
    }

    fn unmade(layout: Layout, purpose: Purpose) -> Self {
        Self {
            layout,
            purpose,
            directories: Vec::new(),
            taken: Vec::new(),
            locks: Vec::new(),
        }
    }

    /// Where databases and logs lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The directory of a place, held open; `None` of a block device.
    pub fn directory(&self, place: &Place) -> Option<&ClaimedDirectory> {
        let Place::Directory(path) = place else {
            return None;
        };
        let mut directories = self.directories.iter();
        directories.find(|directory| directory.path == *path)
    }

    /// The markers that are gone by now, or damaged: without them what lies on their targets is not known as ours.
    #[must_use]
    pub fn unmarked(&self) -> Vec<PathBuf> {
        let targets = self.layout.targets.iter();
        let unmarked = targets.filter(|target| {
            let handle = target.handle.as_ref();
            handle.is_some_and(|handle| Marker::read(handle).is_none())
        });
        unmarked
            .map(|target| target.given.join(MARKER_NAME))
            .collect()
    }

    /// The directories of this run whose paths lead elsewhere by now, or nowhere.
    #[must_use]
    pub fn moved(&self) -> Vec<PathBuf> {
        let is_moved = |directory: &&ClaimedDirectory| {
            let now = DirectoryHandle::open(&directory.path);
            let now = now.and_then(|handle| handle.identity());
            now.ok() != Some(directory.identity)
        };
        let moved = self.directories.iter().filter(is_moved);
        moved.map(|directory| directory.path.clone()).collect()
    }

    fn take_target(
        &mut self,
        index: usize,
        marker: &dyn Fn(Vec<String>) -> Marker,
        erase_device: bool,
    ) -> Result<(), Refusal> {
        let names = self.layout.names_on(index);
        let target = &mut self.layout.targets[index];
        let Some(handle) = target.handle.clone() else {
            self.taken.push(index);
            return match erase_device {
                true => device::erase_ends(target),
                false => Ok(()),
            };
        };
        let shown = target.given.display().to_string();
        let unprepared = |error: &io::Error| {
            Refusal::environment(
                format!("{shown} cannot be prepared: {error}."),
                "See whether its file system is well ('dmesg' shows I/O errors).",
            )
        };
        let lock = match marker(names.clone()).write(&handle) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(taken_meanwhile(target, &handle));
            }
            Err(error) => return Err(unprepared(&error)),
        };
        target.lock = Some(Arc::new(lock));
        let path = target.path.clone();
        self.taken.push(index);
        for name in &names {
            let made = handle.create_directory(name, DIRECTORY_MODE);
            let made = made.and_then(|made| claimed(made, path.join(name), name, index));
            self.directories
                .push(made.map_err(|error| unprepared(&error))?);
        }
        handle.sync().map_err(|error| unprepared(&error))
    }

    /// Refuses what has the name of a file of ours and is none, or has a second name: a run would write into
    /// what somebody else wants to keep.
    fn refuse_other_files(&self) -> Result<(), Refusal> {
        for directory in &self.directories {
            let entries = directory.handle.entries();
            let entries = entries.map_err(|error| unusable(&directory.path, &error))?;
            for entry in entries {
                let is_named = self.purpose.makes_file(&entry.name.to_string_lossy());
                if let (true, Some(what)) = (is_named, what_else(&entry)) {
                    let path = directory.path.join(&entry.name);
                    return Err(unusable(&path, &io::Error::other(what)));
                }
            }
        }
        Ok(())
    }

    /// Locks the files of kept databases, so that nobody else examines or repairs them meanwhile.
    fn lock_databases(&mut self) -> Result<(), Refusal> {
        for place in &self.layout.databases {
            let (Some(directory), Some(file)) = (
                self.directory(&place.data),
                self.purpose.database_file(&place.name),
            ) else {
                continue;
            };
            let path = directory.path.join(&file);
            let opened = match directory.handle.open_file(&file) {
                Ok(opened) => opened,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(unusable(&path, &error)),
            };
            match FileLock::take_for_process(&opened.into()) {
                Ok(lock) => self.locks.push(lock),
                Err(LockError::Unsupported) => {}
                Err(error) => return Err(in_use::refusal(&path, &error)),
            }
        }
        Ok(())
    }
}

fn claimed(
    handle: DirectoryHandle,
    path: PathBuf,
    name: &str,
    target: usize,
) -> io::Result<ClaimedDirectory> {
    Ok(ClaimedDirectory {
        path,
        name: name.to_owned(),
        target,
        identity: handle.identity()?,
        handle,
        created: Arc::default(),
    })
}

/// Another run has marked the target since it was looked at. It may not have locked its marker yet.
fn taken_meanwhile(target: &crate::Target, handle: &DirectoryHandle) -> Refusal {
    for _ in 0..LOCK_ATTEMPTS {
        if let Err(error) = Marker::lock(handle) {
            return in_use::refusal(&target.given, &error);
        }
        std::thread::sleep(LOCK_PAUSE);
    }
    Refusal::environment(
        format!(
            "Another run has taken {} meanwhile and does not use it any more.",
            target.given.display()
        ),
        "Run the command again.",
    )
}

/// What an entry is that has the name of a file of ours; `None` if it may be that file.
fn what_else(entry: &Entry) -> Option<&'static str> {
    match entry.kind {
        EntryKind::File if entry.names > 1 => {
            Some("it is a hard link to a file that has another name, too")
        }
        EntryKind::File => None,
        EntryKind::Directory => Some("it is a directory"),
        EntryKind::Link => Some("it is a symbolic link, which is not followed"),
        EntryKind::Other => Some("it is a device, a pipe or a socket"),
    }
}

fn unusable(path: &Path, error: &io::Error) -> Refusal {
    Refusal::environment(
        format!("{} cannot be used: {error}.", path.display()),
        "Bring back what Proofload made there, or name another target.",
    )
}
