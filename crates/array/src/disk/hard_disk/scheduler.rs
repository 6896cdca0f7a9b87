//! The on-board queue, and which of its commands comes next.

use super::description::Scheduler;
use super::geometry::Place;
use super::mechanics::{Arm, Mechanics};
use super::rotation::Rotation;
use crate::Direction;
use crate::disk::DiskRequest;

/// What choosing needs of a command, computed once when it comes: 32 bytes.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    cylinder: u32,
    head: u32,
    angle: u32,
    seek_base: u32,
    switch_units: u32,
    submitted_ns: u64,
}

/// A command in the on-board queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) request: DiskRequest,
    pub(super) place: Place,
    pub(super) submitted_ns: u64,
    sequence: u64,
}

/// The way to a command's first sector, in angle units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Positioning {
    pub(super) seek: u32,
    pub(super) rotation: u32,
}

/// A command and how good it is to take it next; the least score wins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) index: usize,
    pub(super) score: i64,
}

/// The on-board queue.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    candidates: Vec<Candidate>,
    /// First sectors, apart so that looking for one passes little memory.
    first_sectors: Vec<u64>,
    waiting: Vec<Waiting>,
    sequence: u64,
}

impl Queue {
    pub(super) fn new(depth: usize) -> Self {
        Self {
            candidates: Vec::with_capacity(depth),
            first_sectors: Vec::with_capacity(depth),
            waiting: Vec::with_capacity(depth),
            sequence: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, mechanics: &Mechanics, now_ns: u64, request: DiskRequest) {
        let place = mechanics.geometry.locate(request.first_sector);
        self.candidates.push(Candidate {
            cylinder: place.cylinder,
            head: place.head,
            angle: mechanics.geometry.angle(&place),
            seek_base: mechanics.seek_base(request.direction),
            switch_units: mechanics.switch_units(request.direction),
            submitted_ns: now_ns,
        });
        self.first_sectors.push(request.first_sector);
        self.waiting.push(Waiting {
            request,
            place,
            submitted_ns: now_ns,
            sequence: self.sequence,
        });
        self.sequence += 1;
    }

    #[inline]
    pub(super) fn take(&mut self, index: usize) -> Waiting {
        self.candidates.swap_remove(index);
        self.first_sectors.swap_remove(index);
        self.waiting.swap_remove(index)
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> &Waiting {
        &self.waiting[index]
    }

    /// The command to take next, for an arm that begins to move when the platters stand at
    /// `angle`.
    #[inline]
    pub(super) fn choose(
        &self,
        mechanics: &Mechanics,
        now_ns: u64,
        arm: Arm,
        angle: u32,
    ) -> Option<Choice> {
        match mechanics.scheduler {
            Scheduler::ShortestPositioning => self.nearest(mechanics, now_ns, arm, angle),
            Scheduler::FirstCome => {
                let order = self.waiting.iter().enumerate();
                let first = order.min_by_key(|(_, waiting)| waiting.sequence);
                first.map(|(index, waiting)| Choice {
                    index,
                    score: waiting.sequence as i64,
                })
            }
        }
    }

    fn nearest(&self, mechanics: &Mechanics, now_ns: u64, arm: Arm, angle: u32) -> Option<Choice> {
        let mut best = Choice {
            index: usize::MAX,
            score: i64::MAX,
        };
        for (index, candidate) in self.candidates.iter().enumerate() {
            let way = way(mechanics, candidate, arm, angle);
            let units = i64::from(way.seek) + i64::from(way.rotation);
            let score = units - forgiven(mechanics, now_ns, candidate.submitted_ns);
            if score < best.score {
                best = Choice { index, score };
            }
        }
        (best.index != usize::MAX).then_some(best)
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

    /// The command of a direction whose first sector lies in `from..=to`, the lowest of them, that
    /// needs no positioning because the head is already there. Its score is what waiting earns it.
    #[inline]
    pub(super) fn following(
        &self,
        mechanics: &Mechanics,
        now_ns: u64,
        direction: Direction,
        from: u64,
        to: u64,
    ) -> Option<Choice> {
        let mut best: Option<usize> = None;
        for (index, &first) in self.first_sectors.iter().enumerate() {
            if first.wrapping_sub(from) <= to - from
                && self.waiting[index].request.direction == direction
                && best.is_none_or(|best| first < self.first_sectors[best])
            {
                best = Some(index);
            }
        }
        best.map(|index| {
            let waiting = &self.waiting[index];
            let score = match mechanics.scheduler {
                Scheduler::ShortestPositioning => {
                    -forgiven(mechanics, now_ns, waiting.submitted_ns)
                }
                Scheduler::FirstCome => waiting.sequence as i64,
            };
            Choice { index, score }
        })
    }
}

/// Angle units forgiven for having waited. Ages are cut at about five hours, which keeps the
/// product in range; any command that old comes first anyway.
#[inline]
fn forgiven(mechanics: &Mechanics, now_ns: u64, submitted_ns: u64) -> i64 {
    let age_ns = (now_ns - submitted_ns).min(1 << 44);
    ((age_ns * mechanics.aging_q16) >> 16) as i64
}

#[inline]
fn way(mechanics: &Mechanics, candidate: &Candidate, arm: Arm, angle: u32) -> Positioning {
    let tracks = candidate.cylinder.abs_diff(arm.cylinder);
    let switch = if candidate.head == arm.head {
        0
    } else {
        candidate.switch_units
    };
    let seek = mechanics
        .seek_units(candidate.seek_base, tracks)
        .max(switch);
    Positioning {
        seek,
        rotation: Rotation::wait(candidate.angle, angle.wrapping_add(seek)),
    }
}
