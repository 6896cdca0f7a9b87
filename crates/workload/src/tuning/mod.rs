//! Finding the number of sessions: `--threads auto`.
//!
//! [`cycle`] judges one number of sessions: it waits until the read latency has settled and then
//! looks at a window of samples, as Microsoft's Jetstress does. [`search`] decides which number to
//! try next: double until it is too much, then close in by halves.

pub mod cycle;
pub mod search;

pub use cycle::{Cycle, CycleOutcome, CycleSettings, TuningSample};
pub use search::{Goal, Search, SearchSettings, Step};
