//! Every first write goes to the highest tier that has room; archive affinity to the lowest.
//!
//! Source: the common rule of arrays that write to flash first (Dell Data Progression puts new
//! writes on its first tier; confirmed, SC9000 guide p. 66), here for comparison.

use super::{ASCENDING, Allocation, DESCENDING};
use crate::FirstWrite;
use crate::pool::settings::{Affinity, Tier};

/// Highest tier first.
pub(super) struct HighestFirst;

impl Allocation for HighestFirst {
    fn order(&self, affinity: Affinity, _first_write: FirstWrite) -> [Tier; 3] {
        match affinity {
            Affinity::None | Affinity::Performance => DESCENDING,
            Affinity::Archive => ASCENDING,
        }
    }
}
