//! Writing: the pieces of each stripe, and the redundancy that goes with them.

use crate::Direction;
use crate::payload::Payload;
use crate::raid::Protection;
use crate::raid::parity::coefficient;
use crate::station::Parent;

use super::backend::Backend;
use super::disks::RequestTarget;
use super::lock::StripeRows;
use super::rules::{UpdateMethod, parities_there};
use super::task::{ColumnRead, Goal, PARITY_SLOT, Piece, Step};

impl<P: Payload> Backend<P> {
    /// Cuts an extent to be written into pieces within chunks; they gather in `cuts`.
    #[inline]
    pub(super) fn cut(&mut self, group: u16, first_sector: u64, sectors: u32, payload: &P) {
        let geometry = &self.groups[group].geometry;
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
                self.cuts.direct.push((spot.stripe, spot.row, piece));
            } else {
                self.cuts.by_stripe.push((spot.stripe, piece));
            }
            offset += length;
        }
    }

    /// Starts a request to write what lies in `cuts`.
    #[inline]
    pub(super) fn start_write(&mut self, now_ns: u64, id: u32) {
        let number = self.requests[id].group;
        if self.groups[number].geometry.protection == Protection::None {
            self.write_directly(now_ns, id);
            return;
        }
        let mut cuts = std::mem::take(&mut self.cuts.by_stripe);
        if cuts.len() > 1 {
            cuts.sort_by_key(|(stripe, piece)| (*stripe, piece.from));
        }
        let gap = self.write_rules.parity_gap_sectors;
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
        self.cuts.by_stripe = cuts;
        if let Some((task, ..)) = cluster {
            self.enter_write_task(now_ns, task);
        }
    }

    /// A task of a write request to a stripe, without pieces yet.
    #[inline]
    fn new_write_task(&mut self, id: u32, stripe: u64) -> u32 {
        self.requests.add_part(id);
        let pending = &self.requests[id];
        let rows = StripeRows {
            group: pending.group,
            stripe,
            ..StripeRows::default()
        };
        self.tasks.begin(Goal::Write, pending.class, rows, id)
    }

    /// Writes to a group without protection, disk by disk.
    fn write_directly(&mut self, now_ns: u64, id: u32) {
        let mut cuts = std::mem::take(&mut self.cuts.direct);
        for (stripe, row, piece) in cuts.drain(..) {
            self.requests.add_part(id);
            let pending = &self.requests[id];
            let (station, first_sector) = self.groups.locate(pending.group, stripe, piece.column);
            let aim = RequestTarget {
                station,
                direction: Direction::Write,
                class: pending.class,
                first_sector: first_sector + row,
                sectors: piece.sectors,
                parent: Parent::Request(id),
                slot: 0,
            };
            self.disks.issue(now_ns, aim, piece.payload);
        }
        self.cuts.direct = cuts;
    }

    /// Orders a task's pieces, finds its rows, and puts it in line for them.
    #[inline]
    fn enter_write_task(&mut self, now_ns: u64, id: u32) {
        let task = &mut self.tasks[id];
        if task.pieces.len() > 1 {
            task.pieces.sort_by_key(|piece| (piece.column, piece.from));
            join_touching(&mut task.pieces);
        }
        task.rows.from = u32::MAX;
        task.rows.to = 0;
        for piece in &task.pieces {
            task.rows.from = task.rows.from.min(piece.from);
            task.rows.to = task.rows.to.max(piece.to());
        }
        self.enter(now_ns, id);
    }

    /// Decides how a write brings its stripe up to date, and begins.
    #[inline]
    pub(super) fn plan_write(&mut self, now_ns: u64, id: u32) {
        let task = &self.tasks[id];
        let group = &mut self.groups[task.rows.group];
        let way = self.write_rules.choose(&group.geometry, task);
        let counters = &mut group.counters;
        match way {
            UpdateMethod::ReadModifyWrite => {
                counters.read_modify_writes += 1;
                self.read_old(now_ns, id);
            }
            UpdateMethod::Reconstruct => {
                counters.reconstruct_writes += 1;
                self.read_rest(now_ns, id);
            }
            UpdateMethod::Plain => {
                counters.plain_writes += 1;
                self.tasks[id].step = Step::ReadRest;
                self.write_pieces(now_ns, id);
            }
            UpdateMethod::ReadAll => self.read_all(now_ns, id),
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
        let (from, rows) = (self.tasks[id].rows.from, self.tasks[id].rows.count());
        let geometry = self.groups[self.tasks[id].rows.group].geometry;
        let data_columns = geometry.data_columns;
        for column in parities_there(&geometry, &self.tasks[id]).iter() {
            let slot = PARITY_SLOT + u32::from(column - data_columns);
            let extent = (column, from, rows);
            self.issue_column(now_ns, id, extent, Direction::Read, slot, P::default());
        }
    }

    /// First phase of a reconstruct-write: what is not written of the rows.
    fn read_rest(&mut self, now_ns: u64, id: u32) {
        let task = &mut self.tasks[id];
        task.step = Step::ReadRest;
        let data_columns = self.groups[task.rows.group].geometry.data_columns;
        task.columns.clear();
        task.columns
            .resize_with(usize::from(data_columns), ColumnRead::default);
        let (from, rows) = (task.rows.from, task.rows.count());
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
        let (from, rows) = (task.rows.from, task.rows.count());
        task.step = Step::Write;
        let missing = task.missing;
        let geometry = self.groups[task.rows.group].geometry;
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
        for column in parities_there(&geometry, &self.tasks[id]).iter() {
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
        let geometry = &self.groups[task.rows.group].geometry;
        let Protection::Parity(parities) = geometry.protection else {
            return;
        };
        let rows = task.rows.count();
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
                            payload.overlay(piece.from - task.rows.from, &piece.payload);
                        }
                        sum.multiply_add(coefficient(parity, column), &payload);
                    }
                }
            }
            for piece in &task.pieces {
                let factor = coefficient(parity, piece.column);
                let at = piece.from - task.rows.from;
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
