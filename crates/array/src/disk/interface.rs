//! The interface of a disk: what the array may ask of it, and what no disk is asked or made for.

use enum_dispatch::enum_dispatch;

use super::{DiskCompletion, DiskCounters, DiskRequest};
use crate::SECTOR_BYTES;

/// No disk is larger than this. It keeps every address and product in the models within range.
pub const MAX_CAPACITY_BYTES: u64 = 1_000_000_000_000_000;

/// A disk. It knows how long things take; what is stored on it is kept by its station.
///
/// The driver calls [`Disk::complete`] exactly at [`Disk::next_completion_ns`]. That time may move
/// earlier after a [`Disk::submit`], never after a `complete` other than by the request completed
/// leaving. Times handed in never run backwards.
#[enum_dispatch]
pub trait Disk {
    /// Sectors that can be addressed.
    fn capacity_sectors(&self) -> u64;

    /// Puts a request into the on-board queue; the disk starts it at once if it can.
    ///
    /// # Panics
    ///
    /// If the on-board queue is full, the request is empty, or it ends beyond the capacity.
    fn submit(&mut self, now_ns: u64, request: DiskRequest);

    /// When the next request completes; `None` when there is none.
    fn next_completion_ns(&self) -> Option<u64>;

    /// Takes out the request that completes now and starts what can be started next.
    ///
    /// # Panics
    ///
    /// If `now_ns` is not what [`Disk::next_completion_ns`] says.
    fn complete(&mut self, now_ns: u64) -> DiskCompletion;

    /// Requests submitted and not yet completed.
    fn queued(&self) -> usize;

    /// How many requests the disk accepts at once, those being served included.
    fn on_board_queue_depth(&self) -> usize;

    /// What the disk has done so far.
    fn counters(&self) -> &DiskCounters;
}

/// Refuses what no disk can serve.
#[inline]
pub(crate) fn assert_servable(disk: &impl Disk, request: &DiskRequest) {
    let capacity_sectors = disk.capacity_sectors();
    assert!(request.sectors > 0, "a disk request has at least a sector");
    assert!(
        u64::from(request.sectors) <= capacity_sectors
            && request.first_sector <= capacity_sectors - u64::from(request.sectors),
        "sectors {} + {} end beyond the disk's {capacity_sectors}",
        request.first_sector,
        request.sectors,
    );
    assert!(
        disk.queued() < disk.on_board_queue_depth(),
        "the disk's on-board queue of {} is full",
        disk.on_board_queue_depth()
    );
}

/// Bounds of the capacity of every kind of disk: from one sector to the largest disk.
pub(super) fn capacity() -> config::codec::Within<u64> {
    config::within(SECTOR_BYTES..=MAX_CAPACITY_BYTES)
}
