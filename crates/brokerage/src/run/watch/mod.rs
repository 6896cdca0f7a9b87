//! What the server is doing while the load runs, as it tells itself.
//!
//! - [`waits`] keeps what busy sessions were found doing, look by look.
//! - [`statistics`] asks PostgreSQL for its counters: I/O, log, checkpoints; [`mariadb`] asks
//!   MariaDB for what it has of that.
//! - [`watcher`] is the thread that asks.
//! - [`attribution`] says in words what held the load back.

pub mod attribution;
pub mod mariadb;
pub mod statistics;
pub mod waits;
pub mod watcher;
