//! How disk requests and stripe tasks follow each other.

use crate::Direction;
use crate::payload::Payload;
use crate::station::{Outcome, Parent};

use super::backend::Backend;
use super::disks::{Ended, RequestTarget};
use super::lock::{NONE, StripeRows};
use super::task::{ColumnRead, Goal, PARITY_SLOT, Step, UnreadableRows};
use super::{GroupError, GroupId, GroupState, StationId};

impl<P: Payload> Backend<P> {
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
        let StripeRows { group, stripe, .. } = task.rows;
        let (station, first_sector) = self.groups.locate(group, stripe, column);
        let aim = RequestTarget {
            station,
            direction,
            class: task.class,
            first_sector: first_sector + u64::from(from),
            sectors,
            parent: Parent::Task(id),
            slot,
        };
        self.disks.issue(now_ns, aim, payload);
    }

    /// Goes on with whatever waited for a disk request.
    #[inline]
    pub(super) fn disk_request_ended(&mut self, now_ns: u64, ended: Ended<P>) {
        if ended.outcome == Outcome::MediaError {
            self.report_checksums(now_ns, ended.station);
        }
        match ended.parent {
            Parent::Task(task) => self.finish_task_op(now_ns, task, ended),
            Parent::Request(request) => {
                let Ended { slot, sectors, .. } = ended;
                if ended.outcome != Outcome::Done {
                    self.direct_failed(now_ns, request, slot, sectors, ended.outcome);
                } else if self.requests[request].direction == Direction::Read {
                    self.requests.deliver(request, slot, sectors, ended.payload);
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
                task.read_failed |= ended.outcome != Outcome::Done;
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
            Step::Write | Step::WriteRebuilt | Step::Repair | Step::Lock => {}
        }
        if self.tasks[id].open == 0 {
            self.next_step(now_ns, id);
        }
    }

    /// Keeps what was read of a column, and what could not be read.
    fn note_column(&mut self, id: u32, ended: Ended<P>) {
        let task = &mut self.tasks[id];
        let column = ended.slot as u16;
        let (from, to) = (task.rows.from, task.rows.to);
        match ended.outcome {
            Outcome::Done => {}
            Outcome::DiskFailed => task.gaps.push(UnreadableRows { column, from, to }),
            Outcome::MediaError => {
                let station = self.disks.station(StationId(ended.station));
                for sector in station.bad_in(ended.first_sector, ended.sectors) {
                    let row = from + (sector - ended.first_sector) as u32;
                    task.gaps.push(UnreadableRows {
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
        if self.tasks.lock(id) {
            self.start_task(now_ns, id);
        } else {
            let group = self.tasks[id].rows.group;
            self.groups[group].counters.lock_waits += 1;
        }
    }

    /// Starts a task that holds its rows.
    #[inline]
    pub(super) fn start_task(&mut self, now_ns: u64, id: u32) {
        let task = &mut self.tasks[id];
        let (goal, rows) = (task.goal, task.rows);
        let missing = self.groups.missing_columns(rows);
        task.missing = missing;
        let group = &self.groups[rows.group];
        if group.state == GroupState::Failed || missing.count() > group.geometry.tolerance() {
            self.fail_task(id);
            return;
        }
        match goal {
            Goal::Write => {
                let partly = missing
                    .iter()
                    .any(|column| self.groups.gaps_of_partly_rebuilt(rows, column).is_some());
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
        let failed = std::mem::take(&mut task.read_failed);
        match task.step {
            Step::ReadOld | Step::ReadRest if failed => self.read_all(now_ns, id),
            Step::ReadOld | Step::ReadRest => self.write_pieces(now_ns, id),
            Step::ReadSources => self.sources_read(now_ns, id, failed),
            Step::ReadAll => self.all_read(now_ns, id),
            Step::Write | Step::WriteRebuilt | Step::Repair => self.finish_task(id),
            Step::Lock => unreachable!("a task sends nothing while it waits for its rows"),
        }
    }

    /// Ends a task of a group that has failed.
    pub(super) fn fail_task(&mut self, id: u32) {
        let task = &self.tasks[id];
        if task.request != NONE {
            let group = GroupId(task.rows.group);
            self.requests
                .note_error(task.request, GroupError::GroupFailed { group });
        }
        self.finish_task(id);
    }

    /// Ends a task: its rows are free.
    #[inline]
    pub(super) fn finish_task(&mut self, id: u32) {
        self.tasks.unlock(id);
        let task = &self.tasks[id];
        let (goal, request, rows, class) = (task.goal, task.request, task.rows, task.class);
        match goal {
            Goal::Read => self.part_done(request),
            Goal::Write => {
                if self.groups[rows.group].state == GroupState::Failed {
                    let group = GroupId(rows.group);
                    self.requests
                        .note_error(request, GroupError::GroupFailed { group });
                }
                self.part_done(request);
            }
            Goal::Rebuild { member, number } => self.step_rebuilt(rows, class, member, number),
            Goal::Scrub => self.step_scrubbed(rows),
        }
        self.tasks.end(id);
    }

    /// Does what has become possible without time passing.
    #[inline]
    pub(super) fn settle(&mut self, now_ns: u64) {
        loop {
            if let Some(ended) = self.disks.pop_ended() {
                self.disk_request_ended(now_ns, ended);
            } else if let Some(task) = self.tasks.pop_ready() {
                self.start_task(now_ns, task);
            } else if let Some(task) = self.background.pop_runnable() {
                self.run_background(now_ns, task, false);
            } else {
                self.disks.start_held(now_ns);
                return;
            }
        }
    }
}
