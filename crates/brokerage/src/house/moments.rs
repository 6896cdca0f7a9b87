//! The calendar of the books: days since 1970, milliseconds since 1970.
//!
//! There is trading from Monday to Friday, 9:00 to 17:00 UTC. The initial books end when trading
//! begins on Monday, 3 January 2005: far enough from today that nobody takes them for real.

use super::identity::House;
use crate::market::Wave;

/// Milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

/// Minute of the day at which trading begins, and at which it ends.
pub const OPEN_MINUTE: i64 = 9 * 60;
/// See [`OPEN_MINUTE`].
pub const CLOSE_MINUTE: i64 = 17 * 60;

/// Milliseconds of trading on a day.
pub const TRADING_DAY_MS: u64 = ((CLOSE_MINUTE - OPEN_MINUTE) * 60_000) as u64;

/// Monday, 3 January 2005.
const OPENING_DAY: i64 = 12_786;

/// Working days in a week.
const WEEK: u32 = 5;

/// Weeks of prices in the books: five years, and in small books 18 for each day of trades.
const MOST_WEEKS: u32 = 261;
const WEEKS_PER_TRADE_DAY: u32 = 18;

/// Time in which every price of the initial books rises and falls once.
pub const PRICE_PERIOD_MS: u64 = 900_000;

/// Quarters of which companies report: five years.
pub const QUARTERS: u32 = 20;

impl House {
    /// When the initial books end and the first run begins.
    #[must_use]
    pub fn opening_ms(&self) -> i64 {
        OPENING_DAY * DAY_MS + OPEN_MINUTE * 60_000
    }

    /// The day on which the initial books end.
    #[must_use]
    pub fn opening_day(&self) -> i64 {
        OPENING_DAY
    }

    /// Milliseconds of trading in the initial books: look-up windows are drawn in trading time and
    /// so never begin in a night.
    #[must_use]
    pub fn trading_ms(&self) -> u64 {
        u64::from(self.trade_days()) * TRADING_DAY_MS
    }

    /// The moment `trading_ms` milliseconds of trading after the first one of the initial books.
    #[must_use]
    pub fn moment_ms(&self, trading_ms: u64) -> i64 {
        let (day, rest) = (trading_ms / TRADING_DAY_MS, trading_ms % TRADING_DAY_MS);
        let day = working_day(day as i64 - i64::from(self.trade_days()));
        day * DAY_MS + OPEN_MINUTE * 60_000 + rest as i64
    }

    /// When trading begins in the initial books.
    #[must_use]
    pub fn first_trade_ms(&self) -> i64 {
        self.moment_ms(0)
    }

    /// The wave on which the initial books were traded.
    #[must_use]
    #[inline]
    pub fn wave(&self) -> Wave {
        Wave::new(PRICE_PERIOD_MS)
    }

    /// Weeks of which there are prices of every day.
    #[must_use]
    pub fn price_weeks(&self) -> u32 {
        self.trade_days()
            .saturating_mul(WEEKS_PER_TRADE_DAY)
            .min(MOST_WEEKS)
    }

    /// Days of which there are prices.
    #[must_use]
    pub fn price_days(&self) -> u32 {
        self.price_weeks() * WEEK
    }

    /// The day, since 1970, of the prices number `number`, 0 being the oldest: Monday to Friday,
    /// the last one the Friday before the opening.
    #[must_use]
    pub fn price_day(&self, number: u32) -> i64 {
        working_day(i64::from(number) - i64::from(self.price_days()))
    }

    /// The first day of which there are prices.
    #[must_use]
    pub fn first_day(&self) -> i64 {
        self.price_day(0)
    }
}

/// The working day, since 1970, so many working days after the opening.
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
        let house = House::new(1_000, 7, 1);
        assert_eq!(weekday(house.opening_day()), 0);
        for trading_ms in (0..house.trading_ms()).step_by(599_999) {
            let moment = house.moment_ms(trading_ms);
            assert!(weekday(moment / DAY_MS) < 5);
            assert!((OPEN_MINUTE..CLOSE_MINUTE).contains(&(moment % DAY_MS / 60_000)));
            assert!((house.first_trade_ms()..house.opening_ms()).contains(&moment));
        }
        let last = house.moment_ms(house.trading_ms() - 1);
        assert_eq!(last / DAY_MS, house.opening_day() - 3);
        assert_eq!(house.first_trade_ms() / DAY_MS, house.opening_day() - 11);
    }

    #[test]
    fn prices_cover_five_years_and_less_in_small_books() {
        let house = House::new(1_000, 300, 1);
        assert_eq!(house.price_days(), 1_305);
        assert_eq!(weekday(house.first_day()), 0);
        assert_eq!(house.price_day(1_304), house.opening_day() - 3);
        assert_eq!(House::new(1_000, 1, 1).price_days(), 90);
    }

    #[test]
    fn the_last_quarter_ends_with_the_year() {
        assert_eq!(quarter(0), (2000, 1, 10_957));
        assert_eq!(quarter(QUARTERS - 1), (2004, 4, OPENING_DAY - 2 - 92));
        assert_eq!(quarter(5), (2001, 2, 10_957 + 366 + 90));
    }
}
