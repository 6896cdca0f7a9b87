//! The mail store: a transactional engine in the ESE database format.
//!
//! - [`settings`]: every number that shapes the I/O; [`position`]: pages and log positions.
//! - [`format`]: the bytes on disk.
//! - [`store`] is the database file, [`pool`] the page cache above it.
//! - [`log`]: what must be on disk before a page may be; [`checkpoint`]: where recovery begins in it.
//! - [`bulk`]: a whole database in one sequential pass.

pub mod bulk;
pub mod checkpoint;
pub mod format;
pub mod log;
pub mod pool;
pub mod position;
pub mod settings;
mod signal;
pub mod store;
