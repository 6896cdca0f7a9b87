//! Pools: where the sectors of a volume lie in the disk groups, and how that changes.
//!
//! - [`LinearPool`]: each volume is a run of one disk group.
//! - [`PagedPool`]: virtual storage. `page` says where each page lies, `allocation` where a new
//!   one goes, `tiering` which ones should move; `paged` is the way of a request through them.
//! - `read_cache` holds copies of what was read, `replacement` says which of them stay.
//! - [`settings`]: what a pool with pages is made of and the rules it follows; [`counters`]: what
//!   it counts.
//! - [`tier`]: the tiers of a pool.
//! - `request`: reads and writes of volumes, and their completions.

mod allocation;
mod any;
pub mod counters;
mod linear;
mod operations;
mod page;
mod paged;
mod read_cache;
mod records;
mod replacement;
mod request;
pub mod settings;
mod stripes;
pub mod tier;
mod tiering;

#[cfg(test)]
mod linear_tests;
#[cfg(test)]
mod paged_tests;
#[cfg(test)]
mod testing;

pub use any::Pool;
pub use counters::{PoolCounters, ReadCacheCounters};
pub use linear::{LinearPool, LinearVolume};
pub use paged::PagedPool;
pub use request::{Extent, Place, PoolCompletion, PoolError, PoolFull, PoolRead, PoolWrite};
pub use settings::PoolSettings;
