//! Sequential first writes go to the highest spinning tier, random ones to the highest tier.
//!
//! Source: the standard strategy of the MSA 2040 family and its relatives (confirmed, ME4 guide
//! p. 24). So a database laid out by a sequential fill begins on disks and must be promoted. With
//! performance affinity both go to the highest tier, with archive affinity to the lowest; that is
//! how "preferred" is understood here (*unconfirmed* for sequential writes).

use super::{ASCENDING, Allocation, DESCENDING, SPINNING};
use crate::FirstWrite;
use crate::pool::settings::{Affinity, Tier};

/// The rule of the MSA 2040 family.
pub(super) struct Msa;

impl Allocation for Msa {
    fn order(&self, affinity: Affinity, first_write: FirstWrite) -> [Tier; 3] {
        match (affinity, first_write) {
            (Affinity::None, FirstWrite::Sequential) => SPINNING,
            (Affinity::None, FirstWrite::Random) | (Affinity::Performance, _) => DESCENDING,
            (Affinity::Archive, _) => ASCENDING,
        }
    }
}
