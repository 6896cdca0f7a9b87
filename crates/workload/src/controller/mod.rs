//! The course of a run, from building the databases to the result.
//!
//! Databases are dealt over shards. A [`shard::Shard`] lives on one thread (or, on the virtual
//! clock, beside the others on one) and takes its databases through the stages of the run; its
//! sessions are a [`load::Load`]. The [`conductor::Conductor`] orders the stages, joins the counts,
//! steers the load ([`steering`]), tells of the phases (`announcement`) and gives the result
//! ([`outcome`]). Orders and news go over [`link`]; what every shard does with them is in `follower`.
//! [`drive`] sets everything going; what it needs of real or simulated storage is a
//! [`host::DatabaseHost`].

mod announcement;
pub mod conductor;
pub mod drive;
pub(crate) mod follower;
pub mod host;
pub mod link;
pub mod listener;
pub mod load;
pub mod observer;
pub mod outcome;
pub mod plan;
mod service;
pub mod shard;
pub mod steering;
pub mod ticks;

#[cfg(test)]
mod tests;

pub use drive::{run_on_threads, run_on_virtual_clock};
pub use listener::{RunListener, SoFar, Unheard};
pub use plan::RunPlan;
