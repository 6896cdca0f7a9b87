//! Rows of every table, before a single row is made.

use super::House;
use super::accounts::BASKET;
use super::moments::QUARTERS;
use super::rates::{COUNTRY_RATES, DIVISION_RATES};
use super::securities::{COMPETITORS, EXCHANGES};
use crate::schema::TableName;

/// Zip codes.
pub const ZIP_CODES: u32 = 14_741;

/// News about each company.
pub const NEWS_PER_COMPANY: u32 = 2;

/// The shortest and the longest text of a news item, in bytes.
pub const NEWS_BYTES: std::ops::RangeInclusive<u32> = 2_000..=100_000;

/// What the trades of so many days leave behind.
#[derive(Debug, Clone, Copy)]
struct LeftBehind {
    /// Share of the securities of an account of which it holds any, or has sold any short.
    positions: f64,
    /// Lots that are open, per account and security.
    lots: f64,
    /// Changes of lots, per trade.
    changes: f64,
}

const fn left(positions: f64, lots: f64, changes: f64) -> LeftBehind {
    LeftBehind {
        positions,
        lots,
        changes,
    }
}

/// As the generator makes it, counted by `examples/generate_speed.rs`.
const LEFT_BEHIND: [(f64, LeftBehind); 5] = [
    (1.0, left(0.6015, 0.8135, 1.0935)),
    (3.0, left(0.8753, 1.695, 1.170)),
    (12.0, left(0.9756, 3.616, 1.262)),
    (40.0, left(0.9905, 6.604, 1.309)),
    (120.0, left(0.9963, 11.36, 1.330)),
];

impl House {
    /// Rows of a table in the initial books: exact for most, an estimate where chance decides (see
    /// [`Self::rows_are_exact`]).
    #[must_use]
    pub fn rows(&self, table: TableName) -> u64 {
        // What accounts deal in.
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
            TableName::HoldingSummary => (slots * self.left_behind().positions) as u64,
            TableName::Holding => (slots * self.left_behind().lots) as u64,
            TableName::HoldingHistory => (trades as f64 * self.left_behind().changes) as u64,
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

    /// What trades leave behind, by the days of trades.
    fn left_behind(&self) -> LeftBehind {
        let days = f64::from(self.trade_days());
        let next = LEFT_BEHIND.iter().position(|(known, _)| *known >= days);
        let next = next.unwrap_or(LEFT_BEHIND.len() - 1).max(1);
        let ((day_0, low), (day_1, high)) = (LEFT_BEHIND[next - 1], LEFT_BEHIND[next]);
        // Straight lines between logarithms, on beyond the last point.
        let share = (days / day_0).ln() / (day_1 / day_0).ln();
        let between = |low: f64, high: f64| low * (high / low).powf(share);
        LeftBehind {
            positions: between(low.positions, high.positions).min(1.0),
            lots: between(low.lots, high.lots),
            changes: between(low.changes, high.changes),
        }
    }

    /// The longest text of a news item. Small books have short news too: up to 100,000 bytes from
    /// 25 days of trades on.
    #[must_use]
    pub fn longest_news_bytes(&self) -> u32 {
        let (least, most) = (*NEWS_BYTES.start(), *NEWS_BYTES.end());
        self.trade_days().saturating_mul(2 * least).min(most)
    }

    /// The average text of a news item: lengths are spread evenly over orders of magnitude.
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
        let house = House::new(5_000, 300, 1);
        let per_customer = |table| house.rows(table) as f64 / 5_000.0;
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
