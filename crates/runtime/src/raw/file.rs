//! A file on a device.

use super::entry::Entry;
use super::inode::{Inode, RunningClaim};
use super::space::cut;
use super::table::Table;
use super::transfer::{read_across, split, write_across};
use crate::buffer::{Buffer, SharedBuffer, require_blocks};
use crate::file::{File, IoError, IoFailure, IoOperation, Persistence};
use std::rc::Rc;

/// Zeroes written in one request where a write leaves a gap behind the written part.
const GAP_BYTES: usize = 1 << 20;

/// An open file of a [`super::RawDirectory`]. It stays usable after it was removed or replaced.
pub struct RawFile<F: File> {
    table: Rc<Table<F>>,
    inode: Rc<Inode>,
}

impl<F: File> Clone for RawFile<F> {
    fn clone(&self) -> Self {
        Self {
            table: Rc::clone(&self.table),
            inode: Rc::clone(&self.inode),
        }
    }
}

impl<F: File> RawFile<F> {
    pub(super) fn new(table: Rc<Table<F>>, inode: Rc<Inode>) -> Self {
        Self { table, inode }
    }

    /// The places on the device of a range of the file, in order.
    fn places(&self, offset_bytes: u64, length_bytes: u64) -> Vec<(u64, u64)> {
        let unit_bytes = self.table.label.allocation_bytes;
        let start_bytes = self.table.label.data_start_bytes();
        let entry = self.inode.entry.borrow();
        split(&entry.extents, unit_bytes, offset_bytes, length_bytes)
            .into_iter()
            .map(|(place, length)| (start_bytes + place, length))
            .collect()
    }

    async fn read_from_device(
        &self,
        offset_bytes: u64,
        mut buffers: Vec<Buffer>,
    ) -> (Vec<Buffer>, Result<(), IoFailure>) {
        require_blocks(offset_bytes);
        let length_bytes = total_bytes(&buffers);
        let end_bytes = offset_bytes + length_bytes;
        let request = self.inode.begin_request().await;
        if end_bytes > self.inode.entry.borrow().size_bytes {
            request.finish();
            return (buffers, Err(IoFailure::PastEnd));
        }
        let is_whole = |inode: &Inode| !inode.claims.borrow().overlaps(offset_bytes, end_bytes);
        self.inode.until(is_whole).await;
        let written_bytes = self.inode.claims.borrow().claimed_bytes();
        let mut result = Ok(());
        if offset_bytes < written_bytes {
            let places = self.places(offset_bytes, length_bytes);
            (buffers, result) = read_across(&self.table.device, &places, buffers).await;
        }
        request.finish();
        // What was never written reads as zero, whatever is on the device.
        let mut at_bytes = offset_bytes;
        for buffer in &mut buffers {
            let written = written_bytes.saturating_sub(at_bytes) as usize;
            let written = written.min(buffer.len());
            buffer[written..].fill(0);
            at_bytes += buffer.len() as u64;
        }
        (buffers, result)
    }

    async fn write_to_device(
        &self,
        offset_bytes: u64,
        buffers: Vec<SharedBuffer>,
        persistence: Persistence,
    ) -> Result<(), IoFailure> {
        require_blocks(offset_bytes);
        let length_bytes: u64 = buffers.iter().map(|buffer| buffer.len() as u64).sum();
        let end_bytes = offset_bytes + length_bytes;
        if end_bytes > self.inode.entry.borrow().size_bytes {
            self.grow(end_bytes).await?;
        }
        let request = self.inode.begin_request().await;
        if end_bytes > self.inode.entry.borrow().size_bytes {
            request.finish();
            return Err(IoFailure::PastEnd); // Somebody has cut the file meanwhile.
        }
        let claim = RunningClaim::begin(&self.inode, offset_bytes, end_bytes).await;
        let gap = claim.as_ref().map(RunningClaim::start_bytes);
        let gap = gap.filter(|gap_bytes| *gap_bytes < offset_bytes);
        if let Some(gap_bytes) = gap {
            self.write_zeroes(gap_bytes, offset_bytes).await?;
        }
        let places = self.places(offset_bytes, length_bytes);
        let device = &self.table.device;
        let result = write_across(device, &places, buffers, persistence).await;
        request.finish();
        result?;
        if let Some(claim) = claim {
            if gap.is_some() || persistence == Persistence::Volatile {
                self.inode.claims.borrow_mut().needs_flush = true;
            }
            claim.finish();
        }
        if persistence == Persistence::Durable {
            self.record_written(end_bytes).await?;
        }
        Ok(())
    }

    async fn write_zeroes(&self, start_bytes: u64, end_bytes: u64) -> Result<(), IoFailure> {
        let mut at_bytes = start_bytes;
        while at_bytes < end_bytes {
            let length_bytes = (end_bytes - at_bytes).min(GAP_BYTES as u64);
            let zeroes = Rc::new(Buffer::zeroed(length_bytes as usize));
            let places = self.places(at_bytes, length_bytes);
            let device = &self.table.device;
            write_across(device, &places, vec![zeroes], Persistence::Volatile).await?;
            at_bytes += length_bytes;
        }
        Ok(())
    }

    /// Sees to it that the table knows the file to be written up to `end_bytes`.
    async fn record_written(&self, end_bytes: u64) -> Result<(), IoFailure> {
        let inode = &*self.inode;
        if inode.claims.borrow().recorded_bytes >= end_bytes {
            return Ok(());
        }
        let is_written = |inode: &Inode| {
            let claims = inode.claims.borrow();
            claims.failed || claims.finished_bytes() >= end_bytes.min(claims.claimed_bytes())
        };
        inode.until(is_written).await;
        let _change = self.table.change.acquire().await;
        let (written_bytes, needs_flush) = {
            let mut claims = inode.claims.borrow_mut();
            if claims.failed {
                let text = "an earlier write behind the written part of the file failed";
                return Err(IoFailure::Device(text.into()));
            }
            if claims.recorded_bytes >= end_bytes.min(claims.claimed_bytes()) {
                return Ok(()); // Somebody else has done it while we waited.
            }
            let written_bytes = claims.finished_bytes();
            (written_bytes, std::mem::take(&mut claims.needs_flush))
        };
        if needs_flush && let Err(error) = self.table.device.sync().await {
            inode.claims.borrow_mut().needs_flush = true;
            return Err(error.failure);
        }
        let entry = Entry {
            initialised_bytes: written_bytes,
            ..inode.entry.borrow().clone()
        };
        let result = self.table.record(inode, entry).await;
        result.map_err(|error| error.failure)?;
        inode.claims.borrow_mut().recorded_bytes = written_bytes;
        Ok(())
    }

    /// Makes the file at least `size_bytes` long.
    async fn grow(&self, size_bytes: u64) -> Result<(), IoFailure> {
        let _change = self.table.change.acquire().await;
        let old = self.inode.entry.borrow().clone();
        if size_bytes <= old.size_bytes {
            return Ok(());
        }
        let held_units: u64 = old.extents.iter().map(|extent| extent.units).sum();
        let needed_units = size_bytes.div_ceil(self.table.label.allocation_bytes);
        let mut extents = old.extents.clone();
        if needed_units > held_units {
            let missing_units = needed_units - held_units;
            // Files that grow by small steps in turn get larger pieces the larger they are, so that
            // the number of pieces stays small.
            let generous_units = missing_units.max(held_units / 8);
            let mut space = self.table.space.borrow_mut();
            extents = space
                .extend(&extents, generous_units)
                .or_else(|| space.extend(&extents, missing_units))
                .ok_or(IoFailure::OutOfSpace)?;
        }
        let entry = Entry {
            size_bytes,
            extents,
            ..old
        };
        let result = self.table.record(&self.inode, entry).await;
        result.map_err(|error| {
            // The line may be on the device all the same; giving the space back now could give it
            // to two files. Opening the device again finds out who has it.
            self.inode.abandon_space();
            error.failure
        })
    }

    async fn shrink(&self, size_bytes: u64) -> Result<(), IoFailure> {
        let _change = self.table.change.acquire().await;
        let _cutting = self.inode.begin_cutting().await;
        let old = self.inode.entry.borrow().clone();
        let kept_units = size_bytes.div_ceil(self.table.label.allocation_bytes);
        let (extents, cut_off) = cut(&old.extents, kept_units);
        let entry = Entry {
            size_bytes,
            initialised_bytes: old.initialised_bytes.min(size_bytes),
            extents,
            ..old
        };
        let result = self.table.record(&self.inode, entry).await;
        result.map_err(|error| error.failure)?;
        self.inode.claims.borrow_mut().cut(size_bytes);
        if self.inode.may_release_space() {
            let mut space = self.table.space.borrow_mut();
            cut_off.into_iter().for_each(|extent| space.release(extent));
        }
        Ok(())
    }
}

fn total_bytes(buffers: &[Buffer]) -> u64 {
    buffers.iter().map(|buffer| buffer.len() as u64).sum()
}

impl<F: File> File for RawFile<F> {
    async fn read(&self, offset_bytes: u64, buffer: Buffer) -> (Buffer, Result<(), IoError>) {
        let (mut buffers, result) = self.read_vectored(offset_bytes, vec![buffer]).await;
        let buffer = buffers.pop().expect("a read gives back what it was given");
        (buffer, result)
    }

    async fn read_vectored(
        &self,
        offset_bytes: u64,
        buffers: Vec<Buffer>,
    ) -> (Vec<Buffer>, Result<(), IoError>) {
        let length_bytes = total_bytes(&buffers);
        let (buffers, result) = self.read_from_device(offset_bytes, buffers).await;
        let result = result
            .map_err(|failure| self.error(IoOperation::Read, offset_bytes, length_bytes, failure));
        (buffers, result)
    }

    async fn write(
        &self,
        offset_bytes: u64,
        buffer: SharedBuffer,
        persistence: Persistence,
    ) -> Result<(), IoError> {
        self.write_vectored(offset_bytes, vec![buffer], persistence)
            .await
    }

    async fn write_vectored(
        &self,
        offset_bytes: u64,
        buffers: Vec<SharedBuffer>,
        persistence: Persistence,
    ) -> Result<(), IoError> {
        let length_bytes = buffers.iter().map(|buffer| buffer.len() as u64).sum();
        let result = self
            .write_to_device(offset_bytes, buffers, persistence)
            .await;
        result
            .map_err(|failure| self.error(IoOperation::Write, offset_bytes, length_bytes, failure))
    }

    async fn sync(&self) -> Result<(), IoError> {
        let error = |failure| self.error(IoOperation::Sync, 0, 0, failure);
        let flushed = self.table.device.sync().await;
        flushed.map_err(|lower| error(lower.failure))?;
        let written_bytes = self.inode.claims.borrow().claimed_bytes();
        self.record_written(written_bytes).await.map_err(error)
    }

    async fn size_bytes(&self) -> Result<u64, IoError> {
        Ok(self.inode.entry.borrow().size_bytes)
    }

    async fn set_size_bytes(&self, size_bytes: u64) -> Result<(), IoError> {
        require_blocks(size_bytes);
        let result = if size_bytes > self.inode.entry.borrow().size_bytes {
            self.grow(size_bytes).await
        } else {
            self.shrink(size_bytes).await
        };
        result.map_err(|failure| self.error(IoOperation::Resize, size_bytes, 0, failure))
    }

    fn name(&self) -> String {
        let device = self.table.device.name();
        format!("{device}:{}", self.inode.entry.borrow().name)
    }
}
