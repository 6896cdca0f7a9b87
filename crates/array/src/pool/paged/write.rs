//! The way of a write: page map, a move that may be under way, read cache, disk group.

use super::moves::HeldWrite;
use super::{LineUpdate, PagedPool, Part, RequestKind, WritePart};
use crate::FirstWrite;
use crate::group::{GroupError, IoClass};
use crate::group::{Groups, Piece};
use crate::payload::Payload;
use crate::pool::page::Location;
use crate::pool::read_cache::ReadCache;
use crate::pool::request::{PoolError, PoolWrite};
use crate::pool::stripes::StripeBatch;
use crate::pool::tiering::{TieringPolicy, Touch};

impl<P: Payload> PagedPool<P> {
    /// Writes pieces of a volume, best in ascending order; those in one stripe of one page are
    /// written together. Pages that are missing are taken; if there are none, the write fails.
    pub fn write(
        &mut self,
        now_ns: u64,
        write: PoolWrite,
        pieces: &[Piece<P>],
        groups: &mut impl Groups<P>,
    ) {
        let operation = self.operations.begin(write.owner_id, 0);
        let page_sectors = self.map.page_sectors();
        let mut gathered = std::mem::take(&mut self.pieces);
        let mut gathering = None;
        for (first_sector, sectors, payload) in pieces {
            let mut done = 0;
            while done < *sectors {
                let sector = first_sector + u64::from(done);
                let (page, first) = self.map.page_of(write.volume, sector);
                let length = (page_sectors - first).min(sectors - done);
                if let Some(before) = gathering.replace(page).filter(|&before| before != page) {
                    self.write_first(now_ns, operation, write, before, &gathered, groups);
                    gathered.clear();
                }
                gathered.push((first, length, payload.part(done, length)));
                done += length;
            }
        }
        if let Some(page) = gathering {
            self.write_first(now_ns, operation, write, page, &gathered, groups);
        }
        gathered.clear();
        self.pieces = gathered;
        self.operations.part_done(operation, Ok(()));
    }

    /// Writes the pieces of one page, which is taken if it is missing.
    fn write_first(
        &mut self,
        now_ns: u64,
        operation: u32,
        write: PoolWrite,
        page: u32,
        pieces: &[(u32, u32, P)],
        groups: &mut impl Groups<P>,
    ) {
        self.operations.add_part(operation);
        for &(_, sectors, _) in pieces {
            self.tiering.touched(Touch {
                page,
                sectors,
                sequential: write.sequential,
            });
        }
        let first_write = if write.sequential {
            FirstWrite::Sequential
        } else {
            FirstWrite::Random
        };
        if !self.take_page(write.volume, page, first_write) {
            self.counters.refused_first_writes += 1;
            self.operations.part_done(operation, Err(PoolError::Full));
            return;
        }
        self.write_page(now_ns, operation, write.class, page, pieces, groups);
    }

    /// Writes the pieces of one page, now or when the page can be written. Ends one part of the
    /// operation. A page that was trimmed meanwhile is not written: the trim came later.
    pub(super) fn write_page(
        &mut self,
        now_ns: u64,
        operation: u32,
        class: IoClass,
        page: u32,
        pieces: &[(u32, u32, P)],
        groups: &mut impl Groups<P>,
    ) {
        let Some(at) = self.map.location(page) else {
            self.operations.part_done(operation, Ok(()));
            return;
        };
        if at.is_blank() {
            self.begin_zeroing(now_ns, page, at, groups);
        }
        if let Some(held) = self.moves.held_writes(page) {
            held.push(HeldWrite {
                operation,
                class,
                pieces: pieces.to_vec(),
            });
            self.counters.writes_held += 1;
            return;
        }
        let page_first = self.map.first_sector(at);
        let group = self.map.spaces[at.group()].group;
        let stripe_sectors = groups.stripe_sectors(group);
        let mut batch = std::mem::take(&mut self.batch);
        for (first, sectors, payload) in pieces {
            let mut done = 0;
            while done < *sectors {
                let sector = page_first + u64::from(first + done);
                let length = batch.fitting(sector, sectors - done, stripe_sectors);
                if !batch.takes(group, sector, stripe_sectors) {
                    self.submit_write(now_ns, operation, class, (page, at), &mut batch, groups);
                    batch.begin(group, sector, stripe_sectors);
                }
                batch.push(sector, length, payload.part(done, length));
                done += length;
            }
        }
        self.submit_write(now_ns, operation, class, (page, at), &mut batch, groups);
        self.batch = batch;
        self.operations.part_done(operation, Ok(()));
    }

    /// Submits what was gathered for one stripe, if anything.
    fn submit_write(
        &mut self,
        now_ns: u64,
        operation: u32,
        class: IoClass,
        (page, at): (u32, Location),
        batch: &mut StripeBatch<P>,
        groups: &mut impl Groups<P>,
    ) {
        let Some((group, pieces)) = batch.pieces() else {
            return;
        };
        self.operations.add_part(operation);
        let page_first = self.map.first_sector(at);
        let number = self.parts.insert(Part::Write(WritePart {
            operation,
            page,
            at,
            updates: Vec::new(),
        }));
        if let Some(cache) = &mut self.cache {
            let first_line = page * (self.map.page_sectors() >> cache.line_shift());
            let updates = meet_cache(cache, first_line, page_first, number, pieces);
            if let Part::Write(part) = self.parts.get_mut(number) {
                part.updates = updates;
            }
        }
        for (sector, sectors, _) in pieces {
            self.moves
                .written(page, (sector - page_first) as u32, *sectors);
        }
        self.map.spaces[at.group()].write_begins(at.slot());
        let owner = RequestKind::Part.owner(number);
        groups.submit_stripe_write(now_ns, owner, group, class, pieces);
        batch.clear();
    }

    /// A write to one stripe of a page is done.
    pub(super) fn write_done(
        &mut self,
        now_ns: u64,
        number: u32,
        part: WritePart<P>,
        result: Result<(), GroupError>,
        groups: &mut impl Groups<P>,
    ) {
        let WritePart {
            operation,
            page,
            at,
            updates,
        } = part;
        self.map.spaces[at.group()].write_ends(at.slot());
        if let Some(cache) = &mut self.cache {
            let request = RequestKind::Part.request(number);
            for LineUpdate { line, change } in updates {
                if result.is_ok() {
                    cache.update(now_ns, line, request, change, groups);
                } else if cache.expects(line, request) {
                    cache.drop_line(line);
                }
            }
        }
        self.operations
            .part_done(operation, result.map_err(PoolError::from));
        if !self.map.spaces[at.group()].is_written(at.slot()) {
            self.writes_drained(now_ns, page, at, groups);
        }
    }
}

/// Drops the copies of what is about to be written, or prepares them to be brought up to date by
/// the write under `number`: returns what to change in them once it is done.
fn meet_cache<P: Payload>(
    cache: &mut ReadCache<P>,
    first_line: u32,
    page_first: u64,
    number: u32,
    pieces: &[Piece<P>],
) -> Vec<LineUpdate<P>> {
    let request = RequestKind::Part.request(number);
    let (shift, line_sectors) = (cache.line_shift(), cache.line_sectors());
    let mut updates = Vec::new();
    for (sector, sectors, payload) in pieces {
        let first = (sector - page_first) as u32;
        let end = first + sectors;
        for line in first >> shift..=(end - 1) >> shift {
            if !cache.updates_on_write() {
                cache.invalidate(first_line + line);
                continue;
            }
            if cache.expect_update(first_line + line, request) {
                let from = first.max(line << shift);
                let to = end.min((line << shift) + line_sectors);
                let change = payload.part(from - first, to - from);
                updates.push(LineUpdate {
                    line: first_line + line,
                    change: (from - (line << shift), to - from, change),
                });
            }
        }
    }
    updates
}
