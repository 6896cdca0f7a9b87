//! Reads and writes that the controllers have at the back end.

use std::ops::{Index, IndexMut};

use crate::controller::Ticket;
use crate::group::GroupError;
use crate::host::HostError;
use crate::io::VolumeExtent;
use crate::payload::Payload;
use crate::pool::{PoolCompletion, PoolError};
use crate::slab::Slab;

use super::Array;

/// What an operation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Fills cache lines, a host request, or both.
    Fill,
    /// Brings the dirty lines of a unit to disk.
    Destage,
    /// Brings a host's write to disk.
    WriteThrough,
}

/// A host request that waits for a part of what a fill brings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiter {
    pub ticket: Ticket,
    pub extent: VolumeExtent,
}

/// A read or write at the back end.
#[derive(Debug)]
pub(super) struct Operation {
    pub purpose: Purpose,
    pub controller: usize,
    /// What it reads or writes; of a destage only the volume matters.
    pub extent: VolumeExtent,
    /// Lines a fill has pinned or a destage carries.
    pub lines: Vec<u32>,
    /// Host requests that wait for it.
    pub waiters: Vec<Waiter>,
    /// The unit a destage is for, as the dirty units know it.
    pub unit: u32,
    /// Since when the oldest of what a destage carries was dirty.
    pub dirty_since_ns: u64,
    /// Whether another write or a trim overlapped a write-through: which of them the disks hold in
    /// the end is not known.
    pub overlapped: bool,
}

impl Default for Operation {
    fn default() -> Self {
        Self {
            purpose: Purpose::Fill,
            controller: 0,
            extent: VolumeExtent {
                volume: 0,
                first_sector: 0,
                sectors: 0,
            },
            lines: Vec::new(),
            waiters: Vec::new(),
            unit: 0,
            dirty_since_ns: 0,
            overlapped: false,
        }
    }
}

/// All operations, indexed by their number.
#[derive(Debug)]
pub(super) struct Operations {
    entries: Slab<Operation>,
}

impl Index<u32> for Operations {
    type Output = Operation;

    #[inline]
    fn index(&self, id: u32) -> &Operation {
        &self.entries[id]
    }
}

impl IndexMut<u32> for Operations {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Operation {
        &mut self.entries[id]
    }
}

impl Operations {
    pub fn new() -> Self {
        Self {
            entries: Slab::new(),
        }
    }

    fn begin(&mut self, purpose: Purpose, controller: usize, extent: VolumeExtent) -> u32 {
        let id = self.entries.take();
        let operation = &mut self.entries[id];
        operation.purpose = purpose;
        operation.controller = controller;
        operation.extent = extent;
        operation.lines.clear();
        operation.waiters.clear();
        operation.overlapped = false;
        id
    }

    fn end(&mut self, id: u32) {
        self.entries.release(id);
    }

    /// Marks those of some write-throughs that overlap an extent; says whether there are any.
    pub fn mark_overlapped(&mut self, write_throughs: &[u32], extent: VolumeExtent) -> bool {
        let mut any = false;
        for &id in write_throughs {
            let other = &mut self.entries[id];
            if other.extent.overlaps(extent) {
                other.overlapped = true;
                any = true;
            }
        }
        any
    }

    /// Since when the oldest of what some destages carry was dirty.
    pub fn oldest_dirty_ns(&self, destages: &[u32]) -> Option<u64> {
        let ages = destages.iter().map(|&id| self.entries[id].dirty_since_ns);
        ages.min()
    }

    /// Operations at the back end that have not ended.
    pub fn in_flight(&self) -> usize {
        self.entries.in_use()
    }
}

impl<P: Payload> Array<P> {
    /// Begins an operation, and gives its number.
    pub(super) fn begin(
        &mut self,
        purpose: Purpose,
        controller: usize,
        extent: VolumeExtent,
    ) -> u32 {
        self.controllers[controller].load.begin_operation();
        self.volumes[extent.volume].operations += 1;
        self.operations.begin(purpose, controller, extent)
    }

    /// Hands on what has become possible without time passing, until nothing more has.
    pub(super) fn settle(&mut self, now_ns: u64) {
        loop {
            let mut quiet = true;
            self.storage.hand_to_pools(now_ns);
            for pool in self.storage.pool_numbers() {
                while let Some(completion) = self.storage.pop_done(pool) {
                    self.operation_done(now_ns, &completion);
                    quiet = false;
                }
            }
            if let Some(volume) = self.volumes.pop_movable() {
                self.continue_move(now_ns, volume);
                quiet = false;
            }
            if let Some(server) = self.controllers.pop_woken() {
                self.wake_clean(now_ns, server);
                self.wake_flushes(now_ns, server);
                self.wake_writers(now_ns, server);
                quiet = false;
            }
            if quiet {
                return;
            }
        }
    }

    fn operation_done(&mut self, now_ns: u64, completion: &PoolCompletion<P>) {
        let id = completion.owner_id;
        let operation = &self.operations[id];
        let (controller, volume) = (operation.controller, operation.extent.volume);
        self.controllers[controller].load.end_operation();
        self.volumes[volume].operations -= 1;
        let error = completion.result.err().map(host_error);
        match operation.purpose {
            Purpose::Fill => self.filled(now_ns, id, error, &completion.payload),
            Purpose::Destage => self.destaged(now_ns, id, error),
            Purpose::WriteThrough => self.written_through(now_ns, id, error),
        }
        self.operations.end(id);
        self.volumes.note_progress(volume);
        if self.controllers[controller].load.operations() == 0 {
            self.back_end_is_quiet(now_ns, controller);
        }
    }
}

fn host_error(error: PoolError) -> HostError {
    match error {
        PoolError::Full => HostError::PoolFull,
        PoolError::Group(GroupError::Unreadable { .. }) => HostError::Unreadable,
        PoolError::Group(_) => HostError::GroupFailed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_that_meet_are_marked() {
        let mut operations = Operations::new();
        let extent = |first_sector, sectors| VolumeExtent {
            volume: 1,
            first_sector,
            sectors,
        };
        let first = operations.begin(Purpose::WriteThrough, 0, extent(0, 8));
        let second = operations.begin(Purpose::WriteThrough, 0, extent(8, 8));
        assert!(operations.mark_overlapped(&[first, second], extent(7, 1)));
        assert!(operations[first].overlapped && !operations[second].overlapped);
        assert!(!operations.mark_overlapped(&[first, second], extent(16, 1)));
        operations.end(first);
        assert_eq!(operations.in_flight(), 1);
        let again = operations.begin(Purpose::Fill, 0, extent(0, 8));
        assert!(!operations[again].overlapped);
    }
}
