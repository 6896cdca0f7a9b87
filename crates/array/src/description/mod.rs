//! Descriptions of arrays as people write them, in TOML.
//!
//! A description says what an engineer knows of an array - its pools, disks, levels, SSDs - and is
//! written out into [`crate::ArraySettings`], pool by pool and volume by volume.
//!
//! - [`Source`]: the texts: a file, assignments such as `pool.ssd_count=2`.
//! - [`Description::load`]: joins them over what they extend, knows every key and type.
//! - [`Description::plan`]: writes the array out for the databases of a workload and checks every
//!   rule. Every fault is shown at the line that was written.
//! - [`Description::plan_for_trace`]: the same for a block trace; [`one_disk`] is an array that is
//!   one disk, [`one_disk_of_file`] one of somebody's own.
//! - [`BUNDLED_ARRAYS`]: descriptions that are built in.

mod blame;
mod bundled;
mod expand;
mod keys;
mod load;
mod node;
mod read;
mod source;

#[cfg(test)]
mod blame_tests;
#[cfg(test)]
mod tests;

pub use bundled::{BUNDLED_ARRAYS, BundledArray, bundled_array};
pub use expand::{
    DatabaseDemand, DatabasePlacement, PlannedArray, PlannedEvent, TracedVolume, describes_disk,
    one_disk, one_disk_of_file,
};
pub use load::Description;
pub use source::{DescriptionError, DescriptionFault, Location, Source};
