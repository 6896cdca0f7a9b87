//! Transactions on past trades: lookups and updates.

use super::plan::Planner;
use super::schema::Table;
use super::skew;

/// Trades that one transaction reads or updates.
const TRADES: u64 = 20;

/// Hours of trading before the end of the initial trades at which the time windows end, by frame.
const ACCOUNT_BACK_OFF_HOURS: f64 = 32.0;
const SECURITY_BACK_OFF_HOURS: f64 = 200.0 / 60.0;
const FIRST_TRADE_BACK_OFF_HOURS: f64 = 500.0 / 60.0;

/// What an update changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Update {
    None,
    /// Name of the trade's executor.
    Executor,
    /// Cash type of the settlement.
    CashType,
    /// Name of the cash transaction.
    CashName,
}

impl Planner<'_> {
    /// Past trades, found in one of four ways.
    pub(super) fn trade_lookup(&mut self) {
        match self.rng.below(100) {
            0..30 => self.by_id(Update::None),
            30..60 => self.by_account(Update::None),
            60..90 => self.by_security(Update::None),
            _ => self.first_of_account(),
        }
    }

    /// Past trades, found in one of three ways and updated.
    pub(super) fn trade_update(&mut self) {
        match self.rng.below(100) {
            0..33 => self.by_id(Update::Executor),
            33..66 => self.by_account(Update::CashType),
            _ => self.by_security(Update::CashName),
        }
    }

    /// Trades drawn one by one, by their ids.
    fn by_id(&mut self, update: Update) {
        let rank = |_| skew::trade(self.rng, self.trees);
        let ranks: Vec<u64> = (0..TRADES).map(rank).collect();
        self.trades_with_all(&ranks, update);
    }

    /// Trades of one account from a time on.
    fn by_account(&mut self, update: Update) {
        let account = skew::account(self.rng, self.trees);
        let back = self.trades_back(ACCOUNT_BACK_OFF_HOURS, self.trees.trades_of_account());
        let end = self.row_at(Table::TradeByAccount, account + 1, self.trees.accounts());
        let found = TRADES.min(back + 1);
        self.plan
            .range(Table::TradeByAccount, end.saturating_sub(back + 1), found);
        let rank = |number| skew::trade_of_account(self.trees, account, back - number);
        let ranks: Vec<u64> = (0..found).map(rank).collect();
        self.trades_with_all(&ranks, update);
    }

    /// Trades in one security from a time on.
    fn by_security(&mut self, update: Update) {
        let security = skew::security(self.rng, self.trees);
        let back = self.trades_back(SECURITY_BACK_OFF_HOURS, self.trees.trades_of_security());
        let end = self.row_at(Table::TradeBySymbol, security + 1, self.trees.securities());
        let found = TRADES.min(back + 1);
        self.plan
            .range(Table::TradeBySymbol, end.saturating_sub(back + 1), found);
        let rank = |number| skew::trade_of_security(self.trees, security, back - number);
        let ranks: Vec<u64> = (0..found).map(rank).collect();
        self.trades_with_all(&ranks, update);
    }

    /// How many of `trades` evenly spread ones come after a random time.
    fn trades_back(&mut self, back_off_hours: f64, trades: u64) -> u64 {
        let time_in_history = skew::time_in_history(self.rng, self.trees, back_off_hours);
        ((1.0 - time_in_history) * trades as f64) as u64
    }

    /// The first trade of an account after a random time, and the history of its lots.
    fn first_of_account(&mut self) {
        let account = skew::account(self.rng, self.trees);
        let trades = self.trees.trades_of_account();
        let back = self.trades_back(FIRST_TRADE_BACK_OFF_HOURS, trades);
        let end = self.row_at(Table::TradeByAccount, account + 1, self.trees.accounts());
        self.plan
            .range(Table::TradeByAccount, end.saturating_sub(back + 1), 1);
        let rank = skew::trade_of_account(self.trees, account, back);
        let all = self.trees.tree(Table::Trade).rows();
        let by_trade = self.row_at(Table::HoldingHistoryByTrade, rank, all);
        self.plan.look_up(Table::HoldingHistoryByTrade, by_trade);
        let row = self.row_at(Table::HoldingHistory, rank, all);
        self.plan.range(Table::HoldingHistory, row, TRADES);
    }

    /// Trades with their settlements, cash and histories, each found by a nested loop over all.
    fn trades_with_all(&mut self, ranks: &[u64], update: Update) {
        let all = self.trees.tree(Table::Trade).rows();
        self.read_fixed_rows(1);
        self.plan.look_up_all(Table::Trade, ranks.iter().copied());
        let of = |planner: &Self, table, ranks: &[u64]| -> Vec<u64> {
            let rows = ranks.iter().map(|&rank| planner.row_at(table, rank, all));
            rows.collect()
        };
        let settlements = of(self, Table::Settlement, ranks);
        self.plan
            .look_up_all(Table::Settlement, settlements.iter().copied());
        // Purchases on margin move no cash.
        let mut paid = ranks.to_vec();
        paid.retain(|_| self.rng.happens(0.92));
        let cash = of(self, Table::CashTransaction, &paid);
        self.plan
            .look_up_all(Table::CashTransaction, cash.iter().copied());
        let histories = of(self, Table::TradeHistory, ranks);
        self.plan.look_up_all(Table::TradeHistory, histories);
        let (table, updated) = match update {
            Update::None => return,
            Update::Executor => (Table::Trade, ranks),
            Update::CashType => (Table::Settlement, &settlements[..]),
            Update::CashName => (Table::CashTransaction, &cash[..]),
        };
        updated.iter().for_each(|&row| self.plan.change(table, row));
    }
}
