//! The on-board queue, and which of its commands comes next.

use std::collections::VecDeque;

use super::description::Scheduler;
use super::geometry::Place;
use super::mechanics::{Arm, Mechanics};
use super::rotation::Rotation;
use crate::Direction;
use crate::disk::{DiskRequest, ServiceParts};

/// What choosing needs of a command, computed once when it comes: 40 bytes.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    first_sector: u64,
    /// Angle units that aging makes of the submission time, modulo 2^64.
    aged_from: u64,
    cylinder: u32,
    head: u32,
    angle: u32,
    seek_base: u32,
    switch_units: u32,
}

/// A command in the on-board queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) request: DiskRequest,
    pub(super) place: Place,
    pub(super) submitted_ns: u64,
    sequence: u64,
}

/// A command that is being served.
#[derive(Debug, Clone, Copy)]
pub(super) struct InService {
    pub(super) request: DiskRequest,
    pub(super) submitted_ns: u64,
    pub(super) started_ns: u64,
    pub(super) finish_ns: u64,
    pub(super) parts: ServiceParts,
}

/// The way to a command's first sector, in angle units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Positioning {
    pub(super) seek: u32,
    pub(super) rotation: u32,
}

/// The command to take next; the least score wins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) index: usize,
    /// It goes on where the head is and needs no positioning.
    pub(super) goes_on: bool,
    score: i64,
}

/// First sectors that the head can serve without positioning, because it is there already.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    pub(super) direction: Direction,
    pub(super) from_sector: u64,
    /// Sectors after `from_sector` that are near too.
    pub(super) further_sectors: u64,
    /// How long a command must have waited to be ready in time.
    pub(super) least_wait_ns: u64,
}

impl Near {
    /// No sector of any disk.
    const NOTHING: Self = Self {
        direction: Direction::Read,
        from_sector: u64::MAX,
        further_sectors: 0,
        least_wait_ns: u64::MAX,
    };

    #[inline]
    fn holds(&self, sector: u64) -> bool {
        sector.wrapping_sub(self.from_sector) <= self.further_sectors
    }
}

/// The commands in the on-board queue, of which the next is chosen.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    candidates: Vec<Candidate>,
    waiting: Vec<Waiting>,
    /// The least score that each command can have, while one is chosen.
    least: Vec<i64>,
    sequence: u64,
    /// Most commands that are looked at.
    depth_in_view: usize,
    /// Those that came after them.
    later: VecDeque<(Candidate, Waiting)>,
}

impl Queue {
    /// A queue for so many commands, the next of which is chosen among the first so many.
    pub(super) fn new(depth: usize, depth_in_view: usize) -> Self {
        Self {
            candidates: Vec::with_capacity(depth),
            waiting: Vec::with_capacity(depth),
            least: Vec::with_capacity(depth),
            sequence: 0,
            depth_in_view,
            later: VecDeque::new(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, mechanics: &Mechanics, now_ns: u64, request: DiskRequest) {
        let place = mechanics.geometry.locate(request.first_sector);
        let candidate = Candidate {
            cylinder: place.cylinder,
            head: place.head,
            angle: mechanics.geometry.angle(&place),
            seek_base: mechanics.seek_base(request.direction),
            switch_units: mechanics.switch_units(request.direction),
            first_sector: request.first_sector,
            aged_from: aged(mechanics, now_ns),
        };
        let waiting = Waiting {
            request,
            place,
            submitted_ns: now_ns,
            sequence: self.sequence,
        };
        self.sequence += 1;
        if self.candidates.len() < self.depth_in_view {
            self.candidates.push(candidate);
            self.waiting.push(waiting);
        } else {
            self.later.push_back((candidate, waiting));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.later.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The write that came first among those in view, if there is one.
    pub(super) fn first_write(&self) -> Option<usize> {
        let writes = self.waiting.iter().enumerate();
        writes
            .filter(|(_, waiting)| waiting.request.direction == Direction::Write)
            .min_by_key(|(_, waiting)| waiting.sequence)
            .map(|(index, _)| index)
    }

    pub(super) fn request(&self, index: usize) -> DiskRequest {
        self.waiting[index].request
    }

    /// Whether all sectors of a request lie in one command of the queue.
    pub(super) fn holds(&self, request: &DiskRequest) -> bool {
        let later = self.later.iter().map(|(_, waiting)| waiting);
        self.waiting.iter().chain(later).any(|waiting| {
            let offset = request
                .first_sector
                .wrapping_sub(waiting.request.first_sector);
            offset.saturating_add(u64::from(request.sectors)) <= u64::from(waiting.request.sectors)
        })
    }

    #[inline]
    pub(super) fn take(&mut self, index: usize) -> Waiting {
        self.candidates.swap_remove(index);
        let taken = self.waiting.swap_remove(index);
        if let Some((candidate, waiting)) = self.later.pop_front() {
            self.candidates.push(candidate);
            self.waiting.push(waiting);
        }
        taken
    }

    /// What is left of the overhead of the command at `index`.
    #[inline]
    pub(super) fn overhead_ns(&self, mechanics: &Mechanics, index: usize, now_ns: u64) -> u64 {
        let waiting = &self.waiting[index];
        let waited_ns = now_ns - waiting.submitted_ns;
        mechanics.overhead_ns(waiting.request.direction, waited_ns)
    }

    /// The command to take next, for an arm that begins to move when the platters are at
    /// `angle`.
    #[inline]
    pub(super) fn choose(
        &mut self,
        mechanics: &Mechanics,
        now_ns: u64,
        arm: Arm,
        angle: u32,
        near: Option<Near>,
    ) -> Option<Choice> {
        match mechanics.scheduler {
            Scheduler::ShortestPositioning => self.nearest(mechanics, now_ns, arm, angle, near),
            Scheduler::FirstCome => {
                let order = self.waiting.iter().enumerate();
                let (index, waiting) = order.min_by_key(|(_, waiting)| waiting.sequence)?;
                let first = self.candidates[index].first_sector;
                Some(Choice {
                    index,
                    goes_on: near.is_some_and(|near| {
                        near.holds(first) && self.may_go_on(now_ns, index, &near)
                    }),
                    score: waiting.sequence as i64,
                })
            }
        }
    }

    fn nearest(
        &mut self,
        mechanics: &Mechanics,
        now_ns: u64,
        arm: Arm,
        angle: u32,
        near: Option<Near>,
    ) -> Option<Choice> {
        let aged_to = aged(mechanics, now_ns);
        let near = near.unwrap_or(Near::NOTHING);
        // However short the seek, the sector has to come round. Most commands are out of the
        // running by that and need no look at the table of seek times, which is long: the one with
        // the best prospects sets the mark for the others.
        self.least.clear();
        let (mut first, mut first_least, mut any_near) = (0, i64::MAX, false);
        for (index, candidate) in self.candidates.iter().enumerate() {
            let wait = i64::from(Rotation::wait(candidate.angle, angle));
            let least = wait - aged_to.wrapping_sub(candidate.aged_from) as i64;
            self.least.push(least);
            any_near |= near.holds(candidate.first_sector);
            if least < first_least {
                (first, first_least) = (index, least);
            }
        }
        if self.candidates.is_empty() {
            return None;
        }
        if any_near && let Some(choice) = self.going_on(now_ns, aged_to, &near) {
            // Nothing is nearer than no way at all, but others may have waited longer.
            return Some(self.best(mechanics, aged_to, arm, angle, choice));
        }
        let choice = Choice {
            index: first,
            goes_on: false,
            score: self.score(mechanics, aged_to, arm, angle, first),
        };
        Some(self.best(mechanics, aged_to, arm, angle, choice))
    }

    /// What the command at `index` scores if the arm has to go to it.
    #[inline]
    fn score(
        &self,
        mechanics: &Mechanics,
        aged_to: u64,
        arm: Arm,
        angle: u32,
        index: usize,
    ) -> i64 {
        let candidate = &self.candidates[index];
        let way = way(mechanics, candidate, arm, angle);
        let forgiven = aged_to.wrapping_sub(candidate.aged_from) as i64;
        i64::from(way.seek) + i64::from(way.rotation) - forgiven
    }

    /// The best of `choice` and the commands that the arm has to go to; of equal ones the first.
    #[inline]
    fn best(
        &self,
        mechanics: &Mechanics,
        aged_to: u64,
        arm: Arm,
        angle: u32,
        choice: Choice,
    ) -> Choice {
        let mut best = choice;
        for (index, &least) in self.least.iter().enumerate() {
            if least > best.score || index == best.index {
                continue;
            }
            let score = self.score(mechanics, aged_to, arm, angle, index);
            if (score, index) < (best.score, best.index) {
                best = Choice {
                    index,
                    goes_on: false,
                    score,
                };
            }
        }
        best
    }

    /// The best of the commands that go on where the head is, if there are any.
    #[cold]
    fn going_on(&mut self, now_ns: u64, aged_to: u64, near: &Near) -> Option<Choice> {
        let mut best: Option<Choice> = None;
        for (index, candidate) in self.candidates.iter().enumerate() {
            if near.holds(candidate.first_sector) && self.may_go_on(now_ns, index, near) {
                let score = -(aged_to.wrapping_sub(candidate.aged_from) as i64);
                if best.is_none_or(|best| score < best.score) {
                    best = Some(Choice {
                        index,
                        goes_on: true,
                        score,
                    });
                }
                // The arm does not have to go to it.
                self.least[index] = i64::MAX;
            }
        }
        best
    }

    /// Whether a command whose first sector is near goes on where the head is.
    #[cold]
    fn may_go_on(&self, now_ns: u64, index: usize, near: &Near) -> bool {
        let waiting = &self.waiting[index];
        waiting.request.direction == near.direction
            && now_ns - waiting.submitted_ns >= near.least_wait_ns
    }

    /// The way to the command at `index`.
    #[inline]
    pub(super) fn way_to(
        &self,
        mechanics: &Mechanics,
        index: usize,
        arm: Arm,
        angle: u32,
    ) -> Positioning {
        way(mechanics, &self.candidates[index], arm, angle)
    }
}

/// What aging makes of a time, in angle units modulo 2^64: differences count.
#[inline]
fn aged(mechanics: &Mechanics, time_ns: u64) -> u64 {
    ((u128::from(time_ns) * u128::from(mechanics.aging_q16)) >> 16) as u64
}

#[inline]
fn way(mechanics: &Mechanics, candidate: &Candidate, arm: Arm, angle: u32) -> Positioning {
    let tracks = candidate.cylinder.abs_diff(arm.cylinder);
    let switch = if candidate.head == arm.head {
        0
    } else {
        candidate.switch_units
    };
    let mut seek = mechanics
        .seek_units(candidate.seek_base, tracks)
        .max(switch);
    if seek > 0 {
        seek += mechanics.settle_units();
    }
    Positioning {
        seek,
        rotation: Rotation::wait(candidate.angle, angle.wrapping_add(seek)),
    }
}
