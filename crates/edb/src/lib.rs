//! The mail store: a transactional engine in the ESE database format.
//!
//! - [`format`]: the bytes on disk.

pub mod format;
