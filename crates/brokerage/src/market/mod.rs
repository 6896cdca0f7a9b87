//! The simulated market, as one actor on the clock of its caller.
//!
//! - [`price_wave`]: prices rise from 20.00 to 30.00 and fall back evenly, each security with a
//!   phase of its own, so the time at which an order's price comes is calculated.
//! - [`order`]: orders to the market.
//! - [`exchange`]: executes orders after a delay, holds others until their price has come, and says
//!   when a market feed or data maintenance is due.
//! - `ticker`: the entries of market feeds: twenty for ten results.

pub mod exchange;
#[cfg(test)]
mod exchange_tests;
pub mod order;
pub mod price_wave;
mod ticker;

pub(crate) use exchange::execution_delay;
pub use exchange::{Action, Exchange, Settings};
pub use order::{Instruction, Order};
pub use price_wave::PriceWave;
pub use ticker::{FEED_ENTRIES, TickerEntry};
