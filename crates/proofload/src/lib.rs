//! The library: scenarios of storage under a workload, run or predicted.
//!
//! - `run` puts a workload on real storage (the crate of the workload has how), [`predict`] on a
//!   modelled array in simulated time, [`replay`] a block trace on a modelled array. [`sweep`] makes
//!   many predictions, or searches for the limit; [`study`] repeats published evaluations.
//! - `ranks` (with `host`) has one load run by several processes, usually one on each host.
//! - `crashtest` (with `host`) simulates databases that lose power, on storage that fails and lies.
//! - `audit` (with `host`) finds out after a power cut which acknowledged transactions have survived.
//! - `doctor` (with `host`) examines places before a test: what will distort it, and what to change.
//! - `database_file` (with `host`) examines, prints and recovers database files.
//! - `serve` (with `host`) lets real programs use a modelled array in real time.
//! - [`scripts`] has events at times under a name, for arrays that are served.
//! - [`calibration`] makes models of storage that fit what was measured on it.
//! - [`jetstress`] makes profiles of Microsoft's Jetstress configurations; `init` (with `host`) those of a dialogue.
//! - [`documents`] are the profiles, arrays, disks, studies and scripts that are built in, and those in files.
//! - [`verify`] recomputes a run from the samples in its directory.
//! - Runs, predictions, replays, sweeps and studies each have a `Prepared`: `new` checks everything and writes
//!   nothing, `run` does what was prepared; all but those of studies `describe` in words what would be done.
//! - [`events`] (of the crate `execution`) is what happens meanwhile, for whoever shows or logs it. [`Error`] is what can go
//!   wrong; nothing here prints, or ends the process.
//!
//! # Features
//!
//! - `host` (default): runs on real storage and databases, on Linux. A program that only predicts
//!   does without; it needs no file, no thread and no clock, and builds for WebAssembly.

#[cfg(feature = "host")]
pub mod audit;
pub mod calibration;
#[cfg(feature = "host")]
pub mod crashtest;
#[cfg(feature = "host")]
pub mod database_file;
#[cfg(feature = "host")]
pub mod doctor;
pub mod documents;
#[cfg(feature = "host")]
pub mod init;
pub mod jetstress;
pub mod new_file;
pub mod options;
pub mod predict;
#[cfg(feature = "host")]
pub mod ranks;
pub mod registry;
pub mod replay;
#[cfg(feature = "host")]
pub mod resume;
#[cfg(feature = "host")]
pub mod run;
pub mod scripts;
#[cfg(feature = "host")]
pub mod serve;
pub mod study;
pub mod sweep;
pub mod verify;
pub mod workloads;

mod array_of_profile;
mod error_bars;
mod files;
mod like;
mod load_search;
mod nearest;
#[cfg(feature = "host")]
mod results_place;
mod scenario;
mod setting;
mod workers;

pub use execution::{Error, Event, Observer, Outcome, Output, RunOptions, events};
#[cfg(feature = "host")]
pub use execution::{WitnessOptions, storage_run};
pub use files::Files;
pub use load_search::{LoadScenario, LoadSearch};
pub use options::StudyOptions;
pub use registry::{Registry, WORKLOADS};
pub use scenario::Scenario;
pub use setting::{Key, Setting, Value};
pub use sweep::{Axis, Find};
pub use workers::Helpers;
pub use workload::profile::FindLoad;
pub use workload::progress::StopRequest;
pub use workload::{ErrorClass, Refusal};
