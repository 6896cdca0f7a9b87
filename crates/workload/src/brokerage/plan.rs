//! One transaction as look-ups and changes of rows, drawn up before it begins.

use super::books::Books;
use super::kinds::Operation;
use super::schema::Table;
use crate::random::Dice;

/// One step. Rows are those of the plan from `from` to `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A nested loop looks rows up, one after the other or, if they are many, reading ahead.
    LookUp {
        /// Where.
        table: Table,
        /// First row in the plan.
        from: u32,
        /// Behind the last one.
        until: u32,
    },
    /// Rows in a row are read.
    Range {
        /// Where.
        table: Table,
        /// The first of them.
        row: u64,
        /// How many.
        rows: u32,
    },
    /// A row is changed.
    Change {
        /// Where.
        table: Table,
        /// Which.
        row: u64,
    },
    /// A row is added behind all others.
    Append {
        /// Where.
        table: Table,
    },
    /// A row is added beside another.
    Insert {
        /// Where.
        table: Table,
        /// The other.
        row: u64,
    },
    /// A row is removed.
    Remove {
        /// Where.
        table: Table,
        /// Which.
        row: u64,
    },
}

/// A transaction.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// Rows that steps look up.
    pub rows: Vec<u64>,
    /// Whether it changes anything.
    pub changes: bool,
    /// Whether it is taken back on purpose.
    pub rolls_back: bool,
}

impl Plan {
    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.rows.clear();
        (self.changes, self.rolls_back) = (false, false);
    }

    /// Looks one row up.
    pub fn look_up(&mut self, table: Table, row: u64) {
        self.look_up_all(table, [row]);
    }

    /// Looks rows up in a nested loop.
    pub fn look_up_all(&mut self, table: Table, rows: impl IntoIterator<Item = u64>) {
        let from = self.rows.len() as u32;
        self.rows.extend(rows);
        let until = self.rows.len() as u32;
        if until > from {
            self.steps.push(Step::LookUp { table, from, until });
        }
    }

    /// Reads rows in a row.
    pub fn range(&mut self, table: Table, row: u64, rows: u64) {
        let rows = rows as u32;
        self.steps.push(Step::Range { table, row, rows });
    }

    /// Reads and changes a row.
    pub fn change(&mut self, table: Table, row: u64) {
        self.changes = true;
        self.steps.push(Step::Change { table, row });
    }

    /// Adds a row behind all others.
    pub fn append(&mut self, table: Table) {
        self.changes = true;
        self.steps.push(Step::Append { table });
    }

    /// Adds a row beside another.
    pub fn insert(&mut self, table: Table, row: u64) {
        self.changes = true;
        self.steps.push(Step::Insert { table, row });
    }

    /// Removes a row.
    pub fn remove(&mut self, table: Table, row: u64) {
        self.changes = true;
        self.steps.push(Step::Remove { table, row });
    }
}

/// Draws up plans.
pub struct Planner<'a> {
    /// Who and what there is.
    pub books: &'a Books,
    /// Chance.
    pub dice: &'a mut Dice,
    /// Where it is written down.
    pub plan: &'a mut Plan,
}

impl Planner<'_> {
    /// Draws up a transaction that asks or corrects.
    ///
    /// # Panics
    /// If it is another one: orders, results and feeds need to know what they are about.
    pub fn draw_up(&mut self, operation: Operation) {
        match operation {
            Operation::TradeStatus => self.trade_status(),
            Operation::MarketWatch => self.market_watch(),
            Operation::SecurityDetail => self.security_detail(),
            Operation::CustomerPosition => self.customer_position(),
            Operation::TradeLookup => self.trade_lookup(),
            Operation::BrokerVolume => self.broker_volume(),
            Operation::TradeUpdate => self.trade_update(),
            other => panic!("{} is not drawn up by itself", other.name()),
        }
    }

    /// A row of a table, all alike.
    pub(super) fn any_row(&mut self, table: Table) -> u64 {
        self.dice.below(self.books.tree(table).rows())
    }

    /// The row of a table that lies as far in it as `number` in `of`.
    pub(super) fn row_at(&self, table: Table, number: u64, of: u64) -> u64 {
        let rows = u128::from(self.books.tree(table).rows());
        (u128::from(number) * rows / u128::from(of.max(1))) as u64
    }

    /// Some rows of the tables that do not grow, which are hot in any house.
    pub(super) fn fixed(&mut self, rows: u64) {
        for _ in 0..rows {
            let row = self.any_row(Table::Fixed);
            self.plan.look_up(Table::Fixed, row);
        }
    }
}
