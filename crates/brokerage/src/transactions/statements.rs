//! All statements, for what must hold of each.

use super::{
    broker_volume, clean_up, customer_position, data_maintenance, market_feed, market_watch,
    old_trades, security_detail, trade_lookup, trade_order, trade_result, trade_status,
    trade_update,
};
use crate::statement::Statement;
use std::collections::BTreeSet;

/// Every statement of the transactions.
fn all() -> Vec<&'static Statement> {
    [reading(), orders(), results_and_feeds(), maintenance()].concat()
}

fn reading() -> Vec<&'static Statement> {
    vec![
        &trade_status::OWNER,
        &trade_status::TRADES,
        &market_watch::OF_CUSTOMER,
        &market_watch::OF_ACCOUNT,
        &market_watch::OF_INDUSTRY,
        &security_detail::SECURITY,
        &security_detail::COMPETITORS,
        &security_detail::REPORTS,
        &security_detail::DAYS,
        &security_detail::LAST_TRADE,
        &security_detail::NEWS,
        &security_detail::NEWS_TEXT,
        &customer_position::CUSTOMER_BY_ID,
        &customer_position::CUSTOMER_BY_TAX_ID,
        &customer_position::ACCOUNTS_BY_ID,
        &customer_position::ACCOUNTS_BY_TAX_ID,
        &customer_position::HISTORY,
        &broker_volume::VOLUMES,
        &old_trades::BY_ID,
        &old_trades::HISTORY_BY_ID,
        &old_trades::BY_ACCOUNT,
        &old_trades::HISTORY_BY_ACCOUNT,
        &old_trades::BY_SYMBOL,
        &old_trades::HISTORY_BY_SYMBOL,
        &trade_lookup::FIRST,
        &trade_lookup::HOLDINGS_OF_FIRST,
        &trade_update::EXECUTORS,
        &trade_update::CASH_TYPES,
        &trade_update::CASH_NAMES,
        &trade_update::READ_EXECUTORS,
        &trade_update::READ_CASH_TYPES,
        &trade_update::READ_CASH_NAMES,
    ]
}

fn orders() -> Vec<&'static Statement> {
    use trade_order::statements as say;
    vec![
        &say::ACCOUNT,
        &say::PERMISSION,
        &say::SECURITY_BY_SYMBOL,
        &say::SECURITY_BY_COMPANY,
        &say::KIND,
        &say::SUMMARY,
        &say::LOTS,
        &say::TAX_RATES,
        &say::COMMISSION,
        &say::CHARGE,
        &say::ASSETS,
        &say::ENTER,
        &say::STEP,
        &say::REQUEST,
    ]
}

fn results_and_feeds() -> Vec<&'static Statement> {
    use trade_result::statements as say;
    vec![
        &say::TRADE,
        &say::LOTS,
        &say::TAX_RATES,
        &say::SUMMARY_BEGINS,
        &say::SUMMARY_CHANGES,
        &say::SUMMARY_ENDS,
        &say::LOT_BEGINS,
        &say::LOT_CHANGES,
        &say::LOT_ENDS,
        &say::LOT_HISTORY,
        &say::COMPLETE,
        &say::BROKER,
        &say::SETTLE,
        &say::PAY,
        &say::CASH,
        &say::BALANCE,
        &market_feed::PRICE,
        &market_feed::MET,
        &market_feed::SUBMIT,
        &market_feed::FORGET,
        &market_feed::WITH_MARKET,
    ]
}

fn maintenance() -> Vec<&'static Statement> {
    use data_maintenance::statements as say;
    vec![
        &say::PERMISSIONS,
        &say::READ_PERMISSIONS,
        &say::ADDRESS_OF_CUSTOMER,
        &say::READ_ADDRESS_OF_CUSTOMER,
        &say::ADDRESS_OF_COMPANY,
        &say::READ_ADDRESS_OF_COMPANY,
        &say::COMPANY,
        &say::READ_COMPANY,
        &say::EMAIL,
        &say::CHANGE_EMAIL,
        &say::TAX_RATES,
        &say::CHANGE_TAX_RATE,
        &say::DAYS,
        &say::READ_DAYS,
        &say::EXCHANGES,
        &say::CHANGE_EXCHANGE,
        &say::REPORTS,
        &say::CHANGE_REPORTS,
        &say::NEWS,
        &say::READ_NEWS,
        &say::SECURITY,
        &say::READ_SECURITY,
        &say::TAX_NAME,
        &say::CHANGE_TAX_NAME,
        &say::WATCHED,
        &say::NOT_WATCHED,
        &say::CHANGE_WATCHED,
        &clean_up::STEPS,
        &clean_up::REQUESTS,
        &clean_up::TRADES,
        &clean_up::LAST_TRADE,
        &clean_up::LAST_MOMENT,
    ]
}

/// The numbers of the parameters in a text.
fn parameters(sql: &str) -> BTreeSet<usize> {
    let pieces = sql.split('$').skip(1);
    let number = |piece: &str| {
        let end = piece.find(|letter: char| !letter.is_ascii_digit());
        piece[..end.unwrap_or(piece.len())].parse().unwrap()
    };
    pieces.map(number).collect()
}

#[test]
fn statements_have_names_of_their_own_and_use_all_their_parameters() {
    let mut names = BTreeSet::new();
    for statement in all() {
        assert!(names.insert(statement.name), "{}", statement.name);
        let used: Vec<usize> = parameters(statement.sql).into_iter().collect();
        let given: Vec<usize> = (1..=statement.parameters.len()).collect();
        assert_eq!(used, given, "{}", statement.name);
    }
}
