//! Number of rows of every table, known before any row is generated.

use super::DataSet;
use super::accounts::BASKET;
use super::rates::{COUNTRY_RATES, DIVISION_RATES};
use super::securities::{COMPETITORS, EXCHANGES};
use super::trading_calendar::QUARTERS;
use crate::schema::TableName;

/// Number of zip codes.
pub const ZIP_CODES: u32 = 14_741;

/// News items per company.
pub const NEWS_PER_COMPANY: u32 = 2;

/// Shortest and longest text of a news item, in bytes.
pub const NEWS_BYTES: std::ops::RangeInclusive<u32> = 2_000..=100_000;

/// What remains of the trades of a number of days.
#[derive(Debug, Clone, Copy)]
struct RemainingTrades {
    /// Share of an account's securities in which it has a position, long or short.
    positions: f64,
    /// Open lots per account and security.
    lots: f64,
    /// Changes of lots per trade.
    changes: f64,
}

const fn left(positions: f64, lots: f64, changes: f64) -> RemainingTrades {
    RemainingTrades {
        positions,
        lots,
        changes,
    }
}

/// Counted from the generator's output by `examples/generate_speed.rs`.
const RESIDUE: [(f64, RemainingTrades); 5] = [
    (1.0, left(0.6015, 0.8135, 1.0935)),
    (3.0, left(0.8753, 1.695, 1.170)),
    (12.0, left(0.9756, 3.616, 1.262)),
    (40.0, left(0.9905, 6.604, 1.309)),
    (120.0, left(0.9963, 11.36, 1.330)),
];

impl DataSet {
    /// Initial rows of a table: exact for most, an estimate for those drawn at random (see
    /// [`Self::rows_are_exact`]).
    #[must_use]
    pub fn rows(&self, table: TableName) -> u64 {
        // Pairs of account and security.
        let slots = self.accounts() as f64 * f64::from(BASKET.start() + BASKET.end()) / 2.0;
        let customers = u64::from(self.customers());
        let companies = u64::from(self.companies());
        let securities = u64::from(self.securities());
        let trades = self.built_trades();
        match table {
            TableName::ZipCode => u64::from(ZIP_CODES),
            TableName::Address => customers + companies + u64::from(EXCHANGES),
            TableName::StatusType | TableName::TradeType => 5,
            TableName::TaxRate => u64::from(COUNTRY_RATES + DIVISION_RATES),
            TableName::Sector => u64::from(self.sectors()),
            TableName::Industry => u64::from(self.industries()),
            TableName::Exchange => u64::from(EXCHANGES),
            TableName::Charge => 15,
            TableName::CommissionRate => 240,
            TableName::Company => companies,
            TableName::CompanyCompetitor => companies * u64::from(COMPETITORS),
            TableName::Security | TableName::LastTrade => securities,
            TableName::DailyMarket => securities * u64::from(self.price_days()),
            TableName::Financial => companies * u64::from(QUARTERS),
            TableName::NewsItem | TableName::NewsReference => {
                companies * u64::from(NEWS_PER_COMPANY)
            }
            TableName::Customer | TableName::WatchList => customers,
            TableName::CustomerTaxRate => customers * 2,
            TableName::Broker => u64::from(self.brokers()),
            TableName::CustomerAccount => self.accounts(),
            TableName::AccountPermission => self.accounts() * 142 / 100,
            TableName::WatchItem => customers * 100,
            TableName::Trade | TableName::Settlement => trades,
            TableName::TradeHistory => trades * 12 / 5,
            TableName::TradeRequest => 0,
            TableName::CashTransaction => trades * 92 / 100,
            TableName::HoldingSummary => (slots * self.residue().positions) as u64,
            TableName::Holding => (slots * self.residue().lots) as u64,
            TableName::HoldingHistory => (trades as f64 * self.residue().changes) as u64,
        }
    }

    /// Whether [`Self::rows`] of a table is exact.
    #[must_use]
    pub fn rows_are_exact(&self, table: TableName) -> bool {
        !matches!(
            table,
            TableName::AccountPermission
                | TableName::WatchItem
                | TableName::TradeHistory
                | TableName::CashTransaction
                | TableName::HoldingSummary
                | TableName::Holding
                | TableName::HoldingHistory
        )
    }

    /// What remains of the initial trades, interpolated.
    fn residue(&self) -> RemainingTrades {
        let days = f64::from(self.trade_days());
        let next = RESIDUE.iter().position(|(known, _)| *known >= days);
        let next = next.unwrap_or(RESIDUE.len() - 1).max(1);
        let ((day_0, low), (day_1, high)) = (RESIDUE[next - 1], RESIDUE[next]);
        // Linear in logarithms, extrapolated beyond the last point.
        let share = (days / day_0).ln() / (day_1 / day_0).ln();
        let between = |low: f64, high: f64| low * (high / low).powf(share);
        RemainingTrades {
            positions: between(low.positions, high.positions).min(1.0),
            lots: between(low.lots, high.lots),
            changes: between(low.changes, high.changes),
        }
    }

    /// The longest text of a news item. Small data sets have shorter news: the full 100,000 bytes
    /// from 25 trading days on.
    #[must_use]
    pub fn longest_news_bytes(&self) -> u32 {
        let (least, most) = (*NEWS_BYTES.start(), *NEWS_BYTES.end());
        self.trade_days().saturating_mul(2 * least).min(most)
    }

    /// The average text of a news item: lengths are distributed log-uniformly.
    pub(super) fn news_bytes_on_average(&self) -> f64 {
        let (least, most) = (
            f64::from(*NEWS_BYTES.start()),
            f64::from(self.longest_news_bytes()),
        );
        (most - least) / (most / least).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_published() {
        let data_set = DataSet::new(5_000, 300, 1);
        let per_customer = |table| data_set.rows(table) as f64 / 5_000.0;
        for (table, expected) in [
            (TableName::AccountPermission, 7.1),
            (TableName::DailyMarket, 893.9),
            (TableName::Trade, 17_280.0),
            (TableName::TradeHistory, 2.4 * 17_280.0),
            (TableName::CashTransaction, 0.92 * 17_280.0),
            (TableName::CompanyCompetitor, 1.5),
            (TableName::Financial, 10.0),
            (TableName::NewsItem, 1.0),
            (TableName::HoldingSummary, 50.0),
        ] {
            let share = per_customer(table) / expected;
            assert!((0.98..1.02).contains(&share), "{table:?} {share}");
        }
    }
}
