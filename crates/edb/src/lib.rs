//! The mail store: a transactional engine in the ESE database format.
//!
//! - [`settings`]: every number that shapes the I/O; [`position`]: pages and log positions.
//! - [`mod@format`]: the bytes on disk.
//! - [`store`] is the database file, [`cache`] the database cache above it.
//! - [`log`]: what must be on disk before a page may be; [`checkpoint`]: where recovery begins in it.
//! - [`integrity`]: what the storage must return for each page, and what is wrong when it does not.
//! - [`maintenance`]: the endless scan that verifies every page.
//! - [`bulk`]: a whole database in one sequential pass; [`check`]: looking into one from outside;
//!   [`dump`]: its rows; [`reading`]: what both share.
//! - [`integrity`] knows of every page what the storage must return; [`verification`] reads a closed
//!   database back.
//! - `tree` is B+ trees whose changes come in atomic steps, `space` the pages they take and give
//!   back, `nodes` what is done to a node with both.
//! - `engine` is what all parts of an open database share, with its `catalog` of tables and the
//!   `versions` of records. [`transaction`] adds snapshots and rollback, [`table`] rows, indexes and
//!   long values; `log_record` is what the log says of them.
//! - [`audit`] is what an open database says of durable commits, and whether a log that is read back has
//!   them.
//! - `seeded_bugs` are for tests of the tests.
//! - [`database`] puts it all together; [`recovery`] brings a database back after a crash, and keeps
//!   [`passive`] copies of one up to date.

mod accounting;
mod acknowledged;
pub mod audit;
pub mod bulk;
pub mod cache;
mod catalog;
pub mod check;
pub mod checkpoint;
mod damage;
pub mod database;
pub mod dump;
mod engine;
mod error;
pub mod format;
pub mod integrity;
pub mod log;
mod log_record;
pub mod maintenance;
mod nodes;
pub mod passive;
pub mod position;
pub mod reading;
pub mod recovery;
#[cfg(feature = "seeded-bugs")]
pub mod seeded_bugs;
#[cfg(not(feature = "seeded-bugs"))]
mod seeded_bugs;
pub mod settings;
mod signal;
mod space;
pub mod store;
pub mod table;
pub mod transaction;
mod tree;
pub mod verification;
mod versions;

pub use catalog::Table;
pub use damage::Damage;
pub use database::{Database, EngineStatistics};
pub use error::EngineError;
pub use format::schema::TableDefinition;
pub use recovery::RecoveryReport;
pub use settings::EngineSettings;
pub use table::{Direction, LongValues, Row, ScanOptions, Value};
pub use transaction::{Commit, Transaction};
