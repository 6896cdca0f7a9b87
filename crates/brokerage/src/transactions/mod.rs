//! What the house does with its books.
//!
//! Each transaction is a function over a session: it takes an input, sends as few batches as it
//! can, and gives a typed output.
//!
//! - Reading: [`trade_status`], [`market_watch`], [`security_detail`], [`customer_position`],
//!   [`trade_lookup`] and [`broker_volume`]. Changing: [`trade_order`], [`trade_result`],
//!   [`trade_update`], [`market_feed`]; beside the mix [`data_maintenance`] and [`clean_up`].
//! - [`request`]: any of them, drawn and ready to be carried out, again if need be.
//! - [`inputs`] draws what users ask for; [`deck`] deals the mix exactly.
//! - [`output`]: one number for everything that a transaction gave back.
//! - [`lots`]: which shares a trade closes. [`old_trades`]: trades with everything about them.
//! - [`to_market`]: what the market must be told after a commit.
//! - [`kinds`]: kinds of orders and states of trades.
//! - `batch`: an open transaction, its calls and their answers.

pub(crate) mod batch;
pub mod broker_volume;
pub mod clean_up;
pub mod customer_position;
pub mod data_maintenance;
pub mod deck;
pub mod inputs;
pub mod kinds;
pub mod lots;
pub mod market_feed;
pub mod market_watch;
pub mod old_trades;
pub mod output;
pub mod request;
pub mod security_detail;
pub mod statements;
pub mod to_market;
pub mod trade_lookup;
pub mod trade_order;
pub mod trade_result;
pub mod trade_status;
pub mod trade_update;

pub use deck::Deck;
pub use inputs::Inputs;
pub use output::{Digest, Output};
pub use request::{Done, Request};
pub use to_market::ToMarket;
