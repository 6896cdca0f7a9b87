//! The transactions that look old trades up, and those that correct them.

use super::plan::Planner;
use super::schema::Table;
use super::skew;

/// Trades that a look-up finds.
const TRADES: u64 = 20;

/// Hours of trading before the end of the books at which the time windows end, by frame.
const ACCOUNT_BACK_OFF_HOURS: f64 = 32.0;
const SECURITY_BACK_OFF_HOURS: f64 = 200.0 / 60.0;
const FIRST_TRADE_BACK_OFF_HOURS: f64 = 500.0 / 60.0;

/// What a correction changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Correction {
    None,
    /// The name of who executed the trade.
    Executor,
    /// How the settlement was paid.
    CashType,
    /// The name of the cash transaction.
    CashName,
}

impl Planner<'_> {
    /// Old trades, found in one of four ways.
    pub(super) fn trade_lookup(&mut self) {
        match self.dice.below(100) {
            0..30 => self.by_number(Correction::None),
            30..60 => self.by_account(Correction::None),
            60..90 => self.by_security(Correction::None),
            _ => self.first_of_account(),
        }
    }

    /// Old trades, found in one of three ways and corrected.
    pub(super) fn trade_update(&mut self) {
        match self.dice.below(100) {
            0..33 => self.by_number(Correction::Executor),
            33..66 => self.by_account(Correction::CashType),
            _ => self.by_security(Correction::CashName),
        }
    }

    /// Trades asked for by number.
    fn by_number(&mut self, correction: Correction) {
        let rank = |_| skew::trade(self.dice, self.books);
        let ranks: Vec<u64> = (0..TRADES).map(rank).collect();
        self.trades_with_all(&ranks, correction);
    }

    /// Trades of one account from a moment on.
    fn by_account(&mut self, correction: Correction) {
        let account = skew::account(self.dice, self.books);
        let back = self.trades_back(ACCOUNT_BACK_OFF_HOURS, self.books.trades_of_account());
        let end = self.row_at(Table::TradeByAccount, account + 1, self.books.accounts());
        let found = TRADES.min(back + 1);
        self.plan
            .range(Table::TradeByAccount, end.saturating_sub(back + 1), found);
        let rank = |number| skew::trade_of_account(self.books, account, back - number);
        let ranks: Vec<u64> = (0..found).map(rank).collect();
        self.trades_with_all(&ranks, correction);
    }

    /// Trades in one security from a moment on.
    fn by_security(&mut self, correction: Correction) {
        let security = skew::security(self.dice, self.books);
        let back = self.trades_back(SECURITY_BACK_OFF_HOURS, self.books.trades_of_security());
        let end = self.row_at(Table::TradeBySymbol, security + 1, self.books.securities());
        let found = TRADES.min(back + 1);
        self.plan
            .range(Table::TradeBySymbol, end.saturating_sub(back + 1), found);
        let rank = |number| skew::trade_of_security(self.books, security, back - number);
        let ranks: Vec<u64> = (0..found).map(rank).collect();
        self.trades_with_all(&ranks, correction);
    }

    /// How many of `trades` evenly spread ones come after a moment drawn by chance.
    fn trades_back(&mut self, back_off_hours: f64, trades: u64) -> u64 {
        let moment = skew::moment(self.dice, self.books, back_off_hours);
        ((1.0 - moment) * trades as f64) as u64
    }

    /// The first trade of an account after a moment, and what became of what it bought.
    fn first_of_account(&mut self) {
        let account = skew::account(self.dice, self.books);
        let trades = self.books.trades_of_account();
        let back = self.trades_back(FIRST_TRADE_BACK_OFF_HOURS, trades);
        let end = self.row_at(Table::TradeByAccount, account + 1, self.books.accounts());
        self.plan
            .range(Table::TradeByAccount, end.saturating_sub(back + 1), 1);
        let rank = skew::trade_of_account(self.books, account, back);
        let all = self.books.tree(Table::Trade).rows();
        let by_trade = self.row_at(Table::HoldingHistoryByTrade, rank, all);
        self.plan.look_up(Table::HoldingHistoryByTrade, by_trade);
        let row = self.row_at(Table::HoldingHistory, rank, all);
        self.plan.range(Table::HoldingHistory, row, TRADES);
    }

    /// Trades with their settlements, cash and histories, each found by a nested loop over all.
    fn trades_with_all(&mut self, ranks: &[u64], correction: Correction) {
        let all = self.books.tree(Table::Trade).rows();
        self.fixed(1);
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
        paid.retain(|_| self.dice.happens(0.92));
        let cash = of(self, Table::CashTransaction, &paid);
        self.plan
            .look_up_all(Table::CashTransaction, cash.iter().copied());
        let histories = of(self, Table::TradeHistory, ranks);
        self.plan.look_up_all(Table::TradeHistory, histories);
        let (table, corrected) = match correction {
            Correction::None => return,
            Correction::Executor => (Table::Trade, ranks),
            Correction::CashType => (Table::Settlement, &settlements[..]),
            Correction::CashName => (Table::CashTransaction, &cash[..]),
        };
        corrected
            .iter()
            .for_each(|&row| self.plan.change(table, row));
    }
}
