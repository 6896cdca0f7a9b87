//! The way of a read: page map, read cache, disk group.

use super::{CacheReadPart, CopiedLines, PagedPool, Part, ReadPart, RequestKind, Stretch};
use crate::Direction;
use crate::group::Groups;
use crate::group::{GroupCompletion, GroupRequest, IoClass};
use crate::payload::Payload;
use crate::pool::page::Location;
use crate::pool::request::PoolRead;
use crate::pool::tiering::{TieringPolicy, Touch};

impl<P: Payload> PagedPool<P> {
    /// Reads a stretch of a volume. What was never written reads as zeros.
    pub fn read(&mut self, now_ns: u64, read: PoolRead, groups: &mut impl Groups<P>) {
        let operation = self.operations.begin(read.owner_id, read.sectors);
        let page_sectors = self.map.page_sectors();
        let mut offset = 0;
        while offset < read.sectors {
            let sector = read.first_sector + u64::from(offset);
            let (page, first) = self.map.page_of(read.volume, sector);
            let stretch = Stretch {
                page,
                first,
                sectors: (page_sectors - first).min(read.sectors - offset),
            };
            self.operations.add_part(operation);
            self.read_page(now_ns, operation, offset, stretch, read, groups);
            offset += stretch.sectors;
        }
        self.operations.part_done(operation, Ok(()));
    }

    #[inline]
    fn read_page(
        &mut self,
        now_ns: u64,
        operation: u32,
        offset: u32,
        stretch: Stretch,
        read: PoolRead,
        groups: &mut impl Groups<P>,
    ) {
        let sequential = read.sequential || read.class == IoClass::ReadAhead;
        self.tiering.touched(Touch {
            page: stretch.page,
            sectors: stretch.sectors,
            sequential,
        });
        let location = self.map.location(stretch.page);
        let Some(at) = location.filter(|at| !at.is_blank()) else {
            self.operations
                .part_zero(operation, offset, stretch.sectors);
            return;
        };
        let spinning = self.map.spaces[at.group()].tier.is_spinning();
        let asks_cache = spinning && self.cache.as_mut().is_some_and(|c| c.is_online(groups));
        if asks_cache && self.read_cached(now_ns, operation, offset, stretch, read.class, groups) {
            return;
        }
        let number = self.parts.insert(Part::Read(ReadPart {
            operation,
            offset,
            sectors: stretch.sectors,
            at,
            skip: 0,
            lines: CopiedLines::default(),
        }));
        let mut what = (stretch.first, stretch.sectors);
        if asks_cache
            && !self.map.spaces[at.group()].is_written(at.slot())
            && (!self.copies_hot_only || self.tiering.is_hot(stretch.page))
            && let Some((copied, wide_first, wide_sectors)) = self.widened(stretch, sequential)
            && self.intend(copied, number)
            && let Part::Read(part) = self.parts.get_mut(number)
        {
            part.skip = stretch.first - wide_first;
            part.lines = copied;
            what = (wide_first, wide_sectors);
        }
        self.submit_read(now_ns, number, at, what, read.class, groups);
    }

    /// The lines a missed read may copy, as in [`Part::Read`], and what to read for that.
    fn widened(&self, stretch: Stretch, sequential: bool) -> Option<(CopiedLines, u32, u32)> {
        let cache = self.cache.as_ref()?;
        if !cache.may_copy(stretch.sectors, sequential) {
            return None;
        }
        let (shift, line_sectors) = (cache.line_shift(), cache.line_sectors());
        let page_lines = self.map.page_sectors() >> shift;
        let end = stretch.first + stretch.sectors;
        let (from, to) = if cache.widens_reads() {
            (stretch.first >> shift, end.div_ceil(line_sectors))
        } else {
            (stretch.first.div_ceil(line_sectors), end >> shift)
        };
        if from >= to {
            return None;
        }
        let (first, sectors) = if cache.widens_reads() {
            (from << shift, (to - from) << shift)
        } else {
            (stretch.first, stretch.sectors)
        };
        let begins = (from << shift) - first;
        let copied = CopiedLines {
            first_line: stretch.page * page_lines + from,
            lines: to - from,
            begins,
        };
        Some((copied, first, sectors))
    }

    /// Registers the lines that the part under `number` may copy; says whether there are any.
    fn intend(&mut self, copied: CopiedLines, number: u32) -> bool {
        let CopiedLines {
            first_line, lines, ..
        } = copied;
        let Some(cache) = &mut self.cache else {
            return false;
        };
        let request = RequestKind::Part.request(number);
        let mut any = false;
        for line in first_line..first_line + lines {
            any |= cache.intend(line, request);
        }
        any
    }

    fn submit_read(
        &mut self,
        now_ns: u64,
        number: u32,
        at: Location,
        (first, sectors): (u32, u32),
        class: IoClass,
        groups: &mut impl Groups<P>,
    ) {
        let first_sector = self.map.first_sector(at) + u64::from(first);
        let space = &mut self.map.spaces[at.group()];
        space.read_begins(at.slot());
        let group = space.group;
        let request = GroupRequest {
            owner: RequestKind::Part.owner(number),
            group,
            direction: Direction::Read,
            first_sector,
            sectors,
            class,
            payload: P::default(),
        };
        groups.submit(now_ns, request);
    }

    /// Serves a stretch from the read cache if all its lines are there.
    fn read_cached(
        &mut self,
        now_ns: u64,
        operation: u32,
        offset: u32,
        stretch: Stretch,
        class: IoClass,
        groups: &mut impl Groups<P>,
    ) -> bool {
        let Some(cache) = &mut self.cache else {
            return false;
        };
        let shift = cache.line_shift();
        let base = stretch.page * (self.map.page_sectors() >> shift);
        let first_line = base + (stretch.first >> shift);
        let last_line = base + ((stretch.first + stretch.sectors - 1) >> shift);
        if !cache.find(first_line, last_line, &mut self.slots) {
            return false;
        }
        let end = stretch.first + stretch.sectors;
        let mut first = stretch.first;
        let mut run = 0;
        while run < self.slots.len() {
            let first_slot = self.slots[run];
            let mut slots = 1;
            while self.slots.get(run + slots as usize) == Some(&(first_slot + slots)) {
                slots += 1;
            }
            for slot in first_slot..first_slot + slots {
                cache.pin(slot);
            }
            run += slots as usize;
            let line_first = (first >> shift) << shift;
            let run_end = (line_first + (slots << shift)).min(end);
            let number = self.parts.insert(Part::CacheRead(CacheReadPart {
                operation,
                offset: offset + first - stretch.first,
                stretch: Stretch {
                    page: stretch.page,
                    first,
                    sectors: run_end - first,
                },
                first_slot,
                slots,
                class,
            }));
            self.operations.add_part(operation);
            let request = GroupRequest {
                owner: RequestKind::Part.owner(number),
                group: cache.group,
                direction: Direction::Read,
                first_sector: (u64::from(first_slot) << shift) + u64::from(first - line_first),
                sectors: run_end - first,
                class,
                payload: P::default(),
            };
            groups.submit(now_ns, request);
            first = run_end;
        }
        self.operations.part_done(operation, Ok(()));
        true
    }

    /// A read of a page is done: hands its part on and copies its lines.
    pub(super) fn read_done(
        &mut self,
        now_ns: u64,
        number: u32,
        part: ReadPart,
        completion: GroupCompletion<P>,
        groups: &mut impl Groups<P>,
    ) {
        let ReadPart {
            operation,
            offset,
            sectors,
            at,
            skip,
            lines: copied,
        } = part;
        let CopiedLines {
            first_line,
            lines,
            begins,
        } = copied;
        self.map.spaces[at.group()].read_ends(at.slot());
        let request = RequestKind::Part.request(number);
        if let Some(cache) = self.cache.as_mut().filter(|_| lines > 0) {
            let line_sectors = cache.line_sectors();
            for (place, line) in (first_line..first_line + lines).enumerate() {
                if completion.result.is_err() {
                    cache.give_up(line, request);
                } else if cache.expects(line, request) {
                    let from = begins + place as u32 * line_sectors;
                    let payload = completion.payload.part(from, line_sectors);
                    cache.fill(now_ns, line, request, payload, groups);
                }
            }
        }
        match completion.result {
            Err(error) => self.operations.part_done(operation, Err(error.into())),
            Ok(()) => {
                let payload = if lines > 0 {
                    completion.payload.part(skip, sectors)
                } else {
                    completion.payload
                };
                self.operations
                    .part_read(operation, offset, sectors, payload);
            }
        }
    }

    /// A read of the cache is done; if the cache failed, the page is read instead.
    pub(super) fn cache_read_done(
        &mut self,
        now_ns: u64,
        part: CacheReadPart,
        completion: GroupCompletion<P>,
        groups: &mut impl Groups<P>,
    ) {
        let CacheReadPart {
            operation,
            offset,
            stretch,
            first_slot,
            slots,
            class,
        } = part;
        if let Some(cache) = &mut self.cache {
            if completion.result.is_err() {
                cache.lose_group();
            }
            for slot in first_slot..first_slot + slots {
                cache.unpin(now_ns, slot, groups);
            }
        }
        if completion.result.is_ok() {
            let payload = completion.payload;
            self.operations
                .part_read(operation, offset, stretch.sectors, payload);
            return;
        }
        let Some(at) = self.map.location(stretch.page).filter(|at| !at.is_blank()) else {
            self.operations
                .part_zero(operation, offset, stretch.sectors);
            return;
        };
        let number = self.parts.insert(Part::Read(ReadPart {
            operation,
            offset,
            sectors: stretch.sectors,
            at,
            skip: 0,
            lines: CopiedLines::default(),
        }));
        let what = (stretch.first, stretch.sectors);
        self.submit_read(now_ns, number, at, what, class, groups);
    }
}
