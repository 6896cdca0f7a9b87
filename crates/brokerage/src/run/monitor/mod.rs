//! Samples of the server during the measurement.
//!
//! - [`waits`]: sampled wait events of busy sessions.
//! - [`statistics`]: PostgreSQL's counters of I/O, WAL and checkpoints; [`mariadb`]: those of
//!   MariaDB.
//! - `file_io`: I/O of the server's files by its own timing.
//! - [`sampler`]: the thread that takes the samples.
//! - [`bottleneck`]: names the bottleneck of a run.

pub mod bottleneck;
mod counters;
mod file_io;
pub mod mariadb;
pub mod sampler;
pub mod statistics;
pub mod waits;
