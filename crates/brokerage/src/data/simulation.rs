//! Carries out the orders of a unit in the order of time.

use super::orders::{Order, Unit};
use super::positions::{Change, Positions};
use crate::error::DatabaseError;
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
    /// The trade `trade` has opened, changed or closed a lot. Trades come as they are completed.
    fn lot_changed(&mut self, _trade: u32, _change: Change) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// An order was completed. Orders come by number.
    fn completed(&mut self, _order: &Order, _bill: &Bill) -> Result<(), DatabaseError> {
        Ok(())
    }
}

/// An order on its way, with its gain as soon as it is completed.
#[derive(Debug)]
struct OnItsWay {
    order: Order,
    gain_cents: Option<i64>,
}

/// Simulates the trades of a unit and gives what is held in the end.
pub(super) fn simulate(unit: &Unit, ledger: &mut impl Ledger) -> Result<Positions, DatabaseError> {
    let mut positions = Positions::new(unit.securities.len());
    // All orders from the first one that is not yet completed.
    let mut on_their_way = VecDeque::<OnItsWay>::new();
    // Those that are not yet completed, next one on top.
    let mut due = BinaryHeap::<Reverse<(i64, u32)>>::new();
    let mut orders = unit.orders();
    loop {
        let order = orders.next();
        let until = order.as_ref().map_or(i64::MAX, |order| order.entered_at);
        while let Some(&Reverse((at, number))) = due.peek()
            && at <= until
        {
            due.pop();
            let first = on_their_way.front().map_or(number, |one| one.order.number);
            let one = &mut on_their_way[(number - first) as usize];
            let tell = |change| ledger.lot_changed(number, change);
            one.gain_cents = Some(positions.carry_out(&one.order, tell)?);
            while let Some(OnItsWay {
                order,
                gain_cents: Some(gain),
            }) = on_their_way.front()
            {
                ledger.completed(order, &bill(unit, order, *gain))?;
                on_their_way.pop_front();
            }
        }
        let Some(order) = order else {
            return Ok(positions);
        };
        due.push(Reverse((order.completed_at, order.number)));
        on_their_way.push_back(OnItsWay {
            order,
            gain_cents: None,
        });
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
fn bill(unit: &Unit, order: &Order, gain_cents: i64) -> Bill {
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
