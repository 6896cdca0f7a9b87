//! PostgreSQL over its wire protocol, and a temporary server.
//!
//! - [`connection`]: a connection to a server; `transaction` makes it a
//!   [`Session`](crate::session::Session), with one round trip per batch.
//! - `control`: the statements that begin and end transactions.
//! - `wire`, `startup`, `failure`: messages on a socket, the handshake, errors.
//! - [`loader`]: bulk loading by COPY.
//! - [`postgres`]: everything outside of transactions, as a [`Database`](super::Database).
//! - [`cluster`]: a server of our own in a directory.
//! - `index_entries`: whether indexes have an entry for each row.
//! - `backend`: where a server keeps its data, by the process of a session.

mod backend;
pub mod cluster;
pub mod connection;
mod control;
mod encode;
mod failure;
mod files;
mod index_entries;
pub mod loader;
#[allow(clippy::module_inception)] // It is the database that the module is named after.
pub mod postgres;
mod run_lock;
mod startup;
mod transaction;
mod wire;

pub use cluster::{Cluster, ClusterError};
pub use connection::Connection;
pub use postgres::Postgres;
