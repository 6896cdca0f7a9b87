//! Where the first write to a page puts it.

use super::settings::{Affinity, AllocationName};
use super::tier::Tier;
use crate::FirstWrite;

/// From the fastest down.
const DESCENDING: [Tier; 3] = [Tier::Performance, Tier::Standard, Tier::Archive];
/// Disks that turn, from the fastest down; solid state last.
const SPINNING: [Tier; 3] = [Tier::Standard, Tier::Archive, Tier::Performance];
/// From the slowest up.
const ASCENDING: [Tier; 3] = [Tier::Archive, Tier::Standard, Tier::Performance];

/// The tiers to try for a new page by the rule of that name, the preferred one first. All of them
/// are in the order: a page goes anywhere rather than nowhere. With archive affinity the lowest
/// tier comes first by every rule.
pub(crate) fn order(name: AllocationName, affinity: Affinity, write: FirstWrite) -> [Tier; 3] {
    if affinity == Affinity::Archive {
        return ASCENDING;
    }
    match name {
        AllocationName::Msa => msa(affinity, write),
        AllocationName::HighestFirst => DESCENDING,
        AllocationName::SpinningFirst => SPINNING,
    }
}

/// Sequential first writes go to the highest spinning tier, random ones to the highest tier.
///
/// Source: the standard strategy of the MSA 2040 family and its relatives (confirmed, ME4 guide
/// p. 24). So a database laid out by a sequential fill begins on disks and must be promoted. With
/// performance affinity both go to the highest tier; that is how "preferred" is understood here
/// (*unconfirmed* for sequential writes).
///
/// The other two rules are for comparison. Highest first is the common rule of arrays that write to
/// flash first (Dell Data Progression puts new writes on its first tier; confirmed, SC9000 guide
/// p. 66). Spinning first has no source; it shows what the first placement is worth: all data must
/// earn its place on solid state.
fn msa(affinity: Affinity, write: FirstWrite) -> [Tier; 3] {
    if affinity == Affinity::None && write == FirstWrite::Sequential {
        SPINNING
    } else {
        DESCENDING
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
