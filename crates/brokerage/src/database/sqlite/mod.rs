//! SQLite: a file that this process itself reads and writes.
//!
//! It stands in where there is no server. Only one transaction writes at a time, so it cannot show
//! what a storage system does for many writers.
//!
//! - [`file`]: the work around the transactions, as a [`Database`](super::Database).
//! - [`session`]: a connection as the transactions see it.
//! - [`loader`]: rows in bulk.
//! - `turn`: who writes next.
//! - `failure`: what errors mean.

mod failure;
pub mod file;
pub mod loader;
pub mod session;
mod turn;

pub use file::Sqlite;
