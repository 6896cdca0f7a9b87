//! What is in the way of a run at a place, all of it and not only the first, without changing anything there.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::io::Errno;
use serde::Serialize;
use workload::Refusal;

use crate::marker::Marker;
use crate::target::Identity;
use crate::{Target, device, directory, in_use, kernel, memory};

/// What kind of thing is in the way of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleKind {
    /// The path leads to nothing that can be tested.
    Path,
    /// Somebody uses it.
    InUse,
    /// It cannot be written, whoever tries.
    ReadOnly,
    /// This user may not use it.
    Permission,
    /// It is memory and not storage.
    InMemory,
    /// The file system cannot bypass the page cache.
    NoDirectIo,
    /// There is no room for a block.
    NoSpace,
    /// A trial failed.
    TrialFailed,
    /// It belongs to databases that are there.
    Inside,
    /// An earlier run has kept databases there. The storage itself is fine.
    KeptDatabases,
    /// It holds something else. The storage itself is fine.
    NotEmpty,
}

/// One thing that is in the way of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// What kind it is.
    pub kind: ObstacleKind,
    /// What it is and what to do about it.
    pub refusal: Refusal,
}

/// A place that was examined.
#[derive(Debug)]
pub struct Examination {
    /// What it is; `None` where the path leads to nothing.
    pub target: Option<Target>,
    /// Everything that was found in the way.
    pub obstacles: Vec<Obstacle>,
}

impl Examination {
    /// Whether a kind of thing is in the way.
    #[must_use]
    pub fn has(&self, kind: ObstacleKind) -> bool {
        self.obstacles.iter().any(|one| one.kind == kind)
    }

    fn note(&mut self, kind: ObstacleKind, result: Result<(), Refusal>) {
        if let Err(refusal) = result {
            self.obstacles.push(Obstacle { kind, refusal });
        }
    }
}

/// Looks at a path for all that is in the way of a run there. Nothing is changed; in a directory an
/// unnamed file comes and goes.
#[must_use]
pub fn examine(given: &Path) -> Examination {
    let mut found = Examination {
        target: None,
        obstacles: Vec::new(),
    };
    match Target::find(given, "the command") {
        Ok(target) => {
            match target.identity {
                Identity::Directory { .. } => examine_directory(&target, &mut found),
                Identity::Device { number } => examine_device(&target, number, &mut found),
            }
            found.target = Some(target);
        }
        Err(refusal) => found.note(ObstacleKind::Path, Err(refusal)),
    }
    found
}

fn examine_directory(target: &Target, found: &mut Examination) {
    let Some(handle) = &target.handle else {
        return;
    };
    found.note(
        ObstacleKind::ReadOnly,
        directory::refuse_read_only(target, handle),
    );
    found.note(
        ObstacleKind::Permission,
        directory::refuse_forbidden(target, handle),
    );
    found.note(ObstacleKind::InMemory, memory::refuse(target));
    found.note(ObstacleKind::Inside, directory::refuse_inside(target));
    match Marker::lock(handle) {
        Err(error) => {
            let refusal = in_use::refusal(&target.given, &error);
            return found.note(ObstacleKind::InUse, Err(refusal));
        }
        Ok(Some((marker, _lock))) => match directory::user_of_kept(target, &marker) {
            Some(refusal) => return found.note(ObstacleKind::InUse, Err(refusal)),
            None => {
                let refusal = directory::kept(target, &marker);
                found.note(ObstacleKind::KeptDatabases, Err(refusal));
            }
        },
        Ok(None) => found.note(
            ObstacleKind::NotEmpty,
            directory::refuse_filled(target, handle),
        ),
    }
    let is_known = [
        ObstacleKind::ReadOnly,
        ObstacleKind::Permission,
        ObstacleKind::InMemory,
    ];
    if is_known.into_iter().any(|kind| found.has(kind)) {
        return; // A trial would say it again.
    }
    if let Err(error) = directory::probe(handle) {
        let kind = match error {
            Errno::NOSPC | Errno::DQUOT => ObstacleKind::NoSpace,
            Errno::INVAL | Errno::OPNOTSUPP => ObstacleKind::NoDirectIo,
            _ => ObstacleKind::TrialFailed,
        };
        found.note(kind, Err(directory::trial_failed(target, error)));
    }
}

fn examine_device(target: &Target, number: u64, found: &mut Examination) {
    let sys = kernel::sys_directory(number);
    found.note(ObstacleKind::InUse, device::lock(target).map(drop));
    found.note(
        ObstacleKind::InUse,
        device::refuse_mounted(target, number, &sys),
    );
    found.note(ObstacleKind::InUse, device::refuse_swap(target));
    found.note(ObstacleKind::InUse, device::refuse_built_upon(target, &sys));
    found.note(
        ObstacleKind::ReadOnly,
        device::refuse_read_only(target, &sys),
    );
    found.note(ObstacleKind::InMemory, memory::refuse_device(target));
    if !found.has(ObstacleKind::InUse) {
        found.note(ObstacleKind::NotEmpty, device::refuse_filled(target));
    }
}

/// Opens something at an examined place whose direct reads show its latency: a new file without a name, of
/// which nothing is left whatever happens, or the block device itself, to be read only.
///
/// # Errors
/// What the system said.
pub fn open_for_trial(target: &Target) -> io::Result<File> {
    match &target.handle {
        Some(handle) => Ok(directory::unnamed_file(handle)?.into()),
        None => device::open_to_read(target),
    }
}
