//! The wave on which every price goes: 20.00, up to 30.00 and down again, evenly, each security at
//! its own point of the wave.
//!
//! Since the wave is known, the moment when a waiting order is due is computed, not waited for.

use super::identity::{Chance, House};
use super::kinds::TradeType;

/// The lowest and the highest price.
pub const LOWEST_CENTS: i64 = 2_000;
/// See [`LOWEST_CENTS`].
pub const HIGHEST_CENTS: i64 = 3_000;

const RISE_CENTS: i64 = HIGHEST_CENTS - LOWEST_CENTS;

/// Time in which a price rises and falls once.
pub const PERIOD_MS: i64 = 900_000;

/// The wave of one period for all securities of a house.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wave {
    house: House,
    /// Half the period: rise or fall.
    half_ms: i64,
}

impl Wave {
    /// A wave that rises and falls once in `period_ms` milliseconds, 2 at least.
    #[must_use]
    pub fn new(house: House, period_ms: i64) -> Self {
        let half_ms = (period_ms / 2).max(1);
        Self { house, half_ms }
    }

    /// Where a security, counted from 0, stands on the wave at a moment: milliseconds since its
    /// price was lowest.
    #[must_use]
    pub fn phase_ms(&self, security: u32, at_ms: i64) -> i64 {
        self.phase_of(self.offset_ms(security), at_ms)
    }

    /// By how much a security runs ahead of the clock.
    #[must_use]
    pub fn offset_ms(&self, security: u32) -> i64 {
        (self.house.chance(Chance::WavePhase, security) % (2 * self.half_ms) as u64) as i64
    }

    pub(crate) fn phase_of(&self, offset_ms: i64, at_ms: i64) -> i64 {
        (at_ms + offset_ms).rem_euclid(2 * self.half_ms)
    }

    /// The price of a security at a moment, in cents.
    #[must_use]
    pub fn price_cents(&self, security: u32, at_ms: i64) -> i64 {
        self.price_at(self.phase_ms(security, at_ms))
    }

    pub(crate) fn price_at(&self, phase_ms: i64) -> i64 {
        let from_lowest_ms = phase_ms.min(2 * self.half_ms - phase_ms);
        LOWEST_CENTS + RISE_CENTS * from_lowest_ms / self.half_ms
    }

    /// The first moment from `from_ms` on at which an order of this type and price in the security
    /// is due: the price has fallen to it, or has risen to it for a limit on a sale. Orders at the
    /// price of the market are due at once. `None` when the price never comes.
    #[must_use]
    pub fn due_ms(
        &self,
        security: u32,
        from_ms: i64,
        of: TradeType,
        bid_price_cents: i64,
    ) -> Option<i64> {
        let phase_ms = self.phase_ms(security, from_ms);
        Some(from_ms + self.wait_ms(phase_ms, of, bid_price_cents)?)
    }

    /// How long an order waits that is entered at a point of the wave.
    pub(crate) fn wait_ms(
        &self,
        phase_ms: i64,
        of: TradeType,
        bid_price_cents: i64,
    ) -> Option<i64> {
        let period_ms = 2 * self.half_ms;
        match of {
            TradeType::MarketBuy | TradeType::MarketSell => Some(0),
            // The price is right from `first` milliseconds after the lowest to as many before the
            // next lowest.
            TradeType::LimitSell => {
                let above = bid_price_cents - LOWEST_CENTS;
                let first = (above * self.half_ms).max(0);
                let first = first / RISE_CENTS + i64::from(first % RISE_CENTS > 0);
                if first > self.half_ms {
                    None
                } else if phase_ms <= period_ms - first {
                    Some((first - phase_ms).max(0))
                } else {
                    Some(period_ms + first - phase_ms)
                }
            }
            // The price is right up to `last` milliseconds after the lowest, and again as many
            // before the next lowest: the largest that does not reach the next cent.
            TradeType::LimitBuy | TradeType::StopLoss => {
                let beyond = (bid_price_cents + 1 - LOWEST_CENTS) * self.half_ms;
                if beyond <= 0 {
                    return None;
                }
                let last = (beyond - 1) / RISE_CENTS;
                Some(if phase_ms <= last {
                    0
                } else {
                    (period_ms - last - phase_ms).max(0)
                })
            }
        }
    }
}

impl House {
    /// The wave of the published period, on which the initial books were made.
    #[must_use]
    pub fn wave(&self) -> Wave {
        Wave::new(*self, PERIOD_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::random::Dice;

    /// Whether an order is due, told from the price alone.
    fn is_due(of: TradeType, price: i64, bid: i64) -> bool {
        match of {
            TradeType::LimitSell => price >= bid,
            TradeType::LimitBuy | TradeType::StopLoss => price <= bid,
            _ => true,
        }
    }

    #[test]
    fn prices_rise_and_fall_between_their_bounds() {
        let wave = House::new(1_000, 1, 4).wave();
        let offset = wave.offset_ms(17);
        assert_eq!(wave.price_cents(17, PERIOD_MS - offset), 2_000);
        assert_eq!(wave.price_cents(17, PERIOD_MS * 3 / 2 - offset), 3_000);
        let prices: Vec<i64> = (0..PERIOD_MS)
            .step_by(450)
            .map(|at| wave.price_cents(3, at))
            .collect();
        assert!(prices.iter().all(|price| (2_000..=3_000).contains(price)));
        assert!(prices.windows(2).all(|two| (two[0] - two[1]).abs() <= 1));
        assert_ne!(wave.offset_ms(1), wave.offset_ms(2));
    }

    #[test]
    fn orders_are_due_exactly_when_the_price_says_so() {
        let mut dice = Dice::new(8, 8);
        // Odd periods and short ones too, so that steps of a cent take one millisecond and less.
        for period in [PERIOD_MS, 7_001, 600, 2] {
            let wave = Wave::new(House::new(1_000, 1, 4), period);
            for _ in 0..400 {
                let from = 1_000_000 + dice.below(1_000_000) as i64;
                let bid = 1_990 + dice.below(1_020) as i64;
                let of = TradeType::ALL[dice.below(5) as usize];
                let security = dice.below(685) as u32;
                let right = |at| is_due(of, wave.price_cents(security, at), bid);
                match wave.due_ms(security, from, of, bid) {
                    None => assert!((from..from + period).step_by(7).all(|at| !right(at))),
                    Some(at) => {
                        assert!(right(at), "{of:?} {bid} {period}");
                        assert!(at >= from && at <= from + period);
                        assert!(at == from || !right(at - 1), "{of:?} {bid} {period}");
                        assert!((from..at).step_by(101).all(|earlier| !right(earlier)));
                    }
                }
            }
        }
    }
}
