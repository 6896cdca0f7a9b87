//! How often each customer is chosen, and other random numbers that are not uniform.

use crate::scale;
use workload::random::{SeededRng, mix};

/// Customers per load unit.
const LOAD_UNIT: u32 = scale::LOAD_UNIT as u32;

/// Step from one ordinal to the next customer number, and its inverse modulo 1,000.
const SCATTER: u32 = 387;
const GATHER: u32 = 323;

/// The ordinal of a customer in its load unit: the higher, the more often chosen.
#[must_use]
pub fn ordinal_of_customer(customer: u32) -> u32 {
    let (unit, place) = (customer / LOAD_UNIT, customer % LOAD_UNIT);
    (place + LOAD_UNIT - shift(unit)) * GATHER % LOAD_UNIT
}

/// The customer with the ordinal 0 to 999 in a load unit.
#[must_use]
pub fn customer_of_ordinal(unit: u32, ordinal: u32) -> u32 {
    unit * LOAD_UNIT + (ordinal * SCATTER + shift(unit)) % LOAD_UNIT
}

/// A random ordinal within a load unit, by weight. The weight rises linearly with the ordinal from
/// 0.3 to 1.7 times the average; a permutation scatters the ordinals over the customer numbers.
#[must_use]
pub fn ordinal(rng: &mut SeededRng) -> u32 {
    // The distribution function is 0.3 x + 0.7 x^2; this is its inverse.
    let share = ((0.09 + 2.8 * rng.unit()).sqrt() - 0.3) / 1.4;
    ((share * f64::from(LOAD_UNIT)) as u32).min(LOAD_UNIT - 1)
}

/// The customer number of ordinal 0 in a load unit.
fn shift(unit: u32) -> u32 {
    (mix(u64::from(unit)) % u64::from(LOAD_UNIT)) as u32
}

/// A non-uniform random number below `limit`: the bitwise OR of two uniform numbers, the second one
/// below `second_below` and then shifted.
///
/// # Panics
/// A limit is 0.
#[must_use]
pub fn joined(rng: &mut SeededRng, limit: u64, second_below: u64, shift: u32) -> u64 {
    let first = rng.below(limit);
    let second = rng.below(second_below) << shift;
    (first | second) % limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_lead_back_to_customers() {
        for customer in 0..4_000 {
            let ordinal = ordinal_of_customer(customer);
            assert!(ordinal < LOAD_UNIT);
            let back = customer_of_ordinal(customer / LOAD_UNIT, ordinal);
            assert_eq!(back, customer);
        }
    }
}
