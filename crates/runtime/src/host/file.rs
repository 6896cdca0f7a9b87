//! A real file or block device, read and written past the page cache.

use super::error::failure_of;
use crate::buffer::{Buffer, SECTOR_BYTES, SharedBuffer, require_blocks};
use crate::file::{File, IoError, IoFailure, IoOperation, Persistence};
use crate::wall_clock::{Descriptor, InFlight, Memory, Operation, Vectors};
use rustix::io::Errno;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How often in a row the kernel may ask to try again before that counts as a failure.
const RETRIES_MAX: u32 = 1000;

/// An open file or device. Clones share it; it is closed when the last clone and the last request
/// are gone.
#[derive(Clone)]
pub struct HostFile {
    descriptor: Rc<Descriptor>,
    opened_as: Rc<PathBuf>,
    /// The size of a block device, which never changes; `None` for a file.
    device_bytes: Option<u64>,
}

impl HostFile {
    pub(super) fn new(descriptor: Descriptor, path: &Path, device_bytes: Option<u64>) -> Self {
        Self {
            descriptor: Rc::new(descriptor),
            opened_as: Rc::new(path.to_owned()),
            device_bytes,
        }
    }

    /// Whether this is a block device.
    #[must_use]
    pub fn is_device(&self) -> bool {
        self.device_bytes.is_some()
    }

    /// As [`File::read`], at a multiple of [`SECTOR_BYTES`] into a buffer of [`Buffer::of_sectors`]; for
    /// storage that takes direct requests so small ([`super::direct_unit_bytes`]).
    ///
    /// # Panics
    /// If `offset_bytes` is no multiple of [`SECTOR_BYTES`].
    pub async fn read_sectors(
        &self,
        offset_bytes: u64,
        buffer: Buffer,
    ) -> (Buffer, Result<(), IoError>) {
        assert!(
            offset_bytes.is_multiple_of(SECTOR_BYTES as u64),
            "offsets are whole sectors, not {offset_bytes} bytes"
        );
        self.read_buffer(offset_bytes, buffer).await
    }

    async fn read_buffer(
        &self,
        offset_bytes: u64,
        buffer: Buffer,
    ) -> (Buffer, Result<(), IoError>) {
        match self.read_memory(offset_bytes, Memory::Read(buffer)).await {
            (Memory::Read(buffer), result) => (buffer, result),
            _ => unreachable!("a request gives back what it was given"),
        }
    }

    /// Moves all bytes of `memory`, in one request if the kernel does not split it.
    async fn transfer(
        &self,
        operation: Operation,
        memory: Memory,
    ) -> (Memory, Result<(), IoFailure>) {
        let total = memory.length_bytes();
        let (mut done, mut retries) = (0, 0);
        let mut in_flight = InFlight::new(Rc::clone(&self.descriptor), memory);
        loop {
            let result;
            let reactor = Rc::clone(self.descriptor.reactor());
            (in_flight, result) = reactor.request(in_flight, operation, done).await;
            match usize::try_from(result) {
                Ok(moved) => {
                    done += moved;
                    if done == total {
                        return (in_flight.memory, Ok(()));
                    }
                    // Only the end of a file ends a request within a sector.
                    if moved == 0 || !moved.is_multiple_of(512) {
                        return (in_flight.memory, Err(IoFailure::PastEnd));
                    }
                }
                Err(_) => {
                    let errno = Errno::from_raw_os_error(-result);
                    let passes = matches!(errno, Errno::AGAIN | Errno::INTR);
                    retries += 1;
                    if !passes || retries > RETRIES_MAX {
                        return (in_flight.memory, Err(failure_of(errno)));
                    }
                }
            }
        }
    }

    async fn read_memory(
        &self,
        offset_bytes: u64,
        memory: Memory,
    ) -> (Memory, Result<(), IoError>) {
        let length_bytes = memory.length_bytes() as u64;
        let operation = Operation::Read { offset_bytes };
        let (memory, result) = self.transfer(operation, memory).await;
        let result = result
            .map_err(|failure| self.error(IoOperation::Read, offset_bytes, length_bytes, failure));
        (memory, result)
    }

    async fn write_memory(
        &self,
        offset_bytes: u64,
        memory: Memory,
        persistence: Persistence,
    ) -> Result<(), IoError> {
        require_blocks(offset_bytes);
        let length_bytes = memory.length_bytes() as u64;
        let operation = Operation::Write {
            offset_bytes,
            persistence,
        };
        let (_, result) = self.transfer(operation, memory).await;
        result.map_err(|failure| {
            // A write that moves nothing has come to the end of a device.
            let failure = match failure {
                IoFailure::PastEnd => IoFailure::OutOfSpace,
                other => other,
            };
            self.error(IoOperation::Write, offset_bytes, length_bytes, failure)
        })
    }

    fn current_size_bytes(&self) -> Result<u64, Errno> {
        match self.device_bytes {
            Some(device_bytes) => Ok(device_bytes),
            None => Ok(rustix::fs::fstat(self.descriptor.fd())?.st_size as u64),
        }
    }

    async fn resize(&self, size_bytes: u64) -> Result<(), IoFailure> {
        let old_bytes = self.current_size_bytes().map_err(failure_of)?;
        if self.is_device() {
            return if size_bytes <= old_bytes {
                Ok(())
            } else {
                Err(IoFailure::OutOfSpace)
            };
        }
        if size_bytes <= old_bytes {
            return rustix::fs::ftruncate(self.descriptor.fd(), size_bytes).map_err(failure_of);
        }
        let operation = Operation::Allocate {
            offset_bytes: old_bytes,
            length_bytes: size_bytes - old_bytes,
        };
        let (_, result) = self.transfer(operation, Memory::None).await;
        if result == Err(failure_of(Errno::OPNOTSUPP)) {
            // Some network file systems cannot reserve space; there the file grows with a hole.
            return rustix::fs::ftruncate(self.descriptor.fd(), size_bytes).map_err(failure_of);
        }
        if result.is_err() {
            // Part of the space may have been added to the file; the caller got none of it.
            rustix::fs::ftruncate(self.descriptor.fd(), old_bytes).map_err(failure_of)?;
        }
        result
    }
}

impl File for HostFile {
    async fn read(&self, offset_bytes: u64, buffer: Buffer) -> (Buffer, Result<(), IoError>) {
        require_blocks(offset_bytes);
        self.read_buffer(offset_bytes, buffer).await
    }

    async fn read_vectored(
        &self,
        offset_bytes: u64,
        buffers: Vec<Buffer>,
    ) -> (Vec<Buffer>, Result<(), IoError>) {
        require_blocks(offset_bytes);
        let memory = Memory::ReadMany(buffers, Vectors::default());
        match self.read_memory(offset_bytes, memory).await {
            (Memory::ReadMany(buffers, _), result) => (buffers, result),
            _ => unreachable!("a request gives back what it was given"),
        }
    }

    async fn write(
        &self,
        offset_bytes: u64,
        buffer: SharedBuffer,
        persistence: Persistence,
    ) -> Result<(), IoError> {
        let memory = Memory::Write(buffer);
        self.write_memory(offset_bytes, memory, persistence).await
    }

    async fn write_vectored(
        &self,
        offset_bytes: u64,
        buffers: Vec<SharedBuffer>,
        persistence: Persistence,
    ) -> Result<(), IoError> {
        let memory = Memory::WriteMany(buffers, Vectors::default());
        self.write_memory(offset_bytes, memory, persistence).await
    }

    async fn sync(&self) -> Result<(), IoError> {
        let operation = Operation::Sync { names: false };
        let (_, result) = self.transfer(operation, Memory::None).await;
        result.map_err(|failure| self.error(IoOperation::Sync, 0, 0, failure))
    }

    async fn size_bytes(&self) -> Result<u64, IoError> {
        self.current_size_bytes()
            .map_err(|errno| self.error(IoOperation::Open, 0, 0, failure_of(errno)))
    }

    /// Grows or cuts the file. Space for new bytes is reserved, so that a full disk is found now
    /// and not when they are written.
    async fn set_size_bytes(&self, size_bytes: u64) -> Result<(), IoError> {
        require_blocks(size_bytes);
        let result = self.resize(size_bytes).await;
        result.map_err(|failure| self.error(IoOperation::Resize, size_bytes, 0, failure))
    }

    fn name(&self) -> String {
        // The file may have been renamed since it was opened; the kernel knows.
        let link = format!("/proc/self/fd/{}", self.descriptor.fd().as_raw_fd());
        let path = std::fs::read_link(link);
        path.map_or_else(
            |_| self.opened_as.display().to_string(),
            |path| path.display().to_string(),
        )
    }
}
