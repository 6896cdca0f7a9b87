//! Tables: rows, indexes and long values.
//!
//! - [`create`] adds a table to the [`catalog`](crate::catalog).
//! - [`value`]: rows as callers see them. [`encode`] turns them into records and index keys.
//! - [`rows`]: insert, replace, update, delete. [`read`]: by key and by index. [`scan`]: ranges.
//! - [`long_values`]: what does not fit a record.

mod create;
mod encode;
mod long_values;
mod read;
mod rows;
mod scan;
mod value;

pub(crate) use create::add_rows;
pub use read::{LongValues, Row};
pub use scan::{Direction, ScanOptions};
pub use value::Value;
