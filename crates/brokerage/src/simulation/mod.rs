//! The page-level simulation of a brokerage database: the I/O of its transactions without contents,
//! for databases of any size.
//!
//! - [`schema`]: tables and indexes: rows per customer, bytes per row, placement of new rows.
//! - [`tree`]: one of them as a B+ tree: the path to a row, and how it grows.
//! - [`trees`]: all trees of a database.
//! - [`skew`]: random customers, trades and days, as in the published description.
//! - [`plan`]: a transaction as row accesses, planned before it begins; [`queries`], [`lookups`]
//!   and [`orders`] plan them.
//! - [`market`]: the exchange: execution delays, pending orders, market feeds.
//!
//! The simulation runs the database cache, the log and the checkpoint of the storage engine on pages
//! without contents. Which pages a transaction reads and changes follows from its plan and from
//! arithmetic over the trees; what reaches the storage is what the cache misses.
//!
//! - [`pages`]: distributes the pages over the data files.
//! - [`database`]: cache, log and checkpoint; [`execution`] executes plans on them.
//! - `measured`: I/O per transaction that a run has measured, in place of that of the model.
//! - [`clients`]: users, exchange and data maintenance; [`shard`] runs the stages.
//! - [`run`]: a run on a virtual clock.
//!
//! Locks are not simulated. The contended rows, prices and brokers, are locked only briefly, so
//! that in the published studies storage, not locks, was the bottleneck.

pub(crate) mod clients;
pub(crate) mod database;
pub(crate) mod execution;
pub mod lookups;
pub mod market;
mod measured;
pub mod orders;
pub(crate) mod pages;
pub mod plan;
pub mod queries;
pub mod run;
pub mod schema;
pub(crate) mod shard;
pub mod skew;
pub mod tree;
pub mod trees;

pub use pages::file_bytes;
pub use run::run_on_virtual_clock;
pub use shard::Places;
