//! The careful way: all of a range of rows is read, what cannot be read is computed from the rest,
//! and what was bad is rewritten.
//!
//! Reads that met bad sectors end here, writes that the quick ways cannot do, and every scrub. The
//! rows are cut into runs in which the same columns are readable and the same columns are written,
//! so that a bad sector costs nothing but itself. Where a run has lost more than the protection
//! bears, contents are gone: reads of them get an error, and parity that can no longer be known is
//! marked unreadable, so that nothing is ever computed from it.

use crate::Direction;
use crate::payload::Payload;
use crate::raid::Protection;
use crate::raid::parity::{Columns, Verdict, judge, recover};

use super::backend::Backend;
use super::lock::{NONE, StripeRows};
use super::task::{ColumnRead, Goal, Piece, Step, UnreadableRows};
use super::{GroupError, GroupId, GroupState};

/// The rows of a stripe while they are being repaired.
struct RowRepair<P> {
    from: u32,
    columns: Vec<P>,
    gaps: Vec<UnreadableRows>,
    pieces: Vec<Piece<P>>,
    missing: Columns,
    /// Rows of columns to write.
    writes: Vec<UnreadableRows>,
    /// Rows of columns whose contents can no longer be known.
    unreadable: Vec<UnreadableRows>,
    /// Column and row of the first sector a read or write could not be served for.
    failed: Option<(u16, u32)>,
    repaired_sectors: u64,
}

impl<P: Payload> RowRepair<P> {
    /// Rows at which something changes, in order.
    fn cuts(&self, to: u32) -> Vec<u32> {
        let mut cuts = vec![self.from, to];
        cuts.extend(self.gaps.iter().flat_map(|gap| [gap.from, gap.to]));
        cuts.extend(
            self.pieces
                .iter()
                .flat_map(|piece| [piece.from, piece.to()]),
        );
        cuts.retain(|&row| (self.from..=to).contains(&row));
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }

    fn parts(&self, from: u32, to: u32) -> Vec<P> {
        let part = |column: &P| column.part(from - self.from, to - from);
        self.columns.iter().map(part).collect()
    }

    fn put_back(&mut self, from: u32, columns: Columns, parts: &[P]) {
        for column in columns.iter() {
            let column = usize::from(column);
            self.columns[column].overlay(from - self.from, &parts[column]);
        }
    }

    /// Adds rows of a column to a list, as one entry with those just before. Rows come in order;
    /// those that are there already are not added again.
    fn add(list: &mut Vec<UnreadableRows>, column: u16, from: u32, to: u32) {
        let last = list.iter_mut().rev().find(|gap| gap.column == column);
        match last {
            Some(gap) if gap.to >= to => {}
            Some(gap) if gap.to == from => gap.to = to,
            _ => list.push(UnreadableRows { column, from, to }),
        }
    }
}

impl<P: Payload> Backend<P> {
    /// Begins a repair: reads the task's rows of every column that is there.
    pub(super) fn read_all(&mut self, now_ns: u64, id: u32) {
        let task = &self.tasks[id];
        let missing = self.groups.missing_columns(task.rows);
        let goal = task.goal;
        let group = &mut self.groups[task.rows.group];
        let geometry = group.geometry;
        if group.state == GroupState::Failed || missing.count() > geometry.tolerance() {
            self.fail_task(id);
            return;
        }
        if goal != Goal::Scrub {
            group.counters.repairs += 1;
        }
        let task = &mut self.tasks[id];
        task.step = Step::ReadAll;
        task.missing = missing;
        task.read_failed = false;
        task.gaps.clear();
        let (from, to) = (task.rows.from, task.rows.to);
        task.columns.clear();
        if P::CARRIES_BYTES {
            let blank = || ColumnRead {
                from,
                payload: P::zeroed(to - from),
            };
            task.columns
                .resize_with(usize::from(geometry.columns()), blank);
        }
        for column in 0..geometry.columns() {
            if missing.has(column) && !self.note_partly_there(id, column) {
                self.tasks[id]
                    .gaps
                    .push(UnreadableRows { column, from, to });
            } else {
                let rows = (column, from, to - from);
                let slot = u32::from(column);
                self.issue_column(now_ns, id, rows, Direction::Read, slot, P::default());
            }
        }
    }

    /// If some of the task's rows of a column are rebuilt, the column counts as there, with gaps.
    fn note_partly_there(&mut self, id: u32, column: u16) -> bool {
        let rows = self.tasks[id].rows;
        let Some(gaps) = self.groups.gaps_of_partly_rebuilt(rows, column) else {
            return false;
        };
        let task = &mut self.tasks[id];
        let gaps = gaps
            .into_iter()
            .map(|(from, to)| UnreadableRows { column, from, to });
        task.gaps.extend(gaps);
        task.missing.remove(column);
        true
    }

    /// Everything that can be read is read: computes what is missing, and writes.
    pub(super) fn all_read(&mut self, now_ns: u64, id: u32) {
        let task = &mut self.tasks[id];
        let (goal, from, to) = (task.goal, task.rows.from, task.rows.to);
        let (rows, number) = (task.rows, task.rows.group);
        let mut repair = RowRepair {
            from,
            columns: task.columns.drain(..).map(|read| read.payload).collect(),
            gaps: std::mem::take(&mut task.gaps),
            pieces: std::mem::take(&mut task.pieces),
            missing: task.missing,
            writes: Vec::new(),
            unreadable: Vec::new(),
            failed: None,
            repaired_sectors: 0,
        };
        if self.groups[number].state == GroupState::Failed {
            self.fail_task(id);
            return;
        }
        if goal == Goal::Scrub {
            self.verify(number, &mut repair, to);
        }
        let target = match goal {
            Goal::Rebuild { member, .. } => self.groups.column_on(rows, member),
            _ => None,
        };
        for run in repair.cuts(to).windows(2) {
            self.repair_run(number, &mut repair, goal, target, (run[0], run[1]));
        }
        self.finish_repair(now_ns, id, repair);
    }

    /// Marks what disagrees with the rest of its stripe as if it could not be read.
    fn verify(&mut self, number: u16, repair: &mut RowRepair<P>, to: u32) {
        let group = &mut self.groups[number];
        let geometry = group.geometry;
        // The redundancy of zeros is zeros.
        if !P::CARRIES_BYTES || repair.columns.iter().all(Payload::is_zeros) {
            return;
        }
        for row in repair.from..to {
            if repair
                .gaps
                .iter()
                .any(|gap| gap.from <= row && row < gap.to)
            {
                continue;
            }
            let parts = repair.parts(row, row + 1);
            let sectors: Vec<&[u8]> = parts.iter().filter_map(Payload::as_bytes).collect();
            let verdict = judge(&geometry, &sectors);
            if verdict == Verdict::Sound {
                continue;
            }
            group.counters.mismatches += 1;
            // If there is no way to know which is wrong, the data are kept and the redundancy follows.
            let wrong = match verdict {
                Verdict::Wrong(column) => column..column + 1,
                _ => geometry.data_columns..geometry.columns(),
            };
            for column in wrong {
                RowRepair::<P>::add(&mut repair.gaps, column, row, row + 1);
            }
        }
    }

    /// Repairs rows in which the same columns are readable and written throughout.
    fn repair_run(
        &mut self,
        number: u16,
        repair: &mut RowRepair<P>,
        goal: Goal,
        target: Option<u16>,
        (from, to): (u32, u32),
    ) {
        let geometry = self.groups[number].geometry;
        let lost: Columns = repair
            .gaps
            .iter()
            .filter(|gap| gap.from <= from && to <= gap.to)
            .map(|gap| gap.column)
            .collect();
        let mut parts = if P::CARRIES_BYTES {
            repair.parts(from, to)
        } else {
            vec![P::default(); usize::from(geometry.columns())]
        };
        let recovered = recover(&geometry, &mut parts, lost, to - from);
        let mut lost_for_good = Columns::default();
        if recovered {
            if P::CARRIES_BYTES {
                repair.put_back(from, lost, &parts);
            }
            for column in lost.iter() {
                if !repair.missing.has(column) {
                    repair.repaired_sectors += u64::from(to - from);
                }
                if !repair.missing.has(column) || target == Some(column) {
                    RowRepair::<P>::add(&mut repair.writes, column, from, to);
                }
            }
        } else {
            lost_for_good = lost;
        }
        match goal {
            Goal::Write => self.write_run(number, repair, lost_for_good, (from, to)),
            Goal::Read => {
                let unserved = repair.pieces.iter().find(|piece| {
                    let column = match geometry.protection {
                        Protection::Copies(_) => !lost_for_good.is_empty(),
                        _ => lost_for_good.has(piece.column),
                    };
                    column && piece.from <= from && to <= piece.to()
                });
                if let Some(piece) = unserved {
                    repair.failed.get_or_insert((piece.column, from));
                }
            }
            Goal::Rebuild { .. } => {
                if let Some(target) = target.filter(|&target| lost_for_good.has(target)) {
                    RowRepair::<P>::add(&mut repair.unreadable, target, from, to);
                }
            }
            Goal::Scrub => {}
        }
    }

    /// Applies the pieces of a write to a run, and decides what becomes of the parity.
    fn write_run(
        &mut self,
        number: u16,
        repair: &mut RowRepair<P>,
        mut lost_for_good: Columns,
        (from, to): (u32, u32),
    ) {
        let geometry = self.groups[number].geometry;
        let written: Columns = repair
            .pieces
            .iter()
            .filter(|piece| piece.from <= from && to <= piece.to())
            .map(|piece| piece.column)
            .collect();
        if written.is_empty() {
            return;
        }
        let pieces = std::mem::take(&mut repair.pieces);
        for piece in &pieces {
            if written.has(piece.column) && piece.from <= from && to <= piece.to() {
                let part = piece.payload.part(from - piece.from, to - from);
                if P::CARRIES_BYTES {
                    repair.columns[usize::from(piece.column)].overlay(from - repair.from, &part);
                }
                lost_for_good.remove(piece.column);
            }
        }
        repair.pieces = pieces;
        let redundant: Columns = (geometry.data_columns..geometry.columns()).collect();
        let copies = matches!(geometry.protection, Protection::Copies(_));
        let data_is_known =
            copies || (0..geometry.data_columns).all(|column| !lost_for_good.has(column));
        for column in written.iter() {
            if !repair.missing.has(column) {
                RowRepair::<P>::add(&mut repair.writes, column, from, to);
            } else if !data_is_known {
                repair.failed.get_or_insert((column, from));
            }
        }
        if !data_is_known {
            for column in redundant
                .iter()
                .filter(|&column| !repair.missing.has(column))
            {
                RowRepair::<P>::add(&mut repair.unreadable, column, from, to);
            }
            return;
        }
        if P::CARRIES_BYTES {
            let mut parts = repair.parts(from, to);
            let recovered = recover(&geometry, &mut parts, redundant, to - from);
            assert!(recovered, "redundancy follows from the data");
            repair.put_back(from, redundant, &parts);
        }
        for column in redundant
            .iter()
            .filter(|&column| !repair.missing.has(column))
        {
            RowRepair::<P>::add(&mut repair.writes, column, from, to);
        }
    }

    /// Answers the request and writes what has to be written.
    fn finish_repair(&mut self, now_ns: u64, id: u32, mut repair: RowRepair<P>) {
        let task = &mut self.tasks[id];
        task.step = Step::Repair;
        let (goal, request, stripe) = (task.goal, task.request, task.rows.stripe);
        let group = &mut self.groups[task.rows.group];
        let geometry = group.geometry;
        group.counters.repaired_sectors += repair.repaired_sectors;
        let unreadable_sectors = repair
            .unreadable
            .iter()
            .map(|gap| u64::from(gap.to - gap.from));
        group.counters.lost_sectors += unreadable_sectors.sum::<u64>();
        if let Some((column, row)) = repair.failed
            && request != NONE
        {
            let first_sector = stripe * geometry.stripe_sectors()
                + u64::from(column) * geometry.chunk_sectors
                + u64::from(row);
            let group = GroupId(task.rows.group);
            let error = GroupError::Unreadable {
                group,
                first_sector,
            };
            self.requests.note_error(request, error);
        }
        if goal == Goal::Read && P::CARRIES_BYTES {
            for piece in &repair.pieces {
                let column = &repair.columns[usize::from(piece.column)];
                let payload = column.part(piece.from - repair.from, piece.sectors);
                self.requests
                    .deliver(request, piece.offset, piece.sectors, payload);
            }
        }
        for gap in &repair.unreadable {
            self.mark_unreadable(id, *gap);
        }
        for gap in std::mem::take(&mut repair.writes) {
            let rows = gap.to - gap.from;
            let payload = if P::CARRIES_BYTES {
                repair.columns[usize::from(gap.column)].part(gap.from - repair.from, rows)
            } else {
                P::default()
            };
            let extent = (gap.column, gap.from, rows);
            self.issue_column(now_ns, id, extent, Direction::Write, 0, payload);
        }
        if self.tasks[id].open == 0 {
            self.finish_task(id);
        }
    }

    /// Marks rows of a column of the task's stripe unreadable.
    fn mark_unreadable(&mut self, id: u32, gap: UnreadableRows) {
        let task = &self.tasks[id];
        let StripeRows { group, stripe, .. } = task.rows;
        let (station, first_sector) = self.groups.locate(group, stripe, gap.column);
        let first_sector = first_sector + u64::from(gap.from);
        self.disks
            .mark_unreadable(station, first_sector, gap.to - gap.from);
    }
}
