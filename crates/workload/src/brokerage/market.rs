//! The exchange: when orders are answered, which waiting ones become due, and what feeds say.

use super::kinds::FEED_ENTRIES;
use super::orders::Entered;
use crate::random::Dice;
use std::collections::{BTreeMap, VecDeque};

/// The longest answer, in average ones.
const LONGEST_ANSWER: f64 = 5.0;

/// One entry of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// Whose price it is.
    pub security: u64,
    /// The waiting order that it sets off.
    pub sets_off: Option<Entered>,
}

/// The exchange's side of the market.
#[derive(Debug)]
pub struct Exchange {
    answer_ns: f64,
    period_ns: u64,
    securities: u64,
    dice: Dice,
    /// Orders that wait for a price, by the time when it comes and a number of their own.
    waiting: BTreeMap<(u64, u64), Entered>,
    entered: u64,
    /// Entries of the next feed.
    tape: VecDeque<u64>,
}

impl Exchange {
    /// An exchange that trades so many securities.
    #[must_use]
    pub fn new(answer_ns: u64, period_ns: u64, securities: u64, dice: Dice) -> Self {
        Self {
            answer_ns: answer_ns as f64,
            period_ns,
            securities,
            dice,
            waiting: BTreeMap::new(),
            entered: 0,
            tape: VecDeque::new(),
        }
    }

    /// How long the answer to an order that can be carried out takes.
    pub fn answer_delay_ns(&mut self) -> u64 {
        let times = self.dice.exponential().min(LONGEST_ANSWER);
        (times * self.answer_ns) as u64
    }

    /// Keeps an order that waits for a price. Prices rise and fall evenly and orders name any of
    /// them, so the right one comes at any time within a period alike.
    pub fn keep(&mut self, now_ns: u64, order: Entered) {
        let at_ns = now_ns + self.dice.below(self.period_ns.max(1));
        self.entered += 1;
        self.waiting.insert((at_ns, self.entered), order);
    }

    /// Orders that wait for a price.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Notes the price of a result, and another one beside it. True when a feed is full.
    pub fn note(&mut self, security: u64) -> bool {
        let other = self.dice.below(self.securities);
        self.tape.extend([security, other]);
        self.tape.len() >= FEED_ENTRIES as usize
    }

    /// Takes the feed that results have filled.
    pub fn feed(&mut self, now_ns: u64) -> Vec<Tick> {
        let full = self.tape.len().min(FEED_ENTRIES as usize);
        let securities: Vec<u64> = self.tape.drain(..full).collect();
        self.ticks(now_ns, &securities)
    }

    /// A feed that the exchange sends of its own accord.
    pub fn own_feed(&mut self, now_ns: u64) -> Vec<Tick> {
        let draw = |_| self.dice.below(self.securities);
        let securities: Vec<u64> = (0..FEED_ENTRIES).map(draw).collect();
        self.ticks(now_ns, &securities)
    }

    /// Entries for these securities. The second of each pair makes room for an order that is due.
    fn ticks(&mut self, now_ns: u64, securities: &[u64]) -> Vec<Tick> {
        let mut ticks = Vec::with_capacity(securities.len());
        for (number, &security) in securities.iter().enumerate() {
            let due = self.waiting.first_entry();
            let due = due.filter(|entry| number % 2 == 1 && entry.key().0 <= now_ns);
            let sets_off = due.map(std::collections::btree_map::OccupiedEntry::remove);
            ticks.push(Tick {
                security: sets_off.map_or(security, |order| order.security),
                sets_off,
            });
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(security: u64) -> Entered {
        Entered {
            account: 1,
            security,
            sells: false,
            waits: true,
            trade: 0,
        }
    }

    #[test]
    fn ten_results_fill_one_feed_and_due_orders_leave_once() {
        let mut exchange = Exchange::new(1_000, 900, 50, Dice::new(5, 0));
        (0..4).for_each(|number| exchange.keep(0, order(100 + number)));
        let mut full = 0;
        for _ in 0..20 {
            full += usize::from(exchange.note(7));
            if full == 1 && exchange.tape.len() == 20 {
                let feed = exchange.feed(900);
                assert_eq!(feed.len(), 20);
                let set_off = feed.iter().filter(|tick| tick.sets_off.is_some()).count();
                assert_eq!((set_off, exchange.waiting()), (4, 0));
            }
        }
        assert_eq!(full, 2);
        assert!(
            exchange
                .feed(900)
                .iter()
                .all(|tick| tick.sets_off.is_none())
        );
    }

    #[test]
    fn answers_come_after_their_average_and_never_late() {
        let mut exchange = Exchange::new(1_000_000, 1, 50, Dice::new(6, 0));
        let delays: Vec<u64> = (0..100_000).map(|_| exchange.answer_delay_ns()).collect();
        let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
        assert!((mean / 0.993e6 - 1.0).abs() < 0.02, "{mean}");
        assert!(delays.iter().all(|&delay| delay <= 5_000_000));
    }
}
