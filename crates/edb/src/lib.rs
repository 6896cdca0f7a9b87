//! The mail store: a transactional engine in the ESE database format.
//!
//! - [`settings`]: every number that shapes the I/O; [`position`]: pages and log positions.
//! - [`format`]: the bytes on disk.
//! - [`store`] is the database file, [`pool`] the page cache above it.
//! - [`log`]: what must be on disk before a page may be; [`checkpoint`]: where recovery begins in it.
//! - [`maintenance`]: the endless scan that verifies every page.
//! - [`bulk`]: a whole database in one sequential pass; [`check`]: looking into one from outside.
//! - `tree` is B+ trees whose changes come in atomic steps, `space` the pages they take and give
//!   back; [`transaction`] adds snapshots and rollback, [`table`] rows, indexes and long values.
//! - [`database`] puts it all together; [`recovery`] brings a database back after a crash.

mod accounting;
pub mod bulk;
pub mod check;
pub mod checkpoint;
pub mod database;
pub mod format;
pub mod log;
pub mod maintenance;
pub mod pool;
pub mod position;
pub mod recovery;
pub mod settings;
mod signal;
mod space;
pub mod store;
pub mod table;
pub mod transaction;
mod tree;

pub use database::{Database, EngineError, EngineStatistics};
pub use format::schema::TableDefinition;
pub use recovery::RecoveryReport;
pub use settings::EngineSettings;
pub use table::{Direction, LongValues, Row, ScanOptions, Table, Value};
pub use transaction::{Commit, Transaction};
