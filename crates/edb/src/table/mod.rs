//! Tables: rows, indexes and long values.
//!
//! - [`definition`]: what a table is while the database is open. [`create`] adds one to the catalog.
//! - [`value`]: rows as callers see them. [`encode`] turns them into records and index keys.
//! - [`rows`]: insert, replace, update, delete. [`read`]: by key and by index. [`scan`]: ranges.
//! - [`long_values`]: what does not fit a record.

mod create;
mod definition;
mod encode;
mod long_values;
mod read;
mod rows;
mod scan;
mod value;

pub(crate) use create::add_rows;
pub(crate) use definition::Catalog;
pub use definition::Table;
pub use read::{LongValues, Row};
pub use scan::{Direction, ScanOptions};
pub use value::Value;
