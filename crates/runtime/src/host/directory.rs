//! A directory of a file system, with direct I/O.

use super::error::{OpenError, failure_of};
use super::file::HostFile;
use super::handle::{DirectoryHandle, EntryKind};
use super::identity::{CreatedFiles, FileIdentity};
use super::lock::{FileLock, LockError, LockKind};
use super::request_file::RequestFile;
use super::request_lock::{REQUESTS_PAUSE, REQUESTS_WAIT_MAX};
use super::require_reactor;
use crate::buffer::BLOCK_BYTES;
use crate::executor::Handle;
use crate::file::{Directory, IoError, IoFailure, IoOperation};
use crate::thread::pause;
use crate::wall_clock::{Descriptor, InFlight, Memory, Operation, Reactor};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, StatxFlags};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

const FILE_FLAGS: OFlags = OFlags::RDWR.union(OFlags::DIRECT).union(OFlags::CLOEXEC);
const READ_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECT).union(OFlags::CLOEXEC);

/// A directory of a file system that does direct I/O. Its files are locked while they are open: for
/// this process alone, or, in a directory that is only read, against those who write. Before a
/// file is opened for writing, the requests of a process that has ended are waited for.
#[derive(Clone)]
pub struct HostDirectory {
    reactor: Rc<Reactor>,
    descriptor: Rc<Descriptor>,
    handle: Rc<DirectoryHandle>,
    path: Rc<PathBuf>,
    is_read_only: bool,
    created: Arc<CreatedFiles>,
}

impl HostDirectory {
    /// Opens a directory that exists. `handle` must belong to a wall-clock runtime.
    ///
    /// # Errors
    /// If it cannot be opened, or its file system refuses direct I/O (only a file of no name is
    /// made to find out, and only if the directory is writable).
    pub fn open(handle: &Handle, path: &Path) -> Result<Self, OpenError> {
        Self::at(handle, open_handle(path)?, Arc::default())
    }

    /// The same for files that are only read, which others may read at the same time.
    ///
    /// # Errors
    /// As [`HostDirectory::open`].
    pub fn open_for_reading(handle: &Handle, path: &Path) -> Result<Self, OpenError> {
        let directory = Self::at(handle, open_handle(path)?, Arc::default())?;
        Ok(Self {
            is_read_only: true,
            ..directory
        })
    }

    /// Uses a directory that is held open already, whatever its path leads to by now. Files that
    /// are made in it are noted in `created`.
    ///
    /// # Errors
    /// As [`HostDirectory::open`].
    pub fn at(
        handle: &Handle,
        directory: DirectoryHandle,
        created: Arc<CreatedFiles>,
    ) -> Result<Self, OpenError> {
        let reactor = require_reactor(handle);
        let path = directory.path();
        let system = |error| OpenError::system(directory.path(), error);
        let fd = directory.as_fd().try_clone_to_owned().map_err(system)?;
        probe_direct_io(&fd, path)?;
        // The kernel knows the path without links, also after a change.
        let shown = path_of(directory.as_fd()).unwrap_or_else(|| path.to_owned());
        Ok(Self {
            descriptor: Rc::new(Descriptor::unregistered(Rc::clone(&reactor), fd)),
            reactor,
            path: Rc::new(shown),
            handle: Rc::new(directory),
            is_read_only: false,
            created,
        })
    }

    /// Absolute path of the directory, without symbolic links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, operation: IoOperation, name: &str, failure: IoFailure) -> IoError {
        let failure = match failure {
            IoFailure::NotFound if self.handle.is_removed() => IoFailure::Removed,
            failure => failure,
        };
        IoError {
            operation,
            file: self.path.join(name).display().to_string(),
            offset_bytes: 0,
            length_bytes: 0,
            failure,
        }
    }

    async fn open_file(&self, name: &str) -> Result<HostFile, IoFailure> {
        require_flat(name)?;
        if self.is_read_only {
            let for_lock = self.open_regular(name, OFlags::RDONLY)?;
            let lock = usable(FileLock::take(for_lock, LockKind::Shared).map(Arc::new))?;
            let file = self.open_descriptor(name, READ_FLAGS)?;
            return self.host_file(name, file, lock);
        }
        let lock = self.lock(name).await?;
        let file = self.open_descriptor(name, FILE_FLAGS | OFlags::NOFOLLOW)?;
        self.host_file(name, file, lock)
    }

    async fn create_file(&self, name: &str) -> Result<HostFile, IoFailure> {
        require_flat(name)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = self.open_descriptor(name, FILE_FLAGS | flags)?;
        let identity = FileIdentity::of(&file).map_err(failure_of)?;
        self.created.add(identity);
        let lock = self.lock(name).await?;
        self.host_file(name, file, lock)
    }

    /// Forgets the file of this name, which is about to go, so that a file of somebody else which gets its
    /// number is not taken for it. To be called before it goes: a file of ours may get the number at once.
    fn forget(&self, name: &str) -> Option<FileIdentity> {
        let identity = self.handle.identity_of(name).ok().flatten()?;
        self.created.forget(identity).then_some(identity)
    }

    fn remember_unless(&self, is_gone: bool, file: Option<FileIdentity>) {
        if let Some(identity) = file.filter(|_| !is_gone) {
            self.created.add(identity);
        }
    }

    fn open_descriptor(&self, name: &str, flags: OFlags) -> Result<OwnedFd, IoFailure> {
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let opened = rustix::fs::openat(self.descriptor.fd(), name, flags, mode);
        opened.map_err(|errno| match errno {
            Errno::INVAL => IoFailure::NoDirectIo,
            Errno::ISDIR => IoFailure::NotOwn(
                "it is a directory; move it away and put the file in its place".to_owned(),
            ),
            Errno::LOOP => IoFailure::NotOwn(
                "it is a symbolic link, which is not followed; put the file itself in its place"
                    .to_owned(),
            ),
            errno => failure_of(errno),
        })
    }

    /// Opens a regular file, without waiting if it turns out to be something else, such as a pipe. What is no
    /// file has no direct I/O either, so this is asked before.
    fn open_regular(&self, name: &str, flags: OFlags) -> Result<OwnedFd, IoFailure> {
        let file = self.open_descriptor(name, flags | OFlags::CLOEXEC | OFlags::NONBLOCK)?;
        self.require_own(&file)?;
        Ok(file)
    }

    fn require_own(&self, file: &OwnedFd) -> Result<(), IoFailure> {
        match self.is_read_only {
            true => regular_file(file).map(|_| ()),
            false => require_own(file),
        }
    }

    /// Locks a file for this process, and waits until no requests of a killed one are under way; `None`
    /// where its file system has no locks.
    async fn lock(&self, name: &str) -> Result<Option<Arc<FileLock>>, IoFailure> {
        let for_lock = self.open_regular(name, OFlags::RDWR | OFlags::NOFOLLOW)?;
        let lock = usable(FileLock::take_for_process(&for_lock))?;
        let begun = Instant::now();
        while lock
            .as_ref()
            .is_some_and(|lock| lock.has_requests_of_others())
        {
            if begun.elapsed() >= REQUESTS_WAIT_MAX {
                let text = "requests of a process that has ended are still under way on it";
                return Err(IoFailure::InUse(text.to_owned()));
            }
            pause(REQUESTS_PAUSE).await;
        }
        Ok(lock)
    }

    /// An open file with its lock, which must be on the same file.
    fn host_file(
        &self,
        name: &str,
        file: OwnedFd,
        lock: Option<Arc<FileLock>>,
    ) -> Result<HostFile, IoFailure> {
        self.require_own(&file)?;
        let identity = FileIdentity::of(&file).map_err(failure_of)?;
        if lock
            .as_ref()
            .is_some_and(|lock| lock.identity() != identity)
        {
            let text = "it was replaced by another file while it was opened";
            return Err(IoFailure::NotOwn(text.to_owned()));
        }
        let file = match self.is_read_only {
            true => RequestFile::for_reading(file, lock),
            false => RequestFile::for_writing(file, lock),
        };
        let descriptor = Descriptor::registered(Rc::clone(&self.reactor), file);
        Ok(HostFile::new(descriptor, &self.path.join(name), None))
    }

    async fn request(&self, operation: Operation, memory: Memory) -> Result<(), IoFailure> {
        let in_flight = InFlight::new(Rc::clone(&self.descriptor), memory);
        let (_, result) = self.reactor.request(in_flight, operation, 0).await;
        match result {
            0.. => Ok(()),
            errno => Err(failure_of(Errno::from_raw_os_error(-errno))),
        }
    }
}

fn open_handle(path: &Path) -> Result<DirectoryHandle, OpenError> {
    DirectoryHandle::open(path).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NOTDIR) => OpenError::NotADirectory(path.to_owned()),
        _ => OpenError::system(path, error),
    })
}

/// Refuses what is no regular file, and a file with a second name: whoever has linked it here may want to
/// keep what is in it. To be asked before a file is written.
///
/// # Errors
/// [`IoFailure::NotOwn`], or the file system does not answer.
pub fn require_own(file: impl AsFd) -> Result<(), IoFailure> {
    if regular_file(file)?.st_nlink > 1 {
        let text = "it is a hard link to a file that has another name, too, so it is not written; \
                    put a copy in its place, or remove it";
        return Err(IoFailure::NotOwn(text.to_owned()));
    }
    Ok(())
}

/// The status of what must be a regular file.
fn regular_file(file: impl AsFd) -> Result<Stat, IoFailure> {
    let status = rustix::fs::fstat(file).map_err(failure_of)?;
    match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => Ok(status),
        kind => Err(IoFailure::NotOwn(format!(
            "it is {}, not a regular file; remove it or name another",
            name_of(kind)
        ))),
    }
}

/// What a file of another kind is, in words.
fn name_of(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::BlockDevice => "a block device",
        FileType::CharacterDevice => "a character device",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "of an unknown kind",
    }
}

/// Where an open directory is by now, without symbolic links.
fn path_of(directory: BorrowedFd<'_>) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).ok()
}

/// A lock, or none where the file system has none.
fn usable(taken: Result<Arc<FileLock>, LockError>) -> Result<Option<Arc<FileLock>>, IoFailure> {
    match taken {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Unsupported) => Ok(None),
        Err(error @ LockError::InUse(_)) => Err(IoFailure::InUse(error.to_string())),
        Err(LockError::System(errno)) => Err(failure_of(errno)),
    }
}

/// Directories are flat.
fn require_flat(name: &str) -> Result<(), IoFailure> {
    match name.contains('/') {
        true => Err(IoFailure::NotFound),
        false => Ok(()),
    }
}

/// Finds out whether files in a directory can be opened for direct I/O in our units.
fn probe_direct_io(directory: &OwnedFd, path: &Path) -> Result<(), OpenError> {
    let flags = FILE_FLAGS | OFlags::TMPFILE;
    match rustix::fs::openat(directory, ".", flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => require_units(&file, path),
        Err(Errno::INVAL) => Err(OpenError::NoDirectIo(path.to_owned())),
        // Not writable, or no nameless files here: then opening the first file shows it.
        Err(_) => Ok(()),
    }
}

/// Fails if a file or device wants its requests aligned to more than a block.
pub(super) fn require_units(file: impl AsFd, path: &Path) -> Result<(), OpenError> {
    // Where the kernel does not know it the first requests show it.
    let Some(unit_bytes) = direct_unit_bytes(file) else {
        return Ok(());
    };
    if unit_bytes == 0 {
        return Err(OpenError::NoDirectIo(path.to_owned()));
    }
    if unit_bytes as usize > BLOCK_BYTES {
        return Err(OpenError::UnitTooLarge {
            path: path.to_owned(),
            unit_bytes,
        });
    }
    Ok(())
}

/// What direct requests to a file or device must be aligned to, in bytes; 0 where there are none, and `None`
/// where the kernel does not say (before Linux 6.1, and some file systems).
pub fn direct_unit_bytes(file: impl AsFd) -> Option<u32> {
    let wanted = StatxFlags::DIOALIGN;
    let status = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, wanted).ok()?;
    let is_known = status.stx_mask & wanted.bits() != 0;
    is_known.then_some(status.stx_dio_mem_align.max(status.stx_dio_offset_align))
}

fn c_name(name: &str) -> Result<CString, IoFailure> {
    CString::new(name).map_err(|_| IoFailure::NotFound) // No file has a zero byte in its name.
}

impl Directory for HostDirectory {
    type File = HostFile;

    async fn create(&self, name: &str) -> Result<HostFile, IoError> {
        let created = self.create_file(name).await;
        created.map_err(|failure| self.error(IoOperation::Create, name, failure))
    }

    async fn open(&self, name: &str) -> Result<HostFile, IoError> {
        let opened = self.open_file(name).await;
        opened.map_err(|failure| self.error(IoOperation::Open, name, failure))
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        let error = |failure| self.error(IoOperation::Rename, from, failure);
        let names = Memory::Names(c_name(from).map_err(error)?, c_name(to).map_err(error)?);
        let replaced = self.forget(to);
        let renamed = self.request(Operation::Rename, names).await;
        self.remember_unless(renamed.is_ok(), replaced);
        renamed.map_err(error)
    }

    async fn remove(&self, name: &str) -> Result<(), IoError> {
        let error = |failure| self.error(IoOperation::Remove, name, failure);
        let names = Memory::Names(c_name(name).map_err(error)?, CString::default());
        let gone = self.forget(name);
        let removed = self.request(Operation::Remove, names).await;
        self.remember_unless(removed.is_ok(), gone);
        removed.map_err(error)
    }

    async fn list(&self) -> Result<Vec<String>, IoError> {
        let list = || -> std::io::Result<Vec<String>> {
            let entries = self.handle.entries()?.into_iter();
            let files = entries.filter(|entry| entry.kind != EntryKind::Directory);
            let name = |path: PathBuf| path.to_string_lossy().into_owned();
            Ok(files.map(|entry| name(entry.name)).collect())
        };
        list().map_err(|error| {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
            self.error(IoOperation::List, "", failure_of(errno))
        })
    }

    async fn sync(&self) -> Result<(), IoError> {
        let operation = Operation::Sync { names: true };
        let result = self.request(operation, Memory::None).await;
        result.map_err(|failure| self.error(IoOperation::Sync, "", failure))
    }

    fn describe(&self) -> String {
        self.path.display().to_string()
    }
}
