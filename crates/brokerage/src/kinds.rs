//! Trade types and states, with their numbers in the database.

use strum::{FromRepr, IntoStaticStr, VariantArray};

/// The type of an order; the numbers are those of table `trade_type`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, FromRepr, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
#[repr(u8)]
pub enum TradeKind {
    /// Buy at the market price.
    MarketBuy = 1,
    /// Sell at the market price.
    MarketSell = 2,
    /// Sell once the price has fallen to the limit.
    StopLoss = 3,
    /// Sell once the price has risen to the limit.
    LimitSell = 4,
    /// Buy once the price has fallen to the limit.
    LimitBuy = 5,
}

impl TradeKind {
    /// Every type, in the order of their numbers.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Its number in `trade_type`.
    #[must_use]
    pub fn id(self) -> i64 {
        self as i64
    }

    /// The type with this number.
    #[must_use]
    pub fn of_id(id: i64) -> Option<Self> {
        Self::from_repr(u8::try_from(id).ok()?)
    }

    /// Whether it is a sale.
    #[must_use]
    pub fn is_sell(self) -> bool {
        matches!(self, Self::MarketSell | Self::StopLoss | Self::LimitSell)
    }

    /// Whether it is executed at once, at the market price.
    #[must_use]
    pub fn is_market(self) -> bool {
        matches!(self, Self::MarketBuy | Self::MarketSell)
    }

    /// Whether an order of this type with the limit `bid_cents` can be executed at a price.
    #[must_use]
    pub fn is_met(self, bid_cents: i64, price_cents: i64) -> bool {
        match self {
            Self::MarketBuy | Self::MarketSell => true,
            Self::StopLoss | Self::LimitBuy => price_cents <= bid_cents,
            Self::LimitSell => price_cents >= bid_cents,
        }
    }
}

/// The state of a trade; the numbers are those of table `status_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Executed by the market and booked.
    Completed = 1,
    /// Of customers, brokers, companies and securities, not of trades.
    Active = 2,
    /// Sent to the market.
    Submitted = 3,
    /// Waits for its price.
    Pending = 4,
    /// Cancelled by clean-up before a run.
    Cancelled = 5,
}

impl Status {
    /// Its number in `status_type`.
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
        for (number, kind) in TradeKind::ALL.iter().copied().enumerate() {
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
