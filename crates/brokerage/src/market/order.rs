//! Orders to the market.

use crate::kinds::TradeKind;

/// What the market shall do with an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// Execute it after a delay.
    Execute,
    /// Trigger it when its price has come.
    WaitForPrice,
}

/// An order sent to the market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Order {
    /// Id of its trade.
    pub trade: i64,
    /// The security, counted from 0.
    pub security: u32,
    /// Trade type: side, and market or limit.
    pub kind: TradeKind,
    /// Number of shares to trade.
    pub quantity: i64,
    /// The bid price: the limit of a limit order.
    pub bid_cents: i64,
    /// Whether to execute it or to wait for its price.
    pub instruction: Instruction,
}
