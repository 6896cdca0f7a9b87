//! What of an array outlives its process: taken out while it runs, and put into a new one.

use crate::HostOperation;
use crate::disk::Disk;
use crate::io::VolumeExtent;
use crate::kept::{DiskContents, KeptPool, KeptState, Misfit, PageChange};
use crate::payload::Payload;

use super::{Array, Fault};

impl<P: Payload> Array<P> {
    /// Keeps the contents of each disk where `contents_of` says, which gets their numbers in turn, and notes changes for
    /// [`Array::take_changes`]. To be called before anything is written.
    pub fn keep_elsewhere(&mut self, contents_of: impl FnMut(u32) -> Box<dyn DiskContents<P>>) {
        self.storage.keep(contents_of);
    }

    /// The capacity of the disk in each station in turn, sectors.
    pub fn disk_sectors(&self) -> Vec<u64> {
        let stations = self.storage.stations().iter();
        stations
            .map(|station| station.disk().capacity_sectors())
            .collect()
    }

    /// Which disks hold what.
    pub fn kept_state(&self) -> KeptState {
        KeptState {
            disk_group: self.storage.kept_disk_groups(),
            lost: self.lost.runs().collect(),
        }
    }

    /// A number that changes with [`Array::kept_state`], but for sectors that are written again.
    pub fn state_revision(&self) -> u64 {
        self.lost.ever_lost() + self.storage.state_revision()
    }

    /// Where the pages of each pool lie.
    pub fn kept_pools(&self) -> Vec<KeptPool> {
        self.storage.kept_pools()
    }

    /// Appends what has changed of [`Array::kept_pools`] since the last call.
    pub fn take_changes(&mut self, changes: &mut Vec<PageChange>) {
        self.storage.take_changes(changes);
    }

    /// Makes a new array what one was that `state` and `pools` are of. Disk groups and pools that those do not
    /// have stay empty; rebuilds begin again.
    ///
    /// # Errors
    /// They are of an array that is laid out in another way.
    pub fn restore(&mut self, state: &KeptState, pools: &[KeptPool]) -> Result<(), Misfit> {
        self.storage.restore(self.now_ns, state, pools)?;
        for &(volume, first_sector, end_sector) in &state.lost {
            let mut at = first_sector;
            while at < end_sector {
                let sectors = (end_sector - at).min(u64::from(u32::MAX)) as u32;
                self.lost.insert(VolumeExtent {
                    volume,
                    first_sector: at,
                    sectors,
                });
                at += u64::from(sectors);
            }
        }
        Ok(())
    }

    /// When the oldest write came that may not be on the disks yet; `None` if everything is there.
    pub fn oldest_unwritten_ns(&self) -> Option<u64> {
        let writes = self.requests.ids().filter_map(|id| {
            let request = &self.requests[id];
            let changes = matches!(
                request.operation,
                HostOperation::Write | HostOperation::Trim
            );
            (changes && request.is_in_use()).then_some(request.submitted_ns)
        });
        let dirty = self.controllers.iter().filter_map(|controller| {
            let waiting_ns = controller.cache.oldest_waiting_ns();
            let destages = &controller.destaging.destages;
            let under_way_ns = self.operations.oldest_dirty_ns(destages);
            waiting_ns.into_iter().chain(under_way_ns).min()
        });
        writes.chain(dirty).min()
    }

    /// Repairs controllers and batteries at once, so that everything in their caches can go to the disks.
    pub fn repair_controllers(&mut self, now_ns: u64) {
        for number in 0..self.controllers.len() as u32 {
            self.fault(now_ns, Fault::RestoreController(number));
            if !self.controllers[number as usize]
                .availability
                .battery_works()
            {
                self.fault(now_ns, Fault::RestoreCacheBattery(number));
            }
        }
    }
}
