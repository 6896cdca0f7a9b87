//! Accounts, their brokers, and who may trade on them.

use super::data_set::{DataSet, LOAD_UNIT, RandomField};
use super::name_lists::name_lists;
use super::names::{self, AffinePermutation};
use std::ops::Range;
use workload::permutation::Shuffle;
use workload::random::mix;

/// Accounts per load unit (1,000 customers): on average 2.5 per customer of tier 1, 5 of tier 2,
/// 7.5 of tier 3.
pub const ACCOUNTS_PER_UNIT: u32 = 5_000;

/// Brokers per load unit (1,000 customers).
pub const BROKERS_PER_UNIT: u32 = 10;

/// Account ids reserved per customer.
const MAX_ACCOUNTS: i64 = 10;

/// Least and most securities traded on an account; ten on average.
pub const BASKET: std::ops::RangeInclusive<u32> = 5..=15;

/// Access code of an account's owner.
pub const OWNER_ACCESS: &str = "0000";

/// Access codes of the first and the second other person.
const OTHER_ACCESS: [&str; 2] = ["0001", "0011"];

/// A person other than the owner who may trade on an account: another customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permitted {
    /// Customer number, counted from 0.
    pub customer: u32,
    /// The person's tax id.
    pub tax_id: String,
    /// The person's last name.
    pub last_name: &'static str,
    /// The person's first name.
    pub first_name: &'static str,
    /// Access code, one of those in `account_permission.access`.
    pub access: &'static str,
}

impl DataSet {
    /// Number of accounts of all customers.
    #[must_use]
    pub fn accounts(&self) -> u64 {
        u64::from(self.load_units()) * u64::from(ACCOUNTS_PER_UNIT)
    }

    /// The ids of a customer's accounts: 1 to 4 in tier 1, 2 to 8 in tier 2, 5 to 10 in tier 3.
    #[must_use]
    pub fn accounts_of(&self, customer: u32) -> Range<i64> {
        let first = i64::from(customer) * MAX_ACCOUNTS + 1;
        first..first + i64::from(self.account_count(customer))
    }

    /// Number of accounts of a customer.
    #[must_use]
    pub fn account_count(&self, customer: u32) -> u32 {
        // Each count is equally likely; the last ones of a tier give the averages 2.5, 5 and 7.5.
        match crate::skew::ordinal_of_customer(customer) {
            ordinal @ 0..200 => 1 + ordinal % 4,
            ordinal @ 200..800 => 2 + (ordinal - 200 + 1) % 7,
            ordinal => 5 + (ordinal - 800 + 2) % 6,
        }
    }

    /// The owner of an account, counted from 0.
    #[must_use]
    pub fn customer_of_account(&self, account: i64) -> u32 {
        ((account - 1) / MAX_ACCOUNTS) as u32
    }

    /// How the gains of an account are taxed: 0 not at all, 1 withheld by the broker, 2 paid by the
    /// customer. Shares: 20, 50 and 30 %.
    #[must_use]
    pub fn tax_status(&self, account: i64) -> u8 {
        match names::below(
            self.random_bits(RandomField::TaxStatus, account as u64) as u32,
            10,
        ) {
            0..2 => 0,
            2..7 => 1,
            _ => 2,
        }
    }

    /// Number of brokers, one per hundred customers.
    #[must_use]
    pub fn brokers(&self) -> u32 {
        self.load_units() * BROKERS_PER_UNIT
    }

    /// The id of an account's broker, one of those of the same load unit.
    #[must_use]
    pub fn broker_of_account(&self, account: i64) -> i64 {
        let unit = self.customer_of_account(account) / LOAD_UNIT;
        let random_bits = self.random_bits(RandomField::Broker, account as u64) as u32;
        let number = names::below(random_bits, BROKERS_PER_UNIT as usize);
        i64::from(unit * BROKERS_PER_UNIT) + number as i64 + 1
    }

    /// The id of a broker counted from 0.
    #[must_use]
    pub fn broker_id(&self, broker: u32) -> i64 {
        i64::from(broker) + 1
    }

    /// The unique name of the broker with this id.
    #[must_use]
    pub fn broker_name(&self, id: i64) -> String {
        let mut text = String::with_capacity(49);
        self.write_broker_name(id, &mut text);
        text
    }

    /// Appends [`Self::broker_name`] to a text.
    pub fn write_broker_name(&self, id: i64, text: &mut String) {
        // First name, initial and last name: more combinations than brokers.
        const ORDER: AffinePermutation = AffinePermutation::new(1_000_000, 387_411, 20_021);
        let name_lists = name_lists();
        let number = ORDER.number((id - 1) as u64);
        let (last, rest) = (number % 500, number / 500);
        let (first, initial) = (rest % 100, rest / 100);
        text.push_str(&name_lists.first_names[first as usize]);
        text.push(' ');
        text.push(char::from(b'A' + initial as u8));
        text.push_str(". ");
        text.push_str(&name_lists.last_names[last as usize]);
    }

    /// Who may trade on an account besides its owner: nobody on 60 % of the accounts, one person on
    /// 38 %, two on 2 %.
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

    /// The customers who may trade on an account besides its owner.
    #[must_use]
    pub fn permitted_customers(&self, account: i64) -> [Option<u32>; 2] {
        let count = match names::below(
            self.random_bits(RandomField::Permission, account as u64) as u32,
            100,
        ) {
            0..60 => return [None, None],
            60..98 => 1,
            _ => 2,
        };
        let random_bits = self.random_bits(RandomField::PermittedPerson, account as u64);
        let owner = self.customer_of_account(account);
        let all = self.customers();
        // Distances from the owner: neither 0 nor equal.
        let first = 1 + names::below(random_bits as u32, all as usize - 2) as u32;
        let second =
            first + 1 + names::below((random_bits >> 32) as u32, (all - 1 - first) as usize) as u32;
        let at = |distance: u32| {
            Some(((u64::from(owner) + u64::from(distance)) % u64::from(all)) as u32)
        };
        [at(first), if count == 2 { at(second) } else { None }]
    }

    /// Access code of the person at this index of [`Self::permitted_customers`].
    #[must_use]
    pub fn permitted_access(&self, place: usize) -> &'static str {
        OTHER_ACCESS[place]
    }

    /// The securities traded on an account, counted from 0: 5 to 15 different ones.
    #[must_use]
    pub fn basket(&self, account: i64) -> Vec<u32> {
        let mut basket = Vec::with_capacity(*BASKET.end() as usize);
        self.fill_basket(account, &mut basket);
        basket
    }

    /// Appends [`Self::basket`] to a list.
    pub fn fill_basket(&self, account: i64, basket: &mut Vec<u32>) {
        let random_bits = self.random_bits(RandomField::Basket, account as u64);
        let sizes = (BASKET.end() - BASKET.start() + 1) as usize;
        let count = BASKET.start() + names::below(random_bits as u32, sizes) as u32;
        let order = Shuffle::new(u64::from(self.securities()), mix(random_bits));
        basket.extend((0..u64::from(count)).map(|slot| order.at(slot) as u32));
    }

    /// The securities on a customer's watch list, counted from 0: 50 to 150 different ones.
    pub fn watched(&self, customer: u32) -> impl Iterator<Item = u32> + use<> {
        let random_bits = self.random_bits(RandomField::WatchList, customer);
        let count = 50 + names::below(random_bits as u32, 101) as u64;
        let order = Shuffle::new(u64::from(self.securities()), mix(random_bits));
        (0..count).map(move |slot| order.at(slot) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_thousand_has_five_thousand_accounts_by_tier() {
        let data_set = DataSet::new(3_000, 1, 9);
        for unit in 0..3 {
            let mut by_tier = [0_u32; 4];
            for customer in unit * LOAD_UNIT..(unit + 1) * LOAD_UNIT {
                let accounts = data_set.accounts_of(customer);
                let count = (accounts.end - accounts.start) as u32;
                let tier = data_set.tier(customer);
                assert!([1..=4, 2..=8, 5..=10][usize::from(tier) - 1].contains(&count));
                by_tier[usize::from(tier)] += count;
                assert!(
                    accounts
                        .clone()
                        .all(|id| data_set.customer_of_account(id) == customer)
                );
            }
            assert_eq!(by_tier, [0, 500, 3_000, 1_500]);
        }
    }

    #[test]
    fn brokers_have_names_of_their_own() {
        let data_set = DataSet::new(2_000_000, 1, 9);
        let names: HashSet<String> = (1..=20_000).map(|id| data_set.broker_name(id)).collect();
        assert_eq!(data_set.brokers(), 20_000);
        assert_eq!(names.len(), 20_000);
    }

    #[test]
    fn others_may_trade_on_two_accounts_in_five() {
        let data_set = DataSet::new(1_000, 1, 9);
        let mut counts = [0_u32; 3];
        for account in (0..1_000).flat_map(|customer| data_set.accounts_of(customer)) {
            let others = data_set.permitted(account);
            counts[others.len()] += 1;
            let mut all: HashSet<u32> = others.iter().map(|one| one.customer).collect();
            all.insert(data_set.customer_of_account(account));
            assert_eq!(all.len(), others.len() + 1);
        }
        assert!((2_850..3_150).contains(&counts[0]), "{counts:?}");
        assert!((1_750..2_050).contains(&counts[1]), "{counts:?}");
        assert!((60..150).contains(&counts[2]), "{counts:?}");
    }

    #[test]
    fn baskets_and_watch_lists_hold_different_securities() {
        let data_set = DataSet::new(1_000, 1, 9);
        let (mut held, mut watched) = (0, 0);
        for customer in 0..1_000 {
            let list: Vec<u32> = data_set.watched(customer).collect();
            let different: HashSet<u32> = list.iter().copied().collect();
            assert_eq!(different.len(), list.len());
            assert!((50..=150).contains(&list.len()));
            assert!(list.iter().all(|&one| one < data_set.securities()));
            watched += list.len();
            for account in data_set.accounts_of(customer) {
                let basket = data_set.basket(account);
                let different: HashSet<u32> = basket.iter().copied().collect();
                assert_eq!(different.len(), basket.len());
                held += basket.len();
            }
        }
        assert!((96_000..104_000).contains(&watched), "{watched}");
        assert!((49_000..51_000).contains(&held), "{held}");
    }
}
