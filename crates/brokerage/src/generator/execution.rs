//! Executes the orders of a load unit in the order of time.

use super::orders::{Order, Orders, Unit};
use super::positions::{Change, Positions};
use crate::dataset::rates::{commission_cents, settlement_cents, tax_cents};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Costs and proceeds of a completed order.
#[derive(Debug, Clone, Copy)]
pub(super) struct TradeCosts {
    pub charge_cents: i64,
    pub commission_cents: i64,
    pub tax_cents: i64,
    /// What the account gets; negative for a purchase.
    pub amount_cents: i64,
}

/// Is called for each executed order.
pub(super) trait ExecutionObserver {
    /// What a method returns to end the execution.
    type Error;

    /// A completed order has opened, changed or closed a lot. Called in the order of completion.
    fn lot_changed(&mut self, _order: &Order, _change: Change) -> Result<(), Self::Error> {
        Ok(())
    }

    /// An order was completed, with this gain on the lots it closed. Called in the order of entry.
    fn completed(&mut self, _order: &Order, _gain_cents: i64) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// An order that was drawn, with its gain once it is completed.
#[derive(Debug)]
struct OpenOrder {
    order: Order,
    gain_cents: Option<i64>,
}

/// Number of orders drawn ahead, so that the CPU can prefetch their positions.
const AHEAD: usize = 16;

/// A load unit whose orders are being executed.
struct Execution<'a, L> {
    orders: Orders<'a>,
    observer: &'a mut L,
    positions: Positions,
    /// All orders from the first one not yet completed to the last one drawn.
    open_orders: VecDeque<OpenOrder>,
    /// How many of these are entered.
    entered: usize,
    /// Orders that are entered and not yet completed, the next one on top.
    due: BinaryHeap<Reverse<(i64, u32)>>,
}

/// Executes the orders of a load unit, and returns the open positions.
pub(super) fn execute_orders<L: ExecutionObserver>(
    unit: &Unit,
    observer: &mut L,
) -> Result<Positions, L::Error> {
    let mut execution = Execution {
        orders: unit.orders(),
        observer,
        positions: Positions::new(unit.securities.len()),
        open_orders: VecDeque::new(),
        entered: 0,
        due: BinaryHeap::new(),
    };
    execution.draw(AHEAD);
    while execution.enter()? {
        execution.draw(1);
    }
    execution.complete_until(i64::MAX)?;
    Ok(execution.positions)
}

impl<L: ExecutionObserver> Execution<'_, L> {
    /// Draws this many orders, or those that are left.
    fn draw(&mut self, count: usize) {
        for order in self.orders.by_ref().take(count) {
            self.positions.expect_soon(order.slot);
            self.open_orders.push_back(OpenOrder {
                order,
                gain_cents: None,
            });
        }
    }

    /// Enters the next order, once all that are due before it are completed. False when there is
    /// none.
    fn enter(&mut self) -> Result<bool, L::Error> {
        let Some(next) = self.open_orders.get(self.entered) else {
            return Ok(false);
        };
        let Order {
            number,
            entered_at,
            completed_at,
            ..
        } = next.order;
        if let Some(later) = self.open_orders.get(self.entered + AHEAD / 2) {
            self.positions.expect_next(later.order.slot);
        }
        self.complete_until(entered_at)?;
        self.due.push(Reverse((completed_at, number)));
        self.entered += 1;
        Ok(true)
    }

    /// Completes the orders due until then.
    fn complete_until(&mut self, until: i64) -> Result<(), L::Error> {
        while let Some(&Reverse((at, number))) = self.due.peek()
            && at <= until
        {
            self.due.pop();
            let first = self
                .open_orders
                .front()
                .map_or(number, |one| one.order.number);
            let OpenOrder { order, gain_cents } = &mut self.open_orders[(number - first) as usize];
            let observer = &mut *self.observer;
            let report = |change| observer.lot_changed(order, change);
            *gain_cents = Some(self.positions.execute(order, report)?);
            while let Some(&OpenOrder {
                ref order,
                gain_cents: Some(gain),
            }) = self.open_orders.front()
            {
                self.observer.completed(order, gain)?;
                self.open_orders.pop_front();
                self.entered -= 1;
            }
        }
        Ok(())
    }
}

/// Commission of an order; it does not depend on the gain.
pub(super) fn commission(unit: &Unit, order: &Order) -> i64 {
    let tier = unit.accounts[order.account as usize].tier;
    let exchange = unit
        .data_set
        .exchange_of_security(unit.securities[order.slot as usize]);
    let (kind, quantity) = (order.kind, order.quantity);
    let rate = unit
        .data_set
        .commission_rate_hundredths(kind, tier, exchange, quantity);
    commission_cents(rate, quantity, order.price_cents)
}

/// The costs of a completed order.
pub(super) fn costs(unit: &Unit, order: &Order, gain_cents: i64) -> TradeCosts {
    let account = &unit.accounts[order.account as usize];
    let charge_cents = unit.data_set.charge_cents(order.kind, account.tier);
    let commission_cents = commission(unit, order);
    let tax_cents = match account.tax_status {
        0 => 0,
        _ => tax_cents(account.tax_per_100000, gain_cents),
    };
    let kept_back_cents = if account.tax_status == 1 {
        tax_cents
    } else {
        0
    };
    let worth_cents = order.quantity * order.price_cents;
    TradeCosts {
        charge_cents,
        commission_cents,
        tax_cents,
        amount_cents: settlement_cents(
            order.kind.is_sell(),
            worth_cents,
            charge_cents + commission_cents,
            kept_back_cents,
        ),
    }
}
