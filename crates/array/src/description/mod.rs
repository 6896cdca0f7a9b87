//! Descriptions of arrays as people write them, in TOML.
//!
//! A description says what an engineer knows of an array - its pools, disks, levels, SSDs - and is
//! written out into [`crate::ArraySettings`], pool by pool and volume by volume.
//!
//! - [`Description::load`]: joins files and assignments such as `pool.ssd_count=2` over what they
//!   extend, knows every key and type.
//! - [`Description::plan`]: writes the array out for the databases of a workload and checks every
//!   rule. What is wrong is shown at the line that was written.
//! - [`Description::plan_for_trace`]: the same for a block trace; [`one_disk`] is an array that is
//!   one disk, [`one_disk_of_file`] one of somebody's own.
//! - [`Description::parameter_sets`]: the sets that a calibration found, as assignments.
//! - [`DescriptionKeys`]: every setting as it is declared, for a reference or a JSON Schema.
//! - [`BUNDLED_ARRAYS`]: descriptions that are built in.

mod bundled;
mod event_line;
mod expand;
mod keys;
mod load;

#[cfg(test)]
mod cause_tests;
#[cfg(test)]
mod effect_tests;
#[cfg(test)]
mod tests;

pub use bundled::{BUNDLED_ARRAYS, BundledArray, bundled_array};
pub use event_line::{EventLineError, event_of_line};
pub use expand::{
    DatabaseDemand, DatabasePlacement, PlannedArray, PlannedEvent, TracedVolume, describes_disk,
    one_disk, one_disk_of_file,
};
pub use keys::{CalibrationKeys, DescriptionKeys};
pub use load::{Assignment, Description};
