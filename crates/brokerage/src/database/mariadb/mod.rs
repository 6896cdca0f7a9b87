//! MariaDB and MySQL over their wire protocol.
//!
//! Statements are sent one by one, each with its own round trip: a batch sent at once would go on
//! after an error, outside of the transaction that the server has rolled back.
//!
//! - [`connection`]: a [`Session`](crate::session::Session).
//! - `wire`, `startup`, `encode`, `failure`: packets, the handshake, values, errors.
//! - [`loader`]: bulk loading by multi-row inserts.
//! - [`server`]: everything outside of transactions, as a [`Database`](super::Database).

pub mod connection;
mod encode;
mod failure;
mod files;
pub mod loader;
mod run_lock;
pub mod server;
mod startup;
mod wire;

pub use connection::Connection;
pub use server::MariaDb;
