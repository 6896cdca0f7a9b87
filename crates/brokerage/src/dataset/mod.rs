//! The brokerage data set: everything that follows from its size and seed alone, so that neither
//! clients nor the row generator have to query the database.
//!
//! - [`data_set`]: [`DataSet`] itself, its size, its customers.
//! - [`accounts`]: accounts, brokers, permissions, and which securities an account trades.
//! - [`securities`]: companies, their securities, industries and exchanges.
//! - [`trading_calendar`]: trading days, the end of the initial trades, days of prices.
//! - [`rates`]: charges, commissions and taxes.
//! - [`name_lists`] and [`names`]: people, companies and places, all of them invented.
//! - [`row_counts`]: number of rows of every table.
//! - `estimated_bytes`: their size in each database.

pub mod accounts;
pub mod data_set;
mod estimated_bytes;
pub mod name_lists;
pub mod names;
pub mod rates;
pub mod row_counts;
pub mod securities;
pub mod trading_calendar;

pub use accounts::Permitted;
pub use data_set::{DataSet, LOAD_UNIT, MAX_CUSTOMERS};
pub use names::Symbol;
