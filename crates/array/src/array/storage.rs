//! Pools and the disk groups below them, as the controllers use them.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::disk::{DiskDescription, DiskModel};
use crate::event_queue::EventQueue;
use crate::group::{
    Backend, BackendInvariantError, GroupId, GroupState, GroupView, Piece, RebuildView, StationId,
};
use crate::host::{FirstWrite, VolumeId};
use crate::io::VolumeExtent;
use crate::kept::{DiskContents, KeptDiskGroup, KeptPool, KeptState, Misfit, PageChange};
use crate::payload::Payload;
use crate::pool::{Pool, PoolCompletion, PoolCounters, PoolFull, PoolRead, PoolWrite};
use crate::station::Station;
use crate::{Incident, SectorDamage};

/// The only source of the array's event queue: timers of pools, which come before events of the
/// controllers. The disks have a queue of their own, which comes before both.
const POOLS: usize = 0;
pub(super) const SOURCES: usize = 1;

/// All pools, and the disk groups that they lie in.
#[derive(Debug)]
pub(super) struct Storage<P> {
    backend: Backend<P>,
    /// The pool of the linear volumes is the first.
    pools: Vec<Pool<P>>,
    /// The names of the pools behind that one.
    pool_names: Vec<String>,
    pool_of_group: Vec<u16>,
    /// What the disk in every station is made of, for its replacement.
    descriptions: Vec<DiskDescription>,
    /// The seed of the disk that was built last.
    seed: u64,
}

impl<P: Payload> Storage<P> {
    pub fn new(
        backend: Backend<P>,
        pools: Vec<Pool<P>>,
        pool_names: Vec<String>,
        pool_of_group: Vec<u16>,
        descriptions: Vec<DiskDescription>,
        seed: u64,
    ) -> Self {
        debug_assert_eq!(pool_of_group.len(), backend.group_count());
        debug_assert_eq!(descriptions.len(), backend.stations().len());
        Self {
            backend,
            pools,
            pool_names,
            pool_of_group,
            descriptions,
            seed,
        }
    }

    /// Lets the next thing happen at the disks.
    #[inline]
    pub fn advance_disks(&mut self, now_ns: u64) {
        self.backend.advance_one(now_ns);
    }

    /// Has the first pool with a timer that is due act on it.
    pub fn advance_pools(&mut self, now_ns: u64) {
        let due = |pool: &&mut Pool<P>| pool.next_event_ns() == Some(now_ns);
        if let Some(pool) = self.pools.iter_mut().find(due) {
            pool.on_timer(now_ns, &mut self.backend);
        }
    }

    /// When the disks complete something next.
    #[inline]
    pub fn next_disk_event_ns(&self) -> Option<u64> {
        self.backend.next_event_ns()
    }

    /// Sets in the event queue when the next timer of a pool is due. Only a timer changes that.
    pub fn schedule_pools<E: Copy>(&self, events: &mut EventQueue<E>) {
        let due = self.pools.iter().filter_map(Pool::next_event_ns);
        events.set_source(POOLS, due.min());
    }

    /// Hands what the disk groups have done to the pools.
    #[inline]
    pub fn hand_to_pools(&mut self, now_ns: u64) {
        while let Some(completion) = self.backend.pop_done() {
            let pool = usize::from(self.pool_of_group[usize::from(completion.group.0)]);
            self.pools[pool].backend_done(now_ns, completion, &mut self.backend);
        }
    }

    /// Numbers of the pools.
    #[inline]
    pub fn pool_numbers(&self) -> std::ops::Range<u16> {
        0..self.pools.len() as u16
    }

    /// The next completion of a pool.
    #[inline]
    pub fn pop_done(&mut self, pool: u16) -> Option<PoolCompletion<P>> {
        self.pools[usize::from(pool)].pop_done()
    }

    pub fn read(&mut self, now_ns: u64, pool: u16, read: PoolRead) {
        self.pools[usize::from(pool)].read(now_ns, read, &mut self.backend);
    }

    pub fn write(&mut self, now_ns: u64, pool: u16, write: PoolWrite, pieces: &[Piece<P>]) {
        self.pools[usize::from(pool)].write(now_ns, write, pieces, &mut self.backend);
    }

    /// Takes the pages that a first write to an extent needs.
    pub fn map_for_write(
        &mut self,
        pool: u16,
        extent: VolumeExtent,
        first_write: FirstWrite,
    ) -> Result<(), PoolFull> {
        let (volume, sectors) = (VolumeId(extent.volume), u64::from(extent.sectors));
        self.pools[usize::from(pool)].map_for_write(
            volume,
            extent.first_sector,
            sectors,
            first_write,
        )
    }

    /// Takes pages before the clock starts.
    pub fn lay_out(
        &mut self,
        pool: u16,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
        first_write: FirstWrite,
    ) -> Result<(), PoolFull> {
        self.pools[usize::from(pool)].lay_out(volume, first_sector, sectors, first_write)
    }

    /// Gives the pages of an extent back.
    pub fn trim(&mut self, pool: u16, extent: VolumeExtent) {
        let (volume, sectors) = (VolumeId(extent.volume), u64::from(extent.sectors));
        let pool = &mut self.pools[usize::from(pool)];
        for (group, first_sector, sectors) in pool.trim(volume, extent.first_sector, sectors) {
            self.backend.discard(group, first_sector, sectors);
        }
    }

    /// Whether a sector has space in the pool, and how many of a stretch from it on are like it.
    pub fn has_space(
        &self,
        pool: u16,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
    ) -> (bool, u64) {
        self.pools[usize::from(pool)].has_space(volume, first_sector, sectors)
    }

    /// The controller that runs a pool is another one from now on.
    pub fn fail_over(&mut self, pool: u16) {
        self.pools[usize::from(pool)].fail_over();
    }

    /// Has the CPU fetch what a request at that sector will be looked up in.
    #[inline]
    pub fn prefetch(&self, pool: u16, volume: u16, sector: u64) {
        self.pools[usize::from(pool)].prefetch(VolumeId(volume), sector);
    }

    /// Has the CPU fetch what the lookup of that sector leads to.
    #[inline]
    pub fn prefetch_slot(&self, pool: u16, volume: u16, sector: u64) {
        self.pools[usize::from(pool)].prefetch_slot(VolumeId(volume), sector);
    }

    /// The disk of that number fails, if there is one.
    pub fn fail_disk(&mut self, now_ns: u64, disk: u32) {
        if (disk as usize) < self.descriptions.len() {
            self.backend.fail_disk(now_ns, StationId(disk as u16));
        }
    }

    /// The disk of that number takes so many times as long from now on, if there is one.
    pub fn slow_disk(&mut self, now_ns: u64, disk: u32, factor: u32) {
        if (disk as usize) < self.descriptions.len() {
            self.backend
                .slow_disk(now_ns, StationId(disk as u16), factor);
        }
    }

    /// Puts a blank disk of the same make where the disk of that number is, if there is one.
    pub fn replace_disk(&mut self, now_ns: u64, disk: u32) {
        let Some(description) = self.descriptions.get(disk as usize) else {
            return;
        };
        self.seed = self.seed.wrapping_add(1);
        // A disk of the same make was built before, and it fits.
        if let Ok(blank) = DiskModel::new(description, self.seed) {
            let station = StationId(disk as u16);
            let replaced = self.backend.replace_disk(now_ns, station, blank);
            assert!(replaced.is_ok(), "a disk of the same make fits");
        }
    }

    /// Places of the disk of that number do not give back what was written, if there is one.
    pub fn damage_sectors(&mut self, now_ns: u64, disk: u32, places: u32, damage: SectorDamage) {
        if (disk as usize) < self.descriptions.len() {
            let station = StationId(disk as u16);
            // Other places each time.
            self.seed = self.seed.wrapping_add(1);
            let random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
            self.backend
                .damage_sectors(now_ns, station, places, damage, random);
        }
    }

    /// The disk of that number has no credits for bursts left, if there is one.
    pub fn spend_credits(&mut self, now_ns: u64, disk: u32) {
        if (disk as usize) < self.descriptions.len() {
            self.backend.spend_credits(now_ns, StationId(disk as u16));
        }
    }

    /// Data of others takes all that is free in a disk group, or is removed from it. Whether the group holds
    /// pages of a pool.
    pub fn fill_group(&mut self, group: GroupId, fills: bool) -> bool {
        let pool = self.pool_of_group.get(usize::from(group.0));
        pool.is_some_and(|&pool| self.pools[usize::from(pool)].fill_group(group, fills))
    }

    pub fn take_incidents(&mut self) -> Vec<Incident> {
        self.backend.take_incidents()
    }

    pub fn rebuilds(&self) -> impl Iterator<Item = RebuildView> + '_ {
        self.backend.rebuilds()
    }

    pub fn groups(&self) -> impl Iterator<Item = GroupView<'_>> {
        let numbers = 0..self.backend.group_count() as u16;
        numbers.map(|number| self.backend.group(GroupId(number)))
    }

    pub fn group(&self, group: GroupId) -> GroupView<'_> {
        self.backend.group(group)
    }

    /// Whether a group has all its disks.
    #[inline]
    pub fn is_healthy(&self, group: GroupId) -> bool {
        self.backend.group(group).state == GroupState::Healthy
    }

    pub fn stations(&self) -> &[Station<P>] {
        self.backend.stations()
    }

    pub fn pool_counters(&self) -> Vec<PoolCounters> {
        self.pools.iter().map(Pool::counters).collect()
    }

    pub fn check_invariants(&self) -> Result<(), BackendInvariantError> {
        self.backend.check_invariants()
    }
}

/// What outlives the process.
impl<P: Payload> Storage<P> {
    /// Keeps the contents of each disk where `contents_of` says, and notes where pages lie.
    pub fn keep(&mut self, contents_of: impl FnMut(u32) -> Box<dyn DiskContents<P>>) {
        self.backend.keep(contents_of);
        self.pools.iter_mut().for_each(Pool::note_changes);
    }

    pub fn kept_disk_groups(&self) -> Vec<KeptDiskGroup> {
        self.backend.kept_disk_groups()
    }

    pub fn state_revision(&self) -> u64 {
        self.backend.state_revision()
    }

    /// The pools with pages, in the order of their numbers.
    pub fn kept_pools(&self) -> Vec<KeptPool> {
        let group_name = |group| self.backend.group(group).name.to_owned();
        let pools = self.pools[1..].iter().zip(&self.pool_names);
        pools
            .filter_map(|(pool, name)| pool.kept(name, group_name))
            .collect()
    }

    /// Appends what has changed of [`Storage::kept_pools`].
    pub fn take_changes(&mut self, changes: &mut Vec<PageChange>) {
        for (number, pool) in (0..).zip(&mut self.pools[1..]) {
            pool.take_changes(number, changes);
        }
    }

    /// Puts disks and pages back where they were.
    pub fn restore(
        &mut self,
        now_ns: u64,
        state: &KeptState,
        pools: &[KeptPool],
    ) -> Result<(), Misfit> {
        self.backend.restore(now_ns, &state.disk_group)?;
        for kept in pools {
            let number = self.pool_names.iter().position(|name| *name == kept.name);
            let Some(number) = number else {
                return Err(Misfit(format!("the array has no pool '{}'", kept.name)));
            };
            let backend = &self.backend;
            let group_name = |group| backend.group(group).name.to_owned();
            self.pools[number + 1].restore(kept, group_name)?;
        }
        Ok(())
    }
}
