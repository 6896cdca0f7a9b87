//! The bulk builder: a whole database in one sequential pass, without log and database cache.
//!
//! - [`BuildPlan`] says what to build; a [`RowSource`] gives the rows.
//! - [`build`] writes the file: the table, its long values and its secondary index one after the
//!   other, then the system pages, last the two headers. The header says "just created" until then,
//!   so an interrupted build is never taken for a database.
//! - [`go_on`] completes the file of an interrupted build: `earlier` compares what is there.
//! - Inside, `tree` fills the pages of one tree, `stream` writes pages in large requests, several
//!   at a time, and `system` makes the first pages of the file and the extent trees.
//!
//! Memory stays bounded: one page per tree level and the write buffers.

mod builder;
mod earlier;
mod source;
mod stream;
mod system;
mod tree;

#[cfg(test)]
mod earlier_tests;
#[cfg(test)]
mod reader_tests;
#[cfg(test)]
pub(crate) mod tests;

pub use builder::{BuildReport, build, go_on};
pub use source::{BuildError, BuildPlan, RowSource, long_value_id};
