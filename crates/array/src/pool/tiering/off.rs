//! Pages stay where their first write put them: a pool without a tiering licence, and the base
//! line for all other rules.

use super::{PlannedMove, TierSpace, TieringPolicy, Touch};
use crate::pool::settings::Affinity;
use crate::pool::tier::Tier;

/// The rule that never moves a page.
#[derive(Debug)]
pub(crate) struct Off;

impl TieringPolicy for Off {
    fn add_pages(&mut self, _pages: u32, _affinity: Affinity) {}

    #[inline]
    fn touched(&mut self, _touch: Touch) {}

    fn placed(&mut self, _page: u32, _tier: Tier) {}

    fn removed(&mut self, _page: u32) {}

    fn plan(&mut self, _room: &TierSpace, _movable: &dyn Fn(u32) -> bool) -> Vec<PlannedMove> {
        Vec::new()
    }
}
