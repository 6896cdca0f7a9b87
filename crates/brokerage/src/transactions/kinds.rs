//! Kinds of orders and the states of a trade, by the numbers that their tables give them.

/// What an order asks for. The numbers are those of table `trade_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TradeKind {
    /// Buy at the price of the market.
    MarketBuy = 1,
    /// Sell at the price of the market.
    MarketSell = 2,
    /// Sell once the price has fallen to a limit.
    StopLoss = 3,
    /// Sell once the price has risen to a limit.
    LimitSell = 4,
    /// Buy once the price has fallen to a limit.
    LimitBuy = 5,
}

impl TradeKind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::MarketBuy,
        Self::MarketSell,
        Self::StopLoss,
        Self::LimitSell,
        Self::LimitBuy,
    ];

    /// The number in the books.
    #[must_use]
    pub fn id(self) -> i64 {
        self as i64
    }

    /// The kind of this number.
    #[must_use]
    pub fn of_id(id: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// Whether it sells.
    #[must_use]
    pub fn is_sell(self) -> bool {
        matches!(self, Self::MarketSell | Self::StopLoss | Self::LimitSell)
    }

    /// Whether it is carried out at once, at whatever price.
    #[must_use]
    pub fn is_market(self) -> bool {
        matches!(self, Self::MarketBuy | Self::MarketSell)
    }

    /// Whether an order of this kind with the limit `bid_cents` can be carried out at a price.
    #[must_use]
    pub fn is_met(self, bid_cents: i64, price_cents: i64) -> bool {
        match self {
            Self::MarketBuy | Self::MarketSell => true,
            Self::StopLoss | Self::LimitBuy => price_cents <= bid_cents,
            Self::LimitSell => price_cents >= bid_cents,
        }
    }
}

/// How far a trade has come. The numbers are those of table `status_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Carried out and booked.
    Completed = 1,
    /// In use: customers, brokers, companies and securities have it, trades do not.
    Active = 2,
    /// The market is asked to carry it out.
    Submitted = 3,
    /// It waits for a price.
    Pending = 4,
    /// Given up.
    Cancelled = 5,
}

impl Status {
    /// The number in the books.
    #[must_use]
    pub fn id(self) -> i64 {
        self as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_their_numbers() {
        for (number, kind) in TradeKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.id(), number as i64 + 1);
            assert_eq!(TradeKind::of_id(kind.id()), Some(kind));
        }
        assert_eq!(TradeKind::of_id(6), None);
    }

    #[test]
    fn limits_are_met_from_their_side() {
        assert!(TradeKind::LimitBuy.is_met(2_500, 2_500));
        assert!(!TradeKind::LimitBuy.is_met(2_500, 2_501));
        assert!(TradeKind::StopLoss.is_met(2_500, 2_499));
        assert!(!TradeKind::LimitSell.is_met(2_500, 2_499));
        assert!(TradeKind::MarketSell.is_met(0, 2_499));
    }
}
