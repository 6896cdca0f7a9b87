//! Whether a block device may be used: nobody else uses it, and it is blank or may be erased.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use runtime::host::{FileLock, LockKind};

use crate::in_use;
use crate::kernel;
use crate::memory;
use crate::signature::{self, END_BYTES};
use crate::target::{Identity, Target};
use workload::Refusal;

/// Locks a device for this run. udev respects the lock as well, and leaves the device alone.
///
/// # Errors
/// Another run has it.
pub fn lock(target: &Target) -> Result<FileLock, Refusal> {
    let file = File::open(&target.path).map_err(|error| unopened(target, &error))?;
    refuse_other(target, &file)?;
    FileLock::take(file.into(), LockKind::Exclusive)
        .map_err(|error| in_use::refusal(&target.given, &error))
}

/// Refuses a device that is in use, and one that holds something unless it may be erased.
pub fn check(target: &Target, reuse: bool, erase: bool) -> Result<(), Refusal> {
    let Identity::Device { number } = target.identity else {
        return Ok(());
    };
    let shown = target.given.display();
    refuse_used(target, number)?;
    refuse_read_only(target, &kernel::sys_directory(number))?;
    memory::refuse_device(target)?;
    let mut file = open_alone(target)?;
    if erase && !reuse {
        return Ok(());
    }
    let (first, last) = ends(&mut file).map_err(|error| {
        Refusal::environment(
            format!("{shown} cannot be read: {error}."),
            "Check the device ('dmesg' shows I/O errors).",
        )
    })?;
    let is_ours = signature::is_ours(&first);
    match (signature::contents(&first, &last), is_ours) {
        (_, true) if reuse => Ok(()),
        _ if reuse => Err(Refusal::usage(
            format!("--reuse and --restore find no databases of Proofload on {shown}."),
            "Build some first with --keep or --build-only, or omit the option.",
        )),
        (None, _) => Ok(()),
        (Some(contents), is_ours) => Err(filled(target, contents, is_ours)),
    }
}

/// Refuses a device that is in use, whatever it holds: it is only read.
pub fn check_for_reading(target: &Target) -> Result<(), Refusal> {
    let Identity::Device { number } = target.identity else {
        return Ok(());
    };
    refuse_used(target, number)?;
    memory::refuse_device(target)?;
    open_alone_with(target, fs::OpenOptions::new().read(true)).map(drop)
}

/// Refuses a device that the system uses in a way that it shows.
fn refuse_used(target: &Target, number: u64) -> Result<(), Refusal> {
    let sys = kernel::sys_directory(number);
    refuse_mounted(target, number, &sys)?;
    refuse_swap(target)?;
    refuse_built_upon(target, &sys)
}

/// The refusal of a device that holds something.
fn filled(target: &Target, contents: &str, is_ours: bool) -> Refusal {
    Refusal::environment(
        format!(
            "{} is not blank: it holds {contents}.",
            target.given.display()
        ),
        match is_ours {
            true => "Run on them with --reuse, or add --erase-device to build new ones.",
            false => "Name a blank device, or add --erase-device if everything on it may be lost.",
        },
    )
}

/// Opens a device to read past the page cache. It may be in use.
pub fn open_to_read(target: &Target) -> io::Result<File> {
    let direct = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).unwrap_or(0);
    let mut how = fs::OpenOptions::new();
    how.read(true).custom_flags(direct).open(&target.path)
}

/// Refuses a device that holds something. It is only read.
pub fn refuse_filled(target: &Target) -> Result<(), Refusal> {
    let opened = File::open(&target.path).and_then(|mut file| ends(&mut file));
    let (first, last) = opened.map_err(|error| unopened(target, &error))?;
    match signature::contents(&first, &last) {
        None => Ok(()),
        Some(contents) => Err(filled(target, contents, signature::is_ours(&first))),
    }
}

/// Refuses a device that cannot be written.
pub fn refuse_read_only(target: &Target, sys: &Path) -> Result<(), Refusal> {
    match kernel::is_read_only(sys) {
        true => Err(Refusal::environment(
            format!("The kernel holds {} read-only.", target.given.display()),
            "Make it writable ('blockdev --setrw'), or name another device.",
        )),
        false => Ok(()),
    }
}

/// Refuses a device that is mounted, or that has partitions.
pub fn refuse_mounted(target: &Target, number: u64, sys: &Path) -> Result<(), Refusal> {
    let shown = target.given.display();
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounts = kernel::mounts(&text);
    let own = kernel::packed(number);
    if let Some(mount) = mounts.iter().find(|mount| mount.device == own) {
        return Err(Refusal::environment(
            format!("{shown} is mounted at {}.", mount.at),
            format!(
                "Name an empty directory below {} instead, or unmount the device.",
                mount.at
            ),
        ));
    }
    let partitions = kernel::partitions(sys);
    for (name, device) in &partitions {
        if let Some(mount) = mounts.iter().find(|mount| mount.device == *device) {
            return Err(Refusal::environment(
                format!(
                    "{shown} has a partition {name} that is mounted at {}.",
                    mount.at
                ),
                "Name a device without partitions, or a directory on the mounted file system.",
            ));
        }
    }
    if let Some((name, _)) = partitions.first() {
        return Err(Refusal::environment(
            format!("{shown} has partitions, such as {name}."),
            "Name one of its partitions, or a device without any. --erase-device does not remove \
             partitions; 'wipefs' does.",
        ));
    }
    Ok(())
}

/// Refuses a device that the system swaps to.
pub fn refuse_swap(target: &Target) -> Result<(), Refusal> {
    let text = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let in_use = kernel::swaps(&text);
    let is_swap = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|path| path == target.path);
    if !in_use.iter().any(is_swap) {
        return Ok(());
    }
    Err(Refusal::environment(
        format!("{} is in use as swap space.", target.given.display()),
        "Name another device, or end its use with 'swapoff'.",
    ))
}

/// Refuses a device that is part of another one.
pub fn refuse_built_upon(target: &Target, sys: &Path) -> Result<(), Refusal> {
    let Some(holder) = kernel::holders(sys).into_iter().next() else {
        return Ok(());
    };
    Err(Refusal::environment(
        format!(
            "{} is part of {holder}, a RAID, a logical volume or the like.",
            target.given.display()
        ),
        format!("Name /dev/{holder} itself if that is what to test, or another device."),
    ))
}

/// A device that somebody uses stays busy; one that is only read for a moment (a probe of the system,
/// a program just being started beside us) is free again after a moment.
const CLAIM_ATTEMPTS: u32 = 6;
const CLAIM_PAUSE: Duration = Duration::from_millis(50);

/// Opens a device so that nobody else has claimed it: the kernel refuses what is in use in any way.
fn open_alone(target: &Target) -> Result<File, Refusal> {
    open_alone_with(target, fs::OpenOptions::new().read(true).write(true))
}

fn open_alone_with(target: &Target, how: &mut fs::OpenOptions) -> Result<File, Refusal> {
    let exclusive = i32::try_from(rustix::fs::OFlags::EXCL.bits()).unwrap_or(0);
    how.custom_flags(exclusive);
    let mut opened = how.open(&target.path);
    for _ in 1..CLAIM_ATTEMPTS {
        match &opened {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
            _ => break,
        }
        std::thread::sleep(CLAIM_PAUSE);
        opened = how.open(&target.path);
    }
    let file = opened.map_err(|error| unopened(target, &error))?;
    refuse_other(target, &file)?;
    Ok(file)
}

fn unopened(target: &Target, error: &io::Error) -> Refusal {
    let shown = target.given.display();
    match error.kind() {
        io::ErrorKind::ResourceBusy => Refusal::environment(
            format!("{shown} is in use by the system."),
            "End its use ('lsblk' shows what is on it), or name another device.",
        ),
        io::ErrorKind::PermissionDenied => Refusal::environment(
            format!("You may not read and write {shown}."),
            "Run as a user who may, such as root.",
        ),
        _ => Refusal::environment(
            format!("{shown} cannot be opened: {error}."),
            "See whether the device is there and well ('dmesg' shows errors).",
        ),
    }
}

/// A path may lead to another device than when the target was looked at.
fn refuse_other(target: &Target, file: &File) -> Result<(), Refusal> {
    let same = file.metadata().is_ok_and(|facts| {
        let number = facts.rdev();
        facts.file_type().is_block_device() && target.identity == Identity::Device { number }
    });
    match same {
        true => Ok(()),
        false => Err(Refusal::environment(
            format!(
                "{} is another device now than a moment ago.",
                target.given.display()
            ),
            "See which device is meant, and run the command again.",
        )),
    }
}

/// The first and the last bytes of a device.
fn ends(file: &mut File) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let size = file.seek(SeekFrom::End(0))?;
    let length = size.min(END_BYTES as u64);
    let mut read = |from: u64| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Ok((read(0)?, read(size - length)?))
}

/// Makes a device blank that a run of ours has used. Returns whether it is blank: somebody may have
/// put something else on it since.
pub fn clear(target: &Target) -> Result<bool, Refusal> {
    let mut file = open_alone(target)?;
    let (first, last) = ends(&mut file).map_err(|error| unopened(target, &error))?;
    if signature::is_ours(&first) {
        // Our table of files stands at the beginning; without it the device is blank.
        drop(file);
        return erase_ends(target).map(|()| true);
    }
    Ok(signature::contents(&first, &last).is_none())
}

/// Overwrites both ends of a device with zeros, so that nothing takes it for what it was.
pub fn erase_ends(target: &Target) -> Result<(), Refusal> {
    let mut file = open_alone(target)?;
    let mut erase = || -> io::Result<()> {
        let size = file.seek(SeekFrom::End(0))?;
        let zeros = vec![0; usize::try_from(size.min(END_BYTES as u64)).unwrap_or(END_BYTES)];
        for from in [0, size - zeros.len() as u64] {
            file.seek(SeekFrom::Start(from))?;
            file.write_all(&zeros)?;
        }
        file.sync_all()
    };
    erase().map_err(|error| {
        Refusal::integrity(
            format!("{} cannot be erased: {error}.", target.given.display()),
            "Check the device ('dmesg' shows I/O errors).",
        )
    })
}
