//! The on-board write cache: what has been taken and not yet written. How the drive uses it is in
//! [`super::cached_writes`].

use super::mechanics::Mechanics;
use super::scheduler::{InService, Queue};
use crate::SECTOR_BYTES;
use crate::disk::DiskRequest;

/// Stretches of sectors held at most.
const MOST_STRETCHES: usize = 1_024;

/// What has been taken and not yet written.
#[derive(Debug, Clone)]
pub(super) struct WriteCache {
    capacity_sectors: u64,
    free_sectors: u64,
    /// Stretches to be written, in no command's name.
    pub(super) dirty: Queue,
    /// The stretch that is being written.
    pub(super) emptying: Option<InService>,
    /// When the command ends that waits for the stretch being written.
    pub(super) predicted_end_ns: Option<u64>,
}

impl WriteCache {
    /// A cache of so many bytes; none for fewer than a sector.
    pub(super) fn new(bytes: u64) -> Option<Box<Self>> {
        let capacity_sectors = bytes / SECTOR_BYTES;
        (capacity_sectors > 0).then(|| {
            Box::new(Self {
                capacity_sectors,
                free_sectors: capacity_sectors,
                dirty: Queue::new(MOST_STRETCHES, usize::MAX),
                emptying: None,
                predicted_end_ns: None,
            })
        })
    }

    /// The same cache with nothing in it.
    pub(super) fn unused(&self) -> Option<Box<Self>> {
        Self::new(self.capacity_sectors * SECTOR_BYTES)
    }

    pub(super) fn is_emptying(&self) -> bool {
        self.emptying.is_some()
    }

    /// Takes a write if there is room.
    pub(super) fn take(
        &mut self,
        mechanics: &Mechanics,
        now_ns: u64,
        request: &DiskRequest,
    ) -> bool {
        let sectors = u64::from(request.sectors);
        if self.free_sectors < sectors || self.dirty.len() == MOST_STRETCHES {
            return false;
        }
        self.free_sectors -= sectors;
        self.dirty.push(mechanics, now_ns, *request);
        true
    }

    /// The stretch that has been written by `now_ns`; its room is free again.
    #[inline]
    pub(super) fn end_emptying(&mut self, now_ns: u64) -> Option<InService> {
        let done = self.emptying.take_if(|done| done.finish_ns <= now_ns)?;
        self.free_sectors += u64::from(done.request.sectors);
        Some(done)
    }

    /// The same cache as if nothing were to be written but the stretch being written.
    pub(super) fn emptying_only(&self, stretch: InService) -> Self {
        Self {
            dirty: Queue::new(0, usize::MAX),
            emptying: Some(stretch),
            predicted_end_ns: None,
            ..*self
        }
    }
}
