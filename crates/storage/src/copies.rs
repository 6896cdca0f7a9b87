//! Directories for copies of databases, apart from everything else that a run takes.

use std::path::PathBuf;
use std::sync::Arc;

use workload::{Profile, Refusal, StorageNeeds};

use crate::under_way::Wait;
use crate::{Layout, Request, Target, directory, space};
use crate::{lay_out, refuse_idle, refuse_nested, targets};

/// Where copies of databases shall go.
#[derive(Clone, Copy, Debug)]
pub struct CopyRequest<'a> {
    /// Directories for the copies, distributed in turn.
    pub paths: &'a [PathBuf],
    /// The option that names them.
    pub option: &'static str,
    /// What else the run takes: that of the databases first.
    pub beside: &'a [Layout],
}

/// Looks at the directories of an option for copies of databases as [`crate::survey`] does at targets. They must be
/// apart from everything else that the run takes.
///
/// # Errors
/// What is in the way.
pub fn survey_copies(
    request: &CopyRequest<'_>,
    profile: &dyn Profile,
    notify: &mut dyn FnMut(&str),
) -> Result<Layout, Refusal> {
    let option = request.option;
    let own = targets(request.paths, option)?;
    if let Some(device) = own.iter().find(|target| target.handle.is_none()) {
        return Err(Refusal::usage(
            format!(
                "{option} names the block device {}, and copies need a file system.",
                device.given.display()
            ),
            "Make a file system on it, mount it, and name a directory on it.",
        ));
    }
    let taken = request.beside.iter().flat_map(|layout| &layout.targets);
    let mut all: Vec<Target> = taken.cloned().collect();
    refuse_copies_on_targets(option, &own, &all)?;
    all.extend(own.iter().cloned());
    refuse_nested(&all)?;
    let StorageNeeds::Databases(needs) = profile.storage_needs() else {
        return Err(Refusal::usage(
            format!(
                "{option} copies databases of our own, and a database server has its own ways to do so."
            ),
            "Leave it out.",
        ));
    };
    let mut copies = lay_out(own, Vec::new(), &needs)?;
    refuse_idle(&copies)?;
    let directories = Request {
        on: &[],
        log_on: &[],
        profile,
        reuse: false,
        erase_device: false,
    };
    let mut wait = Wait::begin(notify);
    for index in 0..copies.targets.len() {
        let names = copies.names_on(index);
        let target = &mut copies.targets[index];
        if let Some(handle) = target.handle.clone() {
            let lock = directory::check(target, &handle, &directories, &names, &mut wait)?;
            target.lock = lock.map(Arc::new);
        }
    }
    let everything = request.beside.iter();
    let everything = everything.fold(copies.clone(), |all, one| one.and(&all));
    space::check(&everything, &needs)?;
    for target in &copies.targets {
        if let Some(handle) = &target.handle {
            directory::check_direct_io(target, handle)?;
        }
    }
    Ok(copies)
}

/// A copy beside its database would be lost with it, and disturb the test.
fn refuse_copies_on_targets(
    option: &str,
    copies: &[Target],
    targets: &[Target],
) -> Result<(), Refusal> {
    let is_taken = |target: &&Target| copies.iter().any(|one| one.identity == target.identity);
    targets.iter().find(is_taken).map_or(Ok(()), |target| {
        Err(Refusal::usage(
            format!(
                "{option} names the target {}, where databases or other copies lie.",
                target.given.display()
            ),
            "Name another directory.",
        ))
    })
}
