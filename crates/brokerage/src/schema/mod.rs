//! The 33 tables of the house, as data: columns, keys, references and indexes.
//!
//! - [`table`] says what a table is; [`tables`] lists all of them, which stand in four rooms:
//!   `places_and_rates`, `market`, `customers` and `trades`.
//!
//! Names are our own; docs/brokerage.md maps them to those of the published description.

mod customers;
mod market;
mod places_and_rates;
pub mod table;
pub mod tables;
mod trades;

pub use table::{Class, Column, Index, Reference, Table, Type};
pub use tables::{TABLES, TableName};
