//! Where the first write to a page puts it: one rule per file, behind [`Allocation`].

mod highest_first;
mod msa;
mod spinning_first;

use super::settings::{Affinity, AllocationName, Tier};
use crate::FirstWrite;

/// A rule for new pages.
pub(crate) trait Allocation {
    /// The tiers to try for a new page, the preferred one first. All of them stand in it: a page
    /// goes anywhere rather than nowhere.
    fn order(&self, affinity: Affinity, first_write: FirstWrite) -> [Tier; 3];
}

/// From the fastest down.
const DESCENDING: [Tier; 3] = [Tier::Performance, Tier::Standard, Tier::Archive];
/// Disks that turn, from the fastest down; solid state last.
const SPINNING: [Tier; 3] = [Tier::Standard, Tier::Archive, Tier::Performance];
/// From the slowest up.
const ASCENDING: [Tier; 3] = [Tier::Archive, Tier::Standard, Tier::Performance];

/// The tiers to try by the rule of that name.
pub(crate) fn order(name: AllocationName, affinity: Affinity, write: FirstWrite) -> [Tier; 3] {
    match name {
        AllocationName::Msa => msa::Msa.order(affinity, write),
        AllocationName::HighestFirst => highest_first::HighestFirst.order(affinity, write),
        AllocationName::SpinningFirst => spinning_first::SpinningFirst.order(affinity, write),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FirstWrite::{Random, Sequential};

    #[test]
    fn the_msa_rule_keeps_streams_off_solid_state() {
        let msa = |affinity, write| order(AllocationName::Msa, affinity, write);
        assert_eq!(msa(Affinity::None, Sequential), SPINNING);
        assert_eq!(msa(Affinity::None, Random), DESCENDING);
        assert_eq!(msa(Affinity::Performance, Sequential), DESCENDING);
        assert_eq!(msa(Affinity::Archive, Random), ASCENDING);
    }
}
