//! Generates the rows of a data set: the same for every seed, whichever worker generates them.
//!
//! Rows come in parts, one for each load unit of 1,000 customers (reference tables have one part).
//! A part depends on the data set, the table and its number alone, so that parts may be generated
//! in any order and by any number of workers, byte for byte.
//!
//! - [`parts`]: [`Generator`] writes parts into a [`crate::row::RowSink`].
//! - `fixed`, `places`, `companies`, `prices`, `news`, `customers`: tables that do not depend on
//!   trades.
//! - `orders`, `positions`, `execution`: the trades of a load unit in the order of time, and the
//!   lots they open and close.
//! - `executed_unit`: their results, kept for all tables that need them.
//! - `trades`: the tables that follow from them.
//!
//! The orders of a load unit are drawn again for each table, which costs less than keeping them,
//! and executed once. What is kept of that is the gain of each order and the open positions: 110 MB
//! a unit for 300 days, of as many units as are being written.

mod companies;
mod customers;
mod executed_unit;
mod execution;
mod fixed;
mod news;
mod orders;
pub mod parts;
mod places;
mod positions;
mod prices;
mod row_writer;
#[cfg(test)]
mod tests;
mod trades;

pub use parts::Generator;
