//! Looking into a database file from outside, without the engine.
//!
//! - [`info`] reads what the file says of itself: header, tables, sizes.
//! - [`check`] holds everything against everything: checksums, trees, space, catalog, indexes,
//!   long values. What is wrong comes back as data, one [`Finding`] each.
//!
//! Inside: [`crate::reading`] fetches pages, `walk` goes through one tree, `space` through its extents,
//! `table` compares rows and index entries, `long_values` long values and their chunks. Memory is
//! bounded: a few bits per page, one page per tree level, and sums instead of lists where rows are compared.
//!
//! Files of other programs are checked by `other` and `other_rows`. Windows leaves
//! deleted nodes behind and pages that nothing uses, with anything in them; it has kinds of keys
//! that cannot be computed here. What is as it should be in such files is held against that, and
//! nothing else.

mod bitmap;
mod catalog;
mod checker;
mod finding;
mod information;
mod long_values;
mod other;
mod other_rows;
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
mod header_tests;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod windows_tests;

pub use crate::reading::{CheckError, PageProblem};
pub use finding::{Finding, FindingKind};
pub use information::{DatabaseInfo, PageCounts, TableInfo, TreeInfo, info};
pub use whole::{CheckReport, check};
