//! Random customers, trades and days, with the skew of the published description.

use super::schema::{ACCOUNTS, MARKET_DAYS};
use super::trees::Trees;
use crate::scale::LOAD_UNIT;
use crate::skew::{customer_of_ordinal, joined, ordinal};
use workload::random::{SeededRng, mix};

/// Milliseconds of a trading day of eight hours.
const DAY_MS: u64 = 8 * 3600 * 1000;

/// A random customer, counted from 0, by weight.
pub fn customer(rng: &mut SeededRng, trees: &Trees) -> u64 {
    let unit = rng.below(trees.customers / LOAD_UNIT);
    let ordinal = ordinal(rng);
    u64::from(customer_of_ordinal(unit as u32, ordinal))
}

/// One of the customer's accounts, counted from 0.
pub fn account_of(rng: &mut SeededRng, customer: u64) -> u64 {
    customer * ACCOUNTS + rng.below(ACCOUNTS)
}

/// A random account, by its customer's weight.
pub fn account(rng: &mut SeededRng, trees: &Trees) -> u64 {
    let customer = customer(rng, trees);
    account_of(rng, customer)
}

/// A random security, uniformly.
pub fn security(rng: &mut SeededRng, trees: &Trees) -> u64 {
    rng.below(trees.securities())
}

/// A random company, uniformly.
pub fn company(rng: &mut SeededRng, trees: &Trees) -> u64 {
    rng.below(trees.companies())
}

/// A random trade, by rank: a few blocks of 128 much more often than the others.
pub fn trade(rng: &mut SeededRng, trees: &Trees) -> u64 {
    joined(rng, trees.built_trades, 1 << 16, 7)
}

/// A random time in the history of trading, as a share of it, at least `back_off_hours` of trading
/// before its end; some minutes much more often than others.
pub fn time_in_history(rng: &mut SeededRng, trees: &Trees, back_off_hours: f64) -> f64 {
    let all = u64::from(trees.trade_days) * DAY_MS;
    let back_off = ((back_off_hours * 3.6e6) as u64).min(all / 4);
    joined(rng, all - back_off, 1 << 12, 16) as f64 / all as f64
}

/// A random day with prices, counted from 0: some weeks come more often.
pub fn market_day(rng: &mut SeededRng) -> u64 {
    const WEEK: u64 = 5;
    joined(rng, MARKET_DAYS / WEEK, 1 << 8, 0) * WEEK + rng.below(WEEK)
}

/// The rank of a trade of an account, `back` trades before its latest one. Accounts trade at random
/// times, each once in as many trades as there are accounts; the result depends on the arguments
/// alone.
#[must_use]
pub fn trade_of_account(trees: &Trees, account: u64, back: u64) -> u64 {
    let interval = trees.accounts();
    let at = back * interval + mix(account ^ mix(back)) % interval;
    trees.built_trades.saturating_sub(1 + at)
}

/// The rank of a trade in a security, `back` trades before its latest one.
#[must_use]
pub fn trade_of_security(trees: &Trees, security: u64, back: u64) -> u64 {
    let interval = trees.securities();
    let at = back * interval + mix(!security ^ mix(back)) % interval;
    trees.built_trades.saturating_sub(1 + at)
}

/// The security number `slot` on a customer's watch list, or in an account.
#[must_use]
pub fn held_security(trees: &Trees, owner: u64, slot: u64) -> u64 {
    mix(mix(owner) ^ slot) % trees.securities()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Brokerage;

    fn trees(customers: u32) -> Trees {
        Trees::build(&Brokerage {
            customers: Some(customers),
            ..Brokerage::default()
        })
    }

    #[test]
    fn customers_weigh_from_three_tenths_to_seventeen_tenths() {
        let (trees, mut rng) = (trees(1_000), SeededRng::new(11, 0));
        let mut counts = vec![0_u32; 1_000];
        let draws = 2_000_000;
        (0..draws).for_each(|_| counts[customer(&mut rng, &trees) as usize] += 1);
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
        let (trees, mut rng) = (trees(5_000), SeededRng::new(12, 0));
        let blocks = trees.built_trades.div_ceil(128) as usize;
        let mut counts = vec![0_u32; blocks];
        let draws = 4_000_000;
        (0..draws).for_each(|_| counts[(trade(&mut rng, &trees) / 128) as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let hot: u32 = counts[..blocks * 105 / 1000].iter().sum();
        let share = f64::from(hot) / f64::from(draws);
        assert!((share - 0.78).abs() < 0.03, "{share}");
    }

    #[test]
    fn what_is_asked_twice_is_answered_alike_and_is_in_the_data_set() {
        let (trees, mut rng) = (trees(1_000), SeededRng::new(13, 0));
        for back in 0..trees.trades_of_account() {
            let rank = trade_of_account(&trees, 77, back);
            assert_eq!(rank, trade_of_account(&trees, 77, back));
            assert!(rank < trees.built_trades);
        }
        for _ in 0..10_000 {
            assert!(market_day(&mut rng) < MARKET_DAYS);
            assert!((0.0..1.0).contains(&time_in_history(&mut rng, &trees, 32.0)));
        }
    }
}
