//! What a disk is asked and what it answers, and the trait every model of a disk implements.

use crate::Direction;
use crate::disk::DiskCounters;

/// A read or a write of whole sectors, as the array sends it to one disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskRequest {
    /// Chosen by the caller and handed back on completion. The disk does not look at it.
    pub tag: u32,
    /// Read or write.
    pub direction: Direction,
    /// Address of the first sector.
    pub first_sector: u64,
    /// Length in sectors, at least one.
    pub sectors: u32,
}

/// The end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskCompletion {
    /// The tag of the request that ended.
    pub tag: u32,
    /// When the disk took the request from its on-board queue and began to serve it.
    pub started_ns: u64,
}

/// A disk that is told the time. It knows how long things take; what is stored on it is kept by the
/// station it stands in.
///
/// The driver calls [`Disk::complete`] exactly at [`Disk::next_completion_ns`]. That time may move
/// earlier after a [`Disk::submit`], never after a `complete` other than by the request completed
/// leaving. Times handed in never run backwards.
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
