//! Prices: of each day of the past, and at the opening.

use super::pen::Pen;
use crate::error::DatabaseError;
use crate::house::House;
use crate::house::identity::Chance;
use crate::house::names::below;
use crate::house::securities::SECURITIES_PER_UNIT;
use crate::market::wave::{HIGHEST_CENTS, LOWEST_CENTS};
use std::ops::Range;
use workload::random::mix;

/// Days of trading in 52 weeks.
const YEAR: u32 = 52 * 5;

/// The securities of a unit.
pub(super) fn securities_of(unit: u32) -> Range<u32> {
    unit * SECURITIES_PER_UNIT..(unit + 1) * SECURITIES_PER_UNIT
}

/// What was paid for a security on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DayPrices {
    pub close_cents: i64,
    pub high_cents: i64,
    pub low_cents: i64,
    pub volume: i64,
}

/// The prices of one security, day by day.
#[derive(Debug, Clone, Copy)]
pub(super) struct History {
    key: u64,
}

/// The highest and the lowest price of the last 52 weeks, each with its day.
#[derive(Debug, Clone, Copy)]
pub(super) struct YearRange {
    pub high_cents: i64,
    pub high_day: i64,
    pub low_cents: i64,
    pub low_day: i64,
}

impl History {
    pub fn of(house: &House, security: u32) -> Self {
        let key = house.chance(Chance::Prices, security);
        Self { key }
    }

    /// The prices of the day number `day`, 0 being the oldest.
    pub fn day(self, day: u32) -> DayPrices {
        let chance = mix(self.key ^ u64::from(day));
        let spread = (HIGHEST_CENTS - LOWEST_CENTS + 1) as usize;
        let close_cents = LOWEST_CENTS + below(chance as u32, spread) as i64;
        let (above, under) = (chance >> 32 & 0x7f, chance >> 39 & 0x7f);
        DayPrices {
            close_cents,
            high_cents: close_cents + above as i64,
            low_cents: close_cents - under as i64,
            volume: 1_000 + (chance >> 46) as i64 % 100_000 * 10,
        }
    }

    /// The range of the last 52 weeks, or of all days where the books hold less.
    pub fn year(self, house: &House) -> YearRange {
        let end = house.price_days();
        let days = end.saturating_sub(YEAR)..end;
        let prices = || days.clone().map(|day| (self.day(day), day));
        // There are days of prices in every house.
        let high = prices().max_by_key(|(prices, day)| (prices.high_cents, *day));
        let low = prices().min_by_key(|(prices, day)| (prices.low_cents, *day));
        let (high, high_day) = high.unwrap_or((self.day(0), 0));
        let (low, low_day) = low.unwrap_or((self.day(0), 0));
        YearRange {
            high_cents: high.high_cents,
            high_day: house.price_day(high_day),
            low_cents: low.low_cents,
            low_day: house.price_day(low_day),
        }
    }
}

/// Prices day by day, security after security.
pub(super) fn daily_market(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    let days: Vec<i64> = (0..house.price_days())
        .map(|day| house.price_day(day))
        .collect();
    for security in securities_of(unit) {
        let (symbol, history) = (house.symbol_of(security), History::of(house, security));
        for (number, &day) in days.iter().enumerate() {
            let prices = history.day(number as u32);
            pen.number(day);
            pen.text(symbol.as_str());
            let DayPrices {
                close_cents,
                high_cents,
                low_cents,
                volume,
            } = prices;
            pen.numbers(&[close_cents, high_cents, low_cents, volume]);
            pen.end()?;
        }
    }
    Ok(())
}

/// The last price before the opening: that of the wave.
pub(super) fn last_trades(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    let (wave, opening_ms) = (house.wave(), house.opening_ms());
    for security in securities_of(unit) {
        let last = History::of(house, security).day(house.price_days() - 1);
        pen.text(house.symbol_of(security).as_str());
        let price_cents = wave.price_cents(security, opening_ms);
        pen.numbers(&[opening_ms, price_cents, last.close_cents, 0]);
        pen.end()?;
    }
    Ok(())
}
