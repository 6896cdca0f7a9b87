//! The tables that follow from the trades of a unit.

use super::fixed::kind_name;
use super::orders::{Order, Unit};
use super::outcome::Outcome;
use super::pen::Pen;
use super::positions::{Change, Lot};
use super::simulation::{Bill, Ledger, simulate};
use crate::error::DatabaseError;
use crate::house::House;
use crate::house::identity::Chance;
use crate::house::moments::DAY_MS;
use crate::house::names::{below, push_digits};
use crate::house::rates::cash_type;
use crate::transactions::kinds::Status;

type Written = Result<(), DatabaseError>;

/// Days until a trade is settled.
const SETTLED_AFTER_DAYS: i64 = 2;

/// What accounts are for.
const PURPOSES: [&str; 8] = [
    "savings",
    "retirement",
    "college",
    "family trust",
    "joint account",
    "play money",
    "house fund",
    "emergency",
];

/// A row, or none, for each trade of a unit, by number.
fn lines(outcome: &Outcome, mut line: impl FnMut(&Unit, &Order, &Bill) -> Written) -> Written {
    let unit = &outcome.unit;
    unit.orders()
        .try_for_each(|order| line(unit, &order, &outcome.bill(&order)))
}

pub(super) fn trades(outcome: &Outcome, pen: &mut Pen) -> Written {
    lines(outcome, |unit, order, bill| {
        let account = &unit.accounts[order.account as usize];
        pen.numbers(&[
            unit.trade_id(order.number),
            order.entered_at,
            Status::Completed.id(),
            order.kind.id(),
            i64::from(order.is_cash),
        ]);
        pen.text(unit.symbol_of_slot(order.slot).as_str());
        pen.numbers(&[order.quantity, order.bid_cents, account.id]);
        pen.compose(|text| {
            let (last, first) = unit.house.customer_names(order.executor);
            text.push_str(first);
            text.push(' ');
            text.push_str(last);
        });
        pen.numbers(&[
            order.price_cents,
            bill.charge_cents,
            bill.commission_cents,
            bill.tax_cents,
            i64::from(order.is_lifo),
        ]);
        pen.end()
    })
}

/// Orders at the price of the market were submitted and completed; others were pending before.
/// Each trade's states come by id.
pub(super) fn histories(house: &House, unit: u32, pen: &mut Pen) -> Written {
    let unit = Unit::new(house, unit);
    for order in unit.orders() {
        let id = unit.trade_id(order.number);
        pen.numbers(&[id, Status::Completed.id(), order.completed_at]);
        pen.end()?;
        pen.numbers(&[id, Status::Submitted.id(), order.submitted_at]);
        pen.end()?;
        if !order.kind.is_market() {
            pen.numbers(&[id, Status::Pending.id(), order.entered_at]);
            pen.end()?;
        }
    }
    Ok(())
}

pub(super) fn settlements(outcome: &Outcome, pen: &mut Pen) -> Written {
    lines(outcome, |unit, order, bill| {
        pen.number(unit.trade_id(order.number));
        pen.text(cash_type(order.is_cash));
        let due_day = order.completed_at / DAY_MS + SETTLED_AFTER_DAYS;
        pen.numbers(&[due_day, bill.amount_cents]);
        pen.end()
    })
}

/// Trades on margin move no cash.
pub(super) fn cash_transactions(outcome: &Outcome, pen: &mut Pen) -> Written {
    lines(outcome, |unit, order, bill| {
        if !order.is_cash {
            return Ok(());
        }
        pen.number(unit.trade_id(order.number));
        pen.numbers(&[order.completed_at, bill.amount_cents]);
        pen.compose(|text| {
            text.push_str(kind_name(order.kind));
            text.push(' ');
            push_digits(text, order.quantity as u64, 1);
            text.push_str(" shares of ");
            let security = unit.securities[order.slot as usize];
            unit.house.write_security_name(security, text);
        });
        pen.end()
    })
}

/// Writes each change of a lot.
struct Changes<'a, 'b> {
    unit: &'a Unit,
    pen: &'a mut Pen<'b>,
}

impl Ledger for Changes<'_, '_> {
    type Refusal = DatabaseError;

    fn lot_changed(&mut self, order: &Order, change: Change) -> Written {
        self.pen.numbers(&[
            self.unit.trade_id(change.holding_trade),
            self.unit.trade_id(order.number),
            change.before,
            change.after,
        ]);
        self.pen.end()
    }
}

/// Every change of every lot, by the moment at which the trade that caused it was completed.
pub(super) fn holding_histories(house: &House, unit: u32, pen: &mut Pen) -> Written {
    let unit = &Unit::new(house, unit);
    simulate(unit, &mut Changes { unit, pen }).map(|_| ())
}

/// What is held is the sum of the lots.
pub(super) fn holding_summaries(outcome: &Outcome, pen: &mut Pen) -> Written {
    let unit = &outcome.unit;
    for account in &unit.accounts {
        for slot in account.first_slot..account.first_slot + account.slots {
            let quantity: i64 = outcome.lots(slot).map(Lot::quantity).sum();
            if quantity != 0 {
                pen.number(account.id);
                pen.text(unit.symbol_of_slot(slot).as_str());
                pen.number(quantity);
                pen.end()?;
            }
        }
    }
    Ok(())
}

pub(super) fn holdings(outcome: &Outcome, pen: &mut Pen) -> Written {
    let unit = &outcome.unit;
    for account in &unit.accounts {
        for slot in account.first_slot..account.first_slot + account.slots {
            for lot in outcome.lots(slot) {
                pen.numbers(&[unit.trade_id(lot.trade), account.id]);
                pen.text(unit.symbol_of_slot(slot).as_str());
                pen.numbers(&[outcome.opened_at(lot), lot.price_cents(), lot.quantity()]);
                pen.end()?;
            }
        }
    }
    Ok(())
}

/// Accounts. They were opened empty, so their balance is the sum of their cash transactions.
pub(super) fn accounts(outcome: &Outcome, pen: &mut Pen) -> Written {
    let house = &outcome.unit.house;
    for (account, &balance_cents) in outcome.unit.accounts.iter().zip(&outcome.balances_cents) {
        let chance = house.chance(Chance::Account, account.id as u64);
        let (last, first) = house.customer_names(account.customer);
        pen.numbers(&[
            account.id,
            account.broker_id,
            house.customer_id(account.customer),
        ]);
        pen.compose(|text| {
            text.push_str(first);
            text.push(' ');
            text.push_str(last);
            text.push(' ');
            text.push_str(PURPOSES[below(chance as u32, PURPOSES.len())]);
        });
        pen.numbers(&[i64::from(account.tax_status), balance_cents]);
        pen.end()?;
    }
    Ok(())
}

/// Brokers, with the trades of their accounts and the commissions of these.
pub(super) fn brokers(outcome: &Outcome, pen: &mut Pen) -> Written {
    let unit = &outcome.unit;
    for (id, (trades, commissions)) in (unit.first_broker_id()..).zip(outcome.brokers) {
        pen.numbers(&[id, Status::Active.id()]);
        pen.compose(|text| unit.house.write_broker_name(id, text));
        pen.numbers(&[trades, commissions]);
        pen.end()?;
    }
    Ok(())
}
