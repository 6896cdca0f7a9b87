//! Who and what is chosen how often: the skew of the published description.

use super::books::Books;
use super::scale::LOAD_UNIT;
use super::schema::{ACCOUNTS, MARKET_DAYS};
use crate::random::{Dice, mix};

/// Milliseconds of a trading day of eight hours.
const DAY_MS: u64 = 8 * 3600 * 1000;

/// A number below `limit`, some more often than others: two uniform numbers whose bits are joined
/// by OR, the second one shifted.
fn joined(dice: &mut Dice, limit: u64, second_below: u64, shift: u32) -> u64 {
    let first = dice.below(limit);
    let second = dice.below(second_below) << shift;
    (first | second) % limit
}

/// A customer, by number from 0. Within each thousand the weight rises linearly from 0.3 to 1.7
/// times the average, in an order that has nothing to do with the numbers.
pub fn customer(dice: &mut Dice, books: &Books) -> u64 {
    let unit = dice.below(books.customers / LOAD_UNIT);
    // The share below x is 0.3 x + 0.7 x^2; this is its inverse.
    let share = ((0.09 + 2.8 * dice.unit()).sqrt() - 0.3) / 1.4;
    let ordinal = ((share * LOAD_UNIT as f64) as u64).min(LOAD_UNIT - 1);
    // 387 has no divisor in common with 1,000, so every ordinal has a number of its own.
    unit * LOAD_UNIT + (ordinal * 387 + mix(unit) % LOAD_UNIT) % LOAD_UNIT
}

/// One of the accounts of a customer, by number from 0.
pub fn account_of(dice: &mut Dice, customer: u64) -> u64 {
    customer * ACCOUNTS + dice.below(ACCOUNTS)
}

/// An account, by its customer.
pub fn account(dice: &mut Dice, books: &Books) -> u64 {
    let customer = customer(dice, books);
    account_of(dice, customer)
}

/// A security; all are alike.
pub fn security(dice: &mut Dice, books: &Books) -> u64 {
    dice.below(books.securities())
}

/// A company; all are alike.
pub fn company(dice: &mut Dice, books: &Books) -> u64 {
    dice.below(books.companies())
}

/// A trade, by rank: a few blocks of 128 much more often than the others.
pub fn trade(dice: &mut Dice, books: &Books) -> u64 {
    joined(dice, books.built_trades, 1 << 16, 7)
}

/// A moment in the trading time of the books, as a share of it, `back_off_hours` of trading before
/// its end at the latest; some minutes much more often than others.
pub fn moment(dice: &mut Dice, books: &Books, back_off_hours: f64) -> f64 {
    let all = u64::from(books.trade_days) * DAY_MS;
    let back_off = ((back_off_hours * 3.6e6) as u64).min(all / 4);
    joined(dice, all - back_off, 1 << 12, 16) as f64 / all as f64
}

/// A day in the history of prices, by number from 0: recent patterns of weeks come more often.
pub fn market_day(dice: &mut Dice) -> u64 {
    const WEEK: u64 = 5;
    joined(dice, MARKET_DAYS / WEEK, 1 << 8, 0) * WEEK + dice.below(WEEK)
}

/// The rank of a trade of an account, `back` trades before its latest one. Accounts trade at random
/// times, each once in so many trades of the house as it has accounts; the same question has the
/// same answer.
#[must_use]
pub fn trade_of_account(books: &Books, account: u64, back: u64) -> u64 {
    let apart = books.accounts();
    let at = back * apart + mix(account ^ mix(back)) % apart;
    books.built_trades.saturating_sub(1 + at)
}

/// The rank of a trade in a security, `back` trades before its latest one.
#[must_use]
pub fn trade_of_security(books: &Books, security: u64, back: u64) -> u64 {
    let apart = books.securities();
    let at = back * apart + mix(!security ^ mix(back)) % apart;
    books.built_trades.saturating_sub(1 + at)
}

/// The security number `slot` on the watch list of a customer, or among the holdings of an account.
#[must_use]
pub fn held_security(books: &Books, owner: u64, slot: u64) -> u64 {
    mix(mix(owner) ^ slot) % books.securities()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Brokerage;

    fn books(customers: u32) -> Books {
        Books::build(&Brokerage {
            customers: Some(customers),
            ..Brokerage::default()
        })
    }

    #[test]
    fn customers_weigh_from_three_tenths_to_seventeen_tenths() {
        let (books, mut dice) = (books(1_000), Dice::new(11, 0));
        let mut counts = vec![0_u32; 1_000];
        let draws = 2_000_000;
        (0..draws).for_each(|_| counts[customer(&mut dice, &books) as usize] += 1);
        counts.sort_unstable();
        let share = |part: &[u32]| f64::from(part.iter().sum::<u32>()) / f64::from(draws);
        assert!(
            (share(&counts[900..]) - 0.163).abs() < 0.005,
            "the hottest tenth"
        );
        assert!(
            (share(&counts[..100]) - 0.037).abs() < 0.005,
            "the coldest tenth"
        );
        assert!(counts[0] > 0);
    }

    #[test]
    fn trades_crowd_in_blocks_as_published() {
        // 10.5 % of the blocks of 128 get 78 % of the hits: for 86 million trades.
        let (books, mut dice) = (books(5_000), Dice::new(12, 0));
        let blocks = books.built_trades.div_ceil(128) as usize;
        let mut counts = vec![0_u32; blocks];
        let draws = 4_000_000;
        (0..draws).for_each(|_| counts[(trade(&mut dice, &books) / 128) as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let hot: u32 = counts[..blocks * 105 / 1000].iter().sum();
        let share = f64::from(hot) / f64::from(draws);
        assert!((share - 0.78).abs() < 0.03, "{share}");
    }

    #[test]
    fn what_is_asked_twice_is_answered_alike_and_lies_in_the_books() {
        let (books, mut dice) = (books(1_000), Dice::new(13, 0));
        for back in 0..books.trades_of_account() {
            let rank = trade_of_account(&books, 77, back);
            assert_eq!(rank, trade_of_account(&books, 77, back));
            assert!(rank < books.built_trades);
        }
        for _ in 0..10_000 {
            assert!(market_day(&mut dice) < MARKET_DAYS);
            assert!((0.0..1.0).contains(&moment(&mut dice, &books, 32.0)));
        }
    }
}
