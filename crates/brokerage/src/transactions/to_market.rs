//! What the market must be told once a transaction has been committed.

use super::kinds::TradeKind;
use super::output::{Digest, Output};
use crate::house::House;
use crate::market::{Asks, Order};

/// A message to the market, in the words of the books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToMarket {
    /// The trade.
    pub trade: i64,
    /// Its security.
    pub symbol: String,
    /// What it wants.
    pub kind: TradeKind,
    /// How many shares.
    pub quantity: i64,
    /// The price it asked for.
    pub bid_cents: i64,
    /// What the market shall do.
    pub asks: Asks,
}

impl ToMarket {
    /// The order as the market takes it; `None` if the house has no such security.
    #[must_use]
    pub fn order(&self, house: &House) -> Option<Order> {
        Some(Order {
            trade: self.trade,
            security: house.security_of_symbol(&self.symbol)?,
            kind: self.kind,
            quantity: self.quantity,
            bid_cents: self.bid_cents,
            asks: self.asks,
        })
    }
}

impl Output for ToMarket {
    fn add_to(&self, digest: &mut Digest) {
        self.trade.add_to(digest);
        self.symbol.add_to(digest);
        self.kind.id().add_to(digest);
        self.quantity.add_to(digest);
        self.bid_cents.add_to(digest);
        (self.asks == Asks::ToExecute).add_to(digest);
    }
}
