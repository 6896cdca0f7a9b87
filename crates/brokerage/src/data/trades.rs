//! The tables that follow from the trades of a unit.

use super::fixed::kind_name;
use super::orders::{Order, Unit};
use super::pen::Pen;
use super::positions::{Change, Positions};
use super::simulation::{Bill, Ledger, bill, commission, simulate};
use crate::error::DatabaseError;
use crate::house::House;
use crate::house::accounts::BROKERS_PER_UNIT;
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

/// Writes a row, or none, for each trade.
struct Lines<'a, 'b, F> {
    unit: &'a Unit,
    pen: &'a mut Pen<'b>,
    line: F,
}

impl<F> Ledger for Lines<'_, '_, F>
where
    F: FnMut(&Unit, &Order, &Bill, &mut Pen) -> Written,
{
    fn completed(&mut self, order: &Order, gain_cents: i64) -> Written {
        let bill = bill(self.unit, order, gain_cents);
        (self.line)(self.unit, order, &bill, self.pen)
    }
}

/// A row, or none, for each trade of a unit, by number.
fn lines(
    house: &House,
    unit: u32,
    pen: &mut Pen,
    line: impl FnMut(&Unit, &Order, &Bill, &mut Pen) -> Written,
) -> Written {
    let unit = &Unit::new(house, unit);
    simulate(unit, &mut Lines { unit, pen, line }).map(|_| ())
}

pub(super) fn trades(house: &House, unit: u32, pen: &mut Pen) -> Written {
    lines(house, unit, pen, |unit, order, bill, pen| {
        let account = &unit.accounts[order.account as usize];
        pen.numbers(&[
            unit.trade_id(order.number),
            order.entered_at,
            Status::Completed.id(),
            order.kind.id(),
            i64::from(order.is_cash),
        ]);
        let security = unit.securities[order.slot as usize];
        pen.text(unit.house.symbol_of(security).as_str());
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

pub(super) fn settlements(house: &House, unit: u32, pen: &mut Pen) -> Written {
    lines(house, unit, pen, |unit, order, bill, pen| {
        pen.number(unit.trade_id(order.number));
        pen.text(cash_type(order.is_cash));
        let due_day = order.completed_at / DAY_MS + SETTLED_AFTER_DAYS;
        pen.numbers(&[due_day, bill.amount_cents]);
        pen.end()
    })
}

/// Trades on margin move no cash.
pub(super) fn cash_transactions(house: &House, unit: u32, pen: &mut Pen) -> Written {
    lines(house, unit, pen, |unit, order, bill, pen| {
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

/// Wants to know nothing but the end.
struct Silent;

impl Ledger for Silent {}

/// What is held is what was bought less what was sold, in whichever order.
pub(super) fn holding_summaries(house: &House, unit: u32, pen: &mut Pen) -> Written {
    let unit = Unit::new(house, unit);
    let mut held = vec![0; unit.securities.len()];
    for order in unit.orders() {
        let sign = if order.kind.is_sell() { -1 } else { 1 };
        held[order.slot as usize] += sign * order.quantity;
    }
    for account in &unit.accounts {
        for slot in account.first_slot..account.first_slot + account.slots {
            let quantity = held[slot as usize];
            if quantity != 0 {
                pen.number(account.id);
                pen.text(house.symbol_of(unit.securities[slot as usize]).as_str());
                pen.number(quantity);
                pen.end()?;
            }
        }
    }
    Ok(())
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

pub(super) fn holdings(house: &House, unit: u32, pen: &mut Pen) -> Written {
    let unit = Unit::new(house, unit);
    let positions = simulate(&unit, &mut Silent)?;
    let open = open_trades(&unit, &positions);
    for account in &unit.accounts {
        for slot in account.first_slot..account.first_slot + account.slots {
            let symbol = house.symbol_of(unit.securities[slot as usize]);
            for lot in positions.lots(slot) {
                pen.numbers(&[unit.trade_id(lot.trade), account.id]);
                pen.text(symbol.as_str());
                let at = open.partition_point(|&(trade, _)| trade < lot.trade);
                pen.numbers(&[open[at].1, lot.price_cents(), lot.quantity()]);
                pen.end()?;
            }
        }
    }
    Ok(())
}

/// Adds up what accounts got and gave.
struct Balances<'a> {
    unit: &'a Unit,
    cents: Vec<i64>,
}

impl Ledger for Balances<'_> {
    fn completed(&mut self, order: &Order, gain_cents: i64) -> Written {
        if order.is_cash {
            let amount_cents = bill(self.unit, order, gain_cents).amount_cents;
            self.cents[order.account as usize] += amount_cents;
        }
        Ok(())
    }
}

/// Accounts. They were opened empty, so their balance is the sum of their cash transactions.
pub(super) fn accounts(house: &House, unit: u32, pen: &mut Pen) -> Written {
    let unit = &Unit::new(house, unit);
    let cents = vec![0; unit.accounts.len()];
    let mut balances = Balances { unit, cents };
    simulate(unit, &mut balances)?;
    for (account, balance) in unit.accounts.iter().zip(balances.cents) {
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
        pen.numbers(&[i64::from(account.tax_status), balance]);
        pen.end()?;
    }
    Ok(())
}

/// Brokers, with the trades of their accounts and the commissions of these.
pub(super) fn brokers(house: &House, unit: u32, pen: &mut Pen) -> Written {
    let unit = Unit::new(house, unit);
    let first = house.broker_id(unit.number * BROKERS_PER_UNIT);
    let mut counters = [(0_i64, 0_i64); BROKERS_PER_UNIT as usize];
    for order in unit.orders() {
        let broker = unit.accounts[order.account as usize].broker_id - first;
        let (trades, commissions) = &mut counters[broker as usize];
        *trades += 1;
        *commissions += commission(&unit, &order);
    }
    for (id, (trades, commissions)) in (first..).zip(counters) {
        pen.numbers(&[id, Status::Active.id()]);
        pen.compose(|text| house.write_broker_name(id, text));
        pen.numbers(&[trades, commissions]);
        pen.end()?;
    }
    Ok(())
}
