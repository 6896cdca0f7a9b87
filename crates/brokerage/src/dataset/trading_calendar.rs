//! The trading calendar: days and milliseconds since 1970.
//!
//! Trading takes place from Monday to Friday, 9:00 to 17:00 UTC. The initial trades end before
//! trading opens on Monday, 3 January 2005: far enough in the past that nobody takes them for real.

use super::data_set::DataSet;
use crate::market::PriceWave;

/// Milliseconds per calendar day.
pub const DAY_MS: i64 = 86_400_000;

/// Minute of the day at which trading opens.
pub const OPEN_MINUTE: i64 = 9 * 60;
/// Minute of the day at which trading closes.
pub const CLOSE_MINUTE: i64 = 17 * 60;

/// Milliseconds of trading per trading day.
pub const TRADING_DAY_MS: u64 = ((CLOSE_MINUTE - OPEN_MINUTE) * 60_000) as u64;

/// Monday, 3 January 2005.
const OPENING_DAY: i64 = 12_786;

/// Trading days per week.
const WEEK: u32 = 5;

/// Most weeks of daily prices: five years; data sets with few trading days have 18 weeks for each.
const MAX_WEEKS: u32 = 261;
const WEEKS_PER_TRADE_DAY: u32 = 18;

/// Period of the initial trades' price wave.
pub const PRICE_PERIOD_MS: u64 = 900_000;

/// Quarterly reports per company: five years.
pub const QUARTERS: u32 = 20;

impl DataSet {
    /// When the initial trades end and the first run begins.
    #[must_use]
    pub fn opening_ms(&self) -> i64 {
        OPENING_DAY * DAY_MS + OPEN_MINUTE * 60_000
    }

    /// The day after the initial trades.
    #[must_use]
    pub fn opening_day(&self) -> i64 {
        OPENING_DAY
    }

    /// Milliseconds of trading in the initial trades: lookup windows are drawn in trading time, so
    /// none begins at night.
    #[must_use]
    pub fn trading_ms(&self) -> u64 {
        u64::from(self.trade_days()) * TRADING_DAY_MS
    }

    /// The timestamp `trading_ms` milliseconds of trading after the start of the initial trades.
    #[must_use]
    pub fn timestamp_ms(&self, trading_ms: u64) -> i64 {
        let (day, rest) = (trading_ms / TRADING_DAY_MS, trading_ms % TRADING_DAY_MS);
        let day = working_day(day as i64 - i64::from(self.trade_days()));
        day * DAY_MS + OPEN_MINUTE * 60_000 + rest as i64
    }

    /// When trading opens on the first of the initial days.
    #[must_use]
    pub fn first_trade_ms(&self) -> i64 {
        self.timestamp_ms(0)
    }

    /// The price wave of the initial trades.
    #[must_use]
    #[inline]
    pub fn wave(&self) -> PriceWave {
        PriceWave::new(PRICE_PERIOD_MS)
    }

    /// Weeks of daily prices.
    #[must_use]
    pub fn price_weeks(&self) -> u32 {
        self.trade_days()
            .saturating_mul(WEEKS_PER_TRADE_DAY)
            .min(MAX_WEEKS)
    }

    /// Days of daily prices.
    #[must_use]
    pub fn price_days(&self) -> u32 {
        self.price_weeks() * WEEK
    }

    /// The day, since 1970, of the daily prices number `number`, counted from the oldest: Monday to
    /// Friday, the last one is the Friday before the opening.
    #[must_use]
    pub fn price_day(&self, number: u32) -> i64 {
        working_day(i64::from(number) - i64::from(self.price_days()))
    }

    /// The first day with daily prices.
    #[must_use]
    pub fn first_day(&self) -> i64 {
        self.price_day(0)
    }
}

/// The trading day, since 1970, this many trading days after the opening.
#[must_use]
pub fn working_day(after_opening: i64) -> i64 {
    let week = i64::from(WEEK);
    OPENING_DAY + after_opening.div_euclid(week) * 7 + after_opening.rem_euclid(week)
}

/// Year and quarter (1 to 4) of a report, and the day on which the quarter begins. Report 0 is the
/// oldest; the last one is the quarter before the opening.
#[must_use]
pub fn quarter(report: u32) -> (i64, i64, i64) {
    let (year, quarter) = (2000 + i64::from(report / 4), i64::from(report % 4));
    // 2000 and 2004 are leap years.
    let new_year = 10_957 + (year - 2000) * 365 + i64::from(year > 2000) + i64::from(year > 2004);
    let leap = i64::from(year % 4 == 0);
    let days = [0, 90 + leap, 181 + leap, 273 + leap];
    (year, quarter + 1, new_year + days[quarter as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 January 1970 was a Thursday; 0 is Monday.
    fn weekday(day: i64) -> i64 {
        (day + 3) % 7
    }

    #[test]
    fn there_is_trading_from_monday_to_friday() {
        let data_set = DataSet::new(1_000, 7, 1);
        assert_eq!(weekday(data_set.opening_day()), 0);
        for trading_ms in (0..data_set.trading_ms()).step_by(599_999) {
            let moment = data_set.timestamp_ms(trading_ms);
            assert!(weekday(moment / DAY_MS) < 5);
            assert!((OPEN_MINUTE..CLOSE_MINUTE).contains(&(moment % DAY_MS / 60_000)));
            assert!((data_set.first_trade_ms()..data_set.opening_ms()).contains(&moment));
        }
        let last = data_set.timestamp_ms(data_set.trading_ms() - 1);
        assert_eq!(last / DAY_MS, data_set.opening_day() - 3);
        assert_eq!(
            data_set.first_trade_ms() / DAY_MS,
            data_set.opening_day() - 11
        );
    }

    #[test]
    fn prices_cover_five_years_and_less_in_small_data_sets() {
        let data_set = DataSet::new(1_000, 300, 1);
        assert_eq!(data_set.price_days(), 1_305);
        assert_eq!(weekday(data_set.first_day()), 0);
        assert_eq!(data_set.price_day(1_304), data_set.opening_day() - 3);
        assert_eq!(DataSet::new(1_000, 1, 1).price_days(), 90);
    }

    #[test]
    fn the_last_quarter_ends_with_the_year() {
        assert_eq!(quarter(0), (2000, 1, 10_957));
        assert_eq!(quarter(QUARTERS - 1), (2004, 4, OPENING_DAY - 2 - 92));
        assert_eq!(quarter(5), (2001, 2, 10_957 + 366 + 90));
    }
}
