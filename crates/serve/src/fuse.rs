//! The volumes as files of a directory, through FUSE.
//!
//! The files are opened for direct I/O, so that no page cache answers in place of the array, whatever the
//! programs ask for. A request that is not of whole sectors is widened; a write that is not reads what is around
//! it first, as a file system above would.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use array::payload::Bytes;
use array::{HostError, HostOperation, SECTOR_BYTES};
use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request,
    WriteFlags,
};

use crate::client::Client;
use crate::covering::Covering;
use crate::mounted::Mounted;
use crate::volume::ServedVolume;
use crate::zeros::{Zeros, ZerosError};

/// How long the kernel may remember names and attributes, which never change.
const REMEMBERED_FOR: Duration = Duration::from_secs(3600);
/// Requests that the kernel may have under way at a time.
const MOST_UNDER_WAY: u16 = 1024;
/// Threads that take requests from the kernel.
const THREADS: usize = 2;
/// The number of the first file; the directory has number 1.
const FIRST_FILE: u64 = 2;
/// Modes of fallocate(2): the stretch reads as zeros, and the file keeps its size.
const KEEP_SIZE: i32 = 1;
const PUNCH_HOLE: i32 = 2;
const ZERO_RANGE: i32 = 16;
const KNOWN_MODES: i32 = KEEP_SIZE | PUNCH_HOLE | ZERO_RANGE;
/// The block size that files name.
const BLOCK_BYTES: u32 = 4096;

/// Why the volumes are not mounted.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The system has refused it.
    #[error("the volumes cannot be mounted at {path}: {error}")]
    System {
        /// The mount point.
        path: std::path::PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Shows the volumes as files in the empty directory `at`.
///
/// # Errors
/// The system refuses it.
pub fn mount(client: Client, volumes: Vec<ServedVolume>, at: &Path) -> Result<Mounted, MountError> {
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("proofload".to_owned()),
        MountOption::Subtype("proofload".to_owned()),
        MountOption::DefaultPermissions,
    ];
    config.n_threads = Some(THREADS);
    config.clone_fd = true;
    let files = VolumeFiles::new(client, volumes);
    let session = fuser::spawn_mount(files, at, &config);
    let mounted = session.and_then(|session| Mounted::new(session, at));
    mounted.map_err(|error| MountError::System {
        path: at.to_owned(),
        error,
    })
}

struct VolumeFiles {
    client: Client,
    volumes: Vec<ServedVolume>,
    owner: (u32, u32),
    since: SystemTime,
}

impl VolumeFiles {
    fn new(client: Client, volumes: Vec<ServedVolume>) -> Self {
        Self {
            client,
            volumes,
            owner: (
                rustix::process::getuid().as_raw(),
                rustix::process::getgid().as_raw(),
            ),
            since: SystemTime::now(),
        }
    }

    fn volume(&self, file: INodeNo) -> Option<&ServedVolume> {
        self.volumes.get(file.0.checked_sub(FIRST_FILE)? as usize)
    }

    fn attributes(&self, file: INodeNo) -> Option<FileAttr> {
        let (kind, perm, nlink, size) = match self.volume(file) {
            Some(volume) => (FileType::RegularFile, 0o600, 1, volume.size_bytes),
            None if file == INodeNo::ROOT => (FileType::Directory, 0o700, 2, 0),
            None => return None,
        };
        Some(FileAttr {
            ino: file,
            size,
            blocks: size / SECTOR_BYTES,
            atime: self.since,
            mtime: self.since,
            ctime: self.since,
            crtime: self.since,
            kind,
            perm,
            nlink,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: BLOCK_BYTES,
            flags: 0,
        })
    }
}

/// What programs see of an error.
fn errno(error: HostError) -> Errno {
    match error {
        HostError::PoolFull => Errno::ENOSPC,
        HostError::NoSuchVolume | HostError::OutOfRange => Errno::EINVAL,
        HostError::NoPath
        | HostError::GroupFailed
        | HostError::Unreadable
        | HostError::DataLost => Errno::EIO,
    }
}

impl Filesystem for VolumeFiles {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // What an old kernel does not have makes it slower, and nothing else.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_background(MOST_UNDER_WAY);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let mut names = self.volumes.iter().map(|volume| volume.name.as_str());
        let place = names.position(|one| OsStr::new(one) == name);
        let place = place.filter(|_| parent == INodeNo::ROOT);
        let attributes =
            place.and_then(|place| self.attributes(INodeNo(FIRST_FILE + place as u64)));
        match attributes {
            Some(attributes) => reply.entry(&REMEMBERED_FOR, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, file: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(file) {
            Some(attributes) => reply.attr(&REMEMBERED_FOR, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, file: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.volume(file) {
            Some(_) => reply.opened(
                FileHandle(self.client.power_cuts()),
                FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
            ),
            None => reply.error(Errno::EISDIR),
        }
    }

    fn read(
        &self,
        _: &Request,
        file: INodeNo,
        opened: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(volume) = self.volume(file) else {
            return reply.error(Errno::EISDIR);
        };
        let length = volume
            .size_bytes
            .saturating_sub(offset)
            .min(u64::from(size)) as u32;
        if length == 0 {
            return reply.data(&[]);
        }
        let covering = Covering::of(offset, length);
        let answer = move |end: Result<Bytes, HostError>| match end {
            Ok(bytes) => {
                reply.data(&bytes.as_slice()[covering.skipped_bytes..][..length as usize]);
            }
            Err(error) => reply.error(errno(error)),
        };
        self.client.opened_at(opened.0).submit(
            volume.id,
            HostOperation::Read,
            covering.extent(),
            Bytes::default(),
            Box::new(answer),
        );
    }

    fn write(
        &self,
        _: &Request,
        file: INodeNo,
        opened: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let Some(volume) = self.volume(file) else {
            return reply.error(Errno::EISDIR);
        };
        let room = volume.size_bytes.saturating_sub(offset);
        let length = room.min(data.len() as u64) as u32;
        if length == 0 {
            return match data.is_empty() {
                true => reply.written(0),
                false => reply.error(Errno::ENOSPC),
            };
        }
        let data = &data[..length as usize];
        let covering = Covering::of(offset, length);
        if !covering.is_exact(length) {
            let client = self.client.opened_at(opened.0);
            return match client.write_unaligned(volume, offset, data) {
                Ok(()) => reply.written(length),
                Err(error) => reply.error(errno(error)),
            };
        }
        let answer = move |end: Result<Bytes, HostError>| match end {
            Ok(_) => reply.written(length),
            Err(error) => reply.error(errno(error)),
        };
        self.client.opened_at(opened.0).submit(
            volume.id,
            HostOperation::Write,
            covering.extent(),
            Bytes::new(data.to_vec()),
            Box::new(answer),
        );
    }

    /// Closing a file makes nothing durable, as it does not on a disk.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, file: INodeNo, opened: FileHandle, _: bool, reply: ReplyEmpty) {
        let Some(volume) = self.volume(file) else {
            return reply.ok();
        };
        let answer = move |end: Result<Bytes, HostError>| match end {
            Ok(_) => reply.ok(),
            Err(error) => reply.error(errno(error)),
        };
        self.client.opened_at(opened.0).submit(
            volume.id,
            HostOperation::Flush,
            (0, 0),
            Bytes::default(),
            Box::new(answer),
        );
    }

    /// Gives back the space of a stretch, which reads as zeros afterwards.
    fn fallocate(
        &self,
        _: &Request,
        file: INodeNo,
        opened: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let Some(volume) = self.volume(file) else {
            return reply.error(Errno::EISDIR);
        };
        let gives_back = mode & (PUNCH_HOLE | ZERO_RANGE) != 0 && mode & !KNOWN_MODES == 0;
        if volume.trim_bytes.is_none() || !gives_back {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let length = length.min(volume.size_bytes.saturating_sub(offset));
        let answer = move |end: Result<(), ZerosError>| match end {
            Ok(()) => reply.ok(),
            Err(ZerosError::NotByPages) => reply.error(Errno::EOPNOTSUPP),
            Err(ZerosError::Array(error)) => reply.error(errno(error)),
        };
        let client = self.client.opened_at(opened.0);
        client.write_zeros(volume, (offset, length), Zeros::Anyhow, Box::new(answer));
    }

    fn readdir(
        &self,
        _: &Request,
        directory: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if directory != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let dots = [".", ".."].map(|name| (INodeNo::ROOT, FileType::Directory, name));
        let files = (FIRST_FILE..).zip(&self.volumes);
        let files =
            files.map(|(file, volume)| (INodeNo(file), FileType::RegularFile, &*volume.name));
        let entries = (1..).zip(dots.into_iter().chain(files));
        for (next, (file, kind, name)) in entries.skip(offset as usize) {
            if reply.add(file, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let bytes: u64 = self.volumes.iter().map(|volume| volume.size_bytes).sum();
        let blocks = bytes / u64::from(BLOCK_BYTES);
        let files = self.volumes.len() as u64 + 1;
        // A loop device takes the first for the unit in which space is given back.
        let units = self.volumes.iter().filter_map(|volume| volume.trim_bytes);
        let unit = units.max().and_then(|bytes| u32::try_from(bytes).ok());
        let unit = unit.unwrap_or(BLOCK_BYTES);
        reply.statfs(blocks, 0, 0, files, 0, unit, 255, BLOCK_BYTES);
    }
}
