//! A whole block device as one file.

use super::directory::require_units;
use super::error::OpenError;
use super::file::HostFile;
use super::holder::Holder;
use super::identity::FileIdentity;
use super::request_file::RequestFile;
use super::require_reactor;
use crate::buffer::BLOCK_BYTES;
use crate::executor::Handle;
use crate::wall_clock::Descriptor;
use rustix::fs::{FileType, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

impl HostFile {
    /// Opens a block device for this process alone. Its size is that of the device, in whole
    /// blocks, and cannot be changed. Nothing is written. `handle` must belong to a wall-clock
    /// runtime.
    ///
    /// # Errors
    /// If the path is not a block device, if the device is mounted or held by something else, or if
    /// its logical blocks are larger than 4096 bytes.
    pub fn open_device(handle: &Handle, path: &Path) -> Result<Self, OpenError> {
        let (fd, device_bytes) = open_alone(path, OFlags::RDWR)?;
        let file = RequestFile::for_writing(fd, None);
        let descriptor = Descriptor::registered(require_reactor(handle), file);
        Ok(Self::new(descriptor, path, Some(device_bytes)))
    }

    /// The same for a device that is only read; the kernel may hold it read-only.
    ///
    /// # Errors
    /// As [`HostFile::open_device`].
    pub fn open_device_for_reading(handle: &Handle, path: &Path) -> Result<Self, OpenError> {
        let (fd, device_bytes) = open_alone(path, OFlags::RDONLY)?;
        let file = RequestFile::for_reading(fd, None);
        let descriptor = Descriptor::registered(require_reactor(handle), file);
        Ok(Self::new(descriptor, path, Some(device_bytes)))
    }
}

/// Opens a block device that nobody else holds; its size in whole blocks.
fn open_alone(path: &Path, how: OFlags) -> Result<(OwnedFd, u64), OpenError> {
    let status = rustix::fs::stat(path).map_err(|errno| OpenError::system(path, errno))?;
    if FileType::from_raw_mode(status.st_mode) != FileType::BlockDevice {
        return Err(OpenError::NotADevice(path.to_owned()));
    }
    // For a block device EXCL without CREATE means: only if nobody else in the kernel holds it.
    let flags = how | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::EXCL;
    let fd = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::BUSY) => {
            let holder = Holder::of_lock(FileIdentity::from_status(&status));
            return Err(holder.map_or_else(
                || OpenError::Busy(path.to_owned()),
                |holder| OpenError::InUse(path.to_owned(), holder),
            ));
        }
        Err(errno) => return Err(OpenError::system(path, errno)),
    };
    let unit_bytes =
        rustix::fs::ioctl_blksszget(&fd).map_err(|errno| OpenError::system(path, errno))?;
    if unit_bytes as usize > BLOCK_BYTES {
        return Err(OpenError::UnitTooLarge {
            path: path.to_owned(),
            unit_bytes,
        });
    }
    require_units(&fd, path)?;
    let device_bytes =
        rustix::fs::seek(&fd, SeekFrom::End(0)).map_err(|errno| OpenError::system(path, errno))?;
    Ok((fd, device_bytes - device_bytes % BLOCK_BYTES as u64))
}
