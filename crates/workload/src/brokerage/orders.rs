//! The transactions that change the books: orders, their results, feeds and maintenance.

use super::plan::Planner;
use super::schema::{ACCOUNTS, CUSTOMERS_OF_BROKER, HELD, HOLDINGS, Table};
use super::skew;
use crate::profile::brokerage::Orders;

/// An order that has been entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entered {
    /// Whose.
    pub account: u64,
    /// In what.
    pub security: u64,
    /// Whether it sells.
    pub sells: bool,
    /// Whether it waits for a price.
    pub waits: bool,
    /// Its rank among the trades, once it is entered.
    pub trade: u64,
}

impl Planner<'_> {
    /// Draws an order.
    pub fn order(&mut self, orders: &Orders) -> Entered {
        let account = skew::account(self.dice, self.books);
        let slot = self.dice.below(HELD);
        Entered {
            account,
            security: skew::held_security(self.books, account, slot),
            sells: self.dice.happens(0.5),
            waits: !self.dice.happens(orders.market_percent / 100.0),
            trade: 0,
        }
    }

    /// Enters an order.
    pub fn enter(&mut self, order: &Entered, orders: &Orders) {
        let books = self.books;
        self.owner_of(order.account);
        // Nine in ten are executed by the owner; the others need a permission.
        if self.dice.happens(0.1) {
            let row = self.row_at(Table::AccountPermission, order.account, books.accounts());
            self.plan.look_up(Table::AccountPermission, row);
        }
        let company = order.security * books.companies() / books.securities();
        if self.dice.happens(0.4) {
            let by_name = crate::random::mix(company) % books.companies();
            self.plan.look_up(Table::CompanyByName, by_name);
            let row = self.row_at(Table::SecurityByCompany, company, books.companies());
            self.plan.look_up(Table::SecurityByCompany, row);
        }
        self.plan.look_up(Table::Company, company);
        self.plan.look_up(Table::Security, order.security);
        self.plan.look_up(Table::LastTrade, order.security);
        self.look_at_holdings(order);
        self.plan
            .look_up(Table::CustomerTaxrate, order.account / ACCOUNTS * 2);
        self.fixed(4);
        if self.dice.happens(orders.margin_percent / 100.0) {
            self.plan
                .range(Table::HoldingSummary, order.account * HELD, HELD);
            let held = (0..HELD).map(|slot| skew::held_security(books, order.account, slot));
            self.plan.look_up_all(Table::LastTrade, held);
        }
        self.plan.rolls_back = self.dice.happens(orders.rollback_percent / 100.0);
        if self.plan.rolls_back {
            return; // It is found out before anything is written.
        }
        self.plan.append(Table::Trade);
        let end = self.row_at(Table::TradeByAccount, order.account + 1, books.accounts());
        self.plan
            .insert(Table::TradeByAccount, end.saturating_sub(1));
        let end = self.row_at(Table::TradeBySymbol, order.security + 1, books.securities());
        self.plan
            .insert(Table::TradeBySymbol, end.saturating_sub(1));
        self.plan.append(Table::TradeHistory);
        if order.waits {
            let row = self.request_of(order);
            self.plan.insert(Table::TradeRequest, row);
        }
    }

    /// The place of a waiting order among the requests, which lie by broker.
    fn request_of(&self, order: &Entered) -> u64 {
        let broker = order.account / ACCOUNTS / CUSTOMERS_OF_BROKER;
        let brokers = self.books.tree(Table::Broker).rows();
        self.row_at(Table::TradeRequest, broker, brokers)
    }

    fn holding_of(&self, order: &Entered) -> (u64, u64) {
        let summary = order.account * HELD + order.security % HELD;
        let holding = order.account * HOLDINGS + summary % HELD * (HOLDINGS / HELD);
        (summary, holding)
    }

    fn look_at_holdings(&mut self, order: &Entered) {
        let (summary, holding) = self.holding_of(order);
        self.plan.look_up(Table::HoldingSummary, summary);
        // What is sold, or what covers a short position, is valued lot by lot.
        self.plan.range(Table::Holding, holding, HOLDINGS / HELD);
    }

    /// Books the result of an order that has been carried out.
    pub fn result(&mut self, order: &Entered) {
        let books = self.books;
        let trades = books.tree(Table::Trade).rows();
        let (summary, holding) = self.holding_of(order);
        self.plan.look_up(Table::Trade, order.trade);
        self.plan.change(Table::HoldingSummary, summary);
        self.plan.look_up(Table::CustomerAccount, order.account);
        self.plan.range(Table::Holding, holding, HOLDINGS / HELD);
        if order.sells {
            self.plan.remove(Table::Holding, holding);
            // The lots sold were bought long ago, and their history lies there.
            let bought = self.dice.below(trades);
            let row = self.row_at(Table::HoldingHistory, bought, trades);
            self.plan.insert(Table::HoldingHistory, row);
            self.plan
                .look_up(Table::CustomerTaxrate, order.account / ACCOUNTS * 2);
        } else {
            self.plan.insert(Table::Holding, holding);
            let row = self.row_at(Table::HoldingHistory, order.trade, trades);
            self.plan.insert(Table::HoldingHistory, row);
        }
        self.plan.append(Table::HoldingHistoryByTrade);
        self.fixed(2);
        self.plan.look_up(Table::Security, order.security);
        self.plan.look_up(Table::Customer, order.account / ACCOUNTS);
        self.plan.change(Table::Trade, order.trade);
        self.plan.append(Table::TradeHistory);
        let broker = order.account / ACCOUNTS / CUSTOMERS_OF_BROKER;
        self.plan.change(Table::Broker, broker);
        self.plan.append(Table::Settlement);
        if self.dice.happens(0.92) {
            self.plan.change(Table::CustomerAccount, order.account);
            self.plan.append(Table::CashTransaction);
        }
    }

    /// One entry of a feed: a new price, and the order that it sets off.
    pub fn feed_entry(&mut self, security: u64, sets_off: Option<&Entered>) {
        self.plan.change(Table::LastTrade, security);
        let Some(order) = sets_off else {
            return;
        };
        self.plan.change(Table::Trade, order.trade);
        let row = self.request_of(order);
        self.plan.remove(Table::TradeRequest, row);
        self.plan.append(Table::TradeHistory);
    }

    /// A round of data maintenance, on another table each time.
    pub fn data_maintenance(&mut self, round: u64) {
        const TABLES: [(Table, u64); 12] = [
            (Table::AccountPermission, 1),
            (Table::Address, 1),
            (Table::Company, 1),
            (Table::Customer, 1),
            (Table::CustomerTaxrate, 1),
            (Table::DailyMarketBySymbol, 1),
            (Table::Fixed, 4),
            (Table::Financial, 20),
            (Table::NewsItem, 2),
            (Table::Security, 1),
            (Table::Fixed, 2),
            (Table::WatchItem, 1),
        ];
        let (table, rows) = TABLES[round as usize % TABLES.len()];
        let first = self.any_row(table);
        let last = self.books.tree(table).rows() - 1;
        for row in first..first + rows {
            self.plan.change(table, row.min(last));
        }
    }
}
