//! Files that change together.
//!
//! Changes are gathered, and then take place as one: they are written to the file of the last change with a
//! checksum, and only then to their places. A process that is killed between leaves that file, and who opens the
//! files next does it again. A change that was not written as a whole has not begun.
//!
//! This holds for a process that ends in any way, as the kernel has what was written. It does not hold when the
//! machine itself loses power: nothing waits for its disks but [`Files::sync`].

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, SeekFrom};
use rustix::io::Errno;

/// The first bytes of a change: magic number, length and checksum of the rest.
const HEADER_BYTES: usize = 16;
const MAGIC: u32 = 0x5052_4c31;
/// Between two searches for data in a sparse file so much is read at a time.
const PIECE_BYTES: u64 = 128 << 10;
/// The unit of extents.
const BLOCK_BYTES: u64 = 4096;

/// What is done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    Zero { offset: u64, length: u64 },
}

/// Files by number, and what is to change of them.
#[derive(Debug)]
pub(super) struct Files {
    files: Vec<File>,
    last_change: File,
    gathered: Vec<(u32, Change)>,
    /// How many of those are for each file.
    of_file: Vec<u32>,
    frame: Vec<u8>,
}

impl Files {
    /// Takes over files; a change that was written as a whole and may not have taken place takes place now.
    pub(super) fn new(files: Vec<File>, last_change: File) -> io::Result<Self> {
        let mut opened = Self {
            of_file: vec![0; files.len()],
            files,
            last_change,
            gathered: Vec::new(),
            frame: Vec::new(),
        };
        opened.repeat_last()?;
        Ok(opened)
    }

    fn repeat_last(&mut self) -> io::Result<()> {
        let length = self.last_change.metadata()?.len() as usize;
        let mut frame = vec![0; length];
        self.last_change.read_exact_at(&mut frame, 0)?;
        if let Some(changes) = decode(&frame) {
            for (file, change) in changes {
                if let Some(file) = self.files.get(file as usize) {
                    apply(file, &change)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a file has nothing in it.
    pub(super) fn is_empty(&self, file: u32) -> io::Result<bool> {
        Ok(self.files[file as usize].metadata()?.len() == 0)
    }

    /// Whether a stretch may hold something else than zeros: there is data in the file, or a write was gathered.
    pub(super) fn may_hold_data(&self, file: u32, offset: u64, length: u64) -> bool {
        let end = offset.saturating_add(length);
        if next_data(&self.files[file as usize], offset) < end {
            return true;
        }
        self.of_file[file as usize] > 0
            && self.gathered.iter().any(|(of, change)| match change {
                Change::Write { offset: at, bytes } => {
                    *of == file && *at < end && offset < at + bytes.len() as u64
                }
                Change::Zero { .. } => false,
            })
    }

    /// Where a file has data, from and to, in whole blocks and in their order. What is only gathered is not among them.
    pub(super) fn data_extents(&self, file: u32) -> io::Result<Vec<(u64, u64)>> {
        let source = &self.files[file as usize];
        let end = source.metadata()?.len();
        let mut extents: Vec<(u64, u64)> = Vec::new();
        let mut at = next_data(source, 0);
        while at < end {
            let hole = rustix::fs::seek(source, SeekFrom::Hole(at)).unwrap_or(end);
            let (from, to) = (
                at / BLOCK_BYTES * BLOCK_BYTES,
                hole.next_multiple_of(BLOCK_BYTES),
            );
            match extents.last_mut().filter(|(_, before)| *before >= from) {
                Some((_, before)) => *before = to,
                None => extents.push((from, to)),
            }
            at = next_data(source, to);
        }
        Ok(extents)
    }

    /// What a file holds, into bytes that are zero; zeros beyond its end. Holes are not read.
    pub(super) fn read(&self, file: u32, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let source = &self.files[file as usize];
        let end = offset + bytes.len() as u64;
        let mut at = next_data(source, offset);
        while at < end {
            let until = end.min(at + PIECE_BYTES);
            let piece = &mut bytes[(at - offset) as usize..(until - offset) as usize];
            if !read_piece(source, at, piece)? {
                break;
            }
            at = next_data(source, until);
        }
        if self.of_file[file as usize] > 0 {
            self.overlay(file, offset, bytes);
        }
        Ok(())
    }

    fn overlay(&self, file: u32, offset: u64, bytes: &mut [u8]) {
        let end = offset + bytes.len() as u64;
        for (_, change) in self.gathered.iter().filter(|(of, _)| *of == file) {
            let (first, length) = match change {
                Change::Write { offset, bytes } => (*offset, bytes.len() as u64),
                Change::Zero { offset, length } => (*offset, *length),
            };
            let from = first.max(offset);
            let until = first.saturating_add(length).min(end);
            if from >= until {
                continue;
            }
            let part = &mut bytes[(from - offset) as usize..(until - offset) as usize];
            match change {
                Change::Write { bytes: written, .. } => {
                    part.copy_from_slice(&written[(from - first) as usize..][..part.len()]);
                }
                Change::Zero { .. } => part.fill(0),
            }
        }
    }

    /// Gathers a write; what is all zeros takes no room.
    pub(super) fn write(&mut self, file: u32, offset: u64, bytes: &[u8]) {
        if bytes.iter().all(|&byte| byte == 0) {
            self.zero(file, offset, bytes.len() as u64);
            return;
        }
        self.gather(
            file,
            Change::Write {
                offset,
                bytes: bytes.to_vec(),
            },
        );
    }

    /// Gathers that a stretch reads as zeros and takes no room. Where it does already there is nothing to do.
    pub(super) fn zero(&mut self, file: u32, offset: u64, length: u64) {
        if length > 0 && self.may_hold_data(file, offset, length) {
            self.gather(file, Change::Zero { offset, length });
        }
    }

    fn gather(&mut self, file: u32, change: Change) {
        self.of_file[file as usize] += 1;
        self.gathered.push((file, change));
    }

    /// Has everything take place that was gathered.
    pub(super) fn commit(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        encode(&self.gathered, &mut self.frame);
        self.last_change.write_all_at(&self.frame, 0)?;
        for (file, change) in &self.gathered {
            apply(&self.files[*file as usize], change)?;
        }
        self.gathered.clear();
        self.of_file.fill(0);
        Ok(())
    }

    /// Forgets the last change, which has taken place: the files may have other numbers afterwards.
    pub(super) fn forget_last(&self) -> io::Result<()> {
        self.last_change.set_len(0)
    }

    /// Waits until everything is where a loss of power leaves it.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.files.iter().try_for_each(File::sync_all)?;
        self.forget_last()?;
        self.last_change.sync_all()
    }
}

/// Where data begin in a sparse file at or behind `offset`; the largest number where there are none. A file system
/// that does not say it has data everywhere.
fn next_data(file: &File, offset: u64) -> u64 {
    match rustix::fs::seek(file, SeekFrom::Data(offset)) {
        Ok(at) => at.max(offset),
        Err(Errno::NXIO) => u64::MAX,
        Err(_) => offset,
    }
}

/// Reads a piece as a whole, or up to the end of the file: `false` then.
fn read_piece(file: &File, offset: u64, mut piece: &mut [u8]) -> io::Result<bool> {
    let mut at = offset;
    while !piece.is_empty() {
        match file.read_at(piece, at) {
            Ok(0) => return Ok(false),
            Ok(length) => {
                at += length as u64;
                piece = &mut piece[length..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn apply(file: &File, change: &Change) -> io::Result<()> {
    match change {
        Change::Write { offset, bytes } => file.write_all_at(bytes, *offset),
        Change::Zero { offset, length } => zero(file, *offset, *length),
    }
}

fn zero(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let length = length.min(file.metadata()?.len().saturating_sub(offset));
    if length == 0 {
        return Ok(());
    }
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    match rustix::fs::fallocate(file, flags, offset, length) {
        Ok(()) => Ok(()),
        // The file system has no holes.
        Err(Errno::OPNOTSUPP) => write_zeros(file, offset, length),
        Err(error) => Err(error.into()),
    }
}

fn write_zeros(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let zeros = [0; 1 << 16];
    let mut done = 0;
    while done < length {
        let part = (length - done).min(zeros.len() as u64) as usize;
        file.write_all_at(&zeros[..part], offset + done)?;
        done += part as u64;
    }
    Ok(())
}

/// Every change with its file, its kind and two numbers, and then the bytes of a write.
fn encode(changes: &[(u32, Change)], frame: &mut Vec<u8>) {
    frame.clear();
    frame.resize(HEADER_BYTES, 0);
    for (file, change) in changes {
        let (kind, offset, length) = match change {
            Change::Write { offset, bytes } => (0u32, *offset, bytes.len() as u64),
            Change::Zero { offset, length } => (1, *offset, *length),
        };
        frame.extend(file.to_le_bytes());
        frame.extend(kind.to_le_bytes());
        frame.extend(offset.to_le_bytes());
        frame.extend(length.to_le_bytes());
        if let Change::Write { bytes, .. } = change {
            frame.extend(bytes);
        }
    }
    let length = (frame.len() - HEADER_BYTES) as u64;
    let checksum = crc32fast::hash(&frame[HEADER_BYTES..]);
    frame[..4].copy_from_slice(&MAGIC.to_le_bytes());
    frame[4..8].copy_from_slice(&checksum.to_le_bytes());
    frame[8..16].copy_from_slice(&length.to_le_bytes());
}

/// The changes of a frame, if it is there as a whole.
fn decode(frame: &[u8]) -> Option<Vec<(u32, Change)>> {
    let mut rest = frame;
    let magic = u32::from_le_bytes(take(&mut rest)?);
    let checksum = u32::from_le_bytes(take(&mut rest)?);
    let length = usize::try_from(u64::from_le_bytes(take(&mut rest)?)).ok()?;
    let mut rest = rest.get(..length)?;
    if magic != MAGIC || crc32fast::hash(rest) != checksum {
        return None;
    }
    let mut changes = Vec::new();
    while !rest.is_empty() {
        let file = u32::from_le_bytes(take(&mut rest)?);
        let kind = u32::from_le_bytes(take(&mut rest)?);
        let offset = u64::from_le_bytes(take(&mut rest)?);
        let length = u64::from_le_bytes(take(&mut rest)?);
        let change = match kind {
            0 => {
                let (bytes, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                rest = after;
                let bytes = bytes.to_vec();
                Change::Write { offset, bytes }
            }
            _ => Change::Zero { offset, length },
        };
        changes.push((file, change));
    }
    Some(changes)
}

/// The next bytes of a slice.
pub(super) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        let file = || tempfile::tempfile().expect("a file");
        Files::new(vec![file(), file()], file()).expect("files")
    }

    #[test]
    fn what_is_gathered_is_read_and_takes_place_with_the_commit() {
        let mut files = files();
        files.write(0, 4096, &[7; 8192]);
        files.zero(0, 8192, 512);
        files.write(1, 0, &[9; 512]);
        let mut expected = vec![0; 16_384];
        expected[4096..12_288].fill(7);
        expected[8192..8704].fill(0);
        let mut read = vec![0; 16_384];
        files.read(0, 0, &mut read).expect("read");
        assert_eq!(read, expected);
        assert_eq!(files.files[0].metadata().expect("a length").len(), 0);
        files.commit().expect("committed");
        read.fill(0);
        files.read(0, 0, &mut read).expect("read");
        assert_eq!(read, expected);
    }

    #[test]
    fn zeros_where_nothing_was_written_are_no_change() {
        let mut files = files();
        files.files[0].set_len(1 << 30).expect("a sparse file");
        files.write(0, 512 << 20, &[7; 4096]);
        files.zero(0, 0, 256 << 20);
        files.write(0, 768 << 20, &[0; 4096]);
        assert_eq!(files.gathered.len(), 1);
        assert!(files.may_hold_data(0, 0, 1 << 30), "it is gathered");
        files.commit().expect("committed");
        assert!(!files.may_hold_data(0, 0, 256 << 20));
        assert!(files.may_hold_data(0, 0, 1 << 30));
        let mut read = vec![0; 1 << 20];
        let from = (512 << 20) - (1 << 19);
        files.read(0, from, &mut read).expect("read");
        assert_eq!(read.iter().filter(|&&byte| byte == 7).count(), 4096);
        assert_eq!(read[1 << 19..][..4096], [7; 4096]);
        let data = (512 << 20, (512 << 20) + 4096);
        assert_eq!(files.data_extents(0).expect("extents"), [data]);
        files.zero(0, 0, 1 << 30);
        assert_eq!(files.gathered.len(), 1);
        files.commit().expect("committed");
        assert!(!files.may_hold_data(0, 0, 1 << 30));
    }

    #[test]
    fn a_change_that_was_cut_off_takes_place_as_a_whole_or_not_at_all() {
        let mut files = files();
        files.write(0, 0, &[1; 512]);
        files.write(1, 512, &[2; 512]);
        files.commit().expect("committed");
        // As if the process had ended before the second file was written, and before all of the next change was.
        files.files[1].set_len(0).expect("cut off");
        let whole = files.frame.clone();
        let handles = [&files.files[0], &files.files[1]];
        let handles = handles.map(|file| file.try_clone().expect("a handle"));
        let frame = files.last_change.try_clone().expect("a handle");
        let mut again = Files::new(handles.into(), frame).expect("opened");
        let mut read = [0; 512];
        again.read(1, 512, &mut read).expect("read");
        assert_eq!(read, [2; 512]);
        again.write(0, 0, &[3; 512]);
        encode(&again.gathered, &mut again.frame);
        assert_eq!(decode(&again.frame), Some(again.gathered.clone()));
        assert_eq!(decode(&again.frame[..again.frame.len() - 1]), None);
        let mut torn = whole;
        torn[..100].copy_from_slice(&again.frame[..100]);
        assert_eq!(decode(&torn), None);
    }
}
