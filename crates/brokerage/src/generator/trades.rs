//! The tables that follow from the trades of a load unit.

use super::executed_unit::ExecutedUnit;
use super::execution::{ExecutionObserver, TradeCosts, execute_orders};
use super::fixed::kind_name;
use super::orders::{Order, Unit};
use super::positions::{Change, Lot};
use super::row_writer::RowWriter;
use crate::dataset::DataSet;
use crate::dataset::data_set::RandomField;
use crate::dataset::names::{below, push_digits};
use crate::dataset::rates::cash_type;
use crate::dataset::trading_calendar::DAY_MS;
use crate::error::DatabaseError;
use crate::kinds::Status;
use crate::transactions::trade_result::SETTLED_AFTER_DAYS;

type Written = Result<(), DatabaseError>;

/// Purposes in the names of accounts.
const PURPOSES: [&str; 8] = [
    "savings",
    "retirement",
    "college",
    "family trust",
    "joint account",
    "play money",
    "hedge fund",
    "emergency",
];

/// Writes a row, or none, for each trade of a load unit, by number.
fn lines(
    executed: &ExecutedUnit,
    mut line: impl FnMut(&Unit, &Order, &TradeCosts) -> Written,
) -> Written {
    let unit = &executed.unit;
    unit.orders()
        .try_for_each(|order| line(unit, &order, &executed.costs(&order)))
}

pub(super) fn trades(executed: &ExecutedUnit, writer: &mut RowWriter) -> Written {
    lines(executed, |unit, order, costs| {
        let account = &unit.accounts[order.account as usize];
        writer.numbers(&[
            unit.trade_id(order.number),
            order.entered_at,
            Status::Completed.id(),
            order.kind.id(),
            i64::from(order.is_cash),
        ]);
        writer.text(unit.symbol_of_slot(order.slot).as_str());
        writer.numbers(&[order.quantity, order.bid_cents, account.id]);
        writer.compose(|text| {
            let (last, first) = unit.data_set.customer_names(order.executor);
            text.push_str(first);
            text.push(' ');
            text.push_str(last);
        });
        writer.numbers(&[
            order.price_cents,
            costs.charge_cents,
            costs.commission_cents,
            costs.tax_cents,
            i64::from(order.is_lifo),
        ]);
        writer.end()
    })
}

/// Market orders were submitted and completed; others were pending before. The states of each trade
/// are ordered by id.
pub(super) fn histories(data_set: &DataSet, unit: u32, writer: &mut RowWriter) -> Written {
    let unit = Unit::new(data_set, unit);
    for order in unit.orders() {
        let id = unit.trade_id(order.number);
        writer.numbers(&[id, Status::Completed.id(), order.completed_at]);
        writer.end()?;
        writer.numbers(&[id, Status::Submitted.id(), order.submitted_at]);
        writer.end()?;
        if !order.kind.is_market() {
            writer.numbers(&[id, Status::Pending.id(), order.entered_at]);
            writer.end()?;
        }
    }
    Ok(())
}

pub(super) fn settlements(executed: &ExecutedUnit, writer: &mut RowWriter) -> Written {
    lines(executed, |unit, order, costs| {
        writer.number(unit.trade_id(order.number));
        writer.text(cash_type(order.is_cash));
        let due_day = order.completed_at / DAY_MS + SETTLED_AFTER_DAYS;
        writer.numbers(&[due_day, costs.amount_cents]);
        writer.end()
    })
}

/// Trades on margin move no cash.
pub(super) fn cash_transactions(executed: &ExecutedUnit, writer: &mut RowWriter) -> Written {
    lines(executed, |unit, order, costs| {
        if !order.is_cash {
            return Ok(());
        }
        writer.number(unit.trade_id(order.number));
        writer.numbers(&[order.completed_at, costs.amount_cents]);
        writer.compose(|text| {
            text.push_str(kind_name(order.kind));
            text.push(' ');
            push_digits(text, order.quantity as u64, 1);
            text.push_str(" shares of ");
            let security = unit.securities[order.slot as usize];
            unit.data_set.write_security_name(security, text);
        });
        writer.end()
    })
}

/// Writes each change of a lot.
struct Changes<'a, 'b> {
    unit: &'a Unit,
    writer: &'a mut RowWriter<'b>,
}

impl ExecutionObserver for Changes<'_, '_> {
    type Error = DatabaseError;

    fn lot_changed(&mut self, order: &Order, change: Change) -> Written {
        self.writer.numbers(&[
            self.unit.trade_id(change.holding_trade),
            self.unit.trade_id(order.number),
            change.before,
            change.after,
        ]);
        self.writer.end()
    }
}

/// Every change of every lot, in the order in which the trades were completed.
pub(super) fn holding_histories(data_set: &DataSet, unit: u32, writer: &mut RowWriter) -> Written {
    let unit = &Unit::new(data_set, unit);
    execute_orders(unit, &mut Changes { unit, writer }).map(|_| ())
}

/// A position is the sum of its lots.
pub(super) fn holding_summaries(executed: &ExecutedUnit, writer: &mut RowWriter) -> Written {
    let unit = &executed.unit;
    for account in &unit.accounts {
        for slot in account.first_slot..account.first_slot + account.slots {
            let quantity: i64 = executed.lots(slot).map(Lot::quantity).sum();
            if quantity != 0 {
                writer.number(account.id);
                writer.text(unit.symbol_of_slot(slot).as_str());
                writer.number(quantity);
                writer.end()?;
            }
        }
    }
    Ok(())
}

pub(super) fn holdings(executed: &ExecutedUnit, writer: &mut RowWriter) -> Written {
    let unit = &executed.unit;
    for account in &unit.accounts {
        for slot in account.first_slot..account.first_slot + account.slots {
            for lot in executed.lots(slot) {
                writer.numbers(&[unit.trade_id(lot.trade), account.id]);
                writer.text(unit.symbol_of_slot(slot).as_str());
                writer.numbers(&[executed.opened_at(lot), lot.price_cents(), lot.quantity()]);
                writer.end()?;
            }
        }
    }
    Ok(())
}

/// Accounts. They were opened empty, so the balance is the sum of the cash transactions.
pub(super) fn accounts(executed: &ExecutedUnit, writer: &mut RowWriter) -> Written {
    let data_set = &executed.unit.data_set;
    for (account, &balance_cents) in executed.unit.accounts.iter().zip(&executed.balances_cents) {
        let random_bits = data_set.random_bits(RandomField::Account, account.id as u64);
        let (last, first) = data_set.customer_names(account.customer);
        writer.numbers(&[
            account.id,
            account.broker_id,
            data_set.customer_id(account.customer),
        ]);
        writer.compose(|text| {
            text.push_str(first);
            text.push(' ');
            text.push_str(last);
            text.push(' ');
            text.push_str(PURPOSES[below(random_bits as u32, PURPOSES.len())]);
        });
        writer.numbers(&[i64::from(account.tax_status), balance_cents]);
        writer.end()?;
    }
    Ok(())
}

/// Brokers, with the number and the commissions of their accounts' trades.
pub(super) fn brokers(executed: &ExecutedUnit, writer: &mut RowWriter) -> Written {
    let unit = &executed.unit;
    for (id, (trades, commissions)) in (unit.first_broker_id()..).zip(executed.brokers) {
        writer.numbers(&[id, Status::Active.id()]);
        writer.compose(|text| unit.data_set.write_broker_name(id, text));
        writer.numbers(&[trades, commissions]);
        writer.end()?;
    }
    Ok(())
}
