//! A throw-away PostgreSQL server on the storage under test.
//!
//! - [`error`]: why there is none.
//! - [`programs`]: where the server's programs are.
//! - [`settings`]: how it is configured.
//! - [`server`]: making, starting, stopping and removing it.
//! - `owner`: the unprivileged user that it runs as.
//! - `process`: the running server, which ends when we do, in whatever way.
//! - [`page_cache`]: keeping the system from holding the database in memory.

pub mod error;
mod keeper;
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
