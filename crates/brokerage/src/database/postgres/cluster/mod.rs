//! A temporary PostgreSQL server on the storage under test.
//!
//! - [`error`]: its errors.
//! - [`programs`]: finds the server's programs.
//! - [`settings`]: its configuration.
//! - [`server`]: creates, starts, stops and removes it.
//! - `held`: its directories, held open so that no other is filled or removed.
//! - `own`: what the server has in them, so that nothing else is removed.
//! - `owner`: the unprivileged user that it runs as.
//! - `process`: the running server, which ends when we do, in whatever way.
//! - [`page_cache`]: limits the page cache of its files.

pub mod error;
mod held;
mod memory_limiter;
mod own;
mod owner;
pub mod page_cache;
mod process;
pub mod programs;
pub mod server;
pub mod settings;

pub use error::ClusterError;
pub use programs::Programs;
pub use server::Cluster;
pub use settings::Settings;
