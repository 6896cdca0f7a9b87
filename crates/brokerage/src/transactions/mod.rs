//! The transactions.
//!
//! Each is a function over a session: it takes an input, sends as few batches as it can, and
//! returns a typed output.
//!
//! - Read-only: [`trade_status`], [`market_watch`], [`security_detail`], [`customer_position`],
//!   [`trade_lookup`] and [`broker_volume`]. Read-write: [`trade_order`], [`trade_result`],
//!   [`trade_update`], [`market_feed`]; outside of the mix [`data_maintenance`] and [`clean_up`].
//! - [`request`]: any of them with its input, ready to run and to be retried.
//! - [`inputs`] draws the inputs; [`deck`] deals the mix exactly.
//! - [`lots`]: which lots a trade closes. [`old_trades`]: trades with their settlement, cash and
//!   history.
//! - [`market_order`]: orders to be sent to the market after a commit.
//! - `batch`: an open transaction, its calls and their result sets.

pub(crate) mod batch;
pub mod broker_volume;
pub mod clean_up;
pub mod customer_position;
pub mod data_maintenance;
pub mod deck;
pub mod inputs;
pub mod lots;
pub mod market_feed;
pub mod market_order;
pub mod market_watch;
pub mod old_trades;
pub mod request;
pub mod security_detail;
#[cfg(test)]
mod statements;
pub mod trade_lookup;
pub mod trade_order;
pub mod trade_result;
pub mod trade_status;
pub mod trade_update;

pub use deck::mix_deck;
pub use inputs::Inputs;
pub use market_order::MarketOrder;
pub use request::{Done, Request};
