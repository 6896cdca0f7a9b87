//! Rebuilding: what a lost member held is computed step by step onto the disk that takes its place.

use crate::Direction;
use crate::IncidentKind;
use crate::payload::Payload;
use crate::raid::Geometry;

use super::backend::Backend;
use super::lock::{NONE, StripeRows};
use super::pace::{Timer, Turn};
use super::set::{MemberState, Rebuilt, units_per_chunk};
use super::task::{Goal, Step};
use super::{GroupState, IoClass, StationId};

/// How far a rebuild has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RebuildView {
    /// The station whose disk is being filled.
    pub station: StationId,
    /// How much of the walk over the stripes is done, from 0 to 1.
    pub done_share: f64,
}

/// What is rebuilt of a member: nothing, or with all bits set everything.
fn bitmaps<'a>(
    geometries: impl Iterator<Item = &'a Geometry>,
    unit_sectors: u32,
    word: u64,
) -> Rebuilt {
    let of_group = |geometry: &Geometry| {
        let units = geometry.stripes * units_per_chunk(geometry, unit_sectors);
        vec![word; units.div_ceil(64) as usize]
    };
    Rebuilt {
        number: 0,
        unit_sectors,
        done: geometries.map(of_group).collect(),
    }
}

/// The same of a member of which nothing is missing yet.
pub(super) fn whole_bitmaps<'a>(
    geometries: impl Iterator<Item = &'a Geometry>,
    unit_sectors: u32,
) -> Rebuilt {
    bitmaps(geometries, unit_sectors, u64::MAX)
}

impl<P: Payload> Backend<P> {
    /// Begins to rebuild a member onto the disk in its station.
    pub(super) fn begin_rebuild(&mut self, now_ns: u64, set_number: u16, member: u16) {
        let step_sectors = self.background.rebuilds.step_sectors;
        let (set, groups) = self.groups.set_and_groups(set_number);
        let geometries = groups.iter().map(|group| &group.geometry);
        let done = bitmaps(geometries, step_sectors, 0);
        set.members[usize::from(member)].state = MemberState::Rebuilding(done);
        self.resume_rebuild(now_ns, set_number, member);
    }

    /// Rebuilds what is not there of a member that is known to be rebuilt in parts.
    pub(super) fn resume_rebuild(&mut self, now_ns: u64, set_number: u16, member: u16) {
        let number = self.background.rebuilds.begin(now_ns, set_number, member);
        let member = &mut self.groups.set_mut(set_number).members[usize::from(member)];
        if let MemberState::Rebuilding(rebuilt) = &mut member.state {
            rebuilt.number = number;
        }
        let station = u32::from(member.station);
        self.background.wake(Timer::Rebuild(number));
        self.log.add(now_ns, IncidentKind::RebuildBegan(station));
    }

    /// Starts as many steps of a rebuild as its pace allows.
    pub(super) fn run_rebuild(&mut self, now_ns: u64, number: u32, by_timer: bool) {
        if by_timer && let Some(rebuild) = self.background.rebuilds.get_mut(number) {
            rebuild.pacer.timer_fired();
        }
        loop {
            let rebuilds = &mut self.background.rebuilds;
            let Some(in_flight) = rebuilds.timed_in_flight(number) else {
                return;
            };
            if !rebuilds.has_room_for_a_step(in_flight) {
                return;
            }
            let Some(rebuild) = rebuilds.get_mut(number) else {
                return;
            };
            match rebuild.pacer.turn(now_ns) {
                Turn::Now => {}
                Turn::SetTimer(at_ns) => {
                    self.disks.set_timer(at_ns, Timer::Rebuild(number));
                    return;
                }
                Turn::Wait => return,
            }
            let is_idle = rebuild.sectors_in_flight == 0;
            if self.start_step(now_ns, number) == 0 {
                if is_idle {
                    self.finish_rebuild(now_ns, number);
                }
                return;
            }
        }
    }

    /// Starts a step, with those that are done in its time. Returns the sectors of the lost disk in it.
    fn start_step(&mut self, now_ns: u64, number: u32) -> u32 {
        let mut sectors = self.start_rows(now_ns, number, IoClass::Rebuild);
        for _ in 1..self.background.warp {
            sectors += self.start_rows(now_ns, number, IoClass::Warped);
        }
        let ns_per_sector = self.background.rebuilds.ns_per_sector;
        if let Some(rebuild) = self.background.rebuilds.get_mut(number) {
            rebuild
                .pacer
                .start(now_ns, ns_per_sector * f64::from(sectors));
        }
        sectors
    }

    /// Starts rows of consecutive stripes, as many as make no more than a unit, so that small
    /// chunks cost the disks as little as large ones. Returns the sectors of the lost disk in them.
    fn start_rows(&mut self, now_ns: u64, number: u32, class: IoClass) -> u32 {
        let step_sectors = self.background.rebuilds.step_sectors;
        let mut sectors = 0;
        while sectors < step_sectors {
            let Some(rebuild) = self.background.rebuilds.get_mut(number) else {
                return sectors;
            };
            let (set, member) = (rebuild.set, rebuild.member);
            let mut cursor = rebuild.cursor;
            let rows = self
                .groups
                .next_rows(set, Some(member), step_sectors, &mut cursor);
            let fits = |rows: &StripeRows| sectors == 0 || sectors + rows.count() <= step_sectors;
            let Some(rows) = rows.filter(fits) else { break };
            rebuild.cursor = cursor;
            sectors += rows.count();
            rebuild.sectors_in_flight += rows.count();
            if class == IoClass::Rebuild {
                rebuild.timed_in_flight += rows.count();
            }
            let goal = Goal::Rebuild { member, number };
            self.start_background(now_ns, rows, goal, class);
        }
        sectors
    }

    /// Makes a task for rows and queues it for them.
    pub(super) fn start_background(
        &mut self,
        now_ns: u64,
        rows: StripeRows,
        goal: Goal,
        class: IoClass,
    ) {
        let id = self.tasks.begin(goal, class, rows, NONE);
        self.enter(now_ns, id);
    }

    /// Reads what a step of a rebuild needs.
    pub(super) fn plan_rebuild(&mut self, now_ns: u64, id: u32) {
        let sources = self.sources(id);
        self.read_sources(now_ns, id, sources);
    }

    /// Writes what a step of a rebuild has computed.
    pub(super) fn write_rebuilt(&mut self, now_ns: u64, id: u32, member: u16, columns: Vec<P>) {
        let task = &mut self.tasks[id];
        task.step = Step::WriteRebuilt;
        let rows = task.rows;
        let Some(column) = self.groups.column_on(rows, member) else {
            unreachable!("only stripes with a column on the member are rebuilt");
        };
        let payload = columns
            .into_iter()
            .nth(usize::from(column))
            .unwrap_or_default();
        let extent = (column, rows.from, rows.count());
        self.issue_column(now_ns, id, extent, Direction::Write, 0, payload);
    }

    /// A step has ended.
    pub(super) fn step_rebuilt(
        &mut self,
        rows: StripeRows,
        class: IoClass,
        member: u16,
        number: u32,
    ) {
        let Some(rebuild) = self.background.rebuilds.get_mut(number) else {
            return;
        };
        rebuild.sectors_in_flight -= rows.count();
        if class == IoClass::Rebuild {
            rebuild.timed_in_flight -= rows.count();
        }
        self.background.wake(Timer::Rebuild(number));
        let group = &mut self.groups[rows.group];
        if group.state == GroupState::Failed {
            return;
        }
        group.counters.rebuilt_sectors += u64::from(rows.count());
        let (set, geometry) = (group.set, group.geometry);
        let set = self.groups.set_mut(set);
        let index = set.index_of(rows.group);
        if let MemberState::Rebuilding(rebuilt) = &mut set.members[usize::from(member)].state
            && rebuilt.number == number
        {
            rebuilt.note(index, &geometry, rows.stripe, rows.from);
        }
    }

    /// All steps are done: the member is whole again, except for segments that found no room.
    fn finish_rebuild(&mut self, now_ns: u64, number: u32) {
        let Some(rebuild) = self.background.rebuilds.remove(number) else {
            return;
        };
        let set = self.groups.set_mut(rebuild.set);
        let member = &mut set.members[usize::from(rebuild.member)];
        let spread = member.spread.as_ref();
        if spread.is_none_or(|spread| spread.unplaced == 0) {
            member.state = MemberState::Present;
        }
        let station = u32::from(member.station);
        self.log.add(now_ns, IncidentKind::RebuildEnded(station));
        self.update_states(now_ns, rebuild.set);
    }

    /// The rebuilds in progress, in the order they began.
    pub fn rebuilds(&self) -> impl Iterator<Item = RebuildView> + '_ {
        self.background.rebuilds.list.iter().map(|rebuild| {
            let set = self.groups.set(rebuild.set);
            let stripes = |&group: &u16| self.groups[group].geometry.stripes;
            let all: u64 = set.groups.iter().map(stripes).sum();
            let past: u64 = set
                .groups
                .iter()
                .take(rebuild.cursor.group)
                .map(stripes)
                .sum();
            RebuildView {
                station: StationId(set.members[usize::from(rebuild.member)].station),
                done_share: (past + rebuild.cursor.stripe) as f64 / all.max(1) as f64,
            }
        })
    }
}
