//! Accounts, the brokers who look after them, and who may trade on them.

use super::identity::{Chance, House, LOAD_UNIT};
use super::names::{self, Numbering};
use super::words::words;
use std::ops::Range;
use workload::mail::permutation::Shuffle;
use workload::random::mix;

/// Accounts of a thousand customers: 2.5 of each in tier 1, 5 in tier 2, 7.5 in tier 3.
pub const ACCOUNTS_PER_UNIT: u32 = 5_000;

/// Brokers of a thousand customers.
pub const BROKERS_PER_UNIT: u32 = 10;

/// Ids of accounts are kept free for so many of each customer.
const MOST_ACCOUNTS: i64 = 10;

/// The fewest and the most securities that an account deals in; ten on average.
pub const BASKET: std::ops::RangeInclusive<u32> = 5..=15;

/// Access of the owner of an account.
pub const OWNER_ACCESS: &str = "0000";

/// Access of the first and the second other person.
const OTHER_ACCESS: [&str; 2] = ["0001", "0011"];

/// Someone besides the owner who may trade on an account: another customer of the house.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permitted {
    /// Who, counted from 0.
    pub customer: u32,
    /// Number for the tax office.
    pub tax_id: String,
    /// Last name.
    pub last_name: &'static str,
    /// First name.
    pub first_name: &'static str,
    /// What the person may do.
    pub access: &'static str,
}

impl House {
    /// Accounts of all customers.
    #[must_use]
    pub fn accounts(&self) -> u64 {
        u64::from(self.load_units()) * u64::from(ACCOUNTS_PER_UNIT)
    }

    /// The ids of a customer's accounts: 1 to 4 in tier 1, 2 to 8 in tier 2, 5 to 10 in tier 3.
    #[must_use]
    pub fn accounts_of(&self, customer: u32) -> Range<i64> {
        let first = i64::from(customer) * MOST_ACCOUNTS + 1;
        first..first + i64::from(self.account_count(customer))
    }

    /// How many accounts a customer has.
    #[must_use]
    pub fn account_count(&self, customer: u32) -> u32 {
        // Each number comes equally often; the last ones of a tier are those that make the
        // averages 2.5, 5 and 7.5.
        match self.ordinal_of_customer(customer) {
            ordinal @ 0..200 => 1 + ordinal % 4,
            ordinal @ 200..800 => 2 + (ordinal - 200 + 1) % 7,
            ordinal => 5 + (ordinal - 800 + 2) % 6,
        }
    }

    /// The customer whose account this is, counted from 0.
    #[must_use]
    pub fn customer_of_account(&self, account: i64) -> u32 {
        ((account - 1) / MOST_ACCOUNTS) as u32
    }

    /// How the gains of an account are taxed: 0 not at all, 1 by the house, which keeps the tax
    /// back, 2 by the customer. Shares 20, 50 and 30 %.
    #[must_use]
    pub fn tax_status(&self, account: i64) -> u8 {
        match names::below(self.chance(Chance::TaxStatus, account as u64) as u32, 10) {
            0..2 => 0,
            2..7 => 1,
            _ => 2,
        }
    }

    /// Brokers of the house.
    #[must_use]
    pub fn brokers(&self) -> u32 {
        self.load_units() * BROKERS_PER_UNIT
    }

    /// The id of the broker of an account: one of those of the same thousand customers.
    #[must_use]
    pub fn broker_of_account(&self, account: i64) -> i64 {
        let unit = self.customer_of_account(account) / LOAD_UNIT;
        let chance = self.chance(Chance::Broker, account as u64) as u32;
        let number = names::below(chance, BROKERS_PER_UNIT as usize);
        i64::from(unit * BROKERS_PER_UNIT) + number as i64 + 1
    }

    /// The id of a broker, who is counted from 0.
    #[must_use]
    pub fn broker_id(&self, broker: u32) -> i64 {
        i64::from(broker) + 1
    }

    /// The name of the broker of this id; no other has the same.
    #[must_use]
    pub fn broker_name(&self, id: i64) -> String {
        let mut text = String::with_capacity(49);
        self.write_broker_name(id, &mut text);
        text
    }

    /// Appends [`Self::broker_name`].
    pub fn write_broker_name(&self, id: i64, text: &mut String) {
        // First names x initials x last names, of which there are more than brokers.
        const ORDER: Numbering = Numbering::new(1_000_000, 387_411, 20_021);
        let words = words();
        let number = ORDER.number((id - 1) as u64);
        let (last, rest) = (number % 500, number / 500);
        let (first, initial) = (rest % 100, rest / 100);
        text.push_str(&words.first_names[first as usize]);
        text.push(' ');
        text.push(char::from(b'A' + initial as u8));
        text.push_str(". ");
        text.push_str(&words.last_names[last as usize]);
    }

    /// Who may trade on an account besides its owner: nobody on 60 % of them, one person on 38 %,
    /// two on 2 %.
    #[must_use]
    pub fn permitted(&self, account: i64) -> Vec<Permitted> {
        let person = |(number, customer)| {
            let (last_name, first_name) = self.customer_names(customer);
            Permitted {
                customer,
                tax_id: self.tax_id(customer),
                last_name,
                first_name,
                access: OTHER_ACCESS[number],
            }
        };
        let all = self.permitted_customers(account);
        all.into_iter().flatten().enumerate().map(person).collect()
    }

    /// Which customers may trade on an account besides its owner.
    #[must_use]
    pub fn permitted_customers(&self, account: i64) -> [Option<u32>; 2] {
        let count = match names::below(self.chance(Chance::Permission, account as u64) as u32, 100)
        {
            0..60 => return [None, None],
            60..98 => 1,
            _ => 2,
        };
        let chance = self.chance(Chance::PermittedPerson, account as u64);
        let owner = self.customer_of_account(account);
        let all = self.customers();
        // Distances from the owner, neither 0 nor the same.
        let first = 1 + names::below(chance as u32, all as usize - 2) as u32;
        let second =
            first + 1 + names::below((chance >> 32) as u32, (all - 1 - first) as usize) as u32;
        let at = |distance: u32| {
            Some(((u64::from(owner) + u64::from(distance)) % u64::from(all)) as u32)
        };
        [at(first), if count == 2 { at(second) } else { None }]
    }

    /// What a person who is not the owner may do, by the place in [`Self::permitted_customers`].
    #[must_use]
    pub fn permitted_access(&self, place: usize) -> &'static str {
        OTHER_ACCESS[place]
    }

    /// The securities that an account deals in, counted from 0: 5 to 15 different ones.
    #[must_use]
    pub fn basket(&self, account: i64) -> Vec<u32> {
        let mut basket = Vec::with_capacity(*BASKET.end() as usize);
        self.fill_basket(account, &mut basket);
        basket
    }

    /// Appends [`Self::basket`].
    pub fn fill_basket(&self, account: i64, basket: &mut Vec<u32>) {
        let chance = self.chance(Chance::Basket, account as u64);
        let sizes = (BASKET.end() - BASKET.start() + 1) as usize;
        let count = BASKET.start() + names::below(chance as u32, sizes) as u32;
        let order = Shuffle::new(u64::from(self.securities()), mix(chance));
        basket.extend((0..u64::from(count)).map(|slot| order.at(slot) as u32));
    }

    /// The securities on the watch list of a customer, counted from 0: 50 to 150 different ones.
    pub fn watched(&self, customer: u32) -> impl Iterator<Item = u32> + use<> {
        let chance = self.chance(Chance::WatchList, customer);
        let count = 50 + names::below(chance as u32, 101) as u64;
        let order = Shuffle::new(u64::from(self.securities()), mix(chance));
        (0..count).map(move |slot| order.at(slot) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_thousand_has_five_thousand_accounts_by_tier() {
        let house = House::new(3_000, 1, 9);
        for unit in 0..3 {
            let mut by_tier = [0_u32; 4];
            for customer in unit * LOAD_UNIT..(unit + 1) * LOAD_UNIT {
                let accounts = house.accounts_of(customer);
                let count = (accounts.end - accounts.start) as u32;
                let tier = house.tier(customer);
                assert!([1..=4, 2..=8, 5..=10][usize::from(tier) - 1].contains(&count));
                by_tier[usize::from(tier)] += count;
                assert!(
                    accounts
                        .clone()
                        .all(|id| house.customer_of_account(id) == customer)
                );
            }
            assert_eq!(by_tier, [0, 500, 3_000, 1_500]);
        }
    }

    #[test]
    fn brokers_have_names_of_their_own() {
        let house = House::new(2_000_000, 1, 9);
        let names: HashSet<String> = (1..=20_000).map(|id| house.broker_name(id)).collect();
        assert_eq!(house.brokers(), 20_000);
        assert_eq!(names.len(), 20_000);
    }

    #[test]
    fn others_may_trade_on_two_accounts_in_five() {
        let house = House::new(1_000, 1, 9);
        let mut counts = [0_u32; 3];
        for account in (0..1_000).flat_map(|customer| house.accounts_of(customer)) {
            let others = house.permitted(account);
            counts[others.len()] += 1;
            let mut all: HashSet<u32> = others.iter().map(|one| one.customer).collect();
            all.insert(house.customer_of_account(account));
            assert_eq!(all.len(), others.len() + 1);
        }
        assert!((2_850..3_150).contains(&counts[0]), "{counts:?}");
        assert!((1_750..2_050).contains(&counts[1]), "{counts:?}");
        assert!((60..150).contains(&counts[2]), "{counts:?}");
    }

    #[test]
    fn baskets_and_watch_lists_hold_different_securities() {
        let house = House::new(1_000, 1, 9);
        let (mut held, mut watched) = (0, 0);
        for customer in 0..1_000 {
            let list: Vec<u32> = house.watched(customer).collect();
            let different: HashSet<u32> = list.iter().copied().collect();
            assert_eq!(different.len(), list.len());
            assert!((50..=150).contains(&list.len()));
            assert!(list.iter().all(|&one| one < house.securities()));
            watched += list.len();
            for account in house.accounts_of(customer) {
                let basket = house.basket(account);
                let different: HashSet<u32> = basket.iter().copied().collect();
                assert_eq!(different.len(), basket.len());
                held += basket.len();
            }
        }
        assert!((96_000..104_000).contains(&watched), "{watched}");
        assert!((49_000..51_000).contains(&held), "{held}");
    }
}
