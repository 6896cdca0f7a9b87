//! MariaDB and MySQL: a thin blocking connection over their wire protocol.
//!
//! Statements go one by one, each with its own journey: a batch sent in one go would go on after an
//! error, outside of the transaction that the server has then given up.
//!
//! - [`connection`]: a [`Session`](crate::session::Session).
//! - `wire`, `startup`, `encode`, `failure`: packets, the handshake, values, what errors mean.
//! - [`loader`]: rows by inserts of many rows.
//! - [`server`]: the work around the transactions, as a [`Database`](super::Database).

pub mod connection;
mod encode;
mod failure;
pub mod loader;
pub mod server;
mod startup;
mod wire;

pub use connection::Connection;
pub use server::MariaDb;
