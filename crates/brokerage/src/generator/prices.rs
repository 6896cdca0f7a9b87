//! Daily prices, and prices at the opening.

use super::row_writer::RowWriter;
use crate::dataset::DataSet;
use crate::dataset::data_set::RandomField;
use crate::dataset::names::below;
use crate::dataset::securities::SECURITIES_PER_UNIT;
use crate::error::DatabaseError;
use crate::market::price_wave::{HIGHEST_CENTS, LOWEST_CENTS};
use std::ops::Range;
use workload::random::mix;

/// Trading days in 52 weeks.
const YEAR: u32 = 52 * 5;

/// The securities of a load unit.
pub(super) fn securities_of(unit: u32) -> Range<u32> {
    unit * SECURITIES_PER_UNIT..(unit + 1) * SECURITIES_PER_UNIT
}

/// Close, high, low and volume of a security on a day.
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
    pub fn of(data_set: &DataSet, security: u32) -> Self {
        let key = data_set.random_bits(RandomField::Prices, security);
        Self { key }
    }

    /// The prices of the day number `day`, counted from the oldest.
    pub fn day(self, day: u32) -> DayPrices {
        let random_bits = mix(self.key ^ u64::from(day));
        let spread = (HIGHEST_CENTS - LOWEST_CENTS + 1) as usize;
        let close_cents = LOWEST_CENTS + below(random_bits as u32, spread) as i64;
        let (above, under) = (random_bits >> 32 & 0x7f, random_bits >> 39 & 0x7f);
        DayPrices {
            close_cents,
            high_cents: close_cents + above as i64,
            low_cents: close_cents - under as i64,
            volume: 1_000 + (random_bits >> 46) as i64 % 100_000 * 10,
        }
    }

    /// The range of the last 52 weeks, or of all days if there are fewer.
    pub fn year(self, data_set: &DataSet) -> YearRange {
        let end = data_set.price_days();
        let days = end.saturating_sub(YEAR)..end;
        let prices = || days.clone().map(|day| (self.day(day), day));
        // Every data set has daily prices.
        let high = prices().max_by_key(|(prices, day)| (prices.high_cents, *day));
        let low = prices().min_by_key(|(prices, day)| (prices.low_cents, *day));
        let (high, high_day) = high.unwrap_or((self.day(0), 0));
        let (low, low_day) = low.unwrap_or((self.day(0), 0));
        YearRange {
            high_cents: high.high_cents,
            high_day: data_set.price_day(high_day),
            low_cents: low.low_cents,
            low_day: data_set.price_day(low_day),
        }
    }
}

/// Daily prices, security by security.
pub(super) fn daily_market(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    let days: Vec<i64> = (0..data_set.price_days())
        .map(|day| data_set.price_day(day))
        .collect();
    for security in securities_of(unit) {
        let (symbol, history) = (
            data_set.symbol_of(security),
            History::of(data_set, security),
        );
        for (number, &day) in days.iter().enumerate() {
            let prices = history.day(number as u32);
            writer.number(day);
            writer.text(symbol.as_str());
            let DayPrices {
                close_cents,
                high_cents,
                low_cents,
                volume,
            } = prices;
            writer.numbers(&[close_cents, high_cents, low_cents, volume]);
            writer.end()?;
        }
    }
    Ok(())
}

/// The last price before the opening: that of the price wave.
pub(super) fn last_trades(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    let (wave, opening_ms) = (data_set.wave(), data_set.opening_ms());
    for security in securities_of(unit) {
        let last = History::of(data_set, security).day(data_set.price_days() - 1);
        writer.text(data_set.symbol_of(security).as_str());
        let price_cents = wave.price_cents(security, opening_ms);
        writer.numbers(&[opening_ms, price_cents, last.close_cents, 0]);
        writer.end()?;
    }
    Ok(())
}
