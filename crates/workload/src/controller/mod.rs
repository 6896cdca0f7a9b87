//! The sequence of a run, from building the databases to the result.
//!
//! Databases are dealt over shards. A [`shard::Shard`] lives on one thread (or, on the virtual
//! clock, beside the others on one) and takes its databases through the stages of the run; its
//! sessions are a [`load::Load`]. The [`run_controller::RunController`] orders the stages (`sequence`), joins the counts,
//! steers the load ([`load_control`], `tuner`), reports the phases (`phase_notice`) and gives the result
//! ([`outcome`]). A load of which no session ever waits is ended by [`zero_delay_loop`].
//! Errors after which a run goes on are collected by shard ([`pending_errors`]) and entered into one
//! [`error_log`]; requests that the storage does not answer are found by [`hung`]. Orders and news go over [`link`]; what every shard does with them is in `follower`. [`drive`] sets
//! everything going; what it needs of real or simulated storage is a [`host::DatabaseHost`]. Where several
//! processes run one load, [`coordination`] lets them begin its phases together.

pub mod coordination;
pub mod drive;
pub mod error_key;
pub mod error_log;
pub mod follower;
pub mod host;
pub mod hung;
pub mod link;
pub mod listener;
pub mod load;
pub mod load_control;
pub mod observer;
pub mod outcome;
pub mod pending_errors;
mod phase_notice;
mod phase_spans;
pub mod plan;
pub mod run_controller;
mod second_samples;
mod sequence;
mod service;
pub mod shard;
mod shard_progress;
mod steady_load;
#[cfg(test)]
mod testing;
pub mod ticks;
mod tuner;
mod warnings;
pub mod zero_delay_loop;

pub use coordination::{Coordination, Together};
pub use drive::{run_on_threads, run_on_virtual_clock, run_shards_on_virtual_clock};
pub use listener::{InterimResult, NoListener, RunListener, SharedListener, shared};
pub use plan::RunPlan;
