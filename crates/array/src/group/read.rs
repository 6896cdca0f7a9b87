//! Reading: directly where the disk is there, through the rest of the stripe where it is not.

use crate::Direction;
use crate::payload::Payload;
use crate::raid::parity::{Columns, recover};
use crate::raid::{Place, Protection, StripeLayout};
use crate::station::{Outcome, Parent};

use super::backend::Backend;
use super::disks::RequestTarget;
use super::lock::StripeRows;
use super::task::{ColumnRead, Goal, Piece, Step};
use super::{GroupError, GroupId, GroupState};

/// Sectors in a row within one chunk, as a request sees them.
#[derive(Debug, Clone, Copy)]
struct Segment {
    stripe: u64,
    column: u16,
    row: u64,
    sectors: u32,
    offset: u32,
}

impl Segment {
    fn rows(self, group: u16) -> StripeRows {
        let from = self.row as u32;
        StripeRows {
            group,
            stripe: self.stripe,
            from,
            to: from + self.sectors,
        }
    }
}

impl<P: Payload> Backend<P> {
    /// The part of a request that starts at `offset` and ends with its chunk or the request.
    #[inline]
    fn segment(&self, id: u32, offset: u32) -> Segment {
        let pending = &self.requests[id];
        let geometry = &self.groups[pending.group].geometry;
        let spot = geometry.locate(pending.first_sector + u64::from(offset));
        let left = u64::from(pending.sectors - offset);
        Segment {
            stripe: spot.stripe,
            column: spot.column,
            row: spot.row,
            sectors: (geometry.chunk_sectors - spot.row).min(left) as u32,
            offset,
        }
    }

    /// Starts a request to read.
    #[inline]
    pub(super) fn start_read(&mut self, now_ns: u64, id: u32) {
        let pending = &self.requests[id];
        let group = &self.groups[pending.group];
        if self.groups.is_complete(pending.group)
            || !matches!(group.geometry.protection, Protection::Parity(_))
        {
            self.read_directly(now_ns, id, 0, pending.sectors);
        } else {
            self.read_by_stripes(now_ns, id);
        }
    }

    /// Reads a part of a request by a disk request for every run of sectors on one disk.
    #[inline]
    pub(super) fn read_directly(&mut self, now_ns: u64, id: u32, offset: u32, sectors: u32) {
        let end = offset + sectors;
        let mut run: Option<RequestTarget> = None;
        let mut at = offset;
        while at < end {
            let mut segment = self.segment(id, at);
            segment.sectors = segment.sectors.min(end - at);
            at += segment.sectors;
            if self.is_lost(id, segment) {
                let from = segment.row as u32;
                let rows = (from, from + segment.sectors);
                self.enter_read_task(now_ns, id, &[segment], rows, false);
                continue;
            }
            let Some(aim) = self.aim_read(id, segment, run.as_ref()) else {
                let group = GroupId(self.requests[id].group);
                self.requests
                    .note_error(id, GroupError::GroupFailed { group });
                continue;
            };
            match &mut run {
                Some(run) if follows(run, &aim) => run.sectors += aim.sectors,
                _ => {
                    if let Some(run) = run.replace(aim) {
                        self.issue_direct(now_ns, id, run);
                    }
                }
            }
        }
        if let Some(run) = run {
            self.issue_direct(now_ns, id, run);
        }
    }

    /// Whether a segment lies in a column that is missing and can only be computed.
    #[inline]
    fn is_lost(&self, id: u32, segment: Segment) -> bool {
        let group = self.requests[id].group;
        if self.groups.is_complete(group)
            || !matches!(
                self.groups[group].geometry.protection,
                Protection::Parity(_)
            )
        {
            return false;
        }
        self.groups
            .missing_columns(segment.rows(group))
            .has(segment.column)
    }

    #[inline]
    fn issue_direct(&mut self, now_ns: u64, id: u32, aim: RequestTarget) {
        self.requests.add_part(id);
        self.disks.issue(now_ns, aim, P::default());
    }

    /// The disk request that reads a segment; none if no copy is there.
    #[inline]
    fn aim_read(
        &mut self,
        id: u32,
        segment: Segment,
        before: Option<&RequestTarget>,
    ) -> Option<RequestTarget> {
        let pending = &self.requests[id];
        let (number, class) = (pending.group, pending.class);
        let group = &self.groups[number];
        let place = match group.geometry.protection {
            Protection::Copies(copies) => self.choose_copy(number, copies, segment, before)?,
            _ => group.layout.place(segment.stripe, segment.column),
        };
        let set = self.groups.set(self.groups[number].set);
        let (station, first_sector) = set.locate(place);
        Some(RequestTarget {
            station,
            direction: Direction::Read,
            class,
            first_sector: first_sector + segment.row,
            sectors: segment.sectors,
            parent: Parent::Request(id),
            slot: segment.offset,
        })
    }

    /// The copy to read: the one a run goes on with, else as the policy says.
    fn choose_copy(
        &mut self,
        number: u16,
        copies: u16,
        segment: Segment,
        before: Option<&RequestTarget>,
    ) -> Option<Place> {
        let missing = self.groups.missing_columns(segment.rows(number));
        let group = &self.groups[number];
        let set = self.groups.set(group.set);
        let mut best: Option<(Place, u32)> = None;
        for copy in self.mirrors.order(copies) {
            if missing.has(copy) {
                continue;
            }
            let place = group.layout.place(segment.stripe, copy);
            let (station, first_sector) = set.locate(place);
            let address = first_sector + segment.row;
            let goes_on = before.is_some_and(|run| {
                run.station == station && run.first_sector + u64::from(run.sectors) == address
            });
            if goes_on {
                return Some(place);
            }
            let load = if self.mirrors.considers_load() {
                self.disks.load(station)
            } else {
                0
            };
            if best.is_none_or(|(_, least)| load < least) {
                best = Some((place, load));
            }
        }
        best.map(|(place, _)| place)
    }

    /// Reads a request from a group with missing disks, stripe by stripe.
    fn read_by_stripes(&mut self, now_ns: u64, id: u32) {
        let sectors = self.requests[id].sectors;
        let mut offset = 0;
        while offset < sectors {
            let stripe = self.segment(id, offset).stripe;
            let mut segments = Vec::new();
            while offset < sectors {
                let segment = self.segment(id, offset);
                if segment.stripe != stripe {
                    break;
                }
                offset += segment.sectors;
                segments.push(segment);
            }
            let lost = |segment: &Segment| self.is_lost(id, *segment);
            if segments.iter().any(lost) {
                let rows = segments.iter().filter(|&segment| lost(segment)).fold(
                    (u32::MAX, 0),
                    |rows, segment| {
                        let from = segment.row as u32;
                        (rows.0.min(from), rows.1.max(from + segment.sectors))
                    },
                );
                self.enter_read_task(now_ns, id, &segments, rows, false);
            } else {
                for segment in segments {
                    self.read_directly(now_ns, id, segment.offset, segment.sectors);
                }
            }
        }
    }

    fn enter_read_task(
        &mut self,
        now_ns: u64,
        id: u32,
        segments: &[Segment],
        rows: (u32, u32),
        read_failed: bool,
    ) {
        self.requests.add_part(id);
        let pending = &self.requests[id];
        let stripe_rows = StripeRows {
            group: pending.group,
            stripe: segments[0].stripe,
            from: rows.0,
            to: rows.1,
        };
        let number = self.tasks.begin(Goal::Read, pending.class, stripe_rows, id);
        let task = &mut self.tasks[number];
        task.read_failed = read_failed;
        task.pieces.extend(segments.iter().map(|segment| Piece {
            column: segment.column,
            from: segment.row as u32,
            sectors: segment.sectors,
            offset: segment.offset,
            payload: P::default(),
            old: P::default(),
        }));
        self.enter(now_ns, number);
    }

    /// A disk request that served a group request directly has failed.
    pub(super) fn direct_failed(
        &mut self,
        now_ns: u64,
        id: u32,
        offset: u32,
        sectors: u32,
        outcome: Outcome,
    ) {
        let pending = &self.requests[id];
        let group = GroupId(pending.group);
        let state = &self.groups[group.0];
        if state.state == GroupState::Failed {
            self.requests
                .note_error(id, GroupError::GroupFailed { group });
            return;
        }
        if state.geometry.protection == Protection::None {
            let first_sector = pending.first_sector + u64::from(offset);
            let error = GroupError::Unreadable {
                group,
                first_sector,
            };
            self.requests.note_error(id, error);
            return;
        }
        let end = offset + sectors;
        let mut at = offset;
        while at < end {
            let mut segment = self.segment(id, at);
            segment.sectors = segment.sectors.min(end - at);
            at += segment.sectors;
            let from = segment.row as u32;
            let rows = (from, from + segment.sectors);
            let read_failed = outcome == Outcome::MediaError;
            self.enter_read_task(now_ns, id, &[segment], rows, read_failed);
        }
    }

    /// Plans the reads of a task: sources for what is missing, the rest directly.
    pub(super) fn plan_read(&mut self, now_ns: u64, id: u32) {
        let task = &mut self.tasks[id];
        let met_bad_sectors = std::mem::take(&mut task.read_failed);
        let missing = task.missing;
        let (from, to) = (task.rows.from, task.rows.to);
        let outside =
            |piece: &Piece<P>| missing.has(piece.column) && (piece.from < from || piece.to() > to);
        if task.pieces.iter().any(outside) {
            self.read_apart(now_ns, id, outside);
        }
        let task = &self.tasks[id];
        let parity = matches!(
            self.groups[task.rows.group].geometry.protection,
            Protection::Parity(_)
        );
        if parity && task.touches(missing) {
            let sources = self.sources(id);
            self.read_sources(now_ns, id, sources);
        } else if met_bad_sectors {
            self.read_all(now_ns, id);
        } else {
            // What was missing when the task was made is there again, or another copy is.
            self.read_pieces_directly(now_ns, id, Columns::default());
            self.finish_task(id);
        }
    }

    /// Gives pieces to tasks of their own: their disk has failed since the task took its rows, and
    /// they lie outside of these.
    fn read_apart(&mut self, now_ns: u64, id: u32, apart: impl Fn(&Piece<P>) -> bool) {
        let task = &mut self.tasks[id];
        let (stripe, request) = (task.rows.stripe, task.request);
        let mut pieces = std::mem::take(&mut task.pieces);
        for piece in pieces.iter().filter(|&piece| apart(piece)) {
            let segment = Segment {
                stripe,
                column: piece.column,
                row: u64::from(piece.from),
                sectors: piece.sectors,
                offset: piece.offset,
            };
            let rows = (piece.from, piece.to());
            self.enter_read_task(now_ns, request, &[segment], rows, false);
        }
        pieces.retain(|piece| !apart(piece));
        self.tasks[id].pieces = pieces;
    }

    /// Gives the pieces outside `kept` to direct reads.
    fn read_pieces_directly(&mut self, now_ns: u64, id: u32, kept: Columns) {
        let mut pieces = std::mem::take(&mut self.tasks[id].pieces);
        let request = self.tasks[id].request;
        for piece in pieces.iter().filter(|piece| !kept.has(piece.column)) {
            self.read_directly(now_ns, request, piece.offset, piece.sectors);
        }
        pieces.retain(|piece| kept.has(piece.column));
        self.tasks[id].pieces = pieces;
    }

    /// As many of the columns that are there as it takes to compute any other: data first.
    pub(super) fn sources(&self, id: u32) -> Columns {
        let task = &self.tasks[id];
        let geometry = &self.groups[task.rows.group].geometry;
        (0..geometry.columns())
            .filter(|&column| !task.missing.has(column))
            .take(usize::from(geometry.data_columns))
            .collect()
    }

    /// Reads the task's rows of the sources. A piece in a source column that touches the rows is
    /// read with them.
    pub(super) fn read_sources(&mut self, now_ns: u64, id: u32, sources: Columns) {
        let task = &mut self.tasks[id];
        task.step = Step::ReadSources;
        let group = &mut self.groups[task.rows.group];
        let width = usize::from(group.geometry.columns());
        if task.goal == Goal::Read {
            group.counters.degraded_reads += 1;
        }
        let (from, to) = (task.rows.from, task.rows.to);
        let mut kept = task.missing;
        let mut ranges = [(from, to); 64];
        for piece in &task.pieces {
            if sources.has(piece.column) && piece.from <= to && piece.to() >= from {
                kept.add(piece.column);
                ranges[usize::from(piece.column)] = (piece.from.min(from), piece.to().max(to));
            }
        }
        task.columns.clear();
        task.columns.resize_with(width, ColumnRead::default);
        for column in sources.iter() {
            let (from, to) = ranges[usize::from(column)];
            self.tasks[id].columns[usize::from(column)].from = from;
            let rows = (column, from, to - from);
            let slot = u32::from(column);
            self.issue_column(now_ns, id, rows, Direction::Read, slot, P::default());
        }
        self.read_pieces_directly(now_ns, id, kept);
    }

    /// The sources of a read or a step of a rebuild are read.
    pub(super) fn sources_read(&mut self, now_ns: u64, id: u32, read_failed: bool) {
        let goal = self.tasks[id].goal;
        let missing = self.tasks[id].missing;
        if read_failed {
            if goal == Goal::Read {
                self.read_pieces_directly(now_ns, id, missing);
            }
            self.read_all(now_ns, id);
            return;
        }
        let columns = self.recover_rows(id);
        if let Goal::Rebuild { member, .. } = goal {
            self.write_rebuilt(now_ns, id, member, columns);
            return;
        }
        let task = &mut self.tasks[id];
        let (request, first) = (task.request, task.rows.from);
        let pieces = std::mem::take(&mut task.pieces);
        if P::CARRIES_BYTES {
            for piece in &pieces {
                let column = usize::from(piece.column);
                let payload = if missing.has(piece.column) {
                    columns[column].part(piece.from - first, piece.sectors)
                } else {
                    let read = &self.tasks[id].columns[column];
                    read.payload.part(piece.from - read.from, piece.sectors)
                };
                self.requests
                    .deliver(request, piece.offset, piece.sectors, payload);
            }
        }
        self.tasks[id].pieces = pieces;
        self.finish_task(id);
    }

    /// The task's rows of every column, those not read computed from those that were.
    fn recover_rows(&self, id: u32) -> Vec<P> {
        if !P::CARRIES_BYTES {
            return Vec::new();
        }
        let task = &self.tasks[id];
        let geometry = &self.groups[task.rows.group].geometry;
        let sources = self.sources(id);
        let rows = task.rows.count();
        let mut columns: Vec<P> = Vec::with_capacity(task.columns.len());
        for (column, read) in task.columns.iter().enumerate() {
            columns.push(if sources.has(column as u16) {
                read.payload.part(task.rows.from - read.from, rows)
            } else {
                P::zeroed(rows)
            });
        }
        let lost = (0..geometry.columns())
            .filter(|&column| !sources.has(column))
            .collect();
        let recovered = recover(geometry, &mut columns, lost, rows);
        assert!(recovered, "as many sources as data columns always suffice");
        columns
    }
}

/// Whether a disk request goes on where a run of sectors ends.
#[inline]
fn follows(run: &RequestTarget, aim: &RequestTarget) -> bool {
    run.station == aim.station
        && run.first_sector + u64::from(run.sectors) == aim.first_sector
        && run.slot + run.sectors == aim.slot
}
