//! From an order of pages to a bounded list of moves.
//!
//! Every rule that ranks pages plans alike: the pages worth most go into the free places of the
//! tier above; when it has none left, those of its pages that are worth least and are beaten by a
//! page that waits make room, and the waiting one follows in a later interval. Nothing changes
//! places with a page it does not beat, so pages that are worth the same stay where they are.

use crate::pool::tier::Tier;

/// A page that should go to another tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlannedMove {
    pub(crate) page: u32,
    pub(crate) to: Tier,
}

/// What there is room for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TierSpace {
    /// Slots of each tier; 0 where there is no such tier.
    pub(crate) slots: [u32; 3],
    /// Slots of each tier that can be taken.
    pub(crate) free: [u32; 3],
    /// Most pages to move.
    pub(crate) budget: u32,
}

/// An order of pages by what they are worth on a higher tier.
pub(crate) trait Ranking {
    /// Appends up to `limit` pages of `tier` that may go up, the one worth most first.
    fn hottest(&mut self, tier: Tier, limit: usize, pages: &mut Vec<u32>, movable: Movable<'_>);

    /// Appends up to `limit` pages of `tier` that may go down, the one worth least first.
    fn coldest(&mut self, tier: Tier, limit: usize, pages: &mut Vec<u32>, movable: Movable<'_>);

    /// Whether `one` is worth more than `other`.
    fn is_hotter(&self, one: u32, other: u32) -> bool;

    /// Whether `waiting` is worth so much more that `resident` should make room for it.
    fn beats(&self, waiting: u32, resident: u32) -> bool;

    /// Whether `resident` may leave even if nothing waits for its place.
    fn is_cold(&self, _resident: u32) -> bool {
        false
    }
}

/// Says whether a page can move now.
pub(crate) type Movable<'a> = &'a dyn Fn(u32) -> bool;

/// Plans the moves of one interval.
pub(crate) fn plan_moves(
    ranking: &mut impl Ranking,
    room: &TierSpace,
    free_pages: u32,
    movable: Movable<'_>,
) -> Vec<PlannedMove> {
    let mut moves = Vec::new();
    let mut budget = room.budget as usize;
    let mut free = room.free;
    let tiers: Vec<Tier> = Tier::ALL
        .into_iter()
        .filter(|tier| room.slots[tier.rank()] > 0)
        .collect();
    for (index, &upper) in tiers.iter().enumerate() {
        let lower = &tiers[index + 1..];
        if lower.is_empty() || budget == 0 {
            break;
        }
        let waiting = waiting_pages(ranking, lower, 2 * budget, movable, &moves);
        let promoted = waiting.len().min(free[upper.rank()] as usize).min(budget);
        moves.extend(
            waiting[..promoted]
                .iter()
                .map(|&page| PlannedMove { page, to: upper }),
        );
        free[upper.rank()] -= promoted as u32;
        budget -= promoted;
        let wanted = free_pages.saturating_sub(free[upper.rank()]) as usize;
        let mut resident = Vec::new();
        ranking.coldest(upper, wanted.min(budget), &mut resident, movable);
        for (place, page) in resident.into_iter().enumerate() {
            let beaten = waiting[promoted..]
                .get(place)
                .is_some_and(|&waiting| ranking.beats(waiting, page));
            if !beaten && !ranking.is_cold(page) {
                break;
            }
            let Some(&to) = lower.iter().find(|tier| free[tier.rank()] > 0) else {
                break;
            };
            moves.push(PlannedMove { page, to });
            free[to.rank()] -= 1;
            budget -= 1;
        }
    }
    moves
}

/// The pages of the lower tiers that may go up and are not planned to move, hottest first.
fn waiting_pages(
    ranking: &mut impl Ranking,
    lower: &[Tier],
    limit: usize,
    movable: Movable<'_>,
    planned: &[PlannedMove],
) -> Vec<u32> {
    let mut waiting = Vec::new();
    let free_to_move = |page| movable(page) && planned.iter().all(|planned| planned.page != page);
    for &tier in lower {
        ranking.hottest(tier, limit, &mut waiting, &free_to_move);
    }
    if lower.len() > 1 {
        waiting.sort_by(|&one, &other| {
            let hotter = ranking.is_hotter(one, other);
            let colder = ranking.is_hotter(other, one);
            colder.cmp(&hotter)
        });
    }
    waiting.truncate(limit);
    waiting
}
