//! Who and what is chosen how often.

use super::identity::{House, LOAD_UNIT};
use workload::random::{Dice, mix};

/// Step from one ordinal to the customer number of the next, and its inverse modulo 1,000.
const SCATTER: u32 = 387;
const GATHER: u32 = 323;

impl House {
    /// A customer by weight. Within each thousand the weight rises linearly from 0.3 to 1.7 times
    /// the average with the ordinal, and customers stand in an order that has nothing to do with
    /// it. Thousands are alike.
    #[must_use]
    pub fn draw_customer(&self, dice: &mut Dice) -> u32 {
        let unit = dice.below(u64::from(self.load_units())) as u32;
        self.customer_of_ordinal(unit, ordinal(dice))
    }

    /// One of the accounts of a customer; all are alike.
    #[must_use]
    pub fn draw_account_of(&self, customer: u32, dice: &mut Dice) -> i64 {
        let ids = self.accounts_of(customer);
        ids.start + dice.below((ids.end - ids.start) as u64) as i64
    }

    /// The customer of a weight's ordinal, 0 to 999, in a thousand.
    #[must_use]
    pub fn customer_of_ordinal(&self, unit: u32, ordinal: u32) -> u32 {
        unit * LOAD_UNIT + (ordinal * SCATTER + shift(unit)) % LOAD_UNIT
    }

    /// The ordinal of a customer in his thousand: the higher, the more often he is chosen.
    #[must_use]
    pub fn ordinal_of_customer(&self, customer: u32) -> u32 {
        let (unit, place) = (customer / LOAD_UNIT, customer % LOAD_UNIT);
        (place + LOAD_UNIT - shift(unit)) * GATHER % LOAD_UNIT
    }
}

/// The ordinal of a customer in a thousand, by weight.
pub(crate) fn ordinal(dice: &mut Dice) -> u32 {
    // The share below x is 0.3 x + 0.7 x^2; this is its inverse.
    let share = ((0.09 + 2.8 * dice.unit()).sqrt() - 0.3) / 1.4;
    ((share * f64::from(LOAD_UNIT)) as u32).min(LOAD_UNIT - 1)
}

/// Where the customer of ordinal 0 stands in a thousand.
fn shift(unit: u32) -> u32 {
    (mix(u64::from(unit)) % u64::from(LOAD_UNIT)) as u32
}

/// A number below `limit`, some more often than others: two uniform numbers whose bits are joined
/// by OR, the second one below `second_below` and then shifted.
///
/// # Panics
/// A limit is 0.
#[must_use]
pub fn joined(dice: &mut Dice, limit: u64, second_below: u64, shift: u32) -> u64 {
    let first = dice.below(limit);
    let second = dice.below(second_below) << shift;
    (first | second) % limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_lead_back_to_customers() {
        let house = House::new(4_000, 1, 5);
        for customer in 0..4_000 {
            let ordinal = house.ordinal_of_customer(customer);
            assert!(ordinal < LOAD_UNIT);
            let back = house.customer_of_ordinal(customer / LOAD_UNIT, ordinal);
            assert_eq!(back, customer);
        }
    }

    #[test]
    fn customers_are_chosen_by_weight() {
        let (house, mut dice) = (House::new(1_000, 1, 5), Dice::new(5, 5));
        let (mut tiers, mut tenths) = ([0_u32; 4], [0_u32; 10]);
        let draws = 400_000;
        for _ in 0..draws {
            let customer = house.draw_customer(&mut dice);
            tiers[usize::from(house.tier(customer))] += 1;
            tenths[house.ordinal_of_customer(customer) as usize / 100] += 1;
        }
        let share = |count: u32| f64::from(count) / f64::from(draws);
        // Published for the tiers: 10, 60 and 30 % of the accesses.
        for (tier, expected) in [(1, 0.088), (2, 0.60), (3, 0.312)] {
            assert!((share(tiers[tier]) - expected).abs() < 0.005, "{tiers:?}");
        }
        assert!((share(tenths[9]) - 0.163).abs() < 0.004, "{tenths:?}");
        assert!((share(tenths[0]) - 0.037).abs() < 0.004, "{tenths:?}");
    }
}
