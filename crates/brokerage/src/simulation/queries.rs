//! Read-only transactions on customers, securities and the market.

use super::plan::Planner;
use super::schema::{
    ACCOUNTS, CUSTOMERS_OF_BROKER, HELD, MARKET_DAYS, NEWS_BYTES, QUARTERS, Table, WATCHED,
};
use super::skew;

/// Trades read by trade-status.
const STATUS_TRADES: u64 = 50;
/// Trades read by customer-position.
const POSITION_TRADES: u64 = 10;

impl Planner<'_> {
    /// The 50 latest trades of an account, through their index, with the names around them.
    pub(super) fn trade_status(&mut self) {
        let account = skew::account(self.rng, self.trees);
        self.latest_trades(account, STATUS_TRADES);
        let trades = self.latest_ranks(account, STATUS_TRADES);
        let trees = self.trees;
        let securities = trades
            .iter()
            .map(|rank| skew::held_security(trees, account, rank % HELD));
        self.plan.look_up_all(Table::Security, securities);
        self.owner_of(account);
    }

    /// The customer and the broker of an account.
    pub(super) fn owner_of(&mut self, account: u64) {
        let customer = account / ACCOUNTS;
        self.plan.look_up(Table::CustomerAccount, account);
        self.plan.look_up(Table::Customer, customer);
        let broker = customer / CUSTOMERS_OF_BROKER;
        self.plan.look_up(Table::Broker, broker);
    }

    /// The ranks of the latest trades of an account.
    fn latest_ranks(&self, account: u64, trades: u64) -> Vec<u64> {
        let trades = trades.min(self.trees.trades_of_account());
        let rank = |back| skew::trade_of_account(self.trees, account, back);
        (0..trades).map(rank).collect()
    }

    /// Reads the latest trades of an account through their index.
    fn latest_trades(&mut self, account: u64, trades: u64) {
        let end = self.row_at(Table::TradeByAccount, account + 1, self.trees.accounts());
        let trades = trades.min(self.trees.trades_of_account());
        let first = end.saturating_sub(trades);
        self.plan.range(Table::TradeByAccount, first, trades);
        let ranks = self.latest_ranks(account, trades);
        self.plan.look_up_all(Table::Trade, ranks);
    }

    /// The value of a watch list, an account or an industry, now and on a past day.
    pub(super) fn market_watch(&mut self) {
        let securities = match self.rng.below(100) {
            0..60 => self.watched(),
            60..95 => self.held(),
            _ => self.securities_of_industry(),
        };
        let day = skew::market_day(self.rng);
        let all = self.trees.securities();
        self.plan
            .look_up_all(Table::LastTrade, securities.iter().copied());
        self.plan
            .look_up_all(Table::Security, securities.iter().copied());
        let of_day = securities.iter().map(|security| day * all + security);
        self.plan.look_up_all(Table::DailyMarket, of_day);
    }

    /// The securities on a customer's watch list.
    fn watched(&mut self) -> Vec<u64> {
        let customer = skew::customer(self.rng, self.trees);
        self.plan.look_up(Table::WatchList, customer);
        // Lists have 50 to 150 entries.
        let watched = WATCHED / 2 + self.rng.below(WATCHED + 1);
        self.plan
            .range(Table::WatchItem, customer * WATCHED, watched);
        let trees = self.trees;
        let slots = 0..watched;
        slots
            .map(|slot| skew::held_security(trees, !customer, slot))
            .collect()
    }

    /// The securities of an account.
    fn held(&mut self) -> Vec<u64> {
        let account = skew::account(self.rng, self.trees);
        self.plan.range(Table::HoldingSummary, account * HELD, HELD);
        let trees = self.trees;
        (0..HELD)
            .map(|slot| skew::held_security(trees, account, slot))
            .collect()
    }

    /// The securities of the companies of one industry among 500 consecutive companies.
    fn securities_of_industry(&mut self) -> Vec<u64> {
        const INDUSTRIES: u64 = 102;
        const COMPANIES: u64 = 500;
        self.read_fixed_rows(1);
        let all = self.trees.companies();
        let first = self.rng.below(all.saturating_sub(COMPANIES).max(1));
        let (within, start) = (COMPANIES.min(all), self.rng.below(INDUSTRIES));
        self.plan.range(Table::Company, first, within);
        let of_industry = (start..within).step_by(INDUSTRIES as usize);
        let companies: Vec<u64> = of_industry.map(|number| first + number).collect();
        let securities = self.trees.securities();
        let index: Vec<u64> = companies
            .iter()
            .map(|&company| self.row_at(Table::SecurityByCompany, company, all))
            .collect();
        self.plan.look_up_all(Table::SecurityByCompany, index);
        companies
            .iter()
            .map(|company| company * securities / all)
            .collect()
    }

    /// Everything about one security and its company.
    pub(super) fn security_detail(&mut self) {
        let security = skew::security(self.rng, self.trees);
        let (securities, companies) = (self.trees.securities(), self.trees.companies());
        let company = security * companies / securities;
        self.plan.look_up(Table::Security, security);
        self.plan.look_up(Table::Company, company);
        self.read_fixed_rows(4);
        let address = self.random_row(Table::Address);
        self.plan.look_up(Table::Address, address);
        self.plan.range(Table::CompanyCompetitor, company * 3, 3);
        for _ in 0..3 {
            let other = skew::company(self.rng, self.trees);
            self.plan.look_up(Table::Company, other);
        }
        self.plan
            .range(Table::Financial, company * QUARTERS, QUARTERS);
        let days = 5 + self.rng.below(16);
        let day = self.rng.below(MARKET_DAYS - days);
        let from = security * MARKET_DAYS + day;
        self.plan.range(Table::DailyMarketBySymbol, from, days);
        self.plan.look_up(Table::LastTrade, security);
        self.plan.range(Table::NewsReference, company * 2, 2);
        self.plan.range(Table::NewsItem, company * 2, 2);
        if self.rng.happens(0.01) {
            let pieces = 2 * NEWS_BYTES / 7_400;
            let text = self.row_at(Table::NewsText, company, companies);
            self.plan.range(Table::NewsText, text, pieces);
        }
    }

    /// The value of a customer's accounts.
    pub(super) fn customer_position(&mut self) {
        let customer = skew::customer(self.rng, self.trees);
        if self.rng.happens(0.5) {
            self.plan.look_up(
                Table::CustomerByTaxId,
                workload::random::mix(customer) % self.trees.customers,
            );
        }
        self.plan.look_up(Table::Customer, customer);
        self.plan
            .range(Table::CustomerAccount, customer * ACCOUNTS, ACCOUNTS);
        let first = customer * ACCOUNTS;
        let trees = self.trees;
        for account in first..first + ACCOUNTS {
            self.plan.range(Table::HoldingSummary, account * HELD, HELD);
            let held = (0..HELD).map(|slot| skew::held_security(trees, account, slot));
            self.plan.look_up_all(Table::LastTrade, held);
        }
        if self.rng.happens(0.5) {
            let account = skew::account_of(self.rng, customer);
            self.latest_trades(account, POSITION_TRADES);
            let ranks = self.latest_ranks(account, POSITION_TRADES);
            let history: Vec<u64> = ranks.iter().map(|&rank| self.history_of(rank)).collect();
            self.plan.look_up_all(Table::TradeHistory, history);
        }
    }

    /// The rank of the first row in the history of a trade.
    pub(super) fn history_of(&self, trade: u64) -> u64 {
        self.row_at(
            Table::TradeHistory,
            trade,
            self.trees.tree(Table::Trade).rows(),
        )
    }

    /// The pending orders of 20 to 40 brokers in one sector.
    pub(super) fn broker_volume(&mut self) {
        self.read_fixed_rows(6);
        let brokers = 20 + self.rng.below(21);
        let all = self.trees.tree(Table::Broker).rows();
        let requests = self.trees.tree(Table::TradeRequest).rows();
        let per_broker = (requests / all).clamp(1, 20);
        for _ in 0..brokers.min(all) {
            let broker = self.rng.below(all);
            self.plan.look_up(Table::Broker, broker);
            let first = self.row_at(Table::TradeRequest, broker, all);
            self.plan.range(Table::TradeRequest, first, per_broker);
        }
        // One sector of twelve is selected: its orders lead to securities and companies.
        let found = brokers * per_broker / 12;
        for _ in 0..found {
            let security = skew::security(self.rng, self.trees);
            self.plan.look_up(Table::Security, security);
            let company = skew::company(self.rng, self.trees);
            self.plan.look_up(Table::Company, company);
        }
    }
}
