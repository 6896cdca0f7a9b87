//! Prices as a triangle wave.

use workload::random::mix;

/// The lowest price in cents.
pub const LOWEST_CENTS: i64 = 2_000;
/// The highest price in cents.
pub const HIGHEST_CENTS: i64 = 3_000;
const SPAN: i64 = HIGHEST_CENTS - LOWEST_CENTS;

/// The longest period, some centuries: prices are then calculated in 64 bits.
const LONGEST_MS: u64 = 1 << 44;

/// The price of every security at any time: it rises from [`LOWEST_CENTS`] to [`HIGHEST_CENTS`] in
/// half a period and falls back in the other half. Securities differ in phase.
#[derive(Debug, Clone, Copy)]
pub struct PriceWave {
    period_ms: i64,
}

impl PriceWave {
    /// A wave of this period, rounded down to an even number of milliseconds, 2 at least, so that
    /// the price reaches both ends.
    ///
    /// # Panics
    /// The period is longer than centuries.
    #[must_use]
    #[inline]
    pub fn new(period_ms: u64) -> Self {
        assert!(period_ms <= LONGEST_MS, "a period of {period_ms} ms");
        let period_ms = (period_ms.max(2) & !1) as i64;
        Self { period_ms }
    }

    /// The phase of a security at a time, 0 at the lowest price.
    #[inline]
    fn place(self, security: u32, at_ms: i64) -> i64 {
        let phase = mix(u64::from(security)) % self.period_ms as u64;
        (at_ms.rem_euclid(self.period_ms) + phase as i64) % self.period_ms
    }

    /// The price of a security at a time.
    #[must_use]
    #[inline]
    pub fn price_cents(self, security: u32, at_ms: i64) -> i64 {
        let place = self.place(security, at_ms);
        let from_lowest = place.min(self.period_ms - place);
        LOWEST_CENTS + 2 * SPAN * from_lowest / self.period_ms
    }

    /// The first time, `from_ms` or later, at which the price is `cents` or less.
    #[must_use]
    #[inline]
    pub fn first_at_or_below(self, security: u32, cents: i64, from_ms: i64) -> Option<i64> {
        if cents < LOWEST_CENTS {
            return None;
        }
        // floor(2 * SPAN * x / period) <= cents - lowest holds up to this x, both ways from the
        // lowest price.
        let steps = cents.min(HIGHEST_CENTS) - LOWEST_CENTS + 1;
        let up_to = (steps * self.period_ms - 1) / (2 * SPAN);
        let place = self.place(security, from_ms);
        let falls_to = self.period_ms - up_to;
        if place <= up_to || place >= falls_to {
            return Some(from_ms);
        }
        Some(from_ms + falls_to - place)
    }

    /// The first time, `from_ms` or later, at which the price is `cents` or more.
    #[must_use]
    #[inline]
    pub fn first_at_or_above(self, security: u32, cents: i64, from_ms: i64) -> Option<i64> {
        if cents > HIGHEST_CENTS {
            return None;
        }
        // floor(2 * SPAN * x / period) >= cents - lowest holds from this x on.
        let steps = (cents - LOWEST_CENTS).max(0);
        let rises_to = (steps * self.period_ms + 2 * SPAN - 1) / (2 * SPAN);
        let place = self.place(security, from_ms);
        if (rises_to..=self.period_ms - rises_to).contains(&place) {
            return Some(from_ms);
        }
        Some(from_ms + (rises_to - place).rem_euclid(self.period_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_price_runs_from_end_to_end_and_back() {
        let wave = PriceWave::new(900_000);
        for security in 0..50 {
            let prices: Vec<i64> = (0..9_000)
                .map(|step| wave.price_cents(security, step * 100))
                .collect();
            assert_eq!(prices.iter().min(), Some(&LOWEST_CENTS));
            // Whole hundreds of milliseconds may miss the one moment of the highest price.
            assert!(*prices.iter().max().unwrap() >= HIGHEST_CENTS - 1);
            assert!(prices.windows(2).all(|pair| (pair[0] - pair[1]).abs() <= 1));
        }
        assert_ne!(wave.price_cents(1, 0), wave.price_cents(2, 0));
    }

    proptest! {
        #[test]
        fn the_moment_of_a_price_is_the_first_one(
            period in 2_u64..6_000,
            security in 0_u32..1_000,
            cents in 1_990_i64..3_010,
            from in 0_i64..20_000,
        ) {
            let wave = PriceWave::new(period);
            let search = |met: &dyn Fn(i64) -> bool| {
                (from..=from + period as i64).find(|&at| met(wave.price_cents(security, at)))
            };
            prop_assert_eq!(
                wave.first_at_or_below(security, cents, from),
                search(&|price| price <= cents)
            );
            prop_assert_eq!(
                wave.first_at_or_above(security, cents, from),
                search(&|price| price >= cents)
            );
        }
    }
}
