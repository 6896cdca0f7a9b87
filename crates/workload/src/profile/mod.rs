//! The profile of a workload: everything that a run does, in one typed tree.
//!
//! Each workload declares a profile of its own, with the sections that all of them share: [`Run`],
//! [`Tuning`] and [`Levels`]. Whoever does not care which workload it is sees it as a
//! [`Profile`](crate::Profile).

mod io_driver;
mod rules;
mod run;

pub use config::{ByteSize, TimeSpan};
pub use io_driver::IoDriverChoice;
pub use measure::service_level::Levels;
pub use rules::{Rule, common_rules, read};
pub use run::{FindLoad, Run, SearchTimes, SteadyState, Tuning, WarmUp, WarmUpLength};
