//! The 33 tables as data: columns, keys, references and indexes.
//!
//! - [`table`]: the types.
//! - [`tables`]: all tables; their definitions are in `places_and_rates`, `market`, `customers` and
//!   `trades`.
//!
//! Names are our own; docs/brokerage.md maps them to those of the published description.

mod customers;
mod market;
mod names;
mod places_and_rates;
pub mod table;
pub mod tables;
mod trades;

pub use names::TableName;
pub use table::{Class, Column, Index, Reference, Table, Type};
pub use tables::TABLES;
