//! What happens every few seconds: groups in danger are emptied, and the tiering rule plans.

use super::PagedPool;
use crate::group::GroupState;
use crate::group::Groups;
use crate::payload::Payload;
use crate::pool::page::GroupSpace;
use crate::pool::tier::Tier;
use crate::pool::tiering::{PlannedMove, TierSpace, TieringPolicy};

/// Pages that a plan moves at most while pages move at once: more than disks can, and few enough
/// that the next plan can correct what was chosen by chance.
const HEAD_START_PAGES: usize = 4_096;

/// The share of the time of instant moves to a limited number of pages in which I/Os are only counted.
const COUNTING_SHARE: f64 = 1.0 / 3.0;

/// Pages move at once at the beginning of a prediction, so that minutes are like days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadStart {
    /// I/Os are counted; nothing moves.
    Counts,
    /// So many pages may be brought to the performance tier by the next plan.
    Brings(usize),
    /// The rule moves as many as it may.
    Over,
}

impl<P: Payload> PagedPool<P> {
    /// When the next plan is due.
    pub fn next_event_ns(&self) -> Option<u64> {
        self.next_plan_ns
    }

    /// Does what is due at `now_ns`: drains first, then the plan of the rule, as far as the limit
    /// of an interval allows. What is left of the last plan counts against it.
    pub fn on_timer(&mut self, now_ns: u64, groups: &mut impl Groups<P>) {
        if self.next_plan_ns.is_none_or(|due_ns| now_ns < due_ns) {
            return;
        }
        self.next_plan_ns = Some(now_ns + self.interval_ns);
        self.note_states(groups);
        let limit = self.most_pages_per_plan(now_ns);
        let budget = limit.saturating_sub(self.moves.pending());
        let drained = self.plan_drains(budget, groups);
        let budget = budget - drained.len();
        let room = self.room(budget as u32);
        let (map, moves) = (&self.map, &self.moves);
        let movable = |page: u32| {
            let location = map.location(page);
            location.is_some_and(|at| !at.is_blank() && !map.spaces[at.group()].draining)
                && !moves.is_moving(page)
        };
        let planned = self.tiering.plan(&room, &movable);
        self.moves.plan(drained.into_iter().chain(planned));
        self.begin_moves(now_ns, groups);
    }

    /// How far the instant moves are.
    pub(super) fn head_start(&self, now_ns: u64) -> HeadStart {
        let tiering = &self.settings.policy.tiering;
        let end_ns = tiering.instant_moves_s * 1e9;
        if now_ns as f64 >= end_ns {
            return HeadStart::Over;
        }
        if tiering.prior_load_h == 0.0 {
            return HeadStart::Brings(HEAD_START_PAGES);
        }
        if (now_ns as f64) < end_ns * COUNTING_SHARE {
            return HeadStart::Counts;
        }
        let plans = tiering.prior_load_h * 3_600.0 / tiering.interval_s;
        let moved = (plans * self.limit_pages() as f64) as u64;
        let spaces = self.map.spaces.iter();
        let performance = spaces.filter(|space| space.tier == Tier::Performance);
        let there = performance.map(|space| u64::from(space.usable() - space.free()));
        match moved.saturating_sub(there.sum()) {
            0 => HeadStart::Over,
            left => HeadStart::Brings(left.min(HEAD_START_PAGES as u64) as usize),
        }
    }

    fn most_pages_per_plan(&self, now_ns: u64) -> usize {
        match self.head_start(now_ns) {
            HeadStart::Counts => 0,
            HeadStart::Brings(pages) => pages,
            HeadStart::Over => self.limit_pages() * self.warp as usize,
        }
    }

    /// Most pages that a plan of the rule moves.
    fn limit_pages(&self) -> usize {
        let limit_kib = u64::from(self.settings.policy.tiering.move_limit_mib) * 1024;
        (limit_kib / u64::from(self.settings.policy.page_size_kib)) as usize
    }

    /// Groups of the performance tier that one more failed disk would destroy take nothing new
    /// and are emptied; groups that failed take nothing new.
    fn note_states(&mut self, groups: &impl Groups<P>) {
        let drain_critical = self.settings.policy.tiering.drain_critical;
        for space in &mut self.map.spaces {
            space.draining = match groups.state(space.group) {
                GroupState::Failed => true,
                GroupState::Critical => drain_critical && space.tier == Tier::Performance,
                GroupState::Healthy | GroupState::Degraded => false,
            };
        }
    }

    /// Up to `budget` moves out of groups that are being emptied, to the highest tier with room.
    fn plan_drains(&self, budget: usize, groups: &impl Groups<P>) -> Vec<PlannedMove> {
        let mut free = self.room(0).free;
        let mut moves = Vec::new();
        let in_danger =
            |space: &&GroupSpace| space.draining && groups.state(space.group) != GroupState::Failed;
        for space in self.map.spaces.iter().filter(in_danger) {
            let pages = (0..space.slots()).filter_map(|slot| space.owner(slot));
            for page in pages {
                let Some(tier) = Tier::ALL.into_iter().find(|tier| free[tier.rank()] > 0) else {
                    return moves;
                };
                if moves.len() == budget {
                    return moves;
                }
                let location = self.map.location(page);
                let settled = location.is_some_and(|at| !at.is_blank());
                if settled && !self.moves.is_moving(page) {
                    moves.push(PlannedMove { page, to: tier });
                    free[tier.rank()] -= 1;
                }
            }
        }
        moves
    }

    /// What there is room for, groups that are being emptied left out.
    fn room(&self, budget: u32) -> TierSpace {
        let mut room = TierSpace {
            slots: [0; 3],
            free: [0; 3],
            budget,
        };
        for space in self.map.spaces.iter().filter(|space| !space.draining) {
            room.slots[space.tier.rank()] += space.usable();
            room.free[space.tier.rank()] += space.free();
        }
        room
    }
}
