//! The data set: its size and its customers.

use super::name_lists::name_lists;
use super::names::{self, AffinePermutation};
use crate::{scale, skew};
use workload::random::{SeededRng, derive};

/// Customers per load unit, the granularity of a data set's size.
pub const LOAD_UNIT: u32 = scale::LOAD_UNIT as u32;

/// Customers of the largest data set: company names are unique up to here.
pub const MAX_CUSTOMERS: u32 = scale::MAX_CUSTOMERS as u32;

/// Initial trades per customer and trading day, times ten: the published 17,280 trades per customer
/// in 300 days.
const TRADES_PER_CUSTOMER_AND_DAY_TENTHS: u64 = 576;

/// A brokerage data set of a given size. It is a small value: every row follows from it by
/// calculation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DataSet {
    customers: u32,
    trade_days: u32,
    seed: u64,
}

/// The attributes that are drawn at random, each from a stream of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RandomField {
    TaxId,
    CustomerName,
    Broker,
    Permission,
    PermittedPerson,
    Basket,
    TaxStatus,
    TaxRates,
    WatchList,
    Prices,
    Company,
    Security,
    Customer,
    Address,
    Financials,
    News,
    Trades,
    Account,
}

impl DataSet {
    /// A data set of `customers` customers, a multiple of 1,000 up to [`MAX_CUSTOMERS`], with the
    /// trades of `trade_days` days.
    ///
    /// # Panics
    /// The number of customers is none of these, or `trade_days` is 0.
    #[must_use]
    pub fn new(customers: u32, trade_days: u32, seed: u64) -> Self {
        assert!(
            customers > 0 && customers.is_multiple_of(LOAD_UNIT) && customers <= MAX_CUSTOMERS,
            "{customers} customers: use whole thousands up to {MAX_CUSTOMERS}"
        );
        assert!(trade_days > 0, "there must be at least one trading day");
        Self {
            customers,
            trade_days,
            seed,
        }
    }

    /// Number of customers, in whole thousands.
    #[must_use]
    pub fn customers(&self) -> u32 {
        self.customers
    }

    /// Trading days covered by the initial trades.
    #[must_use]
    pub fn trade_days(&self) -> u32 {
        self.trade_days
    }

    /// The seed of every row.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Number of load units (1,000 customers each).
    #[must_use]
    pub fn load_units(&self) -> u32 {
        self.customers / LOAD_UNIT
    }

    /// Initial trades per load unit.
    #[must_use]
    pub fn trades_per_unit(&self) -> u64 {
        u64::from(LOAD_UNIT) * u64::from(self.trade_days) * TRADES_PER_CUSTOMER_AND_DAY_TENTHS / 10
    }

    /// Initial trades per load unit and trading day.
    #[must_use]
    pub fn trades_per_unit_and_day() -> u64 {
        u64::from(LOAD_UNIT) * TRADES_PER_CUSTOMER_AND_DAY_TENTHS / 10
    }

    /// Number of initial trades. Their ids are 1 to this, load unit by load unit, and within each
    /// in the order of entry.
    #[must_use]
    pub fn built_trades(&self) -> u64 {
        self.trades_per_unit() * u64::from(self.load_units())
    }

    /// The id of a customer counted from 0.
    #[must_use]
    pub fn customer_id(&self, customer: u32) -> i64 {
        i64::from(customer) + 1
    }

    /// The customer's unique tax id.
    #[must_use]
    pub fn tax_id(&self, customer: u32) -> String {
        let mut text = String::with_capacity(12);
        self.write_tax_id(customer, &mut text);
        text
    }

    /// Appends [`Self::tax_id`] to a text.
    pub fn write_tax_id(&self, customer: u32, text: &mut String) {
        const NUMBERS: AffinePermutation =
            AffinePermutation::new(10_000_000_000, 7_393_913_547, 1_203_040_877);
        let letters = self.random_bits(RandomField::TaxId, customer);
        let number = NUMBERS.number(u64::from(customer));
        let letter = |shift: u32| char::from(b'A' + (letters >> shift & 0xff) as u8 % 26);
        names::push_digits(text, number / 10_000_000, 3);
        text.push(letter(0));
        text.push(letter(8));
        names::push_digits(text, number % 10_000_000, 7);
    }

    /// The customer's last and first name.
    #[must_use]
    pub fn customer_names(&self, customer: u32) -> (&'static str, &'static str) {
        let random_bits = self.random_bits(RandomField::CustomerName, customer);
        let name_lists = name_lists();
        let last = names::pick(&name_lists.last_names, random_bits as u32);
        let first = names::pick(&name_lists.first_names, (random_bits >> 32) as u32);
        (last, first)
    }

    /// Whether the customer has a woman's name.
    #[must_use]
    pub fn is_woman(&self, customer: u32) -> bool {
        self.customer_names(customer).1.ends_with('a')
    }

    /// The tier of a customer, 1 to 3, for 20, 60 and 20 % of the customers. Higher tiers trade
    /// more often.
    #[must_use]
    pub fn tier(&self, customer: u32) -> u8 {
        match skew::ordinal_of_customer(customer) {
            0..200 => 1,
            200..800 => 2,
            _ => 3,
        }
    }

    /// The id of the customer's watch list.
    #[must_use]
    pub fn watch_list_id(&self, customer: u32) -> i64 {
        self.customer_id(customer)
    }

    /// 64 pseudo-random bits, a function of the seed, the attribute and `index`.
    pub(crate) fn random_bits(&self, of: RandomField, index: impl Into<u64>) -> u64 {
        derive(self.seed ^ (of as u64) << 48, index.into())
    }

    /// A customer, by weight ([`skew`]). Load units have equal weight.
    #[must_use]
    pub fn draw_customer(&self, rng: &mut SeededRng) -> u32 {
        let unit = rng.below(u64::from(self.load_units())) as u32;
        skew::customer_of_ordinal(unit, skew::ordinal(rng))
    }

    /// One of the customer's accounts, with equal probability.
    #[must_use]
    pub fn draw_account_of(&self, customer: u32, rng: &mut SeededRng) -> i64 {
        let ids = self.accounts_of(customer);
        ids.start + rng.below((ids.end - ids.start) as u64) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn trade_counts_are_those_published() {
        let data_set = DataSet::new(5_000, 300, 1);
        assert_eq!(data_set.built_trades(), 17_280 * 5_000);
        assert_eq!(DataSet::trades_per_unit_and_day() * 300, 17_280_000);
        assert_eq!(DataSet::new(1_000, 1, 1).built_trades(), 57_600);
    }

    #[test]
    fn no_two_customers_have_the_same_tax_id() {
        let data_set = DataSet::new(100_000, 1, 2);
        let ids: HashSet<String> = (0..100_000).map(|one| data_set.tax_id(one)).collect();
        assert_eq!(ids.len(), 100_000);
        assert!(ids.iter().all(|id| id.len() == 12));
    }

    #[test]
    fn tiers_have_their_shares() {
        let data_set = DataSet::new(3_000, 1, 3);
        for unit in 0..3 {
            let mut counts = [0; 4];
            let customers = unit * LOAD_UNIT..(unit + 1) * LOAD_UNIT;
            customers.for_each(|one| counts[usize::from(data_set.tier(one))] += 1);
            assert_eq!(counts, [0, 200, 600, 200]);
        }
    }

    #[test]
    #[should_panic(expected = "whole thousands")]
    fn odd_sizes_are_refused() {
        let _ = DataSet::new(1_500, 1, 1);
    }

    #[test]
    fn customers_are_chosen_by_weight() {
        let (data_set, mut rng) = (DataSet::new(1_000, 1, 5), SeededRng::new(5, 5));
        let (mut tiers, mut tenths) = ([0_u32; 4], [0_u32; 10]);
        let draws = 400_000;
        for _ in 0..draws {
            let customer = data_set.draw_customer(&mut rng);
            tiers[usize::from(data_set.tier(customer))] += 1;
            tenths[skew::ordinal_of_customer(customer) as usize / 100] += 1;
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
