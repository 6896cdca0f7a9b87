//! Every first write goes to the highest spinning tier that has room; archive affinity to the
//! lowest.
//!
//! Source: none; for comparison, it shows what the first placement is worth: all data must earn
//! its place on solid state.

use super::{ASCENDING, Allocation, SPINNING};
use crate::FirstWrite;
use crate::pool::settings::{Affinity, Tier};

/// Highest spinning tier first.
pub(super) struct SpinningFirst;

impl Allocation for SpinningFirst {
    fn order(&self, affinity: Affinity, _first_write: FirstWrite) -> [Tier; 3] {
        match affinity {
            Affinity::None | Affinity::Performance => SPINNING,
            Affinity::Archive => ASCENDING,
        }
    }
}
