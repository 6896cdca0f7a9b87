//! The on-board write cache: a write is done once it is in it, and the mechanism writes it to the
//! medium while no command waits, the nearest first. Drives behind array controllers have it off,
//! since a loss of power loses what is in it; drives in single hosts often have it on.
//!
//! Emptying is not a command: it counts in no counter, and no one is told when it ends. The drive
//! catches up with it when it is called next, and foresees the end of a command that has to wait
//! for it by letting a copy of itself go on.

use super::drive::{HardDisk, InService};
use super::scheduler::Queue;
use crate::SECTOR_BYTES;
use crate::disk::{Disk, DiskRequest};

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
    pub(super) foreseen_ns: Option<u64>,
}

impl WriteCache {
    /// A cache of so many bytes; none for fewer than a sector.
    pub(super) fn new(bytes: u64) -> Option<Box<Self>> {
        let capacity_sectors = bytes / SECTOR_BYTES;
        (capacity_sectors > 0).then(|| {
            Box::new(Self {
                capacity_sectors,
                free_sectors: capacity_sectors,
                dirty: Queue::new(MOST_STRETCHES),
                emptying: None,
                foreseen_ns: None,
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
}

impl HardDisk {
    /// Takes a write into the cache if there is room. A stretch that is written again before it
    /// has reached the medium takes no more room.
    pub(super) fn write_to_cache(&mut self, now_ns: u64, request: &DiskRequest) -> bool {
        if self.write_cache.is_none() {
            return false;
        }
        let end_sector = request.first_sector + u64::from(request.sectors);
        self.cache.invalidate(request.first_sector, end_sector);
        if self.holds_unwritten(request) {
            return true;
        }
        let Some(write_cache) = &mut self.write_cache else {
            return false;
        };
        let sectors = u64::from(request.sectors);
        if write_cache.free_sectors < sectors || write_cache.dirty.len() == MOST_STRETCHES {
            return false;
        }
        write_cache.free_sectors -= sectors;
        write_cache.dirty.push(&self.mechanics, now_ns, *request);
        true
    }

    /// Whether all sectors of a command lie in one stretch that waits to be written.
    pub(super) fn holds_unwritten(&self, request: &DiskRequest) -> bool {
        self.write_cache
            .as_ref()
            .is_some_and(|cache| cache.dirty.holds(request))
    }

    /// Lets the emptying go on until `now_ns`.
    #[inline]
    pub(super) fn catch_up(&mut self, now_ns: u64) {
        while let Some(write_cache) = &mut self.write_cache
            && let Some(done) = write_cache
                .emptying
                .take_if(|done| done.finish_ns <= now_ns)
        {
            write_cache.free_sectors += u64::from(done.request.sectors);
            self.admit(done.finish_ns);
            self.start_next(done.finish_ns);
        }
    }

    /// Takes writes that wait for room, in the order they came, while there is some.
    fn admit(&mut self, now_ns: u64) {
        while let Some(index) = self.queue.first_write() {
            let request = self.queue.request(index);
            if !self.write_to_cache(now_ns, &request) {
                return;
            }
            let waiting = self.queue.take(index);
            self.send_from_buffer(now_ns, waiting.submitted_ns, &request);
        }
    }

    /// Finds out when the next command ends that waits for the stretch being written.
    #[inline]
    pub(super) fn foresee(&mut self) {
        let Some(mut write_cache) = self.write_cache.take() else {
            return;
        };
        write_cache.foreseen_ns = match &write_cache.emptying {
            Some(stretch) if !self.queue.is_empty() => {
                // What else is to be written does not matter: commands come before it.
                let mut future = self.clone();
                future.write_cache = Some(Box::new(WriteCache {
                    dirty: Queue::new(0),
                    emptying: Some(*stretch),
                    foreseen_ns: None,
                    ..*write_cache
                }));
                future.catch_up(stretch.finish_ns);
                future.next_completion_ns()
            }
            _ => None,
        };
        self.write_cache = Some(write_cache);
    }
}
