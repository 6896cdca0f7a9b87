//! What the trades of a thousand customers come to, for all tables that follow from it.
//!
//! Carrying a unit's orders out costs more than drawing them: each finds its lots among a hundred
//! thousand positions. So it is done once, and what cannot be told from an order alone is kept: the
//! gain of each, what accounts and brokers got, and what is held in the end.

use super::orders::{Order, Unit};
use super::positions::{Lot, Positions};
use super::simulation::{Bill, Ledger, bill, simulate};
use crate::house::House;
use crate::house::accounts::BROKERS_PER_UNIT;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A unit whose orders are all carried out.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The unit.
    pub unit: Unit,
    /// What each account got less what it gave, by its place in the unit.
    pub balances_cents: Vec<i64>,
    /// Trades and commissions of each broker of the unit.
    pub brokers: [(i64, i64); BROKERS_PER_UNIT as usize],
    positions: Positions,
    /// The gain of each order on what it has closed. There are seventeen million of them in 300
    /// days, so they are kept small.
    gains_cents: Vec<i32>,
    /// The trades whose lots are open, by number, each with the moment at which it was completed.
    open: Vec<(u32, i64)>,
}

/// Notes what orders have brought.
struct Notes<'a> {
    unit: &'a Unit,
    first_broker_id: i64,
    balances_cents: Vec<i64>,
    brokers: [(i64, i64); BROKERS_PER_UNIT as usize],
    gains_cents: Vec<i32>,
}

impl Ledger for Notes<'_> {
    type Refusal = Infallible;

    fn completed(&mut self, order: &Order, gain_cents: i64) -> Result<(), Infallible> {
        let small = i32::try_from(gain_cents);
        self.gains_cents
            .push(small.unwrap_or_else(|_| panic!("a gain of {gain_cents} cents on {order:?}")));
        let bill = bill(self.unit, order, gain_cents);
        if order.is_cash {
            self.balances_cents[order.account as usize] += bill.amount_cents;
        }
        let broker_id = self.unit.accounts[order.account as usize].broker_id;
        let (trades, commissions) = &mut self.brokers[(broker_id - self.first_broker_id) as usize];
        *trades += 1;
        *commissions += bill.commission_cents;
        Ok(())
    }
}

impl Outcome {
    fn new(house: &House, number: u32) -> Self {
        let unit = Unit::new(house, number);
        let mut notes = Notes {
            first_broker_id: unit.first_broker_id(),
            balances_cents: vec![0; unit.accounts.len()],
            brokers: [(0, 0); BROKERS_PER_UNIT as usize],
            gains_cents: Vec::with_capacity(house.trades_per_unit() as usize),
            unit: &unit,
        };
        let Ok(positions) = simulate(&unit, &mut notes);
        let Notes {
            balances_cents,
            brokers,
            gains_cents,
            ..
        } = notes;
        assert_eq!(
            gains_cents.len() as u64,
            house.trades_per_unit(),
            "each order is completed once"
        );
        Self {
            open: open_trades(&unit, &positions),
            unit,
            balances_cents,
            brokers,
            positions,
            gains_cents,
        }
    }

    /// The bill of an order of the unit.
    pub fn bill(&self, order: &Order) -> Bill {
        let gain_cents = self.gains_cents[order.number as usize];
        bill(&self.unit, order, i64::from(gain_cents))
    }

    /// What is held in a slot, oldest first.
    pub fn lots(&self, slot: u32) -> impl Iterator<Item = Lot> {
        self.positions.lots(slot)
    }

    /// When a lot that is held was opened.
    pub fn opened_at(&self, lot: Lot) -> i64 {
        let at = self.open.partition_point(|&(trade, _)| trade < lot.trade);
        self.open[at].1
    }
}

/// The trades whose lots are open, by number, each with the moment at which it was completed.
fn open_trades(unit: &Unit, positions: &Positions) -> Vec<(u32, i64)> {
    let lots = (0..unit.securities.len() as u32).flat_map(|slot| positions.lots(slot));
    let mut open: Vec<(u32, i64)> = lots.map(|lot| (lot.trade, 0)).collect();
    open.sort_unstable();
    let mut orders = unit.orders();
    for (number, completed_at) in &mut open {
        let order = orders.find(|order| order.number == *number);
        *completed_at = order.map_or(0, |order| order.completed_at);
    }
    open
}

/// A place for an outcome that one worker makes while others wait for it.
type Place = Arc<OnceLock<Outcome>>;

/// The outcomes of the units that are being written, shared by all who write them.
#[derive(Debug)]
pub(super) struct Outcomes {
    /// How many are kept.
    kept: usize,
    /// By unit; the one asked for last stands last.
    places: Mutex<Vec<(u32, Place)>>,
}

impl Outcomes {
    /// Keeps the outcomes of so many units, those asked for last.
    pub fn new(kept: usize) -> Self {
        assert!(kept > 0, "the unit being written is kept");
        let places = Mutex::default();
        Self { kept, places }
    }

    /// Gives the outcome of a unit to `take`; makes it first when it is not there.
    pub fn with<T>(&self, house: &House, unit: u32, take: impl FnOnce(&Outcome) -> T) -> T {
        let place = self.place(unit);
        take(place.get_or_init(|| Outcome::new(house, unit)))
    }

    fn place(&self, unit: u32) -> Place {
        // A worker that fell over left whole places behind.
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let known = places.iter().position(|&(number, _)| number == unit);
        let place = match known {
            Some(at) => places.remove(at).1,
            None => Place::default(),
        };
        if places.len() == self.kept {
            places.remove(0);
        }
        places.push((unit, Arc::clone(&place)));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_made_once_while_it_is_kept() {
        let house = House::new(3_000, 1, 41);
        let outcomes = Outcomes::new(2);
        let address = |unit| outcomes.with(&house, unit, |one| std::ptr::from_ref(one).addr());
        let held = outcomes.place(0);
        let first = address(0);
        assert_eq!(
            held.get().map(|one| std::ptr::from_ref(one).addr()),
            Some(first)
        );
        let second = address(1);
        assert_eq!((address(0), address(1)), (first, second));
        // The third one takes the place of the one that was asked for longest ago.
        address(2);
        assert_ne!(address(0), first, "the first one still stands where it was");
        assert_eq!(held.get().map(|one| one.unit.number), Some(0));
    }

    #[test]
    fn workers_that_want_the_same_outcome_get_the_same_one() {
        let house = House::new(1_000, 1, 42);
        let outcomes = Outcomes::new(1);
        let look = || outcomes.with(&house, 0, |one| std::ptr::from_ref(one).addr());
        let all = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|_| scope.spawn(look)).collect();
            let found = workers.into_iter().map(|worker| worker.join().unwrap());
            found.collect::<Vec<_>>()
        });
        assert!(all.iter().all(|&one| one == all[0]), "{all:?}");
    }
}
