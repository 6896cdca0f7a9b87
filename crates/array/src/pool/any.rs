//! Any kind of pool behind one interface, without indirection.

use super::counters::PoolCounters;
use super::linear::LinearPool;
use super::paged::PagedPool;
use super::request::{Extent, PoolCompletion, PoolFull, PoolRead, PoolWrite};
use crate::group::GroupCompletion;
use crate::group::{Groups, Piece};
use crate::kept::{KeptPool, Misfit, PageChange};
use crate::payload::Payload;
use crate::raid::GroupId;
use crate::{FirstWrite, VolumeId};

/// A pool of one kind or another.
///
/// The caller sees to the order of what overlaps: a read and a write, or two writes, of the same
/// sectors that are in flight together take effect in any order. It hands every completion of a
/// group request to [`Pool::backend_done`], calls [`Pool::on_timer`] at
/// exactly the time [`Pool::next_event_ns`] says, and fetches with [`Pool::pop_done`] after each
/// call.
#[derive(Debug)]
pub enum Pool<P> {
    /// One run of a disk group per volume.
    Linear(LinearPool<P>),
    /// Pages on tiers of disk groups.
    Paged(Box<PagedPool<P>>),
}

/// The same call of either kind of pool.
macro_rules! either {
    ($self:ident, $pool:ident => $call:expr) => {
        match $self {
            Self::Linear($pool) => $call,
            Self::Paged($pool) => $call,
        }
    };
}

impl<P: Payload> Pool<P> {
    /// Appends where a stretch of a volume lies now.
    pub fn map(&self, volume: VolumeId, first_sector: u64, sectors: u32, out: &mut Vec<Extent>) {
        either!(self, pool => pool.map(volume, first_sector, sectors, out));
    }

    /// Has the CPU fetch what a request at that sector will be looked up in.
    #[inline]
    pub(crate) fn prefetch(&self, volume: VolumeId, sector: u64) {
        if let Self::Paged(pool) = self {
            pool.prefetch(volume, sector);
        }
    }

    /// Has the CPU fetch what a request at that sector will find there; to be called once
    /// what [`Pool::prefetch`] has asked for is there.
    #[inline]
    pub(crate) fn prefetch_slot(&self, volume: VolumeId, sector: u64) {
        if let Self::Paged(pool) = self {
            pool.prefetch_slot(volume, sector);
        }
    }

    /// Takes the pages that a first write to this stretch needs; pages that are there stay.
    ///
    /// # Errors
    ///
    /// [`PoolFull`] if there are not enough; then none is taken.
    pub fn map_for_write(
        &mut self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
        first_write: FirstWrite,
    ) -> Result<(), PoolFull> {
        match self {
            Self::Linear(_) => Ok(()),
            Self::Paged(pool) => pool.map_for_write(volume, first_sector, sectors, first_write),
        }
    }

    /// Takes pages before the clock starts.
    ///
    /// # Errors
    ///
    /// [`PoolFull`] if there are not enough.
    pub fn lay_out(
        &mut self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
        first_write: FirstWrite,
    ) -> Result<(), PoolFull> {
        match self {
            Self::Linear(_) => Ok(()),
            Self::Paged(pool) => pool.lay_out(volume, first_sector, sectors, first_write),
        }
    }

    /// Reads a stretch of a volume. What was never written reads as zeros.
    pub fn read(&mut self, now_ns: u64, read: PoolRead, groups: &mut impl Groups<P>) {
        either!(self, pool => pool.read(now_ns, read, groups));
    }

    /// Writes pieces of a volume, best in ascending order; those in one stripe are written
    /// together. Pages that are missing are taken; if there are none, the write fails.
    pub fn write(
        &mut self,
        now_ns: u64,
        write: PoolWrite,
        pieces: &[Piece<P>],
        groups: &mut impl Groups<P>,
    ) {
        either!(self, pool => pool.write(now_ns, write, pieces, groups));
    }

    /// A group request of this pool is done.
    pub fn backend_done(
        &mut self,
        now_ns: u64,
        completion: GroupCompletion<P>,
        groups: &mut impl Groups<P>,
    ) {
        match self {
            Self::Linear(pool) => pool.backend_done(completion),
            Self::Paged(pool) => pool.backend_done(now_ns, completion, groups),
        }
    }

    /// The next completion nobody has fetched.
    pub fn pop_done(&mut self) -> Option<PoolCompletion<P>> {
        either!(self, pool => pool.pop_done())
    }

    /// When the pool wants to do something of itself.
    pub fn next_event_ns(&self) -> Option<u64> {
        match self {
            Self::Linear(_) => None,
            Self::Paged(pool) => pool.next_event_ns(),
        }
    }

    /// Does what is due at `now_ns`.
    pub fn on_timer(&mut self, now_ns: u64, groups: &mut impl Groups<P>) {
        if let Self::Paged(pool) = self {
            pool.on_timer(now_ns, groups);
        }
    }

    /// Gives pages that lie wholly in this stretch back; they read as zeros from now on. What
    /// lies in other pages stays as it is. Returns where those lay that nobody reads or writes any more:
    /// group, first sector, sectors.
    pub fn trim(
        &mut self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
    ) -> Vec<(GroupId, u64, u64)> {
        match self {
            Self::Linear(_) => Vec::new(),
            Self::Paged(pool) => pool.trim(volume, first_sector, sectors),
        }
    }

    /// Where the pages lie, under the name `name`; `None` for a pool without pages. `group_name` knows the
    /// names of groups.
    pub(crate) fn kept(
        &self,
        name: &str,
        group_name: impl Fn(GroupId) -> String,
    ) -> Option<KeptPool> {
        match self {
            Self::Linear(_) => None,
            Self::Paged(pool) => Some(pool.kept(name, group_name)),
        }
    }

    /// Notes changes of where pages lie from now on.
    pub(crate) fn note_changes(&mut self) {
        if let Self::Paged(pool) = self {
            pool.note_changes();
        }
    }

    /// Appends what has changed; the pool has that number.
    pub(crate) fn take_changes(&mut self, number: u16, changes: &mut Vec<PageChange>) {
        if let Self::Paged(pool) = self {
            pool.take_changes(number, changes);
        }
    }

    /// Puts the pages where they lay. `group_name` knows the names of groups.
    pub(crate) fn restore(
        &mut self,
        kept: &KeptPool,
        group_name: impl Fn(GroupId) -> String,
    ) -> Result<(), Misfit> {
        match self {
            Self::Linear(_) => Err(Misfit(format!("pool '{}' has no pages", kept.name))),
            Self::Paged(pool) => pool.restore(kept, group_name),
        }
    }

    /// Whether a sector has space, and how many of a stretch from it on are like it. What has none reads as
    /// zeros.
    pub fn has_space(&self, volume: VolumeId, first_sector: u64, sectors: u64) -> (bool, u64) {
        match self {
            Self::Linear(_) => (true, sectors),
            Self::Paged(pool) => pool.has_space(volume, first_sector, sectors),
        }
    }

    /// Data of others takes all that is free in a disk group (`fills`), or is removed from it. Whether the group
    /// holds pages of the pool.
    pub fn fill_group(&mut self, group: GroupId, fills: bool) -> bool {
        match self {
            Self::Linear(_) => false,
            Self::Paged(pool) => pool.fill_group(group, fills),
        }
    }

    /// The controller that runs the pool fails over: the contents of a read cache are lost.
    pub fn fail_over(&mut self) {
        if let Self::Paged(pool) = self {
            pool.fail_over();
        }
    }

    /// Counters and state; zeros for a pool without pages.
    pub fn counters(&self) -> PoolCounters {
        match self {
            Self::Linear(_) => PoolCounters::default(),
            Self::Paged(pool) => pool.counters(),
        }
    }

    /// Reads and writes that are not complete.
    pub fn in_flight(&self) -> usize {
        either!(self, pool => pool.in_flight())
    }
}
