//! The transactions of the brokerage workload, and everything else that is counted.

use crate::profile::Brokerage;
use measure::result::RunResult;
use measure::sample::{Layout, OperationKind};
use measure::service_level::{OperationLevels, PercentileLevel, ShareLevel};
use strum::{IntoStaticStr, VariantArray};

/// What is counted, in the order of a [`measure::sample::Recorder`]. The first ten are the mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[allow(missing_docs)] // The first ten are the published transactions.
#[strum(serialize_all = "kebab-case")]
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
    /// An order that was entered and rolled back intentionally. It belongs to the mix.
    TradeOrderRolledBack,
    /// One entry of a market feed: a database transaction of its own.
    FeedEntry,
    /// A batch of ticker entries that no trade result has caused.
    Ticker,
    /// A round of data maintenance.
    DataMaintenance,
}

/// Number of transactions of the mix.
pub const MIX: usize = 10;

/// What users begin, in the order of [`crate::profile::Mix::shares`].
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

/// Business transactions per second: those that users begin, also if they are rolled back
/// intentionally. Trade results and feed entries follow from them and are not counted again.
#[must_use]
pub fn business_transactions_per_second(result: &RunResult) -> f64 {
    let by_users = BY_USERS
        .into_iter()
        .chain([Operation::TradeOrderRolledBack]);
    by_users
        .filter_map(|operation| rate_of(operation, result))
        .sum()
}

/// How many of an operation ended per second; `None` if the result has no such operation.
#[must_use]
pub fn rate_of(operation: Operation, result: &RunResult) -> Option<f64> {
    let mut all = result.operations.iter();
    let found = all.find(|one| one.name == operation.name());
    found.map(|one| one.per_second)
}

impl Operation {
    /// Every operation, in order.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Its name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is one database transaction: a feed is one for each of its entries.
    fn is_one_transaction(self) -> bool {
        !matches!(self, Self::MarketFeed | Self::Ticker)
    }
}

/// Name of the only database of a run.
pub const DATABASE: &str = "brokerage";

/// Databases and operations of a run, by name.
#[must_use]
pub fn layout() -> Layout {
    let operations = Operation::ALL.iter().map(|operation| OperationKind {
        name: operation.name().to_owned(),
        in_total: operation.is_one_transaction(),
    });
    Layout {
        databases: vec![DATABASE.to_owned()],
        operations: operations.collect(),
    }
}

/// The service levels that a profile sets for single transactions.
#[must_use]
pub fn levels(brokerage: &Brokerage) -> OperationLevels {
    let limits = &brokerage.limits;
    let p90 = limits.p90_ms().into_iter();
    let p90 = p90.map(|(name, p90_ms)| PercentileLevel {
        operation: name.to_owned(),
        p90_ms,
    });
    let rolled_back = ShareLevel {
        name: "share of orders rolled back".to_owned(),
        of: vec![Operation::TradeOrderRolledBack.name().to_owned()],
        among: names(&[Operation::TradeOrder, Operation::TradeOrderRolledBack]),
        percent: rounded(brokerage.orders.rollback_percent),
        tolerance_points: limits.rollback_tolerance_points,
        // Each user has a deck of its own, with about as many cards as orders per rollback.
        chance_operations: chance_operations(
            brokerage.orders.rollback_percent,
            f64::from(brokerage.users) / brokerage.orders.rollback_percent * 100.0,
        ),
    };
    OperationLevels {
        p90: p90.filter(|level| level.p90_ms.is_finite()).collect(),
        shares: mix(brokerage).chain(std::iter::once(rolled_back)).collect(),
    }
}

/// The share of each transaction in the mix.
fn mix(brokerage: &Brokerage) -> impl Iterator<Item = ShareLevel> {
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

/// Cards of the deck that holds the published mix exactly. Others are not much larger.
const DECK_CARDS: f64 = 890.0;

/// How many operations of a kind a measured phase may have too many or too few because it begins
/// and ends in the middle of decks with this many cards altogether: three standard deviations. The
/// variance of half a deck, the worst case, is a quarter of that of as many independent draws.
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

    #[test]
    fn every_operation_stands_at_its_number_and_has_a_name() {
        let layout = layout();
        for (number, &operation) in Operation::ALL.iter().enumerate() {
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
        let levels = levels(&Brokerage::default());
        let mix: f64 = levels.shares[..MIX].iter().map(|one| one.percent).sum();
        assert!((mix - 100.0).abs() < 0.1, "{mix}");
        let result = levels
            .shares
            .iter()
            .find(|one| one.name.ends_with("trade-result"));
        assert!((result.unwrap().percent - 10.0).abs() < 0.01);
    }
}
