//! Pools: where the sectors of a volume lie in the disk groups, and how that changes.
//!
//! - [`LinearPool`]: each volume is a run of one disk group.
//! - [`groups`]: what a pool needs of the disk groups; [`request`]: the words between a pool and
//!   the rooms above it.

mod any;
mod groups;
mod linear;
mod operations;
mod records;
mod request;
mod stripes;

#[cfg(test)]
mod linear_tests;
#[cfg(test)]
mod testing;

pub use any::Pool;
pub use groups::{Groups, Piece};
pub use linear::{LinearPool, LinearVolume};
pub use request::{Extent, Place, PoolCompletion, PoolError, PoolFull, PoolRead, PoolWrite};
