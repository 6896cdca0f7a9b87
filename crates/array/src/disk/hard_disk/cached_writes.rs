//! The on-board write cache: a write is done once it is in it, and the mechanism writes it to the
//! medium while no command waits, the nearest first. Drives behind array controllers have it off,
//! since a loss of power loses what is in it; drives in single hosts often have it on.
//!
//! Emptying is not a command: it counts in no counter, and its end is not reported. The drive
//! catches up with it when it is called next, and predicts the end of a command that has to wait
//! for it by letting a copy of itself go on.

use super::drive::HardDisk;
use crate::disk::{Disk, DiskRequest};

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
        self.write_cache
            .as_mut()
            .is_some_and(|cache| cache.take(&self.mechanics, now_ns, request))
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
            && let Some(done) = write_cache.end_emptying(now_ns)
        {
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
    pub(super) fn predict_end(&mut self) {
        let Some(mut write_cache) = self.write_cache.take() else {
            return;
        };
        write_cache.predicted_end_ns = match &write_cache.emptying {
            Some(stretch) if !self.queue.is_empty() => {
                // What else is to be written does not matter: commands come before it.
                let mut future = self.clone();
                future.write_cache = Some(Box::new(write_cache.emptying_only(*stretch)));
                future.catch_up(stretch.finish_ns);
                future.next_completion_ns()
            }
            _ => None,
        };
        self.write_cache = Some(write_cache);
    }
}
