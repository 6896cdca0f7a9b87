//! The house itself: its size and its customers.

use super::names::{self, Numbering};
use super::words::words;
use workload::brokerage::scale;
use workload::random::derive;

/// Customers come in units of so many.
pub const LOAD_UNIT: u32 = scale::LOAD_UNIT as u32;

/// The largest house: names of companies are then still all different.
pub const MOST_CUSTOMERS: u32 = scale::MOST_CUSTOMERS as u32;

/// Trades per customer and day in the initial books, times ten: the published 17,280 trades of a
/// customer in 300 days.
const TRADES_PER_CUSTOMER_AND_DAY_TENTHS: u64 = 576;

/// A house of a size. It is a value: nothing about it is kept anywhere, everything follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct House {
    customers: u32,
    trade_days: u32,
    seed: u64,
}

/// What is drawn by chance, so that each has a stream of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chance {
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

impl House {
    /// A house of `customers` customers, a multiple of 1,000 up to [`MOST_CUSTOMERS`], whose books
    /// hold the trades of `trade_days` days.
    ///
    /// # Panics
    /// The size is none of these.
    #[must_use]
    pub fn new(customers: u32, trade_days: u32, seed: u64) -> Self {
        assert!(
            customers > 0 && customers.is_multiple_of(LOAD_UNIT) && customers <= MOST_CUSTOMERS,
            "a house of {customers} customers: give whole thousands up to {MOST_CUSTOMERS}"
        );
        assert!(trade_days > 0, "books hold the trades of a day at least");
        Self {
            customers,
            trade_days,
            seed,
        }
    }

    /// Customers.
    #[must_use]
    pub fn customers(&self) -> u32 {
        self.customers
    }

    /// Days whose trades the initial books hold.
    #[must_use]
    pub fn trade_days(&self) -> u32 {
        self.trade_days
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Thousands of customers.
    #[must_use]
    pub fn load_units(&self) -> u32 {
        self.customers / LOAD_UNIT
    }

    /// Trades of a thousand customers in the initial books.
    #[must_use]
    pub fn trades_per_unit(&self) -> u64 {
        u64::from(LOAD_UNIT) * u64::from(self.trade_days) * TRADES_PER_CUSTOMER_AND_DAY_TENTHS / 10
    }

    /// Trades of a thousand customers on one day.
    #[must_use]
    pub fn trades_per_unit_and_day() -> u64 {
        u64::from(LOAD_UNIT) * TRADES_PER_CUSTOMER_AND_DAY_TENTHS / 10
    }

    /// Trades in the initial books. Their ids are 1 to this; unit after unit, and within each in
    /// the order in which they were entered.
    #[must_use]
    pub fn built_trades(&self) -> u64 {
        self.trades_per_unit() * u64::from(self.load_units())
    }

    /// The id of a customer, who is counted from 0.
    #[must_use]
    pub fn customer_id(&self, customer: u32) -> i64 {
        i64::from(customer) + 1
    }

    /// The customer of an id.
    #[must_use]
    pub fn customer_of_id(&self, id: i64) -> Option<u32> {
        let customer = u32::try_from(id.checked_sub(1)?).ok()?;
        (customer < self.customers).then_some(customer)
    }

    /// The customer's number for the tax office; no other customer has the same.
    #[must_use]
    pub fn tax_id(&self, customer: u32) -> String {
        let mut text = String::with_capacity(12);
        self.write_tax_id(customer, &mut text);
        text
    }

    /// Appends [`Self::tax_id`].
    pub fn write_tax_id(&self, customer: u32, text: &mut String) {
        const NUMBERS: Numbering = Numbering::new(10_000_000_000, 7_393_913_547, 1_203_040_877);
        let letters = self.chance(Chance::TaxId, customer);
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
        let chance = self.chance(Chance::CustomerName, customer);
        let words = words();
        let last = names::pick(&words.last_names, chance as u32);
        let first = names::pick(&words.first_names, (chance >> 32) as u32);
        (last, first)
    }

    /// Whether the customer's name is a woman's.
    #[must_use]
    pub fn is_woman(&self, customer: u32) -> bool {
        self.customer_names(customer).1.ends_with('a')
    }

    /// The tier of a customer, 1 to 3: one in five is in tier 1, three in five in tier 2. Those of
    /// higher tiers trade more often.
    #[must_use]
    pub fn tier(&self, customer: u32) -> u8 {
        match self.ordinal_of_customer(customer) {
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

    /// 64 bits that belong to `index` and nothing else.
    pub(crate) fn chance(&self, of: Chance, index: impl Into<u64>) -> u64 {
        derive(self.seed ^ (of as u64) << 48, index.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_house_counts_its_trades_as_published() {
        let house = House::new(5_000, 300, 1);
        assert_eq!(house.built_trades(), 17_280 * 5_000);
        assert_eq!(House::trades_per_unit_and_day() * 300, 17_280_000);
        assert_eq!(House::new(1_000, 1, 1).built_trades(), 57_600);
    }

    #[test]
    fn no_two_customers_have_the_same_tax_id() {
        let house = House::new(100_000, 1, 2);
        let ids: HashSet<String> = (0..100_000).map(|one| house.tax_id(one)).collect();
        assert_eq!(ids.len(), 100_000);
        assert!(ids.iter().all(|id| id.len() == 12));
    }

    #[test]
    fn tiers_have_their_shares() {
        let house = House::new(3_000, 1, 3);
        for unit in 0..3 {
            let mut counts = [0; 4];
            let customers = unit * LOAD_UNIT..(unit + 1) * LOAD_UNIT;
            customers.for_each(|one| counts[usize::from(house.tier(one))] += 1);
            assert_eq!(counts, [0, 200, 600, 200]);
        }
    }

    #[test]
    #[should_panic(expected = "whole thousands")]
    fn odd_sizes_are_refused() {
        let _ = House::new(1_500, 1, 1);
    }
}
