//! A transaction as row accesses, planned before it begins.

use super::schema::Table;
use super::trees::Trees;
use crate::operation::Operation;
use workload::random::SeededRng;

/// One access. Rows of lookups are those of the plan from `from` to `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Looks rows up in a nested loop, one after the other or, if they are many, with read-ahead.
    LookUp {
        /// The table or index.
        table: Table,
        /// First row in the plan.
        from: u32,
        /// End of the rows in the plan, exclusive.
        until: u32,
    },
    /// Reads consecutive rows of a table or index.
    Range {
        /// The table or index.
        table: Table,
        /// Rank of the first row.
        row: u64,
        /// Number of rows to read.
        rows: u32,
    },
    /// Changes a row in place.
    Change {
        /// The table or index.
        table: Table,
        /// Rank of the row.
        row: u64,
    },
    /// Appends a row to a table in the order of its key.
    Append {
        /// The table or index.
        table: Table,
    },
    /// Inserts a row next to another.
    Insert {
        /// The table or index.
        table: Table,
        /// Rank of the other row.
        row: u64,
    },
    /// Removes a row; its leaf stays.
    Remove {
        /// The table or index.
        table: Table,
        /// Rank of the row.
        row: u64,
    },
}

/// The accesses of a transaction.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The accesses, in order.
    pub steps: Vec<Step>,
    /// Ranks of the rows that are looked up.
    pub rows: Vec<u64>,
    /// Whether it changes anything.
    pub changes: bool,
    /// Whether it is rolled back intentionally.
    pub rolls_back: bool,
}

impl Plan {
    /// Empties the plan and keeps its allocations.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.rows.clear();
        (self.changes, self.rolls_back) = (false, false);
    }

    /// Looks up one row.
    pub fn look_up(&mut self, table: Table, row: u64) {
        self.look_up_all(table, [row]);
    }

    /// Looks up rows in a nested loop.
    pub fn look_up_all(&mut self, table: Table, rows: impl IntoIterator<Item = u64>) {
        let from = self.rows.len() as u32;
        self.rows.extend(rows);
        let until = self.rows.len() as u32;
        if until > from {
            self.steps.push(Step::LookUp { table, from, until });
        }
    }

    /// Adds a read of consecutive rows.
    pub fn range(&mut self, table: Table, row: u64, rows: u64) {
        let rows = rows as u32;
        self.steps.push(Step::Range { table, row, rows });
    }

    /// Reads and changes a row.
    pub fn change(&mut self, table: Table, row: u64) {
        self.changes = true;
        self.steps.push(Step::Change { table, row });
    }

    /// Appends a row to a table in the order of its key.
    pub fn append(&mut self, table: Table) {
        self.changes = true;
        self.steps.push(Step::Append { table });
    }

    /// Inserts a row next to another.
    pub fn insert(&mut self, table: Table, row: u64) {
        self.changes = true;
        self.steps.push(Step::Insert { table, row });
    }

    /// Adds the removal of a row.
    pub fn remove(&mut self, table: Table, row: u64) {
        self.changes = true;
        self.steps.push(Step::Remove { table, row });
    }
}

/// Plans the row accesses of transactions.
pub struct Planner<'a> {
    /// The trees, whose sizes decide the ranks.
    pub trees: &'a Trees,
    /// Source of random numbers.
    pub rng: &'a mut SeededRng,
    /// The plan under construction.
    pub plan: &'a mut Plan,
}

impl Planner<'_> {
    /// Plans a read-only transaction or a trade-update.
    ///
    /// # Panics
    /// It is another operation: orders, results and feeds have parameters.
    pub fn plan(&mut self, operation: Operation) {
        match operation {
            Operation::TradeStatus => self.trade_status(),
            Operation::MarketWatch => self.market_watch(),
            Operation::SecurityDetail => self.security_detail(),
            Operation::CustomerPosition => self.customer_position(),
            Operation::TradeLookup => self.trade_lookup(),
            Operation::BrokerVolume => self.broker_volume(),
            Operation::TradeUpdate => self.trade_update(),
            other => panic!(
                "{} has parameters and is planned by its caller",
                other.name()
            ),
        }
    }

    /// A random row of a table, uniformly.
    pub(super) fn random_row(&mut self, table: Table) -> u64 {
        self.rng.below(self.trees.tree(table).rows())
    }

    /// The row of a table at the same relative position as `number` in `of`.
    pub(super) fn row_at(&self, table: Table, number: u64, of: u64) -> u64 {
        let rows = u128::from(self.trees.tree(table).rows());
        (u128::from(number) * rows / u128::from(of.max(1))) as u64
    }

    /// Reads random rows of the tables of fixed size, which stay in the cache.
    pub(super) fn read_fixed_rows(&mut self, rows: u64) {
        for _ in 0..rows {
            let row = self.random_row(Table::Fixed);
            self.plan.look_up(Table::Fixed, row);
        }
    }
}
