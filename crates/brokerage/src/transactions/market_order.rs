//! Orders to be sent to the market after a commit.

use crate::dataset::DataSet;
use crate::kinds::TradeKind;
use crate::market::{Instruction, Order};

/// An order to the market, as the database has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketOrder {
    /// Id of the trade.
    pub trade: i64,
    /// Symbol of its security.
    pub symbol: String,
    /// Trade type: side, and market or limit.
    pub kind: TradeKind,
    /// Number of shares to trade.
    pub quantity: i64,
    /// Bid price: the limit of a limit order.
    pub bid_cents: i64,
    /// Whether to execute it or to wait for its price.
    pub instruction: Instruction,
}

impl MarketOrder {
    /// The order as the exchange takes it; `None` if the data set has no such security.
    #[must_use]
    pub fn order(&self, data_set: &DataSet) -> Option<Order> {
        Some(Order {
            trade: self.trade,
            security: data_set.security_of_symbol(&self.symbol)?,
            kind: self.kind,
            quantity: self.quantity,
            bid_cents: self.bid_cents,
            instruction: self.instruction,
        })
    }
}
