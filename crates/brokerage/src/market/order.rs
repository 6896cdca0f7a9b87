//! What the house asks the market for.

use crate::transactions::kinds::TradeKind;

/// What the market shall do with an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asks {
    /// Carry it out.
    ToExecute,
    /// Say when its price has come.
    ToWatch,
}

/// An order on its way to the market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Order {
    /// Its trade in the books.
    pub trade: i64,
    /// The security, by number from 0.
    pub security: u32,
    /// What it wants.
    pub kind: TradeKind,
    /// How many shares.
    pub quantity: i64,
    /// The price that it asked for: the limit of a limit order.
    pub bid_cents: i64,
    /// What is to be done.
    pub asks: Asks,
}
