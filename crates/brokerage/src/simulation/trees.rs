//! All B+ trees of a brokerage database, in consecutive pages.

use super::schema::{ACCOUNTS, COMPANIES, Kind, SECURITIES, TABLES, Table, trades};
use super::tree::{FreePages, Tree};
use crate::profile::Brokerage;
use crate::scale::{LOAD_UNIT, MIN_DAYS, Scale};

/// The trees, and the free pages after them.
#[derive(Debug, Clone)]
pub struct Trees {
    /// Number of customers of the data set.
    pub customers: u64,
    /// Trading days of the initial trades.
    pub trade_days: u32,
    /// Number of initial trades.
    pub built_trades: u64,
    trees: Vec<Tree>,
    free: Free,
}

/// The free pages after the trees.
#[derive(Debug, Clone, Copy)]
struct Free {
    next: u32,
    last: u32,
}

impl FreePages for Free {
    fn take(&mut self) -> Option<u32> {
        (self.next <= self.last).then(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

impl Trees {
    /// The initial trees of a profile. Pages count from 1.
    #[must_use]
    pub fn build(brokerage: &Brokerage) -> Self {
        let scale = scale(brokerage);
        let Scale {
            customers,
            trade_days,
        } = scale;
        let (trees, next) = trees(brokerage, scale);
        let reserve = f64::from(next) * brokerage.growth_reserve_percent / 100.0;
        Self {
            customers,
            trade_days,
            built_trades: trades(customers, trade_days),
            trees,
            free: Free {
                next,
                last: next + reserve.ceil() as u32 + 1_024,
            },
        }
    }

    /// The tree of a table.
    #[must_use]
    pub fn tree(&self, table: Table) -> &Tree {
        &self.trees[table as usize]
    }

    /// Appends a row to a table; returns its rank and the new pages.
    pub fn append(&mut self, table: Table) -> Option<(u64, Vec<u32>)> {
        self.trees[table as usize].append(&mut self.free)
    }

    /// Inserts a row next to another one of a table; returns the new page of a split.
    pub fn insert(&mut self, table: Table, row: u64) -> Option<Option<u32>> {
        self.trees[table as usize].insert(row, &mut self.free)
    }

    /// Removes a row of a table.
    pub fn remove(&mut self, table: Table, row: u64) {
        self.trees[table as usize].remove(row);
    }

    /// Number of pages in use.
    #[must_use]
    pub fn used_pages(&self) -> u64 {
        u64::from(self.free.next) - 1
    }

    /// Pages with the reserve for growth.
    #[must_use]
    pub fn all_pages(&self) -> u64 {
        u64::from(self.free.last)
    }

    /// Number of accounts, five per customer.
    #[must_use]
    pub fn accounts(&self) -> u64 {
        self.customers * ACCOUNTS
    }

    /// Number of securities, 0.685 per customer.
    #[must_use]
    pub fn securities(&self) -> u64 {
        (self.customers as f64 * SECURITIES / 1_000.0).round() as u64
    }

    /// Number of companies, half of the customers'.
    #[must_use]
    pub fn companies(&self) -> u64 {
        (self.customers as f64 * COMPANIES / 1_000.0).round() as u64
    }

    /// Initial trades per account.
    #[must_use]
    pub fn trades_of_account(&self) -> u64 {
        (self.built_trades / self.accounts()).max(1)
    }

    /// Initial trades per security.
    #[must_use]
    pub fn trades_of_security(&self) -> u64 {
        (self.built_trades / self.securities()).max(1)
    }
}

/// The scale of a profile; the smallest one if none fits its size.
#[must_use]
pub fn scale(brokerage: &Brokerage) -> Scale {
    let trade_days = brokerage.trade_days;
    if let Some(customers) = brokerage.customers {
        return Scale {
            customers: u64::from(customers),
            trade_days,
        };
    }
    let least = Scale {
        customers: LOAD_UNIT,
        trade_days: MIN_DAYS.min(trade_days),
    };
    let bytes = |scale| bytes_of(brokerage, scale);
    Scale::nearest(brokerage.data_size.bytes(), trade_days, bytes).unwrap_or(least)
}

/// Bytes of the database at a scale, without the reserve.
#[must_use]
pub fn bytes_of(brokerage: &Brokerage, scale: Scale) -> u64 {
    let pages = u64::from(trees(brokerage, scale).1) - 1;
    pages * brokerage.database.page_size.bytes()
}

/// Consecutive trees, and the first page after them.
fn trees(brokerage: &Brokerage, scale: Scale) -> (Vec<Tree>, u32) {
    let page_bytes = brokerage.database.page_size.bytes() as u32;
    let fill = brokerage.database.page_fill_percent / 100.0;
    let mut next = 1_u32;
    let build = |kind: &Kind| {
        let rows = kind.rows(scale.customers, scale.trade_days);
        let tree = Tree::build(kind, rows, page_bytes, fill, next);
        next += tree.pages() as u32;
        tree
    };
    (TABLES.iter().map(build).collect(), next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::ByteSize;

    #[test]
    fn the_size_decides_the_customers() {
        let mut brokerage = Brokerage::default();
        let trees = Trees::build(&brokerage);
        let bytes = trees.used_pages() * 8192;
        let per_customer = bytes as f64 / trees.customers as f64 / 1e6;
        assert!(
            (8.0..11.0).contains(&per_customer),
            "{per_customer} MB per customer"
        );
        assert!((bytes as f64 / 3.5e12 - 1.0).abs() < 0.01, "{bytes} bytes");
        brokerage.data_size = ByteSize(20_000_000_000);
        let small = Trees::build(&brokerage);
        assert_eq!(small.customers % LOAD_UNIT, 0);
        let bytes = small.used_pages() * 8192;
        assert!(
            (19_500_000_000..=20_000_000_000).contains(&bytes),
            "{bytes}"
        );
        brokerage.customers = Some(7_000);
        assert_eq!(Trees::build(&brokerage).customers, 7_000);
    }

    #[test]
    fn pages_taken_are_pages_of_trees() {
        let brokerage = Brokerage {
            customers: Some(1_000),
            trade_days: 2,
            ..Brokerage::default()
        };
        let mut trees = Trees::build(&brokerage);
        let of_trees = |trees: &Trees| -> u64 {
            TABLES
                .iter()
                .map(|kind| trees.tree(kind.table).pages())
                .sum()
        };
        assert_eq!(of_trees(&trees), trees.used_pages());
        for number in 0..5_000 {
            trees.append(Table::Trade).unwrap();
            trees
                .insert(Table::TradeByAccount, number * 31 % 4_000)
                .unwrap();
        }
        assert_eq!(of_trees(&trees), trees.used_pages());
    }
}
