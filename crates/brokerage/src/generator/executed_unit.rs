//! The executed trades of a load unit, for all tables that depend on them.
//!
//! Executing the orders costs more than drawing them: each finds its lots among a hundred thousand
//! positions. So it is done once, and what does not follow from an order alone is kept: the gain of
//! each, the totals of accounts and brokers, and the open lots.

use super::execution::{ExecutionObserver, TradeCosts, costs, execute_orders};
use super::orders::{Order, Unit};
use super::positions::{Lot, Positions};
use crate::dataset::DataSet;
use crate::dataset::accounts::BROKERS_PER_UNIT;
use crate::parallel::lock;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, OnceLock};

/// A load unit whose orders are all executed.
#[derive(Debug)]
pub(super) struct ExecutedUnit {
    /// Its customers, accounts and orders.
    pub unit: Unit,
    /// Balance of each account, by its index in the unit.
    pub balances_cents: Vec<i64>,
    /// Trades and commissions of each broker of the unit.
    pub brokers: [(i64, i64); BROKERS_PER_UNIT as usize],
    positions: Positions,
    /// The gain of each order on the lots it closed. There are seventeen million of them in 300
    /// days, hence 32 bits.
    gains_cents: Vec<i32>,
    /// The trades with open lots, by number, each with its time of completion.
    open: Vec<(u32, i64)>,
}

/// Sums up the executed orders.
struct Totals<'a> {
    unit: &'a Unit,
    first_broker_id: i64,
    balances_cents: Vec<i64>,
    brokers: [(i64, i64); BROKERS_PER_UNIT as usize],
    gains_cents: Vec<i32>,
}

impl ExecutionObserver for Totals<'_> {
    type Error = Infallible;

    fn completed(&mut self, order: &Order, gain_cents: i64) -> Result<(), Infallible> {
        let small = i32::try_from(gain_cents);
        self.gains_cents
            .push(small.unwrap_or_else(|_| panic!("a gain of {gain_cents} cents on {order:?}")));
        let costs = costs(self.unit, order, gain_cents);
        if order.is_cash {
            self.balances_cents[order.account as usize] += costs.amount_cents;
        }
        let broker_id = self.unit.accounts[order.account as usize].broker_id;
        let (trades, commissions) = &mut self.brokers[(broker_id - self.first_broker_id) as usize];
        *trades += 1;
        *commissions += costs.commission_cents;
        Ok(())
    }
}

impl ExecutedUnit {
    fn new(data_set: &DataSet, number: u32) -> Self {
        let unit = Unit::new(data_set, number);
        let mut totals = Totals {
            first_broker_id: unit.first_broker_id(),
            balances_cents: vec![0; unit.accounts.len()],
            brokers: [(0, 0); BROKERS_PER_UNIT as usize],
            gains_cents: Vec::with_capacity(data_set.trades_per_unit() as usize),
            unit: &unit,
        };
        let Ok(positions) = execute_orders(&unit, &mut totals);
        let Totals {
            balances_cents,
            brokers,
            gains_cents,
            ..
        } = totals;
        assert_eq!(
            gains_cents.len() as u64,
            data_set.trades_per_unit(),
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

    /// The costs of an order of the unit.
    pub fn costs(&self, order: &Order) -> TradeCosts {
        let gain_cents = self.gains_cents[order.number as usize];
        costs(&self.unit, order, i64::from(gain_cents))
    }

    /// The lots of a slot, oldest first.
    pub fn lots(&self, slot: u32) -> impl Iterator<Item = Lot> {
        self.positions.lots(slot)
    }

    /// When an open lot was opened.
    pub fn opened_at(&self, lot: Lot) -> i64 {
        let at = self.open.partition_point(|&(trade, _)| trade < lot.trade);
        self.open[at].1
    }
}

/// The trades with open lots, by number, each with its time of completion.
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

/// Filled by one worker while others wait for it.
type Place = Arc<OnceLock<ExecutedUnit>>;

/// The executed load units in use, shared by all workers.
#[derive(Debug)]
pub(super) struct ExecutedUnits {
    /// How many are kept.
    kept: usize,
    /// By unit, the one used last at the end.
    places: Mutex<Vec<(u32, Place)>>,
}

impl ExecutedUnits {
    /// Keeps this many executed units, those used last.
    pub fn new(kept: usize) -> Self {
        assert!(kept > 0, "the unit being written is kept");
        let places = Mutex::default();
        Self { kept, places }
    }

    /// Passes the executed unit to `take`, after executing it if it is not there.
    pub fn with<T>(
        &self,
        data_set: &DataSet,
        unit: u32,
        take: impl FnOnce(&ExecutedUnit) -> T,
    ) -> T {
        let place = self.place(unit);
        take(place.get_or_init(|| ExecutedUnit::new(data_set, unit)))
    }

    fn place(&self, unit: u32) -> Place {
        let mut places = lock(&self.places);
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
        let data_set = DataSet::new(3_000, 1, 41);
        let executed_units = ExecutedUnits::new(2);
        let address =
            |unit| executed_units.with(&data_set, unit, |one| std::ptr::from_ref(one).addr());
        let held = executed_units.place(0);
        let first = address(0);
        assert_eq!(
            held.get().map(|one| std::ptr::from_ref(one).addr()),
            Some(first)
        );
        let second = address(1);
        assert_eq!((address(0), address(1)), (first, second));
        // The third one replaces the one that was used least recently.
        address(2);
        assert_ne!(address(0), first, "the first one still stands where it was");
        assert_eq!(held.get().map(|one| one.unit.number), Some(0));
    }

    #[test]
    fn workers_that_want_the_same_outcome_get_the_same_one() {
        let data_set = DataSet::new(1_000, 1, 42);
        let executed_units = ExecutedUnits::new(1);
        let look = || executed_units.with(&data_set, 0, |one| std::ptr::from_ref(one).addr());
        let all = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|_| scope.spawn(look)).collect();
            let found = workers.into_iter().map(|worker| worker.join().unwrap());
            found.collect::<Vec<_>>()
        });
        assert!(all.iter().all(|&one| one == all[0]), "{all:?}");
    }
}
