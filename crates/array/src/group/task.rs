//! Stripe tasks: what is done to a range of rows of one stripe, under its lock.
//!
//! Reads of disks that are there and writes without protection need no task. Everything else, a
//! write to a protected stripe, a read of a lost column, a step of a rebuild or a scrub, is a task:
//! it waits for its rows, reads what it needs, computes, writes, and lets the next one go on.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use crate::payload::Payload;
use crate::raid::parity::Columns;
use crate::slab::Slab;

use super::IoClass;
use super::lock::{LockTable, NONE, StripeRows};

/// Slots from here on are parity columns of a read-modify-write; those below are pieces.
pub(super) const PARITY_SLOT: u32 = 1 << 16;

/// What a task is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// To read pieces that cannot be read directly.
    Read,
    /// To write pieces and the parity that belongs to them.
    Write,
    /// To compute what a member held and write it to the disk that takes its place. The number
    /// distinguishes this rebuild from earlier ones of the same member.
    Rebuild { member: u16, number: u32 },
    /// To read all columns and repair what is wrong.
    Scrub,
}

/// What a task is doing: what the disk requests it waits for are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Waiting for its rows.
    Lock,
    /// Reading the old contents of the pieces and the parity.
    ReadOld,
    /// Reading the columns that are not written.
    ReadRest,
    /// Writing pieces and parity.
    Write,
    /// Reading as many columns as it takes to compute one that is missing.
    ReadSources,
    /// Writing the column that was missing.
    WriteRebuilt,
    /// Reading everything that can be read.
    ReadAll,
    /// Writing what was repaired, and the pieces and parity of a write.
    Repair,
}

/// A run of sectors of one data column that a request reads or writes.
#[derive(Debug, Clone, Default)]
pub(super) struct Piece<P> {
    pub(super) column: u16,
    /// First row: the sector within the chunk.
    pub(super) from: u32,
    pub(super) sectors: u32,
    /// Where the run starts in the request.
    pub(super) offset: u32,
    /// What is to be written.
    pub(super) payload: P,
    /// What was there before.
    pub(super) old: P,
}

impl<P> Piece<P> {
    /// The row after the last.
    #[inline]
    pub(super) fn to(&self) -> u32 {
        self.from + self.sectors
    }
}

/// The pieces of the write that is being set up.
#[derive(Debug, Default)]
pub(super) struct Cuts<P> {
    /// With their stripes, in a group with protection.
    pub(super) by_stripe: Vec<(u64, Piece<P>)>,
    /// With their stripes and rows, in a group without.
    pub(super) direct: Vec<(u64, u64, Piece<P>)>,
}

/// Rows of a column that could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnreadableRows {
    pub(super) column: u16,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// What was read of a column.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnRead<P> {
    pub(super) from: u32,
    pub(super) payload: P,
}

/// The state of one stripe task.
#[derive(Debug, Clone)]
pub(super) struct Task<P> {
    pub(super) goal: Goal,
    pub(super) step: Step,
    pub(super) class: IoClass,
    /// The rows it holds or waits for.
    pub(super) rows: StripeRows,
    /// The group request it is a part of; [`NONE`] for rebuilds and scrubs.
    pub(super) request: u32,
    /// Disk requests it waits for.
    pub(super) open: u32,
    /// Whether a read of this step failed.
    pub(super) read_failed: bool,
    /// Columns that were missing when the step was planned.
    pub(super) missing: Columns,
    pub(super) pieces: Vec<Piece<P>>,
    /// P and Q over the rows.
    pub(super) parity: [P; 2],
    /// What was read of each column; empty unless the step reads whole columns.
    pub(super) columns: Vec<ColumnRead<P>>,
    pub(super) gaps: Vec<UnreadableRows>,
}

impl<P: Payload> Default for Task<P> {
    fn default() -> Self {
        Self {
            goal: Goal::Read,
            step: Step::Lock,
            class: IoClass::HostRead,
            rows: StripeRows::default(),
            request: NONE,
            open: 0,
            read_failed: false,
            missing: Columns::default(),
            pieces: Vec::new(),
            parity: [P::default(), P::default()],
            columns: Vec::new(),
            gaps: Vec::new(),
        }
    }
}

impl<P: Payload> Task<P> {
    /// Makes a used task fit for another use. Vectors keep their memory.
    fn reset(&mut self) {
        self.step = Step::Lock;
        self.open = 0;
        self.read_failed = false;
        self.missing = Columns::default();
        self.pieces.clear();
        self.columns.clear();
        self.gaps.clear();
        if P::CARRIES_BYTES {
            self.parity = [P::default(), P::default()];
        }
    }

    /// Whether the pieces cover all rows of a column. Pieces of a column that touch are one.
    #[inline]
    pub(super) fn covers(&self, column: u16) -> bool {
        self.pieces
            .iter()
            .any(|piece| piece.column == column && piece.sectors == self.rows.count())
    }

    /// Whether any piece lies in one of the columns.
    #[inline]
    pub(super) fn touches(&self, columns: Columns) -> bool {
        !columns.is_empty() && self.pieces.iter().any(|piece| columns.has(piece.column))
    }
}

/// Stripe tasks in flight and the locks on their rows. Tasks are indexed by their number.
#[derive(Debug)]
pub(super) struct StripeTasks<P> {
    tasks: Slab<Task<P>>,
    locks: LockTable,
    /// Tasks that hold their rows since another one ended, and are still to be started.
    ready: VecDeque<u32>,
}

impl<P> Index<u32> for StripeTasks<P> {
    type Output = Task<P>;

    #[inline]
    fn index(&self, id: u32) -> &Task<P> {
        &self.tasks[id]
    }
}

impl<P> IndexMut<u32> for StripeTasks<P> {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Task<P> {
        &mut self.tasks[id]
    }
}

impl<P: Payload> StripeTasks<P> {
    pub(super) fn new() -> Self {
        Self {
            tasks: Slab::new(),
            locks: LockTable::default(),
            ready: VecDeque::new(),
        }
    }

    /// A new task, which holds no rows yet.
    #[inline]
    pub(super) fn begin(
        &mut self,
        goal: Goal,
        class: IoClass,
        rows: StripeRows,
        request: u32,
    ) -> u32 {
        let id = self.tasks.take();
        let task = &mut self.tasks[id];
        task.goal = goal;
        task.class = class;
        task.rows = rows;
        task.request = request;
        id
    }

    /// Queues a task for its rows. Returns whether it holds them at once; otherwise it comes out of
    /// [`StripeTasks::pop_ready`] when it does.
    #[inline]
    pub(super) fn lock(&mut self, id: u32) -> bool {
        self.locks.acquire(id, self.tasks[id].rows)
    }

    /// The next task that holds its rows by now and is still to be started.
    #[inline]
    pub(super) fn pop_ready(&mut self) -> Option<u32> {
        self.ready.pop_front()
    }

    /// Frees the rows of a task whose work is done.
    #[inline]
    pub(super) fn unlock(&mut self, id: u32) {
        debug_assert_eq!(self.tasks[id].open, 0, "a task waits for its disk requests");
        self.locks.release(id, &mut self.ready);
    }

    /// Frees the number of a task that holds no rows any more.
    #[inline]
    pub(super) fn end(&mut self, id: u32) {
        self.tasks[id].reset();
        self.tasks.release(id);
    }

    pub(super) fn in_flight(&self) -> usize {
        self.tasks.in_use()
    }

    /// Whether any rows are locked.
    pub(super) fn any_locked(&self) -> bool {
        !self.locks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_waits_for_rows_that_overlap() {
        let mut tasks = StripeTasks::<()>::new();
        let rows = |from, to| StripeRows {
            group: 0,
            stripe: 7,
            from,
            to,
        };
        let first = tasks.begin(Goal::Scrub, IoClass::Scrub, rows(0, 8), NONE);
        let second = tasks.begin(Goal::Write, IoClass::HostWrite, rows(4, 12), 3);
        let third = tasks.begin(Goal::Write, IoClass::HostWrite, rows(12, 16), 4);
        assert!(tasks.lock(first));
        assert!(!tasks.lock(second));
        assert!(tasks.lock(third));
        tasks.unlock(first);
        tasks.end(first);
        assert_eq!(tasks.pop_ready(), Some(second));
        assert_eq!(tasks.pop_ready(), None);
        for id in [second, third] {
            tasks.unlock(id);
            tasks.end(id);
        }
        assert!(!tasks.any_locked());
        assert_eq!(tasks.in_flight(), 0);
    }
}
