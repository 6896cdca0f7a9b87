//! Read-write transactions: orders, their results, market feeds and data maintenance.

use super::plan::Planner;
use super::schema::{ACCOUNTS, CUSTOMERS_OF_BROKER, HELD, HOLDINGS, Table};
use super::skew;
use crate::profile::Orders;

/// An order, as far as page accesses depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Its account, counted from 0.
    pub account: u64,
    /// Its security, counted from 0.
    pub security: u64,
    /// Whether it is a sale.
    pub is_sell: bool,
    /// Whether it waits for its price.
    pub is_limit: bool,
    /// Its rank among the trades, once it is entered.
    pub trade: u64,
}

impl Planner<'_> {
    /// Draws a random order of a random account.
    pub fn order(&mut self, orders: &Orders) -> Order {
        let account = skew::account(self.rng, self.trees);
        let slot = self.rng.below(HELD);
        Order {
            account,
            security: skew::held_security(self.trees, account, slot),
            is_sell: self.rng.happens(0.5),
            is_limit: !self.rng.happens(orders.market_percent / 100.0),
            trade: 0,
        }
    }

    /// Plans the entering of an order.
    pub fn enter(&mut self, order: &Order, orders: &Orders) {
        let trees = self.trees;
        self.owner_of(order.account);
        // Nine in ten are executed by the owner; the others need a permission.
        if self.rng.happens(0.1) {
            let row = self.row_at(Table::AccountPermission, order.account, trees.accounts());
            self.plan.look_up(Table::AccountPermission, row);
        }
        let company = order.security * trees.companies() / trees.securities();
        if self.rng.happens(0.4) {
            let by_name = workload::random::mix(company) % trees.companies();
            self.plan.look_up(Table::CompanyByName, by_name);
            let row = self.row_at(Table::SecurityByCompany, company, trees.companies());
            self.plan.look_up(Table::SecurityByCompany, row);
        }
        self.plan.look_up(Table::Company, company);
        self.plan.look_up(Table::Security, order.security);
        self.plan.look_up(Table::LastTrade, order.security);
        self.read_holdings(order);
        self.plan
            .look_up(Table::CustomerTaxrate, order.account / ACCOUNTS * 2);
        self.read_fixed_rows(4);
        if self.rng.happens(orders.margin_percent / 100.0) {
            self.plan
                .range(Table::HoldingSummary, order.account * HELD, HELD);
            let held = (0..HELD).map(|slot| skew::held_security(trees, order.account, slot));
            self.plan.look_up_all(Table::LastTrade, held);
        }
        self.plan.rolls_back = self.rng.happens(orders.rollback_percent / 100.0);
        if self.plan.rolls_back {
            return; // It is found out before anything is written.
        }
        self.plan.append(Table::Trade);
        let end = self.row_at(Table::TradeByAccount, order.account + 1, trees.accounts());
        self.plan
            .insert(Table::TradeByAccount, end.saturating_sub(1));
        let end = self.row_at(Table::TradeBySymbol, order.security + 1, trees.securities());
        self.plan
            .insert(Table::TradeBySymbol, end.saturating_sub(1));
        self.plan.append(Table::TradeHistory);
        if order.is_limit {
            let row = self.request_of(order);
            self.plan.insert(Table::TradeRequest, row);
        }
    }

    /// The row of a pending order among the requests, which are ordered by broker.
    fn request_of(&self, order: &Order) -> u64 {
        let broker = order.account / ACCOUNTS / CUSTOMERS_OF_BROKER;
        let brokers = self.trees.tree(Table::Broker).rows();
        self.row_at(Table::TradeRequest, broker, brokers)
    }

    fn holding_of(&self, order: &Order) -> (u64, u64) {
        let summary = order.account * HELD + order.security % HELD;
        let holding = order.account * HOLDINGS + summary % HELD * (HOLDINGS / HELD);
        (summary, holding)
    }

    fn read_holdings(&mut self, order: &Order) {
        let (summary, holding) = self.holding_of(order);
        self.plan.look_up(Table::HoldingSummary, summary);
        // What is sold, or what covers a short position, is valued lot by lot.
        self.plan.range(Table::Holding, holding, HOLDINGS / HELD);
    }

    /// Plans the booking of an order's result.
    pub fn result(&mut self, order: &Order) {
        let trees = self.trees;
        let trades = trees.tree(Table::Trade).rows();
        let (summary, holding) = self.holding_of(order);
        self.plan.look_up(Table::Trade, order.trade);
        self.plan.change(Table::HoldingSummary, summary);
        self.plan.look_up(Table::CustomerAccount, order.account);
        self.plan.range(Table::Holding, holding, HOLDINGS / HELD);
        if order.is_sell {
            self.plan.remove(Table::Holding, holding);
            // The lots sold were bought long ago, and their history is there.
            let bought = self.rng.below(trades);
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
        self.read_fixed_rows(2);
        self.plan.look_up(Table::Security, order.security);
        self.plan.look_up(Table::Customer, order.account / ACCOUNTS);
        self.plan.change(Table::Trade, order.trade);
        self.plan.append(Table::TradeHistory);
        let broker = order.account / ACCOUNTS / CUSTOMERS_OF_BROKER;
        self.plan.change(Table::Broker, broker);
        self.plan.append(Table::Settlement);
        if self.rng.happens(0.92) {
            self.plan.change(Table::CustomerAccount, order.account);
            self.plan.append(Table::CashTransaction);
        }
    }

    /// Plans one entry of a feed: a new price, and the order that it triggers.
    pub fn feed_entry(&mut self, security: u64, triggers: Option<&Order>) {
        self.plan.change(Table::LastTrade, security);
        let Some(order) = triggers else {
            return;
        };
        self.plan.change(Table::Trade, order.trade);
        let row = self.request_of(order);
        self.plan.remove(Table::TradeRequest, row);
        self.plan.append(Table::TradeHistory);
    }

    /// Plans a round of data maintenance, on another table each time.
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
        let first = self.random_row(table);
        let last = self.trees.tree(table).rows() - 1;
        for row in first..first + rows {
            self.plan.change(table, row.min(last));
        }
    }
}
