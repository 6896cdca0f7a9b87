//! A file on a volume.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use runtime::{Buffer, File, IoError, IoFailure, IoOperation, Persistence, SharedBuffer};

use super::model::{FilePayload, VolumeModel};
use super::space::{Disk, Piece};
use super::written::Written;
use crate::{Array, HostError, SECTOR_BYTES};

/// Files own whole blocks of so many sectors (1 MiB), so that they begin on round addresses.
const BLOCK_SECTORS: u64 = (1 << 20) / SECTOR_BYTES;

/// What is known of a file; it lives as long as it is open or has a name.
pub(super) struct Inode<P: FilePayload, M: VolumeModel<P>> {
    pub(super) disk: Rc<Disk<P, M>>,
    pub(super) name: RefCell<String>,
    size_bytes: Cell<u64>,
    pieces: RefCell<Vec<Piece>>,
    /// Kept only where there are contents.
    written: RefCell<Written>,
}

impl<P: FilePayload, M: VolumeModel<P>> Inode<P, M> {
    pub(super) fn new(disk: &Rc<Disk<P, M>>, name: &str) -> Rc<Self> {
        Rc::new(Self {
            disk: Rc::clone(disk),
            name: RefCell::new(name.to_owned()),
            size_bytes: Cell::new(0),
            pieces: RefCell::default(),
            written: RefCell::default(),
        })
    }

    /// Sectors that the file owns.
    fn owned_sectors(&self) -> u64 {
        self.pieces.borrow().iter().map(|piece| piece.sectors).sum()
    }

    /// Makes the file at least so long; the new bytes read as zero.
    pub(super) fn grow(&self, size_bytes: u64) -> Result<(), IoFailure> {
        if size_bytes <= self.size_bytes.get() {
            return Ok(());
        }
        let wanted = size_bytes.div_ceil(SECTOR_BYTES);
        let owned = self.owned_sectors();
        if wanted > owned {
            let missing = (wanted - owned).next_multiple_of(BLOCK_SECTORS);
            let mut pieces = self.pieces.borrow_mut();
            let after = pieces.last().map(|last| last.first_sector + last.sectors);
            let taken = self.disk.space.borrow_mut().take(missing, after);
            for piece in taken.ok_or(IoFailure::OutOfSpace)? {
                match pieces.last_mut() {
                    Some(last) if last.first_sector + last.sectors == piece.first_sector => {
                        last.sectors += piece.sectors;
                    }
                    _ => pieces.push(piece),
                }
            }
        }
        self.size_bytes.set(size_bytes);
        Ok(())
    }

    /// Cuts the file and gives back the blocks beyond.
    fn cut(&self, size_bytes: u64) {
        self.size_bytes.set(size_bytes);
        self.written.borrow_mut().cut(size_bytes);
        let keep = size_bytes
            .div_ceil(SECTOR_BYTES)
            .next_multiple_of(BLOCK_SECTORS);
        let mut surplus = self.owned_sectors().saturating_sub(keep);
        let mut pieces = self.pieces.borrow_mut();
        while surplus > 0 {
            let Some(last) = pieces.last_mut() else {
                return;
            };
            let sectors = surplus.min(last.sectors);
            last.sectors -= sectors;
            surplus -= sectors;
            let first_sector = last.first_sector + last.sectors;
            if last.sectors == 0 {
                pieces.pop();
            }
            self.disk.space.borrow_mut().give(Piece {
                first_sector,
                sectors,
            });
        }
    }

    /// Where the byte at `offset_bytes` lies: sector of the volume, and sectors that follow it there.
    fn place(&self, offset_bytes: u64) -> Option<(u64, u64)> {
        let mut sector = offset_bytes / SECTOR_BYTES;
        for piece in self.pieces.borrow().iter() {
            if sector < piece.sectors {
                return Some((piece.first_sector + sector, piece.sectors - sector));
            }
            sector -= piece.sectors;
        }
        None
    }

    pub(super) fn pieces(&self) -> Vec<Piece> {
        self.pieces.borrow().clone()
    }
}

impl<P: FilePayload, M: VolumeModel<P>> Drop for Inode<P, M> {
    fn drop(&mut self) {
        for &piece in self.pieces.borrow().iter() {
            self.disk.space.borrow_mut().give(piece);
        }
    }
}

/// An open file. Clones share it.
pub struct VolumeFile<P: FilePayload, M: VolumeModel<P> = Array<P>> {
    inode: Rc<Inode<P, M>>,
}

impl<P: FilePayload, M: VolumeModel<P>> Clone for VolumeFile<P, M> {
    fn clone(&self) -> Self {
        Self {
            inode: Rc::clone(&self.inode),
        }
    }
}

impl<P: FilePayload, M: VolumeModel<P>> VolumeFile<P, M> {
    pub(super) fn new(inode: Rc<Inode<P, M>>) -> Self {
        Self { inode }
    }

    fn check(&self, operation: IoOperation, offset: u64, length: u64) -> Result<(), IoError> {
        let whole = offset.is_multiple_of(SECTOR_BYTES) && length.is_multiple_of(SECTOR_BYTES);
        assert!(whole, "requests are whole sectors, not {offset} + {length}");
        if offset + length <= self.inode.size_bytes.get() {
            return Ok(());
        }
        Err(self.error(operation, offset, length, IoFailure::PastEnd))
    }

    /// Reads by size: one request, or one for each piece of the volume the bytes lie in.
    ///
    /// # Errors
    /// If the bytes lie past the end of the file, or the array fails.
    pub async fn read_extent(&self, offset_bytes: u64, length_bytes: u64) -> Result<P, IoError> {
        self.check(IoOperation::Read, offset_bytes, length_bytes)?;
        let whole = self.inode.place(offset_bytes);
        if let Some((first, after)) = whole
            && length_bytes <= after * SECTOR_BYTES
        {
            let sectors = (length_bytes / SECTOR_BYTES) as u32;
            let read = self.inode.disk.volume.read(first, sectors).await;
            return read.map_err(|error| {
                self.failed(IoOperation::Read, offset_bytes, length_bytes, error)
            });
        }
        let mut payload = P::zeroed((length_bytes / SECTOR_BYTES) as u32);
        let (mut offset, end) = (offset_bytes, offset_bytes + length_bytes);
        while offset < end {
            let (first, sectors) = self.next_stretch(offset, end);
            let read = self.inode.disk.volume.read(first, sectors).await;
            let part = read.map_err(|error| {
                self.failed(IoOperation::Read, offset_bytes, length_bytes, error)
            })?;
            payload.overlay(((offset - offset_bytes) / SECTOR_BYTES) as u32, &part);
            offset += u64::from(sectors) * SECTOR_BYTES;
        }
        Ok(payload)
    }

    /// Writes by size; past the end the file grows. As [`VolumeFile::read_extent`].
    ///
    /// # Errors
    /// If the volume is full or the array fails.
    pub async fn write_extent(
        &self,
        offset_bytes: u64,
        length_bytes: u64,
        payload: P,
    ) -> Result<(), IoError> {
        let end = offset_bytes + length_bytes;
        let grown = self.inode.grow(end);
        grown.map_err(|failure| {
            self.error(IoOperation::Write, offset_bytes, length_bytes, failure)
        })?;
        self.check(IoOperation::Write, offset_bytes, length_bytes)?;
        let mut offset = offset_bytes;
        while offset < end {
            let (first, sectors) = self.next_stretch(offset, end);
            let bytes = u64::from(sectors) * SECTOR_BYTES;
            let part = if bytes == length_bytes {
                payload.clone()
            } else {
                payload.part(((offset - offset_bytes) / SECTOR_BYTES) as u32, sectors)
            };
            let written = self.inode.disk.volume.write(first, sectors, part).await;
            written.map_err(|error| {
                self.failed(IoOperation::Write, offset_bytes, length_bytes, error)
            })?;
            offset += bytes;
        }
        if P::CARRIES_BYTES && length_bytes > 0 {
            self.inode.written.borrow_mut().add(offset_bytes, end);
        }
        Ok(())
    }

    /// The longest stretch of the volume that holds the bytes from `offset` on, up to `end`.
    fn next_stretch(&self, offset: u64, end: u64) -> (u64, u32) {
        let Some((first, after)) = self.inode.place(offset) else {
            panic!("byte {offset} lies below the end of the file, so it has a place");
        };
        (first, after.min((end - offset) / SECTOR_BYTES) as u32)
    }

    fn failed(
        &self,
        operation: IoOperation,
        offset: u64,
        length: u64,
        error: HostError,
    ) -> IoError {
        let failure = match error {
            HostError::OutOfRange => IoFailure::PastEnd,
            HostError::PoolFull => IoFailure::OutOfSpace,
            other => IoFailure::Device(other.to_string()),
        };
        self.error(operation, offset, length, failure)
    }

    /// Puts what was read into buffers; bytes that were never written are zero.
    fn fill(&self, offset_bytes: u64, payload: &P, buffers: &mut [Buffer]) {
        let Some(bytes) = payload.as_bytes() else {
            return buffers.iter_mut().for_each(|buffer| buffer.fill(0));
        };
        let mut at = 0;
        let written = self.inode.written.borrow();
        for buffer in buffers {
            let length = buffer.len();
            buffer.copy_from_slice(&bytes[at..at + length]);
            let first = offset_bytes + at as u64;
            written.holes(first, first + length as u64, |from, to| {
                buffer[(from - first) as usize..(to - first) as usize].fill(0);
            });
            at += length;
        }
    }
}

impl<P: FilePayload, M: VolumeModel<P>> File for VolumeFile<P, M> {
    async fn read(&self, offset_bytes: u64, buffer: Buffer) -> (Buffer, Result<(), IoError>) {
        let (mut buffers, result) = self.read_vectored(offset_bytes, vec![buffer]).await;
        let buffer = buffers.pop();
        (
            buffer.unwrap_or_else(|| panic!("the buffer comes back")),
            result,
        )
    }

    async fn read_vectored(
        &self,
        offset_bytes: u64,
        mut buffers: Vec<Buffer>,
    ) -> (Vec<Buffer>, Result<(), IoError>) {
        let length = buffers.iter().map(|buffer| buffer.len() as u64).sum();
        match self.read_extent(offset_bytes, length).await {
            Ok(payload) => {
                self.fill(offset_bytes, &payload, &mut buffers);
                (buffers, Ok(()))
            }
            Err(error) => (buffers, Err(error)),
        }
    }

    async fn write(
        &self,
        offset_bytes: u64,
        buffer: SharedBuffer,
        _persistence: Persistence,
    ) -> Result<(), IoError> {
        let payload = P::gather(std::iter::once(&buffer[..]));
        let length = buffer.len() as u64;
        self.write_extent(offset_bytes, length, payload).await
    }

    async fn write_vectored(
        &self,
        offset_bytes: u64,
        buffers: Vec<SharedBuffer>,
        _persistence: Persistence,
    ) -> Result<(), IoError> {
        let length = buffers.iter().map(|buffer| buffer.len() as u64).sum();
        let payload = P::gather(buffers.iter().map(|buffer| &buffer[..]));
        self.write_extent(offset_bytes, length, payload).await
    }

    async fn read_by_size(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), IoError> {
        let read = self.read_extent(offset_bytes, length_bytes).await;
        read.map(drop)
    }

    async fn write_by_size(
        &self,
        offset_bytes: u64,
        length_bytes: u64,
        _persistence: Persistence,
    ) -> Result<(), IoError> {
        let payload = P::zeroed((length_bytes / SECTOR_BYTES) as u32);
        self.write_extent(offset_bytes, length_bytes, payload).await
    }

    async fn sync(&self) -> Result<(), IoError> {
        let flushed = self.inode.disk.volume.flush().await;
        flushed.map_err(|error| self.failed(IoOperation::Sync, 0, 0, error))
    }

    async fn size_bytes(&self) -> Result<u64, IoError> {
        Ok(self.inode.size_bytes.get())
    }

    async fn set_size_bytes(&self, size_bytes: u64) -> Result<(), IoError> {
        if size_bytes < self.inode.size_bytes.get() {
            self.inode.cut(size_bytes);
            return Ok(());
        }
        let grown = self.inode.grow(size_bytes);
        grown.map_err(|failure| self.error(IoOperation::Resize, 0, size_bytes, failure))
    }

    fn name(&self) -> String {
        self.inode.name.borrow().clone()
    }
}
