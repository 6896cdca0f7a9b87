//! A directory of a file system, with direct I/O.

use super::error::{OpenError, failure_of};
use super::file::HostFile;
use super::require_reactor;
use crate::buffer::BLOCK_BYTES;
use crate::executor::Handle;
use crate::file::{Directory, IoError, IoFailure, IoOperation};
use crate::uring::{Descriptor, InFlight, Memory, Operation, Reactor};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

const FILE_FLAGS: OFlags = OFlags::RDWR.union(OFlags::DIRECT).union(OFlags::CLOEXEC);

/// A directory of a file system that does direct I/O.
#[derive(Clone)]
pub struct HostDirectory {
    reactor: Rc<Reactor>,
    descriptor: Rc<Descriptor>,
    path: Rc<PathBuf>,
}

impl HostDirectory {
    /// Opens a directory that exists. `handle` must belong to a wall-clock runtime.
    ///
    /// # Errors
    /// If it cannot be opened, or its file system refuses direct I/O (only a file of no name is
    /// made to find out, and only if the directory is writable).
    pub fn open(handle: &Handle, path: &Path) -> Result<Self, OpenError> {
        let reactor = require_reactor(handle);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOTDIR) => return Err(OpenError::NotADirectory(path.to_owned())),
            Err(errno) => return Err(OpenError::system(path, errno)),
        };
        probe_direct_io(&fd, path)?;
        let path = std::fs::canonicalize(path).map_err(|error| OpenError::system(path, error))?;
        Ok(Self {
            descriptor: Rc::new(Descriptor::unregistered(Rc::clone(&reactor), fd)),
            reactor,
            path: Rc::new(path),
        })
    }

    /// Absolute path of the directory, without symbolic links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, operation: IoOperation, name: &str, failure: IoFailure) -> IoError {
        IoError {
            operation,
            file: self.path.join(name).display().to_string(),
            offset_bytes: 0,
            length_bytes: 0,
            failure,
        }
    }

    fn open_file(&self, name: &str, flags: OFlags) -> Result<HostFile, IoFailure> {
        if name.contains('/') {
            return Err(IoFailure::NotFound); // Directories are flat.
        }
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let fd = rustix::fs::openat(self.descriptor.fd(), name, FILE_FLAGS | flags, mode);
        let fd = fd.map_err(|errno| match errno {
            Errno::INVAL => IoFailure::NoDirectIo,
            errno => failure_of(errno),
        })?;
        let descriptor = Descriptor::registered(Rc::clone(&self.reactor), fd);
        Ok(HostFile::new(descriptor, &self.path.join(name), None))
    }

    async fn request(&self, operation: Operation, memory: Memory) -> Result<(), IoFailure> {
        let in_flight = InFlight {
            descriptor: Rc::clone(&self.descriptor),
            memory,
        };
        let (_, result) = self.reactor.request(in_flight, operation, 0).await;
        match result {
            0.. => Ok(()),
            errno => Err(failure_of(Errno::from_raw_os_error(-errno))),
        }
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
    let wanted = StatxFlags::DIOALIGN;
    let Ok(status) = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, wanted) else {
        return Ok(()); // Unknown to the kernel; the first requests show it.
    };
    if status.stx_mask & wanted.bits() == 0 {
        return Ok(());
    }
    let unit_bytes = status.stx_dio_mem_align.max(status.stx_dio_offset_align);
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

fn c_name(name: &str) -> Result<CString, IoFailure> {
    CString::new(name).map_err(|_| IoFailure::NotFound) // No file has a zero byte in its name.
}

impl Directory for HostDirectory {
    type File = HostFile;

    async fn create(&self, name: &str) -> Result<HostFile, IoError> {
        self.open_file(name, OFlags::CREATE | OFlags::EXCL)
            .map_err(|failure| self.error(IoOperation::Create, name, failure))
    }

    async fn open(&self, name: &str) -> Result<HostFile, IoError> {
        self.open_file(name, OFlags::empty())
            .map_err(|failure| self.error(IoOperation::Open, name, failure))
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        let error = |failure| self.error(IoOperation::Rename, from, failure);
        let names = Memory::Names(c_name(from).map_err(error)?, c_name(to).map_err(error)?);
        self.request(Operation::Rename, names).await.map_err(error)
    }

    async fn remove(&self, name: &str) -> Result<(), IoError> {
        let error = |failure| self.error(IoOperation::Remove, name, failure);
        let names = Memory::Names(c_name(name).map_err(error)?, CString::default());
        self.request(Operation::Remove, names).await.map_err(error)
    }

    async fn list(&self) -> Result<Vec<String>, IoError> {
        let list = || -> std::io::Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in std::fs::read_dir(&*self.path)? {
                let entry = entry?;
                if !entry.file_type()?.is_dir() {
                    names.push(entry.file_name().to_string_lossy().into_owned());
                }
            }
            names.sort();
            Ok(names)
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
