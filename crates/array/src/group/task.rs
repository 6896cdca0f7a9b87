//! Stripe tasks: what is done to a range of rows of one stripe, under its lock.
//!
//! Reads of disks that are there and writes without protection need no task. Everything else, a
//! write to a protected stripe, a read of a lost column, a step of a rebuild or a scrub, is a task:
//! it waits for its rows, reads what it needs, computes, writes, and lets the next one go on.

use crate::payload::Payload;
use crate::raid::parity::Columns;

use super::IoClass;

/// No task, no request.
pub(super) const NONE: u32 = u32::MAX;

/// What a task is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// To read pieces that cannot be read directly.
    Read,
    /// To write pieces.
    Write,
    /// To compute what a member held and write it to the disk that takes its place. The number
    /// tells this rebuild from earlier ones of the same member.
    Rebuild { member: u16, number: u32 },
    /// To read all columns and mend what is wrong.
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
    /// Writing what was mended, and the pieces and parity of a write.
    Mend,
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

/// Rows of a column that could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
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

/// A stripe task.
#[derive(Debug, Clone)]
pub(super) struct Task<P> {
    pub(super) goal: Goal,
    pub(super) step: Step,
    pub(super) class: IoClass,
    pub(super) group: u16,
    pub(super) stripe: u64,
    /// The rows it holds or waits for: first, and the one after the last.
    pub(super) from: u32,
    pub(super) to: u32,
    /// The group request it is a part of.
    pub(super) request: u32,
    /// Disk requests it waits for.
    pub(super) open: u32,
    /// Whether a read of this step failed.
    pub(super) trouble: bool,
    /// Columns that were missing when the step was planned.
    pub(super) missing: Columns,
    pub(super) pieces: Vec<Piece<P>>,
    /// P and Q over the rows.
    pub(super) parity: [P; 2],
    /// What was read of each column; empty unless the step reads whole columns.
    pub(super) columns: Vec<ColumnRead<P>>,
    pub(super) gaps: Vec<Gap>,
    /// The next task that holds or waits for rows of the stripe.
    pub(super) next_in_stripe: u32,
    pub(super) holds_lock: bool,
}

impl<P: Payload> Default for Task<P> {
    fn default() -> Self {
        Self {
            goal: Goal::Read,
            step: Step::Lock,
            class: IoClass::HostRead,
            group: 0,
            stripe: 0,
            from: 0,
            to: 0,
            request: NONE,
            open: 0,
            trouble: false,
            missing: Columns::default(),
            pieces: Vec::new(),
            parity: [P::default(), P::default()],
            columns: Vec::new(),
            gaps: Vec::new(),
            next_in_stripe: NONE,
            holds_lock: false,
        }
    }
}

impl<P: Payload> Task<P> {
    /// Makes a used task fit for another use. Vectors keep their memory.
    pub(super) fn reset(&mut self) {
        self.step = Step::Lock;
        self.open = 0;
        self.trouble = false;
        self.missing = Columns::default();
        self.pieces.clear();
        self.columns.clear();
        self.gaps.clear();
        if P::CARRIES_BYTES {
            self.parity = [P::default(), P::default()];
        }
    }

    /// Number of rows.
    #[inline]
    pub(super) fn rows(&self) -> u32 {
        self.to - self.from
    }

    /// Whether the pieces cover all rows of a column. Pieces of a column that touch are one.
    #[inline]
    pub(super) fn covers(&self, column: u16) -> bool {
        self.pieces
            .iter()
            .any(|piece| piece.column == column && piece.sectors == self.to - self.from)
    }

    /// Whether any piece lies in one of the columns.
    #[inline]
    pub(super) fn touches(&self, columns: Columns) -> bool {
        !columns.is_empty() && self.pieces.iter().any(|piece| columns.has(piece.column))
    }
}
