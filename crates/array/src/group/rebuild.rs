//! Rebuilding: what a lost member held is computed step by step onto the disk that takes its place.

use crate::Direction;
use crate::IncidentKind;
use crate::SECTOR_BYTES;
use crate::payload::Payload;
use crate::raid::Geometry;

use super::backend::{Backend, Timer};
use super::set::{DiskSet, Group, MemberState, NOWHERE, Rebuilt, units_per_chunk};
use super::task::{Goal, NONE, Step};
use super::{GroupState, IoClass, RebuildSettings, StationId};

/// A rebuild in progress.
#[derive(Debug, Clone)]
pub(super) struct Rebuild {
    number: u32,
    set: u16,
    member: u16,
    /// The next step: group within the set, stripe, row.
    cursor: Cursor,
    in_flight: u32,
    /// The pace: no step starts earlier.
    next_start_ns: u64,
    timer_is_set: bool,
}

/// A rebuild as it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RebuildView {
    /// The station whose disk is being filled.
    pub station: StationId,
    /// How much of the walk over the stripes is done, from 0 to 1.
    pub done_share: f64,
}

/// A place in the walk over all rows of all groups of a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) group: usize,
    pub(super) stripe: u64,
    pub(super) row: u64,
}

/// Rows that a rebuild or a scrub works on next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) group: u16,
    pub(super) stripe: u64,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// The pace and the steps of rebuilds, in the units of the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) ns_per_sector: f64,
    pub(super) in_flight: u32,
    pub(super) unit_sectors: u32,
}

/// Nanoseconds per sector at a rate in MB (10^6 bytes) per second.
pub(super) fn ns_per_sector(rate_mb_per_s: f64) -> f64 {
    SECTOR_BYTES as f64 * 1e3 / rate_mb_per_s
}

impl Pace {
    pub(super) fn new(settings: &RebuildSettings) -> Self {
        Self {
            ns_per_sector: ns_per_sector(settings.rate_mb_per_s),
            in_flight: settings.in_flight,
            unit_sectors: settings.unit_kib * 1024 / SECTOR_BYTES as u32,
        }
    }
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

/// Whether a stripe has a column on a member, and that has a place to be rebuilt in.
fn is_to_rebuild(set: &DiskSet, group: &Group, stripe: u64, member: u16) -> bool {
    let mut columns = 0..group.geometry.columns();
    columns.any(|column| {
        let place = group.layout.place(stripe, column);
        place.member == member && set.locate(place).0 != NOWHERE
    })
}

impl<P: Payload> Backend<P> {
    /// Begins to rebuild a member onto the disk in its station.
    pub(super) fn begin_rebuild(&mut self, now_ns: u64, set_number: u16, member: u16) {
        let set = &mut self.sets[usize::from(set_number)];
        let groups = set.groups.iter();
        let geometries = groups.map(|&group| &self.groups[usize::from(group)].geometry);
        let done = bitmaps(geometries, self.rebuild_pace.unit_sectors, 0);
        set.members[usize::from(member)].state = MemberState::Rebuilding(done);
        self.continue_rebuild(now_ns, set_number, member);
    }

    /// Rebuilds what is not there of a member that is known to be rebuilt in parts.
    pub(super) fn continue_rebuild(&mut self, now_ns: u64, set_number: u16, member: u16) {
        self.rebuild_number += 1;
        let number = self.rebuild_number;
        let set = &mut self.sets[usize::from(set_number)];
        if let MemberState::Rebuilding(rebuilt) = &mut set.members[usize::from(member)].state {
            rebuilt.number = number;
        }
        let station = u32::from(set.members[usize::from(member)].station);
        self.rebuilds.push(Rebuild {
            number,
            set: set_number,
            member,
            cursor: Cursor::default(),
            in_flight: 0,
            next_start_ns: now_ns,
            timer_is_set: false,
        });
        self.pumps.push_back(Timer::Rebuild(number));
        self.happened(now_ns, IncidentKind::RebuildBegan(station));
    }

    /// Forgets the rebuild of a member whose disk failed again.
    pub(super) fn drop_rebuild(&mut self, set: u16, member: u16) {
        self.rebuilds
            .retain(|rebuild| (rebuild.set, rebuild.member) != (set, member));
    }

    /// Starts as many steps as the pace allows.
    pub(super) fn pump_rebuild(&mut self, now_ns: u64, number: u32, by_timer: bool) {
        let position = |backend: &Self| {
            backend
                .rebuilds
                .iter()
                .position(|rebuild| rebuild.number == number)
        };
        let Some(index) = position(self) else {
            return;
        };
        if by_timer {
            self.rebuilds[index].timer_is_set = false;
        }
        loop {
            let Some(index) = position(self) else {
                return;
            };
            let rebuild = &self.rebuilds[index];
            if rebuild.in_flight >= self.rebuild_pace.in_flight {
                return;
            }
            if now_ns < rebuild.next_start_ns {
                if !rebuild.timer_is_set {
                    self.rebuilds[index].timer_is_set = true;
                    let at_ns = self.rebuilds[index].next_start_ns;
                    self.agenda.set_timer(at_ns, Timer::Rebuild(number));
                }
                return;
            }
            let (set, member) = (rebuild.set, rebuild.member);
            let mut cursor = rebuild.cursor;
            let unit = self.next_unit(set, Some(member), &mut cursor);
            let rebuild = &mut self.rebuilds[index];
            rebuild.cursor = cursor;
            let Some(unit) = unit else {
                if rebuild.in_flight == 0 {
                    self.finish_rebuild(now_ns, index);
                }
                return;
            };
            rebuild.in_flight += 1;
            let cost_ns = self.rebuild_pace.ns_per_sector * f64::from(unit.to - unit.from);
            rebuild.next_start_ns = now_ns + cost_ns as u64;
            let goal = Goal::Rebuild { member, number };
            self.enter_background(now_ns, unit, goal, IoClass::Rebuild);
        }
    }

    /// The unit at a cursor, which moves on; none at the end. Units without a column on `member`
    /// and groups that have failed are passed over.
    pub(super) fn next_unit(
        &self,
        set: u16,
        member: Option<u16>,
        cursor: &mut Cursor,
    ) -> Option<Unit> {
        let set = &self.sets[usize::from(set)];
        let step = u64::from(self.rebuild_pace.unit_sectors);
        while cursor.group < set.groups.len() {
            let number = set.groups[cursor.group];
            let group = &self.groups[usize::from(number)];
            let geometry = &group.geometry;
            let tolerant = geometry.tolerance() > 0 && group.state != GroupState::Failed;
            if !tolerant || cursor.stripe >= geometry.stripes {
                cursor.group += 1;
                cursor.stripe = 0;
                continue;
            }
            let stripe = cursor.stripe;
            if member.is_some_and(|member| !is_to_rebuild(set, group, stripe, member)) {
                cursor.stripe += 1;
                continue;
            }
            let from = cursor.row;
            let to = (from + step).min(geometry.chunk_sectors);
            cursor.row = to;
            if to == geometry.chunk_sectors {
                cursor.row = 0;
                cursor.stripe += 1;
            }
            return Some(Unit {
                group: number,
                stripe,
                from: from as u32,
                to: to as u32,
            });
        }
        None
    }

    /// Makes a task of a unit and puts it in line for its rows.
    pub(super) fn enter_background(&mut self, now_ns: u64, unit: Unit, goal: Goal, class: IoClass) {
        let id = self.tasks.take();
        let task = &mut self.tasks[id];
        task.goal = goal;
        task.class = class;
        task.group = unit.group;
        task.request = NONE;
        task.stripe = unit.stripe;
        (task.from, task.to) = (unit.from, unit.to);
        self.enter(now_ns, id);
    }

    /// Reads what a step of a rebuild needs.
    pub(super) fn plan_rebuild(&mut self, now_ns: u64, id: u32) {
        let sources = self.sources(id);
        self.read_sources(now_ns, id, sources);
    }

    /// The column of the task's stripe that lies on a member.
    pub(super) fn column_on(&self, id: u32, member: u16) -> Option<u16> {
        let task = &self.tasks[id];
        let group = &self.groups[usize::from(task.group)];
        (0..group.geometry.columns())
            .find(|&column| group.layout.place(task.stripe, column).member == member)
    }

    /// Writes what a step of a rebuild has computed.
    pub(super) fn write_rebuilt(&mut self, now_ns: u64, id: u32, member: u16, columns: Vec<P>) {
        self.tasks[id].step = Step::WriteRebuilt;
        let Some(column) = self.column_on(id, member) else {
            unreachable!("only stripes with a column on the member are rebuilt");
        };
        let payload = columns
            .into_iter()
            .nth(usize::from(column))
            .unwrap_or_default();
        let (from, rows) = (self.tasks[id].from, self.tasks[id].rows());
        let extent = (column, from, rows);
        self.issue_column(now_ns, id, extent, Direction::Write, 0, payload);
    }

    /// A step has ended.
    pub(super) fn unit_rebuilt(&mut self, id: u32, member: u16, number: u32) {
        let Some(rebuild) = self
            .rebuilds
            .iter_mut()
            .find(|rebuild| rebuild.number == number)
        else {
            return;
        };
        rebuild.in_flight -= 1;
        self.pumps.push_back(Timer::Rebuild(number));
        let task = &self.tasks[id];
        let group = &mut self.groups[usize::from(task.group)];
        if group.state == GroupState::Failed {
            return;
        }
        group.counters.rebuilt_sectors += u64::from(task.to - task.from);
        let set = &mut self.sets[usize::from(group.set)];
        let index = set.index_of(task.group);
        if let MemberState::Rebuilding(rebuilt) = &mut set.members[usize::from(member)].state
            && rebuilt.number == number
        {
            rebuilt.note(index, &group.geometry, task.stripe, task.from);
        }
    }

    /// All steps are done: the member is whole again, but for what found no room.
    fn finish_rebuild(&mut self, now_ns: u64, index: usize) {
        let rebuild = self.rebuilds.remove(index);
        let set = &mut self.sets[usize::from(rebuild.set)];
        let member = &mut set.members[usize::from(rebuild.member)];
        if member
            .spread
            .as_ref()
            .is_none_or(|spread| spread.homeless == 0)
        {
            member.state = MemberState::Present;
        }
        let station = u32::from(member.station);
        self.happened(now_ns, IncidentKind::RebuildEnded(station));
        self.note_states(now_ns, rebuild.set);
    }

    /// The rebuilds in progress, in the order they began.
    pub fn rebuilds(&self) -> impl Iterator<Item = RebuildView> + '_ {
        self.rebuilds.iter().map(|rebuild| {
            let set = &self.sets[usize::from(rebuild.set)];
            let stripes = |&group: &u16| self.groups[usize::from(group)].geometry.stripes;
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

    /// Whether any member is being rebuilt.
    pub fn is_rebuilding(&self) -> bool {
        !self.rebuilds.is_empty()
    }
}
