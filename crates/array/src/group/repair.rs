//! The careful way: all of a range of rows is read, what cannot be read is computed from the rest,
//! and what was bad is written anew.
//!
//! Reads that met bad sectors end here, writes that the quick ways cannot do, and every scrub. The
//! rows are cut into runs in which the same columns are readable and the same columns are written,
//! so that a bad sector costs nothing but itself. Where a run has lost more than the protection
//! bears, contents are gone: reads of them get an error, and parity that can no longer be told is
//! marked unreadable, so that nothing is ever computed from it.

use crate::Direction;
use crate::payload::Payload;
use crate::raid::Protection;
use crate::raid::parity::{Columns, Verdict, judge, recover};

use super::backend::Backend;
use super::task::{ColumnRead, Gap, Goal, NONE, Piece, Step};
use super::{GroupError, GroupId, GroupState};

/// The rows of a stripe while they are being repaired.
struct Bench<P> {
    from: u32,
    columns: Vec<P>,
    gaps: Vec<Gap>,
    pieces: Vec<Piece<P>>,
    missing: Columns,
    /// Rows of columns to write.
    writes: Vec<Gap>,
    /// Rows of columns that can no longer be told.
    spoilt: Vec<Gap>,
    /// Column and row of the first sector a read or write could not be served for.
    failed: Option<(u16, u32)>,
    mended_sectors: u64,
}

impl<P: Payload> Bench<P> {
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
    fn add(list: &mut Vec<Gap>, column: u16, from: u32, to: u32) {
        let last = list.iter_mut().rev().find(|gap| gap.column == column);
        match last {
            Some(gap) if gap.to >= to => {}
            Some(gap) if gap.to == from => gap.to = to,
            _ => list.push(Gap { column, from, to }),
        }
    }
}

impl<P: Payload> Backend<P> {
    /// Begins a repair: reads the task's rows of every column that is there.
    pub(super) fn read_all(&mut self, now_ns: u64, id: u32) {
        let task = &self.tasks[id];
        let missing = self.missing_columns(task.group, task.stripe, task.from, task.to);
        let goal = task.goal;
        let group = &mut self.groups[usize::from(task.group)];
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
        task.trouble = false;
        task.gaps.clear();
        let (from, to) = (task.from, task.to);
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
                self.tasks[id].gaps.push(Gap { column, from, to });
            } else {
                let rows = (column, from, to - from);
                let slot = u32::from(column);
                self.issue_column(now_ns, id, rows, Direction::Read, slot, P::default());
            }
        }
    }

    /// If some of the task's rows of a column are rebuilt, the column counts as there, with gaps.
    fn note_partly_there(&mut self, id: u32, column: u16) -> bool {
        let Some(gaps) = self.partly_there(id, column) else {
            return false;
        };
        let task = &mut self.tasks[id];
        let gaps = gaps.into_iter().map(|(from, to)| Gap { column, from, to });
        task.gaps.extend(gaps);
        task.missing.remove(column);
        true
    }

    /// Everything that can be read is read: computes what is missing, and writes.
    pub(super) fn all_read(&mut self, now_ns: u64, id: u32) {
        let task = &mut self.tasks[id];
        let (goal, from, to) = (task.goal, task.from, task.to);
        let number = usize::from(task.group);
        let mut bench = Bench {
            from,
            columns: task.columns.drain(..).map(|read| read.payload).collect(),
            gaps: std::mem::take(&mut task.gaps),
            pieces: std::mem::take(&mut task.pieces),
            missing: task.missing,
            writes: Vec::new(),
            spoilt: Vec::new(),
            failed: None,
            mended_sectors: 0,
        };
        if self.groups[number].state == GroupState::Failed {
            self.fail_task(id);
            return;
        }
        if goal == Goal::Scrub {
            self.verify(number, &mut bench, to);
        }
        let target = match goal {
            Goal::Rebuild { member, .. } => self.column_on(id, member),
            _ => None,
        };
        for run in bench.cuts(to).windows(2) {
            self.repair_run(number, &mut bench, goal, target, (run[0], run[1]));
        }
        self.finish_bench(now_ns, id, bench);
    }

    /// Marks what disagrees with the rest of its stripe as if it could not be read.
    fn verify(&mut self, number: usize, bench: &mut Bench<P>, to: u32) {
        let group = &mut self.groups[number];
        let geometry = group.geometry;
        if !P::CARRIES_BYTES {
            return;
        }
        for row in bench.from..to {
            if bench.gaps.iter().any(|gap| gap.from <= row && row < gap.to) {
                continue;
            }
            let parts = bench.parts(row, row + 1);
            let sectors: Vec<&[u8]> = parts.iter().filter_map(Payload::as_bytes).collect();
            let verdict = judge(&geometry, &sectors);
            if verdict == Verdict::Sound {
                continue;
            }
            group.counters.mismatches += 1;
            // With no telling which is wrong, the data stand and the redundancy follows.
            let wrong = match verdict {
                Verdict::Wrong(column) => column..column + 1,
                _ => geometry.data_columns..geometry.columns(),
            };
            for column in wrong {
                Bench::<P>::add(&mut bench.gaps, column, row, row + 1);
            }
        }
    }

    /// Repairs rows in which the same columns are readable and written throughout.
    fn repair_run(
        &mut self,
        number: usize,
        bench: &mut Bench<P>,
        goal: Goal,
        target: Option<u16>,
        (from, to): (u32, u32),
    ) {
        let geometry = self.groups[number].geometry;
        let lost: Columns = bench
            .gaps
            .iter()
            .filter(|gap| gap.from <= from && to <= gap.to)
            .map(|gap| gap.column)
            .collect();
        let mut parts = if P::CARRIES_BYTES {
            bench.parts(from, to)
        } else {
            vec![P::default(); usize::from(geometry.columns())]
        };
        let told = recover(&geometry, &mut parts, lost, to - from);
        let mut untold = Columns::default();
        if told {
            if P::CARRIES_BYTES {
                bench.put_back(from, lost, &parts);
            }
            for column in lost.iter() {
                if !bench.missing.has(column) {
                    bench.mended_sectors += u64::from(to - from);
                }
                if !bench.missing.has(column) || target == Some(column) {
                    Bench::<P>::add(&mut bench.writes, column, from, to);
                }
            }
        } else {
            untold = lost;
        }
        match goal {
            Goal::Write => self.write_run(number, bench, untold, (from, to)),
            Goal::Read => {
                let unserved = bench.pieces.iter().find(|piece| {
                    let column = match geometry.protection {
                        Protection::Copies(_) => !untold.is_empty(),
                        _ => untold.has(piece.column),
                    };
                    column && piece.from <= from && to <= piece.to()
                });
                if let Some(piece) = unserved {
                    bench.failed.get_or_insert((piece.column, from));
                }
            }
            Goal::Rebuild { .. } => {
                if let Some(target) = target.filter(|&target| untold.has(target)) {
                    Bench::<P>::add(&mut bench.spoilt, target, from, to);
                }
            }
            Goal::Scrub => {}
        }
    }

    /// Applies the pieces of a write to a run, and decides what becomes of the parity.
    fn write_run(
        &mut self,
        number: usize,
        bench: &mut Bench<P>,
        mut untold: Columns,
        (from, to): (u32, u32),
    ) {
        let geometry = self.groups[number].geometry;
        let written: Columns = bench
            .pieces
            .iter()
            .filter(|piece| piece.from <= from && to <= piece.to())
            .map(|piece| piece.column)
            .collect();
        if written.is_empty() {
            return;
        }
        let pieces = std::mem::take(&mut bench.pieces);
        for piece in &pieces {
            if written.has(piece.column) && piece.from <= from && to <= piece.to() {
                let part = piece.payload.part(from - piece.from, to - from);
                if P::CARRIES_BYTES {
                    bench.columns[usize::from(piece.column)].overlay(from - bench.from, &part);
                }
                untold.remove(piece.column);
            }
        }
        bench.pieces = pieces;
        let redundant: Columns = (geometry.data_columns..geometry.columns()).collect();
        let copies = matches!(geometry.protection, Protection::Copies(_));
        let data_told = copies || (0..geometry.data_columns).all(|column| !untold.has(column));
        for column in written.iter() {
            if !bench.missing.has(column) {
                Bench::<P>::add(&mut bench.writes, column, from, to);
            } else if !data_told {
                bench.failed.get_or_insert((column, from));
            }
        }
        if !data_told {
            for column in redundant
                .iter()
                .filter(|&column| !bench.missing.has(column))
            {
                Bench::<P>::add(&mut bench.spoilt, column, from, to);
            }
            return;
        }
        if P::CARRIES_BYTES {
            let mut parts = bench.parts(from, to);
            let recovered = recover(&geometry, &mut parts, redundant, to - from);
            assert!(recovered, "redundancy follows from the data");
            bench.put_back(from, redundant, &parts);
        }
        for column in redundant
            .iter()
            .filter(|&column| !bench.missing.has(column))
        {
            Bench::<P>::add(&mut bench.writes, column, from, to);
        }
    }

    /// Answers the request and writes what has to be written.
    fn finish_bench(&mut self, now_ns: u64, id: u32, mut bench: Bench<P>) {
        let task = &mut self.tasks[id];
        task.step = Step::Mend;
        let (goal, request, stripe) = (task.goal, task.request, task.stripe);
        let group = &mut self.groups[usize::from(task.group)];
        let geometry = group.geometry;
        group.counters.mended_sectors += bench.mended_sectors;
        let spoilt_sectors = bench.spoilt.iter().map(|gap| u64::from(gap.to - gap.from));
        group.counters.lost_sectors += spoilt_sectors.sum::<u64>();
        if let Some((column, row)) = bench.failed
            && request != NONE
        {
            let first_sector = stripe * geometry.stripe_sectors()
                + u64::from(column) * geometry.chunk_sectors
                + u64::from(row);
            let group = GroupId(task.group);
            let error = GroupError::Unreadable {
                group,
                first_sector,
            };
            self.note_error(request, error);
        }
        if goal == Goal::Read && P::CARRIES_BYTES {
            for piece in &bench.pieces {
                let column = &bench.columns[usize::from(piece.column)];
                let payload = column.part(piece.from - bench.from, piece.sectors);
                self.deliver(request, piece.offset, piece.sectors, payload);
            }
        }
        for gap in &bench.spoilt {
            self.spoil_column(id, *gap);
        }
        for gap in std::mem::take(&mut bench.writes) {
            let rows = gap.to - gap.from;
            let payload = if P::CARRIES_BYTES {
                bench.columns[usize::from(gap.column)].part(gap.from - bench.from, rows)
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
    fn spoil_column(&mut self, id: u32, gap: Gap) {
        let task = &self.tasks[id];
        let group = &self.groups[usize::from(task.group)];
        let place = group.layout.place(task.stripe, gap.column);
        let set = &self.sets[usize::from(group.set)];
        let (station, first_sector) = set.locate(place);
        // A segment that lies nowhere has nothing to spoil.
        if let Some(station) = self.stations.get_mut(usize::from(station)) {
            station.spoil(first_sector + u64::from(gap.from), gap.to - gap.from);
        }
    }
}
