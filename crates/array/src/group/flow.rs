//! How disk requests and stripe tasks follow each other.

use crate::Direction;
use crate::payload::Payload;
use crate::raid::parity::Columns;
use crate::station::{Outcome, Parent};

use super::backend::Backend;
use super::set::MemberState;
use super::task::{ColumnRead, Gap, Goal, NONE, Step};
use super::{GroupError, GroupId, GroupState, IoClass};

/// A disk request in the making.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    pub(super) station: u16,
    pub(super) direction: Direction,
    pub(super) class: IoClass,
    pub(super) first_sector: u64,
    pub(super) sectors: u32,
    pub(super) parent: Parent,
    pub(super) slot: u32,
}

/// A disk request that ended.
#[derive(Debug)]
struct Ended<P> {
    station: u16,
    first_sector: u64,
    sectors: u32,
    slot: u32,
    payload: P,
    outcome: Outcome,
}

/// Slots from here on are parity columns of a read-modify-write; those below are pieces.
pub(super) const PARITY_SLOT: u32 = 1 << 16;

impl<P: Payload> Backend<P> {
    /// Sends a disk request.
    #[inline]
    pub(super) fn issue(&mut self, now_ns: u64, aim: Aim, payload: P) {
        let id = self.ops.take();
        let op = &mut self.ops[id];
        op.first_sector = aim.first_sector;
        op.sectors = aim.sectors;
        op.station = aim.station;
        op.direction = aim.direction;
        op.class = aim.class;
        op.parent = aim.parent;
        op.slot = aim.slot;
        op.payload = payload;
        let number = usize::from(aim.station);
        let station = self.stations.get_mut(number);
        let Some(station) = station.filter(|station| station.is_working()) else {
            self.undeliverable.push_back(id);
            return;
        };
        station.enqueue(now_ns, id, &mut self.ops);
        let next_ns = station.next_completion_ns();
        self.agenda.set_station(number, next_ns);
    }

    /// Sends a disk request of a task to rows of a column of its stripe.
    #[inline]
    pub(super) fn issue_column(
        &mut self,
        now_ns: u64,
        id: u32,
        (column, from, sectors): (u16, u32, u32),
        direction: Direction,
        slot: u32,
        payload: P,
    ) {
        let task = &mut self.tasks[id];
        task.open += 1;
        let group = &self.groups[usize::from(task.group)];
        let place = group.layout.place(task.stripe, column);
        let set = &self.sets[usize::from(group.set)];
        let (station, first_sector) = set.locate(place);
        let aim = Aim {
            station,
            direction,
            class: task.class,
            first_sector: first_sector + u64::from(from),
            sectors,
            parent: Parent::Task(id),
            slot,
        };
        self.issue(now_ns, aim, payload);
    }

    /// Goes on with whatever waited for a disk request.
    #[inline]
    pub(super) fn finish_op(&mut self, now_ns: u64, id: u32, outcome: Outcome) {
        let op = &mut self.ops[id];
        let parent = op.parent;
        let ended = Ended {
            station: op.station,
            first_sector: op.first_sector,
            sectors: op.sectors,
            slot: op.slot,
            payload: std::mem::take(&mut op.payload),
            outcome,
        };
        self.ops.release(id);
        match parent {
            Parent::Task(task) => self.finish_task_op(now_ns, task, ended),
            Parent::Request(request) => {
                let Ended {
                    slot,
                    sectors,
                    payload,
                    ..
                } = ended;
                if outcome == Outcome::Done {
                    if self.requests[request].direction == Direction::Read {
                        self.deliver(request, slot, sectors, payload);
                    }
                } else {
                    self.direct_failed(now_ns, request, slot, sectors, outcome);
                }
                self.part_done(request);
            }
        }
    }

    #[inline]
    fn finish_task_op(&mut self, now_ns: u64, id: u32, ended: Ended<P>) {
        let task = &mut self.tasks[id];
        task.open -= 1;
        match task.step {
            Step::ReadOld | Step::ReadRest | Step::ReadSources => {
                task.trouble |= ended.outcome != Outcome::Done;
                if P::CARRIES_BYTES {
                    let slot = ended.slot as usize;
                    match task.step {
                        Step::ReadOld if ended.slot < PARITY_SLOT => {
                            task.pieces[slot].old = ended.payload;
                        }
                        Step::ReadOld => {
                            task.parity[(ended.slot - PARITY_SLOT) as usize] = ended.payload;
                        }
                        _ => task.columns[slot].payload = ended.payload,
                    }
                }
            }
            Step::ReadAll => self.note_column(id, ended),
            // A disk that fails under a write takes a column with it that can be computed.
            Step::Write | Step::WriteRebuilt | Step::Mend | Step::Lock => {}
        }
        if self.tasks[id].open == 0 {
            self.next_step(now_ns, id);
        }
    }

    /// Keeps what was read of a column, and what could not be read.
    fn note_column(&mut self, id: u32, ended: Ended<P>) {
        let task = &mut self.tasks[id];
        let column = ended.slot as u16;
        let (from, to) = (task.from, task.to);
        match ended.outcome {
            Outcome::Done => {}
            Outcome::DiskFailed => task.gaps.push(Gap { column, from, to }),
            Outcome::MediaError => {
                let station = &self.stations[usize::from(ended.station)];
                for sector in station.bad_in(ended.first_sector, ended.sectors) {
                    let row = from + (sector - ended.first_sector) as u32;
                    task.gaps.push(Gap {
                        column,
                        from: row,
                        to: row + 1,
                    });
                }
            }
        }
        if P::CARRIES_BYTES {
            let payload = match ended.outcome {
                Outcome::DiskFailed => P::zeroed(to - from),
                _ => ended.payload,
            };
            task.columns[ended.slot as usize] = ColumnRead { from, payload };
        }
    }

    /// Puts a task in line for its rows and starts it if it has them.
    #[inline]
    pub(super) fn enter(&mut self, now_ns: u64, id: u32) {
        if self.locks.acquire(id, &mut self.tasks) {
            self.start_task(now_ns, id);
        } else {
            let group = self.tasks[id].group;
            self.groups[usize::from(group)].counters.lock_waits += 1;
        }
    }

    /// Starts a task that holds its rows.
    #[inline]
    pub(super) fn start_task(&mut self, now_ns: u64, id: u32) {
        let task = &self.tasks[id];
        let group = task.group;
        let missing = self.missing_columns(group, task.stripe, task.from, task.to);
        self.tasks[id].missing = missing;
        let goal = self.tasks[id].goal;
        let group = &self.groups[usize::from(group)];
        if group.state == GroupState::Failed || missing.count() > group.geometry.tolerance() {
            self.fail_task(id);
            return;
        }
        match goal {
            Goal::Write => {
                let partly = missing
                    .iter()
                    .any(|column| self.partly_there(id, column).is_some());
                if partly {
                    self.read_all(now_ns, id);
                } else {
                    self.plan_write(now_ns, id);
                }
            }
            Goal::Read => self.plan_read(now_ns, id),
            Goal::Rebuild { .. } => self.plan_rebuild(now_ns, id),
            Goal::Scrub => self.read_all(now_ns, id),
        }
    }

    /// All disk requests of a step have ended.
    #[inline]
    fn next_step(&mut self, now_ns: u64, id: u32) {
        let task = &mut self.tasks[id];
        let trouble = std::mem::take(&mut task.trouble);
        match task.step {
            Step::ReadOld | Step::ReadRest if trouble => self.read_all(now_ns, id),
            Step::ReadOld | Step::ReadRest => self.write_pieces(now_ns, id),
            Step::ReadSources => self.sources_read(now_ns, id, trouble),
            Step::ReadAll => self.all_read(now_ns, id),
            Step::Write | Step::WriteRebuilt | Step::Mend => self.finish_task(id),
            Step::Lock => unreachable!("a task sends nothing while it waits for its rows"),
        }
    }

    /// Ends a task of a group that has failed.
    pub(super) fn fail_task(&mut self, id: u32) {
        let task = &self.tasks[id];
        if task.request != NONE {
            let group = GroupId(task.group);
            self.note_error(task.request, GroupError::GroupFailed { group });
        }
        self.finish_task(id);
    }

    /// Ends a task: its rows are free.
    #[inline]
    pub(super) fn finish_task(&mut self, id: u32) {
        self.locks.release(id, &mut self.tasks, &mut self.ready);
        let task = &mut self.tasks[id];
        let (goal, request) = (task.goal, task.request);
        let group = task.group;
        match goal {
            Goal::Read => self.part_done(request),
            Goal::Write => {
                if self.groups[usize::from(group)].state == GroupState::Failed {
                    let group = GroupId(group);
                    self.note_error(request, GroupError::GroupFailed { group });
                }
                self.part_done(request);
            }
            Goal::Rebuild { member, number } => self.unit_rebuilt(id, member, number),
            Goal::Scrub => self.unit_scrubbed(id),
        }
        self.tasks[id].reset();
        self.tasks.release(id);
    }

    /// The columns of a stripe that are missing anywhere in a range of rows.
    #[inline]
    pub(super) fn missing_columns(&self, group: u16, stripe: u64, from: u32, to: u32) -> Columns {
        let state = &self.groups[usize::from(group)];
        let set = &self.sets[usize::from(state.set)];
        if set.all_present {
            return Columns::default();
        }
        let index = set.index_of(group);
        (0..state.geometry.columns())
            .filter(|&column| {
                let place = state.layout.place(stripe, column);
                match &set.members[usize::from(place.member)].state {
                    MemberState::Present => false,
                    MemberState::Missing => true,
                    MemberState::Rebuilding(rebuilt) => {
                        !rebuilt.has(index, &state.geometry, stripe, from, to)
                    }
                }
            })
            .collect()
    }

    /// The rows of a column of a task that are not there yet, if some are: its disk is being
    /// rebuilt, and rows that are there must be kept up to date.
    pub(super) fn partly_there(&self, id: u32, column: u16) -> Option<Vec<(u32, u32)>> {
        let task = &self.tasks[id];
        let state = &self.groups[usize::from(task.group)];
        let set = &self.sets[usize::from(state.set)];
        let place = state.layout.place(task.stripe, column);
        let MemberState::Rebuilding(rebuilt) = &set.members[usize::from(place.member)].state else {
            return None;
        };
        let index = set.index_of(task.group);
        let rows = (task.from, task.to);
        let gaps = rebuilt.gaps(index, &state.geometry, task.stripe, rows);
        (gaps != [rows]).then_some(gaps)
    }

    /// Does what has become possible without time passing.
    #[inline]
    pub(super) fn settle(&mut self, now_ns: u64) {
        loop {
            if let Some(op) = self.undeliverable.pop_front() {
                self.finish_op(now_ns, op, Outcome::DiskFailed);
            } else if let Some(task) = self.ready.pop_front() {
                self.start_task(now_ns, task);
            } else if let Some(timer) = self.pumps.pop_front() {
                self.pump(now_ns, timer, false);
            } else {
                return;
            }
        }
    }
}
