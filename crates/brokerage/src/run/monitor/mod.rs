//! Samples of the server during the measurement.
//!
//! - [`waits`]: sampled wait events of busy sessions.
//! - [`statistics`]: PostgreSQL's counters of I/O, WAL and checkpoints; [`mariadb`]: those of
//!   MariaDB.
//! - `file_io`: I/O of the server's files by its own timing.
//! - `tables`: whether its tables are such that a crash leaves what was committed.
//! - `settings`: whether the server guarantees durability all the time.
//! - [`other_databases`]: what other databases of the server do.
//! - [`sampler`]: the thread that takes the samples.
//! - [`bottleneck`]: names the bottleneck of a run.

pub mod bottleneck;
mod counters;
mod file_io;
pub mod mariadb;
pub mod other_databases;
pub mod sampler;
mod settings;
pub mod statistics;
mod tables;
pub mod waits;
