//! Finding the load: the number of sessions (`--threads auto`), or the highest rate (`--find max-iops`).
//!
//! [`cycle`] judges one load: it waits until the read latency has settled and then looks at a
//! window of samples, as Microsoft's Jetstress does. [`search`] decides which load to try next:
//! more and more until it is too much, then close in by halves. [`curve`] gives the response time at
//! parts of a load.

pub mod curve;
pub mod cycle;
pub mod sample;
pub mod search;
mod window;

pub use curve::Curve;
pub use cycle::{Cycle, CycleOutcome, CycleSettings};
pub use sample::TuningSample;
pub use search::{Axis, Goal, Search, SearchSettings, Step};
