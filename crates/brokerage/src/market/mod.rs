//! The market that the house trades on, as one actor that works by the clock of its caller.
//!
//! - [`wave`]: prices rise from 20.00 to 30.00 and fall back evenly, each security at a time of its
//!   own, so the moment at which an order's price comes is solved, not watched for.
//! - [`order`]: what the house asks the market for.
//! - [`exchange`]: answers orders after a while, holds others until their price has come, and says
//!   when a feed of prices or a round of data maintenance is due.
//! - `tape`: the entries that make up feeds: twenty for ten results.

pub mod exchange;
#[cfg(test)]
mod exchange_tests;
pub mod order;
mod tape;
pub mod wave;

pub use exchange::{Action, Exchange, Settings};
pub use order::{Asks, Order};
pub use tape::{FEED_ENTRIES, TickerEntry};
pub use wave::Wave;
