//! The directories of copies of databases, apart from everything else that a run takes: where copies are
//! written, and where a restore takes them from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use workload::{DatabaseNeeds, Profile, Refusal, StorageNeeds};

use crate::marker::Marker;
use crate::under_way::Wait;
use crate::{Layout, Request, Target, directory, in_use, space};
use crate::{lay_out, refuse_idle, refuse_nested, targets};

/// The option that says where copies come from.
const RESTORE: &str = "--restore";

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
    let (mut copies, needs) = apart(request, profile)?;
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

/// Looks at the directory of --restore: copies of databases as those of the first layout must lie there, which
/// nobody uses. From now on nobody else does. The directory must be apart from all `layouts`.
///
/// # Errors
/// What is in the way.
pub fn survey_sources(
    path: &Path,
    profile: &dyn Profile,
    layouts: &[Layout],
    notify: &mut dyn FnMut(&str),
) -> Result<Layout, Refusal> {
    let request = CopyRequest {
        paths: &[path.to_owned()],
        option: RESTORE,
        beside: layouts,
    };
    let (mut sources, _) = apart(&request, profile)?;
    let target = &sources.targets[0];
    let handle = target.handle.clone();
    let handle = handle.ok_or_else(|| no_file_system(RESTORE, target))?;
    let shown = target.given.display().to_string();
    let locked = Marker::lock(&handle).map_err(|error| in_use::refusal(&target.given, &error))?;
    let Some((marker, lock)) = locked else {
        return Err(Refusal::usage(
            format!("{RESTORE} finds no copies of Proofload in {shown}."),
            "Make some with --test backup --backup-to DIR --keep, or omit --restore.",
        ));
    };
    let names = sources.names_on(0);
    let kept = |name: &&String| marker.directories.contains(name);
    if names.iter().filter(kept).count() != marker.directories.len()
        || names.len() != marker.directories.len()
    {
        return Err(Refusal::usage(
            format!(
                "{shown} holds copies of other databases than those on the targets: {}.",
                marker.directories.join(", ")
            ),
            "Name the copies of these databases, or other targets.",
        ));
    }
    if let Some((path, built)) = marker.difference(profile) {
        return Err(Refusal::usage(
            format!(
                "The copies in {shown} are of databases that were built with {path} = {built}."
            ),
            "Name the copies of the databases on the targets, and omit the options that differ.",
        ));
    }
    let built_seed = layouts.first().and_then(Layout::built_seed);
    if let Some(seed) = built_seed.filter(|seed| *seed != marker.seed) {
        return Err(Refusal::usage(
            format!(
                "The copies in {shown} are of databases that were built with seed {}, those on the \
                 targets with {seed}.",
                marker.seed
            ),
            "Name the copies of the databases on the targets.",
        ));
    }
    let mut wait = Wait::begin(notify);
    for name in &names {
        // One that is not as it was made is refused when it is taken over.
        if let Ok(directory) = handle.open_directory(name) {
            wait.on_files_in(&directory)?;
        }
    }
    sources.targets[0].lock = Some(Arc::new(lock));
    Ok(sources)
}

/// Directories for copies of databases, which lie apart from everything else that the run takes.
fn apart(
    request: &CopyRequest<'_>,
    profile: &dyn Profile,
) -> Result<(Layout, DatabaseNeeds), Refusal> {
    let option = request.option;
    let own = targets(request.paths, option)?;
    if let Some(device) = own.iter().find(|target| target.handle.is_none()) {
        return Err(no_file_system(option, device));
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
    let copies = lay_out(own, Vec::new(), &needs)?;
    refuse_idle(&copies)?;
    Ok((copies, needs))
}

fn no_file_system(option: &str, device: &Target) -> Refusal {
    Refusal::usage(
        format!(
            "{option} names the block device {}, and copies need a file system.",
            device.given.display()
        ),
        "Make a file system on it, mount it, and name a directory on it.",
    )
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
