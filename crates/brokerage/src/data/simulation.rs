//! Carries out the orders of a unit in the order of time.

use super::orders::{Order, Orders, Unit};
use super::positions::{Change, Positions};
use crate::house::rates::{commission_cents, settlement_cents, tax_cents};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What a completed order has cost and brought.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bill {
    pub charge_cents: i64,
    pub commission_cents: i64,
    pub tax_cents: i64,
    /// What the account gets, or gives when negative.
    pub amount_cents: i64,
}

/// Who wants to know what happens.
pub(super) trait Ledger {
    /// Why it would hear no more.
    type Refusal;

    /// An order that is completed has opened, changed or closed a lot. Orders come as they are
    /// completed.
    fn lot_changed(&mut self, _order: &Order, _change: Change) -> Result<(), Self::Refusal> {
        Ok(())
    }

    /// An order was completed, with a gain on what it has closed. Orders come by number.
    fn completed(&mut self, _order: &Order, _gain_cents: i64) -> Result<(), Self::Refusal> {
        Ok(())
    }
}

/// An order on its way, with its gain as soon as it is completed.
#[derive(Debug)]
struct OnItsWay {
    order: Order,
    gain_cents: Option<i64>,
}

/// So many orders are drawn before they are entered: the processor can fetch what they need
/// meanwhile.
const AHEAD: usize = 16;

/// A unit whose orders are being carried out.
struct Simulation<'a, L> {
    orders: Orders<'a>,
    ledger: &'a mut L,
    positions: Positions,
    /// All orders from the first one that is not yet completed to the last one drawn.
    on_their_way: VecDeque<OnItsWay>,
    /// How many of these are entered.
    entered: usize,
    /// Those that are entered and not yet completed, next one on top.
    due: BinaryHeap<Reverse<(i64, u32)>>,
}

/// Simulates the trades of a unit and gives what is held in the end.
pub(super) fn simulate<L: Ledger>(unit: &Unit, ledger: &mut L) -> Result<Positions, L::Refusal> {
    let mut simulation = Simulation {
        orders: unit.orders(),
        ledger,
        positions: Positions::new(unit.securities.len()),
        on_their_way: VecDeque::new(),
        entered: 0,
        due: BinaryHeap::new(),
    };
    simulation.draw(AHEAD);
    while simulation.enter()? {
        simulation.draw(1);
    }
    simulation.complete_until(i64::MAX)?;
    Ok(simulation.positions)
}

impl<L: Ledger> Simulation<'_, L> {
    /// Draws so many orders, or those that are left.
    fn draw(&mut self, count: usize) {
        for order in self.orders.by_ref().take(count) {
            self.positions.expect_soon(order.slot);
            self.on_their_way.push_back(OnItsWay {
                order,
                gain_cents: None,
            });
        }
    }

    /// Enters the next order, once all that are due before it are completed. False when there is
    /// none.
    fn enter(&mut self) -> Result<bool, L::Refusal> {
        let Some(next) = self.on_their_way.get(self.entered) else {
            return Ok(false);
        };
        let Order {
            number,
            entered_at,
            completed_at,
            ..
        } = next.order;
        if let Some(later) = self.on_their_way.get(self.entered + AHEAD / 2) {
            self.positions.expect_next(later.order.slot);
        }
        self.complete_until(entered_at)?;
        self.due.push(Reverse((completed_at, number)));
        self.entered += 1;
        Ok(true)
    }

    /// Completes what is due up to a moment.
    fn complete_until(&mut self, until: i64) -> Result<(), L::Refusal> {
        while let Some(&Reverse((at, number))) = self.due.peek()
            && at <= until
        {
            self.due.pop();
            let first = self
                .on_their_way
                .front()
                .map_or(number, |one| one.order.number);
            let OnItsWay { order, gain_cents } = &mut self.on_their_way[(number - first) as usize];
            let ledger = &mut *self.ledger;
            let tell = |change| ledger.lot_changed(order, change);
            *gain_cents = Some(self.positions.carry_out(order, tell)?);
            while let Some(&OnItsWay {
                ref order,
                gain_cents: Some(gain),
            }) = self.on_their_way.front()
            {
                self.ledger.completed(order, gain)?;
                self.on_their_way.pop_front();
                self.entered -= 1;
            }
        }
        Ok(())
    }
}

/// Commission of an order: the broker's part of its bill, which no gain changes.
pub(super) fn commission(unit: &Unit, order: &Order) -> i64 {
    let tier = unit.accounts[order.account as usize].tier;
    let exchange = unit
        .house
        .exchange_of_security(unit.securities[order.slot as usize]);
    let (kind, quantity) = (order.kind, order.quantity);
    let rate = unit
        .house
        .commission_rate_hundredths(kind, tier, exchange, quantity);
    commission_cents(rate, quantity, order.price_cents)
}

/// The bill of a completed order.
pub(super) fn bill(unit: &Unit, order: &Order, gain_cents: i64) -> Bill {
    let account = &unit.accounts[order.account as usize];
    let charge_cents = unit.house.charge_cents(order.kind, account.tier);
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
    Bill {
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
