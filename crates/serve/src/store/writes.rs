//! Writes of hosts that the disks may lack: what the data cache of the array holds.
//!
//! Each is appended before it is answered, to the newest of a few files. A file is removed once everything
//! that was written up to its end is on the disks.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use array::payload::Bytes;
use array::{HostOperation, HostRequest, SECTOR_BYTES, VolumeId};

use super::files::take;

/// A file is followed by the next one from this size on.
const FILE_BYTES: u64 = 32 << 20;
const PREFIX: &str = "writes-";
/// Volume, operation, sectors, first sector, checksum.
const HEADER_BYTES: usize = 24;
const WRITE: u16 = 1;
const TRIM: u16 = 2;
/// The array has dropped what it had not brought to the disks of a volume.
const DROPPED: u16 = 3;

/// The files.
#[derive(Debug)]
pub(super) struct Writes {
    directory: PathBuf,
    number: u64,
    file: File,
    file_bytes: u64,
    appended: Vec<u8>,
    /// Files that are full, and when they were.
    full: VecDeque<(u64, u64)>,
}

impl Writes {
    /// Begins a file behind those in `directory`, which stay.
    pub(super) fn begin(directory: &Path) -> io::Result<Self> {
        let number = numbers(directory)?.last().map_or(1, |last| last + 1);
        Ok(Self {
            file: File::create_new(path_of(directory, number))?,
            directory: directory.to_owned(),
            number,
            file_bytes: 0,
            appended: Vec::new(),
            full: VecDeque::new(),
        })
    }

    /// Appends a write or a trim; [`Writes::flush`] writes it.
    pub(super) fn append(&mut self, request: &HostRequest<Bytes>) {
        let (operation, bytes) = match request.operation {
            HostOperation::Write => (WRITE, request.payload.as_slice()),
            HostOperation::Trim => (TRIM, [].as_slice()),
            HostOperation::Read | HostOperation::Flush => return,
        };
        let stretch = (request.first_sector, request.sectors);
        self.encode(request.volume.0, operation, stretch, bytes);
    }

    /// Appends that the array has lost the writes to a volume that it had not brought to the disks.
    pub(super) fn append_dropped(&mut self, volume: u16) {
        self.encode(volume, DROPPED, (0, 0), &[]);
    }

    fn encode(
        &mut self,
        volume: u16,
        operation: u16,
        (first_sector, sectors): (u64, u32),
        bytes: &[u8],
    ) {
        let begin = self.appended.len();
        self.appended.extend(volume.to_le_bytes());
        self.appended.extend(operation.to_le_bytes());
        self.appended.extend(sectors.to_le_bytes());
        self.appended.extend(first_sector.to_le_bytes());
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&self.appended[begin..]);
        checksum.update(bytes);
        let checksum = u64::from(checksum.finalize());
        self.appended.extend(checksum.to_le_bytes());
        self.appended.extend(bytes);
    }

    /// Writes what was appended.
    pub(super) fn flush(&mut self, now_ns: u64) -> io::Result<()> {
        if self.appended.is_empty() {
            return Ok(());
        }
        self.file.write_all_at(&self.appended, self.file_bytes)?;
        self.file_bytes += self.appended.len() as u64;
        self.appended.clear();
        if self.file_bytes >= FILE_BYTES {
            self.full.push_back((self.number, now_ns));
            self.number += 1;
            self.file = File::create_new(path_of(&self.directory, self.number))?;
            self.file_bytes = 0;
        }
        Ok(())
    }

    /// Removes what was written before `oldest_ns`, from when on the disks may lack something; `None` if they lack
    /// nothing.
    pub(super) fn forget(&mut self, oldest_ns: Option<u64>) -> io::Result<()> {
        let oldest_ns = oldest_ns.unwrap_or(u64::MAX);
        while let Some(&(number, full_ns)) = self.full.front()
            && full_ns < oldest_ns
        {
            fs::remove_file(path_of(&self.directory, number))?;
            self.full.pop_front();
        }
        if oldest_ns == u64::MAX && self.file_bytes > 0 && self.appended.is_empty() {
            self.file.set_len(0)?;
            self.file_bytes = 0;
        }
        Ok(())
    }
}

/// The writes and trims in the files of a directory, in their order, and the files.
pub(super) fn kept_writes(directory: &Path) -> io::Result<(Vec<HostRequest<Bytes>>, Vec<PathBuf>)> {
    let mut requests = Vec::new();
    let mut paths = Vec::new();
    for number in numbers(directory)? {
        let path = path_of(directory, number);
        let bytes = fs::read(&path)?;
        let mut rest = bytes.as_slice();
        while let Some(record) = decode(&mut rest) {
            match record {
                Record::Request(request) => requests.push(request),
                Record::Dropped(volume) => requests.retain(|request| request.volume != volume),
            }
        }
        paths.push(path);
    }
    Ok((requests, paths))
}

/// What is in the files.
enum Record {
    Request(HostRequest<Bytes>),
    Dropped(VolumeId),
}

/// The next record; `None` at the end, or where the file was cut off.
fn decode(rest: &mut &[u8]) -> Option<Record> {
    let header = rest.get(..HEADER_BYTES)?;
    let mut fields = *rest;
    let volume = u16::from_le_bytes(take(&mut fields)?);
    let operation = u16::from_le_bytes(take(&mut fields)?);
    let sectors = u32::from_le_bytes(take(&mut fields)?);
    let first_sector = u64::from_le_bytes(take(&mut fields)?);
    let kept = u64::from_le_bytes(take(&mut fields)?);
    let length = match operation {
        WRITE => sectors as usize * SECTOR_BYTES as usize,
        TRIM | DROPPED => 0,
        _ => return None,
    };
    let (bytes, after) = fields.split_at_checked(length)?;
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&header[..HEADER_BYTES - 8]);
    checksum.update(bytes);
    if u64::from(checksum.finalize()) != kept {
        return None;
    }
    *rest = after;
    let volume = VolumeId(volume);
    let (operation, payload) = match operation {
        WRITE => (HostOperation::Write, Bytes::new(bytes.to_vec())),
        TRIM => (HostOperation::Trim, Bytes::default()),
        _ => return Some(Record::Dropped(volume)),
    };
    Some(Record::Request(HostRequest {
        tag: 0,
        volume,
        operation,
        first_sector,
        sectors,
        payload,
    }))
}

fn path_of(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{PREFIX}{number:08}"))
}

/// The numbers of the files of a directory, in order.
fn numbers(directory: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(first_sector: u64, sectors: u32, byte: u8) -> HostRequest<Bytes> {
        HostRequest {
            tag: 0,
            volume: VolumeId(3),
            operation: HostOperation::Write,
            first_sector,
            sectors,
            payload: Bytes::new(vec![byte; sectors as usize * 512]),
        }
    }

    #[test]
    fn writes_come_back_in_their_order_until_the_disks_have_them() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut writes = Writes::begin(directory.path()).expect("begun");
        for number in 0..40 {
            writes.append(&write(number * 2048, 2048, number as u8));
            writes.flush(number).expect("written");
        }
        let (kept, paths) = kept_writes(directory.path()).expect("read");
        assert_eq!((kept.len(), paths.len()), (40, 2));
        let places = kept.iter().map(|request| request.first_sector / 2048);
        assert!(places.eq(0..40));
        assert_eq!(kept[7].payload, write(0, 2048, 7).payload);
        // The first file is full at 31; what is older than that is on the disks.
        writes.forget(Some(31)).expect("nothing to remove");
        assert_eq!(kept_writes(directory.path()).expect("read").0.len(), 40);
        writes.forget(Some(32)).expect("removed");
        assert_eq!(kept_writes(directory.path()).expect("read").0.len(), 8);
        // What the array dropped does not come back.
        writes.append_dropped(4);
        writes.flush(41).expect("written");
        assert_eq!(kept_writes(directory.path()).expect("read").0.len(), 8);
        // What was cut off is not there.
        let last = &kept_writes(directory.path()).expect("read").1[0];
        let file = File::options().write(true).open(last).expect("the file");
        let length = file.metadata().expect("its length").len();
        file.set_len(length - 25).expect("cut off");
        assert_eq!(kept_writes(directory.path()).expect("read").0.len(), 7);
        writes.forget(None).expect("removed");
        assert_eq!(kept_writes(directory.path()).expect("read").0.len(), 0);
    }
}
