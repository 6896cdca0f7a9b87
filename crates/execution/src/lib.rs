//! What everything that executes a scenario has in common, whichever workload it is and whether it
//! runs on real storage or is predicted.
//!
//! - [`events`] is what happens meanwhile, for whoever shows or logs it; [`recorder`] writes it into the
//!   run directory and passes it on. [`results`] opens that directory where [`Output`] says.
//! - [`Outcome`] is what comes out, [`Error`] why nothing does.
//! - `storage_run` (with `host`) is how a workload runs on real storage: what it is asked for, and what
//!   it gives to the library to begin with.
//! - `audit` (with `host`) is how what a run has acknowledged is looked for after a power cut.
//! - `RunnableWorkload` (with `host`) is a workload that runs on real storage.
//! - [`clock`] is the machine's clock, where there is one.

#[cfg(feature = "host")]
pub mod audit;
pub mod clock;
pub mod events;
pub mod recorder;
pub mod results;
#[cfg(feature = "host")]
pub mod storage_run;

mod conclusion;
mod error;
mod options;
mod outcome;
mod output;
#[cfg(feature = "host")]
mod runnable;

pub use conclusion::conclude;
pub use error::Error;
pub use events::{Event, Observer};
pub use options::RunOptions;
#[cfg(feature = "host")]
pub use options::WitnessOptions;
pub use outcome::Outcome;
pub use output::Output;
#[cfg(feature = "host")]
pub use runnable::RunnableWorkload;
