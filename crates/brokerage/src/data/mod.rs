//! The rows of a new house, by the million: the same for every seed, whoever makes them.
//!
//! Rows come in parts, one for each thousand customers (tables that are the same in every house
//! have one part). A part depends on the house, the table and its number alone, so that parts may
//! be made in any order and by any number of workers, byte for byte.
//!
//! - [`generator`]: [`Generator`] knows the parts and writes them into a [`crate::row::RowSink`].
//! - `fixed`, `places`, `companies`, `prices`, `news`, `customers`: tables that need no history.
//! - `orders`, `positions`, `simulation`: the trades of a thousand customers in the order of time,
//!   with what they open and close.
//! - `outcome`: what they come to, kept for all tables that need it.
//! - `trades`: the tables that follow from that.
//!
//! The orders of a unit are drawn anew for each table, which costs less than keeping them, and
//! carried out once. What is kept of that is the gain of each order and the open positions: 110 MB
//! a unit for 300 days, of as many units as are being written.

mod companies;
mod customers;
mod fixed;
pub mod generator;
mod news;
mod orders;
mod outcome;
mod pen;
mod places;
mod positions;
mod prices;
mod simulation;
#[cfg(test)]
mod tests;
mod trades;

pub use generator::Generator;
