//! The transactions of a brokerage, and everything else that is counted.

use crate::profile::Profile;
use crate::profile::brokerage::OPERATION_LIMITS;
use measure::sample::{Layout, OperationKind};
use measure::service_level::{OperationLevels, PercentileLevel, ShareLevel};

/// What is counted, in the order in which a [`measure::sample::Recorder`] knows it. The first ten
/// are the mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // The first ten are the published transactions.
pub enum Operation {
    TradeStatus,
    MarketWatch,
    SecurityDetail,
    CustomerPosition,
    TradeOrder,
    TradeLookup,
    BrokerVolume,
    TradeUpdate,
    TradeResult,
    MarketFeed,
    /// An order that was entered and rolled back on purpose. It is one of the mix.
    TradeOrderRolledBack,
    /// One price of a feed: a database transaction of its own.
    FeedEntry,
    /// A feed that the exchange sent of its own accord.
    Ticker,
    /// A round of data maintenance.
    DataMaintenance,
}

/// Transactions of the mix.
pub const MIX: usize = 10;

/// What users begin, in the order of [`crate::profile::brokerage::Mix::shares`].
pub const BY_USERS: [Operation; 8] = [
    Operation::TradeStatus,
    Operation::MarketWatch,
    Operation::SecurityDetail,
    Operation::CustomerPosition,
    Operation::TradeOrder,
    Operation::TradeLookup,
    Operation::BrokerVolume,
    Operation::TradeUpdate,
];

/// Entries of a feed, each a database transaction.
pub const FEED_ENTRIES: u32 = 20;

const ROLLED_BACK: &str = "trade-order-rolled-back";

impl Operation {
    /// Every one, in order.
    pub const ALL: [Self; 14] = [
        Self::TradeStatus,
        Self::MarketWatch,
        Self::SecurityDetail,
        Self::CustomerPosition,
        Self::TradeOrder,
        Self::TradeLookup,
        Self::BrokerVolume,
        Self::TradeUpdate,
        Self::TradeResult,
        Self::MarketFeed,
        Self::TradeOrderRolledBack,
        Self::FeedEntry,
        Self::Ticker,
        Self::DataMaintenance,
    ];

    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TradeOrderRolledBack => ROLLED_BACK,
            Self::FeedEntry => "feed-entry",
            Self::Ticker => "ticker",
            Self::DataMaintenance => "data-maintenance",
            of_mix => OPERATION_LIMITS[of_mix as usize].0,
        }
    }

    /// Whether it is one database transaction: a feed is one for each of its entries.
    fn is_one_transaction(self) -> bool {
        !matches!(self, Self::MarketFeed | Self::Ticker)
    }
}

/// Name of the one database of a run.
pub const DATABASE: &str = "brokerage";

/// The names in results.
#[must_use]
pub fn layout() -> Layout {
    let operations = Operation::ALL.map(|operation| OperationKind {
        name: operation.name().to_owned(),
        in_total: operation.is_one_transaction(),
    });
    Layout {
        databases: vec![DATABASE.to_owned()],
        operations: operations.to_vec(),
    }
}

/// The levels that a profile sets for single transactions.
#[must_use]
pub fn levels(profile: &Profile) -> OperationLevels {
    let limits = &profile.brokerage.limits;
    let p90 = OPERATION_LIMITS.iter().zip(limits.p90_ms);
    let p90 = p90.map(|((name, _, _), p90_ms)| PercentileLevel {
        operation: (*name).to_owned(),
        p90_ms,
    });
    let rolled_back = ShareLevel {
        name: "share of orders rolled back".to_owned(),
        of: vec![ROLLED_BACK.to_owned()],
        among: names(&[Operation::TradeOrder, Operation::TradeOrderRolledBack]),
        percent: rounded(profile.brokerage.orders.rollback_percent),
        tolerance_points: limits.rollback_tolerance_points,
        // Each user deals from a deck of its own, about as long as orders are between two of these.
        chance_operations: chance_operations(
            profile.brokerage.orders.rollback_percent,
            f64::from(profile.brokerage.users) / profile.brokerage.orders.rollback_percent * 100.0,
        ),
    };
    OperationLevels {
        p90: p90.filter(|level| level.p90_ms.is_finite()).collect(),
        shares: mix(profile).chain(std::iter::once(rolled_back)).collect(),
    }
}

/// The share of each kind of transaction among those of the mix.
fn mix(profile: &Profile) -> impl Iterator<Item = ShareLevel> {
    let brokerage = &profile.brokerage;
    let mut shares: Vec<(Operation, f64)> = BY_USERS
        .into_iter()
        .zip(brokerage.mix.shares())
        .map(|(operation, (_, share))| (operation, share))
        .collect();
    let carried_out = 1.0 - brokerage.orders.rollback_percent / 100.0;
    let results = brokerage.mix.trade_order_percent * carried_out;
    shares.push((Operation::TradeResult, results));
    shares.push((Operation::MarketFeed, results / 10.0));
    let total: f64 = shares.iter().map(|(_, share)| share).sum();
    let tolerance_points = brokerage.limits.mix_tolerance_points;
    let all: Vec<Operation> = Operation::ALL[..=MIX].to_vec();
    shares.into_iter().map(move |(operation, share)| {
        let mut of = vec![operation];
        if operation == Operation::TradeOrder {
            of.push(Operation::TradeOrderRolledBack);
        }
        ShareLevel {
            name: format!("share of {}", operation.name()),
            of: names(&of),
            among: names(&all),
            percent: rounded(100.0 * share / total),
            tolerance_points,
            chance_operations: chance_operations(100.0 * share / total, DECK_CARDS),
        }
    })
}

/// Cards of the deck that holds the published mix exactly. Others are not longer by much.
const DECK_CARDS: f64 = 890.0;

/// How many operations of a kind a measured phase may have too many or too few because it begins
/// and ends in the middle of decks with so many cards altogether: three standard deviations. Of half
/// a deck, the worst case, the variance is a quarter of what it would be for as many free draws.
fn chance_operations(percent: f64, cards: f64) -> f64 {
    let share = (percent / 100.0).clamp(0.0, 1.0);
    let of_one_end = cards * share * (1.0 - share) / 4.0;
    if of_one_end.is_finite() {
        3.0 * (2.0 * of_one_end).sqrt()
    } else {
        0.0
    }
}

fn names(operations: &[Operation]) -> Vec<String> {
    let names = operations.iter().map(|operation| operation.name());
    names.map(str::to_owned).collect()
}

fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Kind, Profile};

    #[test]
    fn every_operation_stands_at_its_number_and_has_a_name() {
        let layout = layout();
        for (number, operation) in Operation::ALL.into_iter().enumerate() {
            assert_eq!(operation as usize, number);
            assert_eq!(layout.operation(operation.name()), Some(number));
        }
    }

    #[test]
    fn chance_counts_for_little_in_a_long_run() {
        let cards = chance_operations(18.0, DECK_CARDS);
        assert!((20.0..30.0).contains(&cards), "{cards}");
        // Half a point in 15 seconds, next to nothing in two hours.
        assert!(100.0 * cards / 4_900.0 < 0.6 && 100.0 * cards / 700_000.0 < 0.005);
        assert_eq!(chance_operations(0.0, f64::INFINITY), 0.0);
    }

    #[test]
    fn the_mix_adds_up_to_all() {
        let levels = levels(&Profile::of_kind(Kind::Brokerage));
        let mix: f64 = levels.shares[..MIX].iter().map(|one| one.percent).sum();
        assert!((mix - 100.0).abs() < 0.1, "{mix}");
        let result = levels
            .shares
            .iter()
            .find(|one| one.name.ends_with("trade-result"));
        assert!((result.unwrap().percent - 10.0).abs() < 0.01);
    }
}
