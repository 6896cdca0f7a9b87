//! SQLite: a file that this process itself reads and writes.
//!
//! It is used where there is no server. Only one transaction writes at a time, so it cannot show
//! what a storage system does for many writers.
//!
//! - [`mod@file`]: everything outside of transactions, as a [`Database`](super::Database).
//! - `files`: the files of a database: their names, whose they are, and how they are removed.
//! - [`session`]: a connection.
//! - [`loader`]: bulk loading.
//! - `timed_vfs`: SQLite's file layer, with I/O counted and timed.
//! - `turn`: the queue of writers.
//! - `failure`: errors.
//! - `hash`: a function for digests; `run_lock`: the lock of a run.

mod failure;
pub mod file;
mod files;
mod hash;
pub mod loader;
mod run_lock;
pub mod session;
mod timed_vfs;
mod turn;

pub use file::Sqlite;
