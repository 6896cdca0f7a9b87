//! The directories of copies of databases: where a backup writes them, and where a restore takes them from.

use std::path::Path;
use std::sync::Arc;

use runtime::host::DirectoryHandle;
use workload::{DatabaseNeeds, Profile, Refusal, StorageNeeds};

use crate::marker::Marker;
use crate::under_way::Wait;
use crate::{Layout, Request, Target, directory, in_use, lay_out, refuse_nested, space};

/// The option that says where copies go.
const BACKUP_TO: &str = "--backup-to";
/// The option that says where copies come from.
const RESTORE: &str = "--restore";

/// Looks at the directory of --backup-to as [`crate::survey`] does at targets: copies of the databases of
/// `layout` shall go there. It must be apart from them.
///
/// # Errors
/// What is in the way.
pub fn survey_copies(
    path: &Path,
    profile: &dyn Profile,
    layout: &Layout,
    notify: &mut dyn FnMut(&str),
) -> Result<Layout, Refusal> {
    let (mut copies, handle, needs) = apart(path, BACKUP_TO, profile, layout)?;
    let names = copies.names_on(0);
    let request = Request {
        on: &[],
        log_on: &[],
        profile,
        reuse: false,
        erase_device: false,
    };
    let mut wait = Wait::begin(notify);
    let lock = directory::check(&copies.targets[0], &handle, &request, &names, &mut wait)?;
    copies.targets[0].lock = lock.map(Arc::new);
    space::check(&layout.and(&copies), &needs)?;
    directory::check_direct_io(&copies.targets[0], &handle)?;
    Ok(copies)
}

/// Looks at the directory of --restore: copies of databases as those of `layout` must lie there, which
/// nobody uses. From now on nobody else does.
///
/// # Errors
/// What is in the way.
pub fn survey_sources(
    path: &Path,
    profile: &dyn Profile,
    layout: &Layout,
    notify: &mut dyn FnMut(&str),
) -> Result<Layout, Refusal> {
    let (mut sources, handle, _) = apart(path, RESTORE, profile, layout)?;
    let target = &sources.targets[0];
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
    if let Some(seed) = layout.built_seed().filter(|seed| *seed != marker.seed) {
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

/// A directory for copies of the databases of `layout`, which lies apart from them.
fn apart(
    path: &Path,
    option: &str,
    profile: &dyn Profile,
    layout: &Layout,
) -> Result<(Layout, Arc<DirectoryHandle>, DatabaseNeeds), Refusal> {
    let target = Target::find(path, option)?;
    let shown = target.given.display().to_string();
    let Some(handle) = target.handle.clone() else {
        return Err(Refusal::usage(
            format!("{option} names the block device {shown}, and copies need a file system."),
            "Make a file system on it, mount it, and name a directory on it.",
        ));
    };
    let mut targets = layout.targets.clone();
    targets.push(target.clone());
    refuse_copies_on_targets(&target, option, &layout.targets)?;
    refuse_nested(&targets)?;
    let StorageNeeds::Databases(needs) = profile.storage_needs() else {
        return Err(Refusal::usage(
            format!(
                "{option} is about databases of our own, and a database server has its own backup."
            ),
            "Leave it out.",
        ));
    };
    let copies = lay_out(vec![target], Vec::new(), &needs)?;
    Ok((copies, handle, needs))
}

/// A copy beside its database would be lost with it, and disturb the test.
fn refuse_copies_on_targets(
    copies: &Target,
    option: &str,
    targets: &[Target],
) -> Result<(), Refusal> {
    let same = targets.iter().find(|one| one.identity == copies.identity);
    same.map_or(Ok(()), |target| {
        Err(Refusal::usage(
            format!(
                "{option} names the target {}, where the databases lie.",
                target.given.display()
            ),
            "Name another directory.",
        ))
    })
}
