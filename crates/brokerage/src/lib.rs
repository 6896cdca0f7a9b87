//! The brokerage workload on a modelled array, or on a real database.
//!
//! The same profile drives two databases: the page-level [`simulation`], which a modelled array
//! carries, and the real one in PostgreSQL, SQLite or MariaDB on real storage, which is there with
//! the feature `host`. What both have in common:
//!
//! - [`profile`], [`run_plan`], [`operation`], [`scale`] and [`skew`].
//! - [`kinds`]: trade types and states.
//! - [`market`]: the simulated exchange that executes orders.
//! - [`guarantees`]: settings of a server under which a crash may lose committed work.
//! - `report`: what it adds to the reports of its runs.
//!
//! On a real database:
//!
//! - [`schema`]: the 33 tables, their keys and indexes.
//! - [`value`] and [`row`]: column values, and rows on their way in and out.
//! - [`statement`]: one SQL statement for all databases, with placeholders where their dialects
//!   differ.
//! - [`session`]: a connection as the transactions use it: batches of calls in one transaction.
//! - [`dataset`]: the data set, calculated from its size and its seed.
//! - [`generator`]: generates its rows.
//! - [`database`]: the databases: PostgreSQL, SQLite and MariaDB.
//! - [`error`]: database errors, and which of them can be retried.
//! - [`transactions`]: the ten transactions of the mix, data maintenance and clean-up.
//! - [`checks`]: the consistency checks after a run.
//! - [`ledger`]: what the database has acknowledged, to be compared with it after the load.
//! - [`run`]: a measured run; `storage_run` prepares it and clears up after it.
//!
//! Amounts of money are cents, timestamps are milliseconds since 1970, days are days since 1970,
//! all of them integers: three databases then calculate alike, to the last digit.

#[cfg(feature = "host")]
pub mod checks;
#[cfg(feature = "host")]
pub mod database;
#[cfg(feature = "host")]
pub mod dataset;
#[cfg(feature = "host")]
pub mod error;
#[cfg(feature = "host")]
pub mod generator;
pub mod guarantees;
mod interface;
pub mod kinds;
#[cfg(feature = "host")]
pub mod ledger;
pub mod market;
pub mod operation;
#[cfg(feature = "host")]
mod parallel;
pub mod profile;
mod report;
#[cfg(feature = "host")]
pub mod row;
#[cfg(feature = "host")]
pub mod run;
pub mod run_plan;
#[cfg(feature = "host")]
mod runnable;
pub mod scale;
#[cfg(feature = "host")]
pub mod schema;
#[cfg(feature = "host")]
pub mod session;
pub mod simulation;
pub mod skew;
#[cfg(feature = "host")]
pub mod statement;
#[cfg(feature = "host")]
mod storage_run;
#[cfg(feature = "host")]
pub mod transactions;
#[cfg(feature = "host")]
pub mod value;

pub use interface::{BrokerageWorkload, WORKLOAD};
