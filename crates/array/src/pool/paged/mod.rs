//! Virtual storage: volumes cut into pages, pages on tiers of disk groups, a rule that moves them,
//! and a read cache.
//!
//! - [`read`] and [`write`]: the way of a request.
//! - [`moves`]: pages on their way from one place to another, and writes that meet them.
//! - [`kept`]: where pages lie, for a pool that outlives its process.
//! - [`timer`]: what happens every few seconds: drains and the plan of the tiering rule.

mod kept;
mod moves;
mod read;
mod space;
mod timer;
mod write;

use super::counters::PoolCounters;
use super::operations::Operations;
use super::page::{Location, PageMap};
use super::read_cache::ReadCache;
use super::records::Records;
use super::request::{Extent, Place, PoolCompletion, RequestKind};
use super::settings::{Affinity, PoolSettings};
use super::stripes::StripeBatch;
use super::tiering::AnyTiering;
use crate::VolumeId;
use crate::group::Groups;
use crate::group::{GroupCompletion, IoClass};
use crate::payload::Payload;
use crate::raid::GroupId;

use moves::Moves;

/// Sectors of one page: first sector within the page, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    page: u32,
    first: u32,
    sectors: u32,
}

/// A group request that serves a part of a read or write.
#[derive(Debug)]
enum Part<P> {
    Read(ReadPart),
    CacheRead(CacheReadPart),
    Write(WritePart<P>),
}

/// A read of a page.
#[derive(Debug, Clone, Copy)]
struct ReadPart {
    operation: u32,
    /// Where the part begins in the read from above, and its length.
    offset: u32,
    sectors: u32,
    at: Location,
    /// Sectors read in front of the part, for whole lines.
    skip: u32,
    lines: CopiedLines,
}

/// The lines that a read may copy into the read cache.
#[derive(Debug, Clone, Copy, Default)]
struct CopiedLines {
    first_line: u32,
    lines: u32,
    /// Where the first of them begins in what is read.
    begins: u32,
}

/// A read of adjacent slots of the read cache.
#[derive(Debug, Clone, Copy)]
struct CacheReadPart {
    operation: u32,
    offset: u32,
    stretch: Stretch,
    first_slot: u32,
    slots: u32,
    class: IoClass,
}

/// A write to a page.
#[derive(Debug)]
struct WritePart<P> {
    operation: u32,
    page: u32,
    at: Location,
    /// What brings copies in the read cache up to date once the write is done.
    updates: Vec<LineUpdate<P>>,
}

/// What a write changes of a line: first sector within it, sectors, contents.
#[derive(Debug)]
struct LineUpdate<P> {
    line: u32,
    change: (u32, u32, P),
}

/// A pool of pages.
#[derive(Debug)]
pub struct PagedPool<P> {
    map: PageMap,
    settings: PoolSettings,
    /// Index is the number of the `VolumeId`.
    affinities: Vec<Affinity>,
    tiering: AnyTiering,
    interval_ns: u64,
    next_plan_ns: Option<u64>,
    cache: Option<ReadCache<P>>,
    /// Whether the cache copies lines of hot pages only.
    copies_hot_only: bool,
    moves: Moves<P>,
    /// Moves that are done in the time of one.
    warp: u32,
    operations: Operations<P>,
    parts: Records<Part<P>>,
    batch: StripeBatch<P>,
    /// Pieces of the page that is being written, addresses within the page.
    pieces: Vec<(u32, u32, P)>,
    /// Slots of the lines of a read.
    slots: Vec<u32>,
    /// Warning levels that the pages in use are above.
    levels_passed: usize,
    counters: PoolCounters,
}

impl<P: Payload> PagedPool<P> {
    /// The same, with pages that move between tiers so many times as fast.
    #[must_use]
    pub fn warped(self, warp: u32) -> Self {
        Self { warp, ..self }
    }

    /// Appends where a stretch of a volume lies now, in runs that lie together.
    pub fn map(&self, volume: VolumeId, first_sector: u64, sectors: u32, out: &mut Vec<Extent>) {
        let from = out.len();
        self.for_pages(volume, first_sector, u64::from(sectors), |stretch| {
            let place = match self.map.location(stretch.page) {
                None => Place::Unallocated,
                Some(at) => Place::Group {
                    group: self.map.spaces[at.group()].group,
                    first_sector: self.map.first_sector(at) + u64::from(stretch.first),
                },
            };
            let extent = Extent {
                place,
                sectors: stretch.sectors,
            };
            match out[from..].last_mut() {
                Some(last) if follows(last, &extent) => last.sectors += extent.sectors,
                _ => out.push(extent),
            }
        });
    }

    /// Has the CPU fetch the entry of the page that holds `sector`.
    #[inline]
    pub(crate) fn prefetch(&self, volume: VolumeId, sector: u64) {
        self.map.prefetch(volume, sector);
    }

    /// Has the CPU fetch what is known of the slot in which `sector` lies.
    #[inline]
    pub(crate) fn prefetch_slot(&self, volume: VolumeId, sector: u64) {
        let (page, _) = self.map.page_of(volume, sector);
        if let Some(at) = self.map.location(page) {
            self.map.spaces[at.group()].prefetch(at.slot());
        }
    }

    /// Calls `each` for every page that a stretch of a volume touches.
    fn for_pages(
        &self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
        mut each: impl FnMut(Stretch),
    ) {
        let page_sectors = self.map.page_sectors();
        let end = first_sector + sectors;
        let mut sector = first_sector;
        while sector < end {
            let (page, first) = self.map.page_of(volume, sector);
            let length = u64::from(page_sectors - first).min(end - sector) as u32;
            each(Stretch {
                page,
                first,
                sectors: length,
            });
            sector += u64::from(length);
        }
    }

    /// A group request of this pool is done.
    pub fn backend_done(
        &mut self,
        now_ns: u64,
        completion: GroupCompletion<P>,
        groups: &mut impl Groups<P>,
    ) {
        let (kind, number) = RequestKind::of(completion.owner);
        match kind {
            RequestKind::Part => self.part_done(now_ns, number, completion, groups),
            RequestKind::Move => self.move_step_done(now_ns, number, completion, groups),
            RequestKind::Fill => {
                if let Some(cache) = &mut self.cache {
                    cache.fill_done(now_ns, number, completion.result.is_ok(), groups);
                }
            }
        }
    }

    fn part_done(
        &mut self,
        now_ns: u64,
        number: u32,
        completion: GroupCompletion<P>,
        groups: &mut impl Groups<P>,
    ) {
        match self.parts.remove(number) {
            Part::Read(part) => self.read_done(now_ns, number, part, completion, groups),
            Part::CacheRead(part) => self.cache_read_done(now_ns, part, completion, groups),
            Part::Write(part) => self.write_done(now_ns, number, part, completion.result, groups),
        }
    }

    /// The next completion nobody has fetched.
    pub fn pop_done(&mut self) -> Option<PoolCompletion<P>> {
        self.operations.pop_done()
    }

    /// Reads and writes from above that are not complete.
    pub fn in_flight(&self) -> usize {
        self.operations.in_flight()
    }

    /// Data of others takes all that is free in a disk group (`fills`), or is removed from it. Whether the group
    /// holds pages of the pool.
    pub fn fill_group(&mut self, group: GroupId, fills: bool) -> bool {
        let space = self
            .map
            .spaces
            .iter_mut()
            .find(|space| space.group == group);
        let Some(space) = space else {
            return false;
        };
        match fills {
            true => space.fill(),
            false => space.empty(),
        }
        true
    }

    /// The controller that runs the pool fails over: the contents of its read cache are lost.
    pub fn fail_over(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.lose_contents();
        }
    }

    /// What the pool has done, and where its pages are now.
    pub fn counters(&self) -> PoolCounters {
        let mut counters = self.counters;
        counters.page_bytes = u64::from(self.map.page_sectors()) * crate::SECTOR_BYTES;
        counters.pages_promised = u64::from(self.map.pages());
        for space in &self.map.spaces {
            let rank = space.tier.rank();
            counters.slots[rank] += u64::from(space.usable());
            counters.pages[rank] += u64::from(space.owned());
        }
        counters.moves_under_way = self.moves.under_way();
        counters.moves_planned = self.moves.pending() as u64 - counters.moves_under_way;
        if let Some(cache) = &self.cache {
            counters.read_cache = cache.counters();
        }
        counters
    }

    /// Asserts that every page lies in exactly one place and every place holds at most one page.
    ///
    /// # Panics
    ///
    /// If not. Costs a pass over all pages.
    pub fn check_pages(&self) {
        self.map.check();
    }
}

/// Whether `next` continues `last`.
fn follows(last: &Extent, next: &Extent) -> bool {
    match (last.place, next.place) {
        (Place::Unallocated, Place::Unallocated) => true,
        (
            Place::Group {
                group,
                first_sector,
            },
            Place::Group {
                group: next_group,
                first_sector: next_sector,
            },
        ) => group == next_group && first_sector + u64::from(last.sectors) == next_sector,
        _ => false,
    }
}
