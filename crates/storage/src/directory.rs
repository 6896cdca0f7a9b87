//! Whether a directory may be used: empty or our own, writable, and able to do direct I/O.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use runtime::buffer::Buffer;
use runtime::host::{DirectoryHandle, FileIdentity, FileLock, Holder};
use rustix::fs::{Access, AtFlags, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;

use crate::marker::{LOCK_ATTEMPTS, LOCK_PAUSE, MARKER_NAME, Marker};
use crate::under_way::Wait;
use crate::{Request, Target, in_use, memory, shell, target};
use workload::{Refusal, Workload};

/// Name of the trial file, for a moment, where files cannot be without a name.
const PROBE_NAME: &str = ".proofload-probe";

/// What every fresh file system of the ext family has at its root.
const LOST_AND_FOUND: &str = "lost+found";

/// Checks what can be known without a trial. `names` are the directories that would be made. With
/// `--reuse` the lock on the kept databases is the result, and no requests of a killed run are under
/// way on their files.
pub fn check(
    target: &Target,
    handle: &DirectoryHandle,
    request: &Request<'_>,
    names: &[String],
    wait: &mut Wait<'_>,
) -> Result<Option<FileLock>, Refusal> {
    if request.reuse {
        check_writable(target, handle)?;
        refuse_inside(target)?;
        let found = contents(target, handle)?;
        let (marker, lock) = found
            .marker
            .ok_or_else(|| nothing_kept(target, &found.names))?;
        check_reuse(target, &found.names, &marker, request, names)?;
        for name in names {
            // One that is not as it was made is refused when it is taken over.
            if let Ok(directory) = handle.open_directory(name) {
                wait.on_files_in(&directory)?;
            }
        }
        return Ok(Some(lock));
    }
    check_empty(target, handle, Some(request.profile.workload()))?;
    Ok(None)
}

/// A file in the directories of kept databases that no run of this workload makes; `None` too of a workload
/// whose files are those of a server.
fn foreign_file(
    handle: &DirectoryHandle,
    marker: &Marker,
    workload: &dyn Workload,
) -> Option<PathBuf> {
    workload.database_file("")?;
    marker.directories.iter().find_map(|name| {
        let entries = handle.open_directory(name).ok()?.entries().ok()?;
        let mut names = entries.into_iter().map(|entry| entry.name);
        let foreign = names.find(|one| !workload.makes_file(&one.to_string_lossy()))?;
        Some(Path::new(name).join(foreign))
    })
}

/// Checks what can be known without a trial of a directory that is to be filled, by this workload.
pub fn check_empty(
    target: &Target,
    handle: &DirectoryHandle,
    workload: Option<&dyn Workload>,
) -> Result<(), Refusal> {
    check_writable(target, handle)?;
    refuse_inside(target)?;
    let found = contents(target, handle)?;
    if let Some((marker, _lock)) = found.marker {
        let foreign = workload.and_then(|workload| foreign_file(handle, &marker, workload));
        return Err(match foreign {
            Some(path) => kept_beside(target, &marker, &path),
            None => kept(target, &marker),
        });
    }
    refuse_foreign(target, &found.names)
}

/// What a directory holds.
struct Contents {
    names: Vec<String>,
    /// Its marker, under its lock.
    marker: Option<(Marker, FileLock)>,
}

/// Lists a directory and locks its marker. One that another run has just made is waited for: it has no text
/// and no lock yet.
fn contents(target: &Target, handle: &DirectoryHandle) -> Result<Contents, Refusal> {
    let mut attempts = 1;
    loop {
        let names = entries(target, handle)?;
        let marker = Marker::lock(handle);
        let marker = marker.map_err(|error| in_use::refusal(&target.given, &error))?;
        let is_there = names.iter().any(|name| name == MARKER_NAME);
        if marker.is_some() || !is_there || attempts == LOCK_ATTEMPTS {
            return Ok(Contents { names, marker });
        }
        attempts += 1;
        std::thread::sleep(LOCK_PAUSE);
    }
}

/// Refuses a directory that holds something.
fn refuse_foreign(target: &Target, found: &[String]) -> Result<(), Refusal> {
    let shown = target.given.display();
    let foreign: Vec<&String> = found
        .iter()
        .filter(|name| *name != LOST_AND_FOUND)
        .collect();
    if let Some(first) = foreign.first() {
        let others = match foreign.len() {
            1 => String::new(),
            more => format!(" and {} more", more - 1),
        };
        return Err(Refusal::environment(
            format!("{shown} is not empty: it holds '{first}'{others}."),
            format!(
                "Name an empty directory, such as a new one: 'mkdir {}'. Proofload never touches \
                 what it did not make.",
                shell::word(&target.given.join("proofload"))
            ),
        ));
    }
    Ok(())
}

/// Refuses a directory that is not empty and not one of ours.
pub fn refuse_filled(target: &Target, handle: &DirectoryHandle) -> Result<(), Refusal> {
    refuse_foreign(target, &entries(target, handle)?)
}

fn nothing_kept(target: &Target, found: &[String]) -> Refusal {
    if found.iter().any(|name| name == MARKER_NAME) {
        return Refusal::environment(
            format!(
                "{} is damaged: it is not what Proofload wrote, so it does not say which databases are kept \
                 there.",
                target.given.join(MARKER_NAME).display()
            ),
            "Bring it back as it was, or name another directory.",
        );
    }
    Refusal::usage(
        format!(
            "--reuse and --restore find no databases of Proofload in {}.",
            target.given.display()
        ),
        "Build some first with --keep or --build-only, or omit the option.",
    )
}

/// Who uses the databases of a target although no run has its lock, such as a server that was left running.
pub fn user_of_kept(target: &Target, marker: &Marker) -> Option<Refusal> {
    let directories = marker.directories.iter();
    let directories: Vec<PathBuf> = directories.map(|name| target.path.join(name)).collect();
    let holder = Holder::of_files_below(&directories)?;
    Some(in_use::by(&target.given, &holder))
}

/// The refusal of a target with kept databases. How to remove them is said only when nobody uses
/// them: no run does, whose lock we have, and no database server that was left running.
pub fn kept(target: &Target, marker: &Marker) -> Refusal {
    let shown = target.given.display();
    if let Some(refusal) = user_of_kept(target, marker) {
        return refusal;
    }
    if marker.is_of_probes() {
        return Refusal::environment(
            format!(
                "{shown} holds the file of a calibration that was killed ({}).",
                marker.program
            ),
            format!("Remove it with 'rm -r {}'.", removal(target, marker)),
        );
    }
    Refusal::environment(
        format!(
            "{shown} holds databases that {} kept or left behind (workload {}).",
            marker.program, marker.workload
        ),
        format!(
            "Run on them with --reuse, name another directory, or \
             remove them with 'rm -r {}'.",
            removal(target, marker)
        ),
    )
}

/// The same where something else lies beside them: nothing is said that would remove it.
fn kept_beside(target: &Target, marker: &Marker, foreign: &Path) -> Refusal {
    user_of_kept(target, marker).unwrap_or_else(|| {
        Refusal::environment(
            format!(
                "{} holds databases that {} kept or left behind (workload {}), or their directories, and in these \
                 a file that Proofload did not make: '{}'.",
                target.given.display(),
                marker.program,
                marker.workload,
                foreign.display()
            ),
            "Run on them with --reuse, name another directory, or look at what is in these directories and \
             move it away before you remove them.",
        )
    })
}

/// Refuses a directory that a run made: its databases lie there, or will in a moment.
pub fn refuse_inside(target: &Target) -> Result<(), Refusal> {
    let mut inner = target.path.as_path();
    while let (Some(outer), Some(name)) = (inner.parent(), inner.file_name()) {
        let marker = DirectoryHandle::open(outer);
        let marker = marker.ok().and_then(|outer| Marker::read(&outer));
        let name = name.to_string_lossy();
        if marker.is_some_and(|marker| marker.directories.iter().any(|own| *own == name)) {
            return Err(Refusal::environment(
                format!(
                    "{} belongs to the databases that Proofload has in {}.",
                    target.given.display(),
                    outer.display()
                ),
                "Name another directory.",
            ));
        }
        inner = outer;
    }
    Ok(())
}

/// Our marker and our own directories on a target, as arguments of a shell command.
fn removal(target: &Target, marker: &Marker) -> String {
    let directories = marker.directories.iter().map(String::as_str);
    let names = std::iter::once(MARKER_NAME).chain(directories);
    let paths = names.map(|name| shell::word(&target.given.join(name)));
    paths.collect::<Vec<_>>().join(" ")
}

fn entries(target: &Target, handle: &DirectoryHandle) -> Result<Vec<String>, Refusal> {
    let unreadable = |error: io::Error| {
        Refusal::environment(
            format!("{} cannot be listed: {error}.", target.given.display()),
            "Run as a user who may read and write it, such as root.",
        )
    };
    let entries = handle.entries().map_err(unreadable)?.into_iter();
    Ok(entries
        .map(|entry| entry.name.to_string_lossy().into_owned())
        .collect())
}

/// With `--reuse` the directory must hold exactly the databases that the profile asks for.
fn check_reuse(
    target: &Target,
    found: &[String],
    marker: &Marker,
    request: &Request<'_>,
    names: &[String],
) -> Result<(), Refusal> {
    let shown = target.given.display();
    let mut wanted: Vec<&String> = names.iter().collect();
    let mut kept: Vec<&String> = marker.directories.iter().collect();
    wanted.sort();
    kept.sort();
    let missing = wanted.iter().find(|name| !found.contains(name));
    if let (true, Some(missing)) = (wanted == kept, missing) {
        return Err(Refusal::usage(
            format!("The directory {missing} is missing in {shown}."),
            format!(
                "Bring it back, or remove the rest with 'rm -r {}' and \
                 rebuild.",
                removal(target, marker)
            ),
        ));
    }
    if wanted != kept {
        return Err(Refusal::usage(
            format!(
                "{shown} holds other databases than asked for: {} instead of {}.",
                listed(&kept),
                listed(&wanted)
            ),
            format!(
                "They were built for {}: give that workload and the same --on and --log-on as then, \
                 and omit --databases.",
                marker.workload
            ),
        ));
    }
    match marker.difference(request.profile) {
        None => Ok(()),
        Some((path, built)) => Err(Refusal::usage(
            format!("The databases in {shown} were built with {path} = {built}."),
            format!(
                "Omit the options that differ: '{}' runs on them as they are.",
                reuse_command(request, &marker.workload)
            ),
        )),
    }
}

/// The command that runs on kept databases as they are.
fn reuse_command(request: &Request<'_>, workload: &str) -> String {
    let joined = |paths: &[PathBuf]| {
        let paths = paths.iter().map(|path| path.display().to_string());
        shell::quoted(&paths.collect::<Vec<_>>().join(","))
    };
    let mut bundled = request.profile.workload().bundled().iter();
    let file = match bundled.any(|profile| profile.name == workload) {
        true => "",
        false => ".toml",
    };
    let mut command = format!("proofload run {workload}{file} --on {}", joined(request.on));
    if !request.log_on.is_empty() {
        command.push_str(&format!(" --log-on {}", joined(request.log_on)));
    }
    command + " --reuse"
}

fn listed(names: &[&String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(", ")
}

fn check_writable(target: &Target, handle: &DirectoryHandle) -> Result<(), Refusal> {
    refuse_read_only(target, handle)?;
    refuse_forbidden(target, handle)?;
    memory::refuse(target)
}

/// Refuses a directory on a file system that is not mounted for writing.
pub fn refuse_read_only(target: &Target, handle: &DirectoryHandle) -> Result<(), Refusal> {
    let shown = target.given.display();
    let facts = rustix::fs::fstatvfs(handle).map_err(|error| {
        Refusal::environment(
            format!("The file system of {shown} does not answer: {error}."),
            "Check it ('dmesg' shows I/O errors).",
        )
    })?;
    if facts.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(Refusal::environment(
            format!("{shown} is on a file system that is mounted read-only."),
            "Mount it for writing ('mount -o remount,rw'), or name another directory.",
        ));
    }
    Ok(())
}

/// Refuses a directory that this user may not read and write.
pub fn refuse_forbidden(target: &Target, handle: &DirectoryHandle) -> Result<(), Refusal> {
    let all = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
    rustix::fs::accessat(handle, ".", all, AtFlags::EACCESS)
        .map_err(|_| target::forbidden(&target.given))
}

/// Writes one block past the page cache into an unnamed file, as the run will do.
pub fn check_direct_io(target: &Target, handle: &DirectoryHandle) -> Result<(), Refusal> {
    probe(handle).map_err(|error| trial_failed(target, error))
}

/// What a failed trial write means.
pub fn trial_failed(target: &Target, error: Errno) -> Refusal {
    let shown = target.given.display();
    match error {
        Errno::NOSPC | Errno::DQUOT => Refusal::environment(
            format!("{shown} has no space left for a single block."),
            "Make room, or raise the quota.",
        ),
        Errno::INVAL | Errno::OPNOTSUPP => Refusal::environment(
            format!("The file system of {shown} has no direct I/O (O_DIRECT) in blocks of 4 KiB."),
            "Name a directory on a file system that has it, such as ext4 or XFS, or a block \
             device.",
        ),
        error => Refusal::environment(
            format!("A trial write in {shown} failed: {error}."),
            "Check the storage ('dmesg' shows I/O errors).",
        ),
    }
}

/// A new file for direct I/O that has no name, so that nothing is left of it whatever happens.
pub fn unnamed_file(directory: &DirectoryHandle) -> rustix::io::Result<OwnedFd> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let without_name = flags | OFlags::DIRECT | OFlags::TMPFILE;
    let unnamed = rustix::fs::openat(directory, ".", without_name, mode);
    match unnamed {
        // Some file systems have no unnamed files; INVAL from others means no direct I/O, which
        // the second try distinguishes.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
            let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
            let file = rustix::fs::openat(directory, PROBE_NAME, flags, mode)?;
            let removed = directory.remove_file(PROBE_NAME, FileIdentity::of(&file)?);
            removed.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            // Opening a new file for direct I/O may make it and fail then, and nobody would remove it.
            let flags = rustix::fs::fcntl_getfl(&file)? | OFlags::DIRECT;
            rustix::fs::fcntl_setfl(&file, flags)?;
            Ok(file)
        }
        other => other,
    }
}

/// Writes one block past the page cache into an unnamed file.
pub fn probe(directory: &DirectoryHandle) -> rustix::io::Result<()> {
    let file = unnamed_file(directory)?;
    let block = Buffer::zeroed(runtime::buffer::BLOCK_BYTES);
    let mut done = 0;
    while done < block.len() {
        match rustix::io::pwrite(&file, &block[done..], done as u64)? {
            0 => return Err(Errno::IO),
            written => done += written,
        }
    }
    Ok(())
}
