//! Writing: the pieces of each stripe, and the redundancy that goes with them.

use crate::Direction;
use crate::payload::Payload;
use crate::raid::Protection;
use crate::raid::parity::{Columns, coefficient};
use crate::station::Parent;

use super::SmallWrite;
use super::backend::Backend;
use super::flow::{Aim, PARITY_SLOT};
use super::task::{ColumnRead, Goal, Piece, Step, Task};

/// How a task brings its stripe up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Old data and old parity tell what to change in the parity.
    ReadModifyWrite,
    /// The parity is computed from the whole rows; columns not written are read.
    Reconstruct,
    /// Nothing has to be read.
    Plain,
    /// A piece lies in a missing column, or the rest of the rows does: everything is read.
    ReadAll,
}

impl<P: Payload> Backend<P> {
    /// Cuts an extent to be written into pieces within chunks; they gather in `cuts`.
    #[inline]
    pub(super) fn cut(&mut self, group: u16, first_sector: u64, sectors: u32, payload: &P) {
        let geometry = &self.groups[usize::from(group)].geometry;
        let mut offset = 0;
        while offset < sectors {
            let spot = geometry.locate(first_sector + u64::from(offset));
            let left = u64::from(sectors - offset);
            let length = (geometry.chunk_sectors - spot.row).min(left) as u32;
            let piece = Piece {
                column: spot.column,
                from: spot.row as u32,
                sectors: length,
                offset: 0,
                payload: payload.part(offset, length),
                old: P::default(),
            };
            // Linear groups have chunks as long as a disk, whose rows do not fit into 32 bits.
            if geometry.protection == Protection::None {
                self.direct_cuts.push((spot.stripe, spot.row, piece));
            } else {
                self.cuts.push((spot.stripe, piece));
            }
            offset += length;
        }
    }

    /// Starts a request to write what lies in `cuts`.
    #[inline]
    pub(super) fn start_write(&mut self, now_ns: u64, id: u32) {
        let number = self.requests[id].group;
        if self.groups[usize::from(number)].geometry.protection == Protection::None {
            self.write_directly(now_ns, id);
            return;
        }
        let mut cuts = std::mem::take(&mut self.cuts);
        if cuts.len() > 1 {
            cuts.sort_by_key(|(stripe, piece)| (*stripe, piece.from));
        }
        let gap = self.parity_gap_sectors;
        let mut cluster: Option<(u32, u64, u32)> = None;
        for (stripe, piece) in cuts.drain(..) {
            let joins = cluster
                .filter(|&(_, other, to)| other == stripe && piece.from <= to.saturating_add(gap));
            let to = piece.to();
            if let Some((task, _, last)) = joins {
                self.tasks[task].pieces.push(piece);
                cluster = Some((task, stripe, last.max(to)));
                continue;
            }
            if let Some((task, ..)) = cluster {
                self.enter_write_task(now_ns, task);
            }
            let task = self.new_write_task(id, stripe);
            self.tasks[task].pieces.push(piece);
            cluster = Some((task, stripe, to));
        }
        self.cuts = cuts;
        if let Some((task, ..)) = cluster {
            self.enter_write_task(now_ns, task);
        }
    }

    /// A task of a write request to a stripe, without pieces yet.
    #[inline]
    fn new_write_task(&mut self, id: u32, stripe: u64) -> u32 {
        let pending = &mut self.requests[id];
        pending.open += 1;
        let number = self.tasks.take();
        let task = &mut self.tasks[number];
        task.goal = Goal::Write;
        task.class = pending.class;
        task.group = pending.group;
        task.request = id;
        task.stripe = stripe;
        number
    }

    /// Writes to a group without protection, disk by disk.
    fn write_directly(&mut self, now_ns: u64, id: u32) {
        let mut cuts = std::mem::take(&mut self.direct_cuts);
        for (stripe, row, piece) in cuts.drain(..) {
            let pending = &mut self.requests[id];
            pending.open += 1;
            let group = &self.groups[usize::from(pending.group)];
            let place = group.layout.place(stripe, piece.column);
            let set = &self.sets[usize::from(group.set)];
            let (station, first_sector) = set.locate(place);
            let aim = Aim {
                station,
                direction: Direction::Write,
                class: pending.class,
                first_sector: first_sector + row,
                sectors: piece.sectors,
                parent: Parent::Request(id),
                slot: 0,
            };
            self.issue(now_ns, aim, piece.payload);
        }
        self.direct_cuts = cuts;
    }

    /// Orders a task's pieces, finds its rows, and puts it in line for them.
    #[inline]
    fn enter_write_task(&mut self, now_ns: u64, id: u32) {
        let task = &mut self.tasks[id];
        if task.pieces.len() > 1 {
            task.pieces.sort_by_key(|piece| (piece.column, piece.from));
            join_touching(&mut task.pieces);
        }
        task.from = u32::MAX;
        task.to = 0;
        for piece in &task.pieces {
            task.from = task.from.min(piece.from);
            task.to = task.to.max(piece.to());
        }
        self.enter(now_ns, id);
    }

    /// Columns of redundancy of the task's stripe that are there.
    #[inline]
    fn parities_there(&self, task: &Task<P>) -> Columns {
        let geometry = &self.groups[usize::from(task.group)].geometry;
        let redundant = match geometry.protection {
            Protection::Parity(_) => geometry.data_columns..geometry.columns(),
            _ => 0..0,
        };
        redundant
            .filter(|&column| !task.missing.has(column))
            .collect()
    }

    /// Decides how a write brings its stripe up to date, and begins.
    #[inline]
    pub(super) fn plan_write(&mut self, now_ns: u64, id: u32) {
        let way = self.choose_way(&self.tasks[id]);
        let number = usize::from(self.tasks[id].group);
        let counters = &mut self.groups[number].counters;
        match way {
            Way::ReadModifyWrite => {
                counters.read_modify_writes += 1;
                self.read_old(now_ns, id);
            }
            Way::Reconstruct => {
                counters.reconstruct_writes += 1;
                self.read_rest(now_ns, id);
            }
            Way::Plain => {
                counters.plain_writes += 1;
                self.tasks[id].step = Step::ReadRest;
                self.write_pieces(now_ns, id);
            }
            Way::ReadAll => self.read_all(now_ns, id),
        }
    }

    #[inline]
    fn choose_way(&self, task: &Task<P>) -> Way {
        let geometry = &self.groups[usize::from(task.group)].geometry;
        if !matches!(geometry.protection, Protection::Parity(_)) {
            return Way::Plain;
        }
        let parities = self.parities_there(task).count();
        let pieces = task.pieces.len() as u16;
        let mut rest = 0;
        let mut rest_there = true;
        for column in 0..geometry.data_columns {
            if !task.covers(column) {
                rest += 1;
                rest_there &= !task.missing.has(column);
            }
        }
        let pieces_there = !task.touches(task.missing);
        if pieces_there && parities == 0 || rest == 0 {
            return Way::Plain;
        }
        let modify = match self.small_write {
            SmallWrite::FewestRequests => pieces + parities <= rest,
            SmallWrite::ReadModifyWrite => true,
            SmallWrite::Reconstruct => false,
        };
        match (pieces_there, rest_there) {
            (true, true) if modify => Way::ReadModifyWrite,
            (true, false) => Way::ReadModifyWrite,
            (_, true) => Way::Reconstruct,
            (false, false) => Way::ReadAll,
        }
    }

    /// First phase of a read-modify-write.
    #[inline]
    fn read_old(&mut self, now_ns: u64, id: u32) {
        self.tasks[id].step = Step::ReadOld;
        for number in 0..self.tasks[id].pieces.len() {
            let piece = &self.tasks[id].pieces[number];
            let rows = (piece.column, piece.from, piece.sectors);
            let slot = number as u32;
            self.issue_column(now_ns, id, rows, Direction::Read, slot, P::default());
        }
        let (from, rows) = (self.tasks[id].from, self.tasks[id].rows());
        let data_columns = self.groups[usize::from(self.tasks[id].group)]
            .geometry
            .data_columns;
        for column in self.parities_there(&self.tasks[id]).iter() {
            let slot = PARITY_SLOT + u32::from(column - data_columns);
            let extent = (column, from, rows);
            self.issue_column(now_ns, id, extent, Direction::Read, slot, P::default());
        }
    }

    /// First phase of a reconstruct-write: what is not written of the rows.
    fn read_rest(&mut self, now_ns: u64, id: u32) {
        let task = &mut self.tasks[id];
        task.step = Step::ReadRest;
        let data_columns = self.groups[usize::from(task.group)].geometry.data_columns;
        task.columns.clear();
        task.columns
            .resize_with(usize::from(data_columns), ColumnRead::default);
        let (from, rows) = (task.from, task.rows());
        for column in 0..data_columns {
            if !self.tasks[id].covers(column) {
                let slot = u32::from(column);
                let extent = (column, from, rows);
                self.issue_column(now_ns, id, extent, Direction::Read, slot, P::default());
            }
        }
    }

    /// Second phase: pieces and parity go to the disks.
    #[inline]
    pub(super) fn write_pieces(&mut self, now_ns: u64, id: u32) {
        if P::CARRIES_BYTES {
            self.compute_parity(id);
        }
        let task = &mut self.tasks[id];
        let (from, rows) = (task.from, task.rows());
        task.step = Step::Write;
        let missing = task.missing;
        let geometry = self.groups[usize::from(task.group)].geometry;
        let copies = match geometry.protection {
            Protection::Copies(copies) => copies,
            _ => 1,
        };
        for number in 0..self.tasks[id].pieces.len() {
            let piece = &mut self.tasks[id].pieces[number];
            let payload = std::mem::take(&mut piece.payload);
            let (column, extent) = (piece.column, (piece.from, piece.sectors));
            for column in column..column + copies {
                if !missing.has(column) {
                    let rows = (column, extent.0, extent.1);
                    let payload = payload.clone();
                    self.issue_column(now_ns, id, rows, Direction::Write, 0, payload);
                }
            }
        }
        let data_columns = geometry.data_columns;
        for column in self.parities_there(&self.tasks[id]).iter() {
            let parity = usize::from(column - data_columns);
            let payload = std::mem::take(&mut self.tasks[id].parity[parity]);
            let extent = (column, from, rows);
            self.issue_column(now_ns, id, extent, Direction::Write, 0, payload);
        }
        if self.tasks[id].open == 0 {
            self.finish_task(id);
        }
    }

    /// The new parity, from what the first phase has read.
    fn compute_parity(&mut self, id: u32) {
        let task = &mut self.tasks[id];
        let geometry = &self.groups[usize::from(task.group)].geometry;
        let Protection::Parity(parities) = geometry.protection else {
            return;
        };
        let rows = task.rows();
        let modify = task.step == Step::ReadOld;
        for parity in 0..parities {
            if task.missing.has(geometry.data_columns + parity) {
                continue;
            }
            let sum = &mut task.parity[usize::from(parity)];
            if !modify {
                *sum = P::zeroed(rows);
                for (column, read) in task.columns.iter().enumerate() {
                    let column = column as u16;
                    let covered = task
                        .pieces
                        .iter()
                        .any(|piece| piece.column == column && piece.sectors == rows);
                    if !covered {
                        let mut payload = read.payload.clone();
                        for piece in task.pieces.iter().filter(|piece| piece.column == column) {
                            payload.overlay(piece.from - task.from, &piece.payload);
                        }
                        sum.multiply_add(coefficient(parity, column), &payload);
                    }
                }
            }
            for piece in &task.pieces {
                let factor = coefficient(parity, piece.column);
                let at = piece.from - task.from;
                if modify {
                    sum.multiply_add_at(at, factor, &piece.old);
                    sum.multiply_add_at(at, factor, &piece.payload);
                } else if piece.sectors == rows {
                    sum.multiply_add_at(at, factor, &piece.payload);
                }
            }
        }
    }
}

/// Makes one piece of those of a column that touch. Pieces are in order of column and row.
fn join_touching<P: Payload>(pieces: &mut Vec<Piece<P>>) {
    let mut last = 0;
    for next in 1..pieces.len() {
        let (joined, rest) = pieces.split_at_mut(next);
        let (before, piece) = (&mut joined[last], &mut rest[0]);
        if before.column == piece.column {
            assert!(before.to() <= piece.from, "pieces of a write overlap");
            if before.to() == piece.from {
                if P::CARRIES_BYTES {
                    let mut payload = P::zeroed(before.sectors + piece.sectors);
                    payload.overlay(0, &before.payload);
                    payload.overlay(before.sectors, &piece.payload);
                    before.payload = payload;
                }
                before.sectors += piece.sectors;
                continue;
            }
        }
        last += 1;
        pieces.swap(last, next);
    }
    pieces.truncate(last + 1);
}
