//! PostgreSQL: a thin blocking connection over its wire protocol, and a throw-away server.
//!
//! - [`connection`]: a connection to a server; `transaction` makes it a
//!   [`Session`](crate::session::Session), one journey to the server per batch.
//! - `wire`, `startup`, `failure`: the socket and its messages, the handshake, what errors mean.
//! - [`loader`]: rows by COPY.
//! - [`postgres`]: the work around the transactions, as a [`Database`](super::Database).
//! - [`cluster`]: a server of our own on a directory.

pub mod cluster;
pub mod connection;
mod encode;
mod failure;
pub mod loader;
#[allow(clippy::module_inception)] // It is the database that the module is named after.
pub mod postgres;
mod startup;
mod transaction;
mod wire;

pub use cluster::{Cluster, ClusterError};
pub use connection::Connection;
pub use postgres::Postgres;
