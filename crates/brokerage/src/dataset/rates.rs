//! Charges, commissions and taxes, in whole cents, rounded half up in one place, so that the
//! generator, every database and every check calculate alike.

use super::data_set::{DataSet, RandomField};
use super::names;
use crate::kinds::TradeKind;

/// Number of country tax rates.
pub const COUNTRY_RATES: u32 = 9;
/// Number of tax rates of divisions (states, provinces).
pub const DIVISION_RATES: u32 = 311;

/// Ranges of quantity, first and last, each with its commission rate; the rate falls with the
/// quantity.
pub const QUANTITY_RANGES: [(i64, i64); 4] = [(1, 150), (151, 300), (301, 600), (601, 10_000)];

impl DataSet {
    /// The charge for a trade, by kind and the customer's tier.
    #[must_use]
    pub fn charge_cents(&self, of: TradeKind, tier: u8) -> i64 {
        const BY_TYPE: [i64; 5] = [350, 375, 500, 450, 425];
        // Higher tiers pay less.
        BY_TYPE[of as usize - 1] - 75 * i64::from(tier - 1)
    }

    /// The broker's commission for a trade, in hundredths of a percent of its value.
    ///
    /// # Panics
    /// The quantity is in none of [`QUANTITY_RANGES`].
    #[must_use]
    pub fn commission_rate_hundredths(
        &self,
        of: TradeKind,
        tier: u8,
        exchange: u32,
        quantity: i64,
    ) -> i64 {
        let inside = |range: &(i64, i64)| (range.0..=range.1).contains(&quantity);
        let range = QUANTITY_RANGES.iter().position(inside);
        let Some(range) = range else {
            panic!("no commission for {quantity} shares");
        };
        let waits = i64::from(!of.is_market());
        48 - 9 * i64::from(tier - 1) - 6 * range as i64 + 4 * waits + i64::from(exchange)
    }

    /// The id of a tax rate, counted from 0, country rates first.
    #[must_use]
    pub fn tax_rate_id(&self, rate: u32) -> String {
        let mut text = String::with_capacity(4);
        write_tax_rate_id(rate, &mut text);
        text
    }

    /// A tax rate, counted from 0, in thousandths of a percent.
    #[must_use]
    pub fn tax_per_100000(&self, rate: u32) -> i64 {
        if rate < COUNTRY_RATES {
            12_000 + 1_750 * i64::from(rate)
        } else {
            1_000 + 25 * i64::from((rate - COUNTRY_RATES) * 97 % DIVISION_RATES)
        }
    }

    /// The two tax rates of a customer, counted from 0: of a country and of a division.
    #[must_use]
    pub fn tax_rates_of(&self, customer: u32) -> [u32; 2] {
        let random_bits = self.random_bits(RandomField::TaxRates, customer);
        let country = names::below(random_bits as u32, COUNTRY_RATES as usize) as u32;
        let division = names::below((random_bits >> 32) as u32, DIVISION_RATES as usize) as u32;
        [country, COUNTRY_RATES + division]
    }
}

/// The cash type of a settlement, until a trade update changes it.
#[must_use]
pub fn cash_type(is_cash: bool) -> &'static str {
    if is_cash { "Cash Account" } else { "Margin" }
}

/// Appends the id of a tax rate.
pub(crate) fn write_tax_rate_id(rate: u32, text: &mut String) {
    if rate < COUNTRY_RATES {
        text.push('C');
        names::push_digits(text, u64::from(rate) + 1, 3);
    } else {
        text.push('D');
        names::push_digits(text, u64::from(rate - COUNTRY_RATES) + 1, 3);
    }
}

/// The commission of a trade in cents.
#[must_use]
pub fn commission_cents(rate_hundredths: i64, quantity: i64, price_cents: i64) -> i64 {
    (rate_hundredths * quantity * price_cents + 5_000) / 10_000
}

/// The tax on a gain; 0 on a loss. The rates are the sum of the customer's.
#[must_use]
pub fn tax_cents(rates_per_100000: i64, gain_cents: i64) -> i64 {
    (rates_per_100000 * gain_cents.max(0) + 50_000) / 100_000
}

/// The amount that a trade adds to an account, negative for a purchase: its value, less charge and
/// commission, less the tax if the broker withholds it.
#[must_use]
pub fn settlement_cents(
    is_sell: bool,
    worth_cents: i64,
    charge_and_commission_cents: i64,
    tax_kept_back_cents: i64,
) -> i64 {
    let worth = if is_sell { worth_cents } else { -worth_cents };
    worth - charge_and_commission_cents - tax_kept_back_cents
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn charges_and_commissions_are_positive() {
        let data_set = DataSet::new(1_000, 1, 1);
        for &of in TradeKind::ALL {
            for tier in 1..=3 {
                assert!(data_set.charge_cents(of, tier) > 0);
                for quantity in [100, 200, 400, 800] {
                    for exchange in 0..4 {
                        let rate =
                            data_set.commission_rate_hundredths(of, tier, exchange, quantity);
                        assert!((5..=60).contains(&rate), "{rate}");
                    }
                }
            }
        }
    }

    #[test]
    fn amounts_are_rounded_half_up() {
        assert_eq!(commission_cents(25, 100, 2_002), 501); // 500.5
        assert_eq!(commission_cents(25, 100, 2_001), 500); // 500.25
        assert_eq!(tax_cents(20_000, 12), 2); // 2.4
        assert_eq!(tax_cents(20_000, 13), 3); // 2.6
        assert_eq!(tax_cents(20_000, -13), 0);
        assert_eq!(settlement_cents(false, 1_000, 30, 0), -1_030);
        assert_eq!(settlement_cents(true, 1_000, 30, 7), 963);
    }

    #[test]
    fn tax_rates_have_ids_of_their_own() {
        let data_set = DataSet::new(1_000, 1, 1);
        let all = COUNTRY_RATES + DIVISION_RATES;
        let ids: HashSet<String> = (0..all).map(|rate| data_set.tax_rate_id(rate)).collect();
        assert_eq!((all, ids.len()), (320, 320));
        assert!((0..1_000).all(|one| data_set.tax_rates_of(one)[1] < all));
    }
}
