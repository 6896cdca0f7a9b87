//! Whether the generated trades are consistent, from the rows alone.

use super::{column, each, numbers, texts};
use crate::dataset::DataSet;
use crate::dataset::trading_calendar::DAY_MS;
use crate::kinds::{Status, TradeKind};
use crate::schema::TableName;
use crate::value::Value;
use std::collections::HashMap;

/// A trade with what other tables say about its account.
struct Trade {
    id: i64,
    entered_at: i64,
    kind: TradeKind,
    is_cash: bool,
    symbol: String,
    quantity: i64,
    bid_cents: i64,
    account: i64,
    price_cents: i64,
    charge_cents: i64,
    commission_cents: i64,
    tax_cents: i64,
}

fn trades(data_set: &DataSet) -> Vec<Trade> {
    let place = |name| column(TableName::Trade, name);
    let mut all = Vec::new();
    each(data_set, TableName::Trade, |row| {
        let number = |name| row[place(name)].as_integer().unwrap();
        assert_eq!(number("status_id"), Status::Completed.id());
        all.push(Trade {
            id: number("id"),
            entered_at: number("entered_at"),
            kind: TradeKind::of_id(number("trade_type_id")).unwrap(),
            is_cash: number("is_cash") == 1,
            symbol: row[place("symbol")].as_text().unwrap().to_owned(),
            quantity: number("quantity"),
            bid_cents: number("bid_price_cents"),
            account: number("account_id"),
            price_cents: number("trade_price_cents"),
            charge_cents: number("charge_cents"),
            commission_cents: number("commission_cents"),
            tax_cents: number("tax_cents"),
        });
    });
    all
}

fn data_set() -> DataSet {
    DataSet::new(2_000, 1, 4_711)
}

/// When each trade was completed.
fn completed(data_set: &DataSet) -> HashMap<i64, i64> {
    let names = ["trade_id", "status_id", "changed_at"];
    let all = numbers(data_set, TableName::TradeHistory, names).into_iter();
    let all = all.filter(|row| row[1] == Status::Completed.id());
    all.map(|[trade, _, at]| (trade, at)).collect()
}

#[test]
fn trades_are_numbered_from_one_and_carried_out_as_ordered() {
    let data_set = data_set();
    let mut histories = HashMap::<i64, [Option<i64>; 6]>::new();
    let names = ["trade_id", "status_id", "changed_at"];
    for [trade, status, at] in numbers(&data_set, TableName::TradeHistory, names) {
        let place = &mut histories.entry(trade).or_default()[status as usize];
        assert_eq!(place.replace(at), None);
    }
    let trades = trades(&data_set);
    assert_eq!(trades.len() as u64, data_set.built_trades());
    assert_eq!(histories.len(), trades.len());
    for (number, trade) in trades.iter().enumerate() {
        assert_eq!(trade.id, number as i64 + 1);
        let [_, Some(completed), None, Some(submitted), pending, None] = histories[&trade.id]
        else {
            panic!("states of {}: {:?}", trade.id, histories[&trade.id]);
        };
        let waits = !trade.kind.is_market();
        assert_eq!(pending, waits.then_some(trade.entered_at));
        assert!(waits || submitted == trade.entered_at);
        assert!(trade.entered_at <= submitted && submitted <= completed);
        assert!(completed <= submitted + 5_000 && completed < data_set.opening_ms());
        assert!(trade.entered_at >= data_set.first_trade_ms());
        // The price had come when the order was submitted, and had not a moment before.
        let (wave, security) = (
            data_set.wave(),
            data_set.security_of_symbol(&trade.symbol).unwrap(),
        );
        let met = |at| {
            trade
                .kind
                .is_met(trade.bid_cents, wave.price_cents(security, at))
        };
        assert!(met(submitted));
        assert!(submitted == trade.entered_at || !met(submitted - 1));
        let market_cents = wave.price_cents(security, completed);
        let better = match trade.kind {
            TradeKind::LimitBuy => market_cents.min(trade.bid_cents),
            TradeKind::LimitSell => market_cents.max(trade.bid_cents),
            _ => market_cents,
        };
        assert_eq!(trade.price_cents, better);
        if !waits {
            let entered = wave.price_cents(security, trade.entered_at);
            assert_eq!(trade.bid_cents, entered);
        }
    }
}

#[test]
fn charges_commissions_and_amounts_follow_the_tables_of_rates() {
    let data_set = data_set();
    let names = ["trade_type_id", "tier", "charge_cents"];
    let charges = numbers(&data_set, TableName::Charge, names);
    let charges: HashMap<(i64, i64), i64> = charges
        .into_iter()
        .map(|[kind, tier, charge]| ((kind, tier), charge))
        .collect();
    let names = [
        "tier",
        "trade_type_id",
        "from_quantity",
        "to_quantity",
        "rate_hundredths",
    ];
    let rates = numbers(&data_set, TableName::CommissionRate, names);
    let exchanges = texts(&data_set, TableName::CommissionRate, "exchange_id");
    let tiers: HashMap<i64, i64> = numbers(&data_set, TableName::Customer, ["id", "tier"])
        .into_iter()
        .map(Into::into)
        .collect();
    let customers: HashMap<i64, i64> =
        numbers(&data_set, TableName::CustomerAccount, ["id", "customer_id"])
            .into_iter()
            .map(Into::into)
            .collect();
    let statuses: HashMap<i64, i64> =
        numbers(&data_set, TableName::CustomerAccount, ["id", "tax_status"])
            .into_iter()
            .map(Into::into)
            .collect();
    let symbols = texts(&data_set, TableName::Security, "symbol");
    let listed = texts(&data_set, TableName::Security, "exchange_id");
    let listed: HashMap<&String, &String> = symbols.iter().zip(&listed).collect();
    let settled = numbers(
        &data_set,
        TableName::Settlement,
        ["trade_id", "amount_cents"],
    );
    let trades = trades(&data_set);
    assert_eq!(settled.len(), trades.len());
    for (trade, [settled, amount]) in trades.iter().zip(settled) {
        assert_eq!(settled, trade.id);
        let (tier, kind) = (tiers[&customers[&trade.account]], trade.kind.id());
        assert_eq!(trade.charge_cents, charges[&(kind, tier)]);
        let rate = rates.iter().zip(&exchanges).find(|(rate, exchange)| {
            let inside = (rate[2]..=rate[3]).contains(&trade.quantity);
            rate[0] == tier && rate[1] == kind && inside && *exchange == listed[&trade.symbol]
        });
        let worth = trade.quantity * trade.price_cents;
        let commission = rate.unwrap().0[4] * worth;
        assert!((commission - trade.commission_cents * 10_000).abs() <= 5_000);
        let worth = if trade.kind.is_sell() { worth } else { -worth };
        let tax = if statuses[&trade.account] == 1 {
            trade.tax_cents
        } else {
            0
        };
        assert_eq!(
            amount,
            worth - trade.charge_cents - trade.commission_cents - tax
        );
    }
}

#[test]
fn balances_and_brokers_add_up() {
    let data_set = data_set();
    let amounts: HashMap<i64, i64> = numbers(
        &data_set,
        TableName::Settlement,
        ["trade_id", "amount_cents"],
    )
    .into_iter()
    .map(Into::into)
    .collect();
    let completed = completed(&data_set);
    let due = numbers(&data_set, TableName::Settlement, ["trade_id", "due_day"]);
    assert!(
        due.iter()
            .all(|[trade, day]| *day == completed[trade] / DAY_MS + 2)
    );
    let cash = numbers(
        &data_set,
        TableName::CashTransaction,
        ["trade_id", "booked_at", "amount_cents"],
    );
    let cash: HashMap<i64, (i64, i64)> = cash
        .into_iter()
        .map(|[trade, at, amount]| (trade, (at, amount)))
        .collect();
    let paid = texts(&data_set, TableName::Settlement, "cash_type");
    let mut balances = HashMap::<i64, i64>::new();
    let mut by_account = HashMap::<i64, (i64, i64)>::new();
    let trades = trades(&data_set);
    for (trade, paid) in trades.iter().zip(paid) {
        let booked = trade
            .is_cash
            .then(|| (completed[&trade.id], amounts[&trade.id]));
        assert_eq!(cash.get(&trade.id).copied(), booked);
        assert_eq!(
            paid,
            if trade.is_cash {
                "Cash Account"
            } else {
                "Margin"
            }
        );
        *balances.entry(trade.account).or_default() += booked.map_or(0, |(_, amount)| amount);
        let (count, commission) = by_account.entry(trade.account).or_default();
        (*count, *commission) = (*count + 1, *commission + trade.commission_cents);
    }
    let mut by_broker = HashMap::<i64, (i64, i64)>::new();
    let names = ["id", "broker_id", "balance_cents"];
    for [account, broker, balance] in numbers(&data_set, TableName::CustomerAccount, names) {
        assert_eq!(balance, balances.remove(&account).unwrap_or(0));
        let (trades, commission) = by_account.remove(&account).unwrap_or_default();
        let all = by_broker.entry(broker).or_default();
        *all = (all.0 + trades, all.1 + commission);
    }
    assert!(balances.is_empty() && by_account.is_empty());
    let names = ["id", "trade_count", "commission_cents"];
    for [broker, count, commission] in numbers(&data_set, TableName::Broker, names) {
        assert_eq!(by_broker.remove(&broker), Some((count, commission)));
    }
    assert!(by_broker.is_empty());
    assert!(numbers(&data_set, TableName::TradeRequest, ["trade_id"]).is_empty());
}

/// Lots as `holding` has them, by the trade that opened them.
type Lots = HashMap<i64, (i64, String, i64, i64, i64)>;

fn lots(data_set: &DataSet) -> Lots {
    let mut lots = Lots::new();
    let place = |name| column(TableName::Holding, name);
    each(data_set, TableName::Holding, |row: &[Value]| {
        let number = |name| row[place(name)].as_integer().unwrap();
        let symbol = row[place("symbol")].as_text().unwrap().to_owned();
        let (at, price) = (number("bought_at"), number("price_cents"));
        let lot = (number("account_id"), symbol, at, price, number("quantity"));
        lots.insert(number("trade_id"), lot);
    });
    lots
}

#[test]
fn holdings_follow_from_their_history_and_add_up_to_their_summary() {
    let data_set = data_set();
    let (trades, lots) = (trades(&data_set), lots(&data_set));
    let by_id: HashMap<i64, &Trade> = trades.iter().map(|trade| (trade.id, trade)).collect();
    let (mut left, mut moved) = (HashMap::<i64, i64>::new(), HashMap::<i64, i64>::new());
    let names = [
        "holding_trade_id",
        "trade_id",
        "before_quantity",
        "after_quantity",
    ];
    let mut gains = HashMap::<i64, i64>::new();
    for [holding, trade, before, after] in numbers(&data_set, TableName::HoldingHistory, names) {
        assert_eq!(left.insert(holding, after).unwrap_or(0), before);
        assert_eq!(
            before == 0,
            holding == trade,
            "a lot is opened by its own trade"
        );
        assert!(before.signum() * after.signum() >= 0);
        let (opening, closing) = (by_id[&holding], by_id[&trade]);
        assert_eq!(opening.account, closing.account);
        assert_eq!(opening.symbol, closing.symbol);
        *moved.entry(trade).or_default() += after - before;
        if before != 0 {
            *gains.entry(trade).or_default() +=
                (before - after) * (closing.price_cents - opening.price_cents);
        }
    }
    for trade in &trades {
        let sign = if trade.kind.is_sell() { -1 } else { 1 };
        assert_eq!(moved[&trade.id], sign * trade.quantity);
        let gain = gains.get(&trade.id).copied().unwrap_or(0);
        assert!(
            gain > 0 || trade.tax_cents == 0,
            "a tax on no gain: {}",
            trade.id
        );
    }
    assert!(trades.iter().any(|trade| trade.tax_cents > 0));
    left.retain(|_, quantity| *quantity != 0);
    assert_eq!(left.len(), lots.len());
    let completed = completed(&data_set);
    let mut sums = HashMap::<(i64, String), i64>::new();
    for (trade, (account, symbol, at, price, quantity)) in lots {
        assert_eq!(left[&trade], quantity);
        let opening = by_id[&trade];
        assert_eq!((account, &symbol), (opening.account, &opening.symbol));
        assert_eq!((at, price), (completed[&trade], opening.price_cents));
        *sums.entry((account, symbol)).or_default() += quantity;
    }
    check_summary(&data_set, &sums);
}

fn check_summary(data_set: &DataSet, sums: &HashMap<(i64, String), i64>) {
    let mut summary = HashMap::new();
    each(data_set, TableName::HoldingSummary, |row| {
        let key = (
            row[0].as_integer().unwrap(),
            row[1].as_text().unwrap().to_owned(),
        );
        summary.insert(key, row[2].as_integer().unwrap());
    });
    assert_eq!(&summary, sums);
    assert!(summary.values().all(|&quantity| quantity != 0));
    let short = summary.values().filter(|&&quantity| quantity < 0).count();
    let share = short as f64 / summary.len() as f64;
    assert!((0.4..0.6).contains(&share), "{share} are short");
}

#[test]
fn the_oldest_or_the_youngest_lots_are_closed_first() {
    let data_set = DataSet::new(1_000, 3, 15);
    let by_id: HashMap<i64, Trade> = trades(&data_set)
        .into_iter()
        .map(|trade| (trade.id, trade))
        .collect();
    let is_lifo: HashMap<i64, i64> = numbers(&data_set, TableName::Trade, ["id", "is_lifo"])
        .into_iter()
        .map(Into::into)
        .collect();
    // Open lots of each position, in the order in which they were opened.
    let mut open = HashMap::<(i64, &str), Vec<i64>>::new();
    let (mut first, mut last) = (0, 0);
    let names = [
        "holding_trade_id",
        "trade_id",
        "before_quantity",
        "after_quantity",
    ];
    for [holding, trade, before, after] in numbers(&data_set, TableName::HoldingHistory, names) {
        let of = &by_id[&holding];
        let lots = open.entry((of.account, &of.symbol)).or_default();
        if before == 0 {
            lots.push(holding);
            continue;
        }
        let expected = if is_lifo[&trade] == 1 {
            lots.last()
        } else {
            lots.first()
        };
        assert_eq!(expected, Some(&holding));
        if lots.len() > 1 {
            *(if is_lifo[&trade] == 1 {
                &mut last
            } else {
                &mut first
            }) += 1;
        }
        if after == 0 {
            lots.retain(|&lot| lot != holding);
        }
    }
    assert!(first > 1_000 && last > 500, "{first} {last}");
}
