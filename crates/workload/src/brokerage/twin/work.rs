//! Carrying plans out: pages are fetched as the steps ask for them, changes are logged.

use super::database::Database;
use crate::brokerage::plan::{Plan, Step};
use crate::brokerage::schema::{TABLES, Table};
use crate::brokerage::tree::Path;
use edb::EngineError;
use edb::pool::PageRef;
use edb::position::{LogPosition, PageNumber};
use runtime::Directory;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Bytes of a log record beside what it is about: kind, transaction, page, position before.
const RECORD_BYTES: usize = 60;
/// Bytes of a row that a change replaces, on average.
const CHANGED_BYTES: usize = 16;

/// Records are this: as long as needed, and empty.
static NOTHING: [u8; 1 << 14] = [0; 1 << 14];

/// How a nested loop reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NestedLoop {
    /// Rows from which on it reads ahead.
    pub(crate) from_rows: u32,
    /// Look-ups under way then.
    pub(crate) depth: u32,
}

/// When a transaction returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commit {
    /// Once its log is on stable storage.
    Durable,
    /// At once; somebody else waits for the log.
    Later,
}

/// What carrying a plan out has come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Pages looked at.
    pub(crate) pages: u64,
    /// Rank of the trade that was added, if one was.
    pub(crate) trade: Option<u64>,
}

impl<D: Directory> Database<D> {
    /// Carries a plan out and commits it.
    pub(crate) async fn carry_out(
        self: &Rc<Self>,
        plan: &Plan,
        how: NestedLoop,
        commit: Commit,
    ) -> Result<Done, EngineError> {
        let mut done = Done::default();
        let mut begin = None;
        for &step in &plan.steps {
            self.pool.check()?;
            match step {
                Step::LookUp { table, from, until } => {
                    let rows = &plan.rows[from as usize..until as usize];
                    done.pages += self.look_up(table, rows, how).await?;
                }
                Step::Range { table, row, rows } => {
                    done.pages += self.range(table, row, rows, how).await?;
                }
                change => {
                    self.log.admit().await?;
                    done.pages += self.change(change, &mut begin, &mut done.trade).await?;
                }
            }
        }
        self.commit(begin, commit).await?;
        Ok(done)
    }

    async fn commit(&self, begin: Option<LogPosition>, how: Commit) -> Result<(), EngineError> {
        let Some(begin) = begin else {
            return Ok(());
        };
        let end = self.log.append(&NOTHING[..RECORD_BYTES]).end;
        if how == Commit::Durable {
            self.log.make_durable(end).await?;
        }
        self.open.release(begin);
        Ok(())
    }

    /// Makes everything that was committed so far durable.
    pub(crate) async fn make_durable(&self) -> Result<(), EngineError> {
        Ok(self.log.make_durable(self.log.tip()).await?)
    }

    async fn look_up(
        self: &Rc<Self>,
        table: Table,
        rows: &[u64],
        how: NestedLoop,
    ) -> Result<u64, EngineError> {
        if (rows.len() as u64) < u64::from(how.from_rows) {
            let mut pages = 0;
            for &row in rows {
                pages += self.read_path(self.path(table, row)).await?;
            }
            return Ok(pages);
        }
        self.look_up_ahead(table, rows, how.depth).await
    }

    /// So many look-ups at once, each taking the next row when it is done with one.
    async fn look_up_ahead(
        self: &Rc<Self>,
        table: Table,
        rows: &[u64],
        depth: u32,
    ) -> Result<u64, EngineError> {
        let missing = |row: &&u64| {
            let path = self.path(table, **row);
            path.pages()
                .iter()
                .any(|&page| !self.pool.contains(PageNumber(page)))
        };
        // What is in memory costs no wait, and nobody to wait for it.
        let wanted: Rc<[u64]> = rows.iter().filter(missing).copied().collect();
        let mut pages = 0;
        for &row in rows {
            let path = self.path(table, row);
            pages += path.pages().len() as u64;
            for &page in path.pages() {
                drop(self.pool.get(PageNumber(page)));
            }
        }
        let next = Rc::new(Cell::new(0));
        let tasks = (depth as usize).min(wanted.len());
        let tasks: Vec<_> = (0..tasks)
            .map(|_| {
                let database = Rc::clone(self);
                let (wanted, next) = (Rc::clone(&wanted), Rc::clone(&next));
                self.handle.spawn(async move {
                    loop {
                        let number = next.get();
                        let Some(&row) = wanted.get(number) else {
                            return Ok(());
                        };
                        next.set(number + 1);
                        database.read_path(database.path(table, row)).await?;
                    }
                })
            })
            .collect();
        let mut result: Result<(), EngineError> = Ok(());
        for task in tasks {
            let ended = task.await;
            result = result.and(ended);
        }
        result.map(|()| pages)
    }

    /// Reads the leaves of rows in a row, those behind the first ahead.
    async fn range(
        self: &Rc<Self>,
        table: Table,
        row: u64,
        rows: u32,
        how: NestedLoop,
    ) -> Result<u64, EngineError> {
        let mut pages = self.read_path(self.path(table, row)).await?;
        let (per_leaf, last) = {
            let books = self.books.borrow();
            let tree = books.tree(table);
            let last = row + u64::from(rows).max(1) - 1;
            (
                tree.rows_per_leaf(),
                last.min(tree.rows().saturating_sub(1)),
            )
        };
        let leaves = row / per_leaf + 1..=last / per_leaf;
        if leaves.is_empty() {
            return Ok(pages);
        }
        let leaves: Vec<u64> = leaves.map(|leaf| leaf * per_leaf).collect();
        let ahead = leaves.iter().take(how.depth as usize);
        let ahead = ahead.map(|&row| PageNumber(self.path(table, row).leaf()));
        self.pool.preread(ahead.collect());
        for row in leaves {
            pages += self.read_path(self.path(table, row)).await?;
        }
        Ok(pages)
    }

    fn path(&self, table: Table, row: u64) -> Path {
        self.books.borrow().tree(table).path(row)
    }

    async fn read_path(&self, path: Path) -> Result<u64, EngineError> {
        for &page in path.pages() {
            let page = PageNumber(page);
            if !self.pool.touch(page) {
                self.pool.fetch(page).await?;
            }
        }
        Ok(path.pages().len() as u64)
    }

    /// Carries a change out: its leaf and what comes new are changed in one logged step.
    async fn change(
        &self,
        step: Step,
        begin: &mut Option<LogPosition>,
        trade: &mut Option<u64>,
    ) -> Result<u64, EngineError> {
        let (table, at) = match step {
            Step::Change { table, row }
            | Step::Insert { table, row }
            | Step::Remove { table, row } => (table, row),
            Step::Append { table } => (table, u64::MAX),
            Step::LookUp { .. } | Step::Range { .. } => return Ok(0),
        };
        // While pages are read, others may let the tree grow: the row is found anew.
        let mut pins: Vec<PageRef<()>> = Vec::new();
        let path = loop {
            let path = self.path(table, at);
            let missing = path.pages().iter().map(|&page| PageNumber(page));
            match missing.into_iter().find(|&page| !self.pool.touch(page)) {
                None => break path,
                Some(missing) => pins.push(self.pool.fetch(missing).await?),
            }
        };
        let created = self.grow(step, trade)?;
        let row_bytes = TABLES[table as usize].row_bytes as usize;
        let bytes = match step {
            Step::Append { .. } | Step::Insert { .. } | Step::Remove { .. } => row_bytes,
            _ => 2 * CHANGED_BYTES,
        };
        let split_bytes = created.len() * self.page_bytes as usize / 2;
        let bytes = (RECORD_BYTES + bytes + split_bytes).min(NOTHING.len());
        let bytes = bytes.min(self.log.most_record_bytes());
        let span = self.log.append(&NOTHING[..bytes]);
        if begin.is_none() {
            *begin = Some(span.begin);
            self.open.hold(span.begin);
        }
        if let Some(leaf) = self.pool.get(PageNumber(path.leaf())) {
            leaf.change(span.begin, span.end, |()| ());
        }
        for page in created {
            let page = self.pool.create(PageNumber(page));
            page.change(span.begin, span.end, |()| ());
        }
        Ok(path.pages().len() as u64)
    }

    /// Lets the tree grow or shrink by the step; gives the pages that came.
    fn grow(&self, step: Step, trade: &mut Option<u64>) -> Result<Vec<u32>, EngineError> {
        let mut books = self.books.borrow_mut();
        let full = || {
            EngineError::Settings(
                "The data files are full; give brokerage.growth_reserve_percent a larger number."
                    .to_owned(),
            )
        };
        match step {
            Step::Append { table } => {
                let (row, pages) = books.append(table).ok_or_else(full)?;
                if table == Table::Trade {
                    *trade = Some(row);
                }
                Ok(pages)
            }
            Step::Insert { table, row } => {
                let page = books.insert(table, row).ok_or_else(full)?;
                Ok(page.into_iter().collect())
            }
            Step::Remove { table, row } => {
                books.remove(table, row);
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Plans to be used again, so that transactions ask for no memory.
#[derive(Debug, Default)]
pub(crate) struct SparePlans(RefCell<Vec<Plan>>);

impl SparePlans {
    /// An empty plan.
    pub(crate) fn take(&self) -> Plan {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    /// Gives a plan back.
    pub(crate) fn give(&self, mut plan: Plan) {
        plan.clear();
        self.0.borrow_mut().push(plan);
    }
}
