//! Looking into a database file from outside, without the engine.
//!
//! - [`info`] reads what the file says of itself: header, tables, sizes.
//! - [`check`] holds everything against everything: checksums, trees, space, catalog, indexes,
//!   long values. What is wrong comes back as data, one [`Finding`] each.
//!
//! Inside: `reader` fetches pages, `walk` goes through one tree, `space` through its extents,
//! `table` compares rows, index entries and long values. Memory is bounded: a few bits per page,
//! one page per tree level, and sums instead of lists where rows are compared.

mod bitmap;
mod catalog;
mod checker;
mod finding;
mod information;
mod reader;
mod space;
mod table;
mod walk;
mod whole;

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod damaged_database;
#[cfg(test)]
mod engine_tests;
#[cfg(test)]
mod tests;

pub use finding::{Finding, FindingKind};
pub use information::{DatabaseInfo, TableInfo, TreeInfo, info};
pub use reader::CheckError;
pub use whole::{CheckReport, check};
