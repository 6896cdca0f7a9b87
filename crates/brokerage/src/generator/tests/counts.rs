//! Row counts, and how often each choice is made.

use super::{each, numbers, texts};
use crate::dataset::{DataSet, LOAD_UNIT};
use crate::schema::TableName;
use std::collections::HashMap;

fn count(data_set: &DataSet, table: TableName) -> u64 {
    let mut rows = 0;
    each(data_set, table, |_| rows += 1);
    rows
}

#[test]
fn trades_leave_as_many_rows_as_published() {
    let data_set = DataSet::new(1_000, 12, 21);
    let trades = count(&data_set, TableName::Trade) as f64;
    assert_eq!(trades, 57_600.0 * 12.0);
    for (table, expected) in [
        (TableName::TradeHistory, 2.4),
        (TableName::CashTransaction, 0.92),
        (TableName::Settlement, 1.0),
    ] {
        let share = count(&data_set, table) as f64 / trades;
        assert!((share / expected - 1.0).abs() < 0.005, "{table:?} {share}");
    }
    for table in [
        TableName::HoldingHistory,
        TableName::HoldingSummary,
        TableName::Holding,
    ] {
        let (rows, expected) = (count(&data_set, table), data_set.rows(table));
        let share = rows as f64 / expected as f64;
        assert!(
            (0.95..1.05).contains(&share),
            "{table:?} {rows}, not {expected}"
        );
    }
}

#[test]
fn orders_have_the_published_shares() {
    let data_set = DataSet::new(1_000, 2, 22);
    let names = [
        "trade_type_id",
        "is_cash",
        "quantity",
        "is_lifo",
        "bid_price_cents",
    ];
    let orders = numbers(&data_set, TableName::Trade, names);
    let share = |is: &dyn Fn(&[i64; 5]) -> bool| {
        orders.iter().filter(|order| is(order)).count() as f64 / orders.len() as f64
    };
    for (kind, expected) in [(1, 0.3), (2, 0.3), (3, 0.1), (4, 0.1), (5, 0.2)] {
        assert!(
            (share(&|order| order[0] == kind) - expected).abs() < 0.006,
            "{kind}"
        );
    }
    assert!(
        (share(&|order| order[1] == 0) - 0.08).abs() < 0.004,
        "on margin"
    );
    for quantity in [100, 200, 400, 800] {
        assert!(
            (share(&|order| order[2] == quantity) - 0.25).abs() < 0.006,
            "{quantity}"
        );
    }
    assert!(
        (share(&|order| order[3] == 1) - 0.35).abs() < 0.006,
        "last lots first"
    );
    assert_eq!(share(&|order| !(2_000..=3_000).contains(&order[4])), 0.0);
    assert!(
        (share(&|order| order[4] < 2_500) - 0.5).abs() < 0.01,
        "prices"
    );
}

#[test]
fn customers_trade_by_weight_and_others_now_and_then() {
    let data_set = DataSet::new(1_000, 2, 23);
    let accounts = numbers(&data_set, TableName::Trade, ["account_id"]);
    let executors = texts(&data_set, TableName::Trade, "executor_name");
    let (mut tenths, mut by_others) = ([0_u32; 10], 0);
    for ([account], executor) in accounts.iter().zip(&executors) {
        let owner = data_set.customer_of_account(*account);
        tenths[(crate::skew::ordinal_of_customer(owner) * 10 / LOAD_UNIT) as usize] += 1;
        let (last, first) = data_set.customer_names(owner);
        by_others += u32::from(*executor != format!("{first} {last}"));
    }
    let share = |count: u32| f64::from(count) / accounts.len() as f64;
    for (tenth, &count) in tenths.iter().enumerate() {
        // The weight rises from 0.3 to 1.7 times the average.
        let expected = 0.1 * (0.37 + 0.14 * tenth as f64);
        assert!((share(count) - expected).abs() < 0.005, "{tenths:?}");
    }
    assert!(
        (share(by_others) - 0.1).abs() < 0.01,
        "{}",
        share(by_others)
    );
}

#[test]
fn prices_of_securities_agree_with_their_days() {
    let data_set = DataSet::new(1_000, 1, 24);
    let symbols = texts(&data_set, TableName::DailyMarket, "symbol");
    let names = ["day", "close_cents", "high_cents", "low_cents"];
    let days = numbers(&data_set, TableName::DailyMarket, names);
    let mut ranges = HashMap::<String, (i64, i64)>::new();
    for (symbol, [day, close, high, low]) in symbols.into_iter().zip(days) {
        assert!((data_set.first_day()..data_set.opening_day()).contains(&day));
        assert!((2_000..=3_000).contains(&close) && low <= close && close <= high);
        let range = ranges.entry(symbol).or_insert((high, low));
        *range = (range.0.max(high), range.1.min(low));
    }
    let symbols = texts(&data_set, TableName::Security, "symbol");
    let names = [
        "high_52_weeks_cents",
        "low_52_weeks_cents",
        "high_52_weeks_day",
    ];
    for (symbol, [high, low, day]) in
        symbols
            .iter()
            .zip(numbers(&data_set, TableName::Security, names))
    {
        assert_eq!(ranges[symbol], (high, low));
        assert!((data_set.first_day()..data_set.opening_day()).contains(&day));
    }
    let counts = numbers(&data_set, TableName::Exchange, ["security_count"]);
    assert_eq!(counts.iter().map(|[one]| one).sum::<i64>(), 685);
    assert_eq!(counts, [[172], [171], [171], [171]]);
}

#[test]
fn news_are_short_in_small_data_sets_and_long_in_large_ones() {
    for (days, longest) in [(1, 4_000), (300, 100_000)] {
        let data_set = DataSet::new(1_000, days, 25);
        assert_eq!(data_set.longest_news_bytes(), longest);
        let mut lengths = Vec::new();
        each(&data_set, TableName::NewsItem, |row| {
            lengths.push(row[3].as_text().unwrap().len() as u32);
        });
        let (least, most) = (
            *lengths.iter().min().unwrap(),
            *lengths.iter().max().unwrap(),
        );
        assert!((2_000..2_100).contains(&least), "{least}");
        assert!((longest - longest / 20..=longest).contains(&most), "{most}");
    }
}
