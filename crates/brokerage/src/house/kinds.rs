//! Types and states of trades.

/// A type of trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // They are known by their names.
pub enum TradeType {
    MarketBuy = 1,
    MarketSell,
    StopLoss,
    LimitSell,
    LimitBuy,
}

impl TradeType {
    /// All of them, by id.
    pub const ALL: [Self; 5] = [
        Self::MarketBuy,
        Self::MarketSell,
        Self::StopLoss,
        Self::LimitSell,
        Self::LimitBuy,
    ];

    /// The id in the database.
    #[must_use]
    pub fn id(self) -> i64 {
        self as i64
    }

    /// The type of an id.
    #[must_use]
    pub fn of_id(id: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.id() == id)
    }

    /// The name in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MarketBuy => "market-buy",
            Self::MarketSell => "market-sell",
            Self::StopLoss => "stop-loss",
            Self::LimitSell => "limit-sell",
            Self::LimitBuy => "limit-buy",
        }
    }

    /// Whether shares are sold.
    #[must_use]
    pub fn is_sell(self) -> bool {
        !matches!(self, Self::MarketBuy | Self::LimitBuy)
    }

    /// Whether the order is carried out at the price of the market, at once.
    #[must_use]
    pub fn is_market(self) -> bool {
        matches!(self, Self::MarketBuy | Self::MarketSell)
    }
}

/// The state of a trade; people, companies and securities have one too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // They are known by their names.
pub enum Status {
    Completed = 1,
    Active,
    Submitted,
    Pending,
    Cancelled,
}

impl Status {
    /// All of them, by id.
    pub const ALL: [Self; 5] = [
        Self::Completed,
        Self::Active,
        Self::Submitted,
        Self::Pending,
        Self::Cancelled,
    ];

    /// The id in the database.
    #[must_use]
    pub fn id(self) -> i64 {
        self as i64
    }

    /// The name in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Active => "active",
            Self::Submitted => "submitted",
            Self::Pending => "pending",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How a trade was paid: the first word of its settlement, until someone corrects it.
#[must_use]
pub fn cash_type(is_cash: bool) -> &'static str {
    if is_cash { "Cash Account" } else { "Margin" }
}
