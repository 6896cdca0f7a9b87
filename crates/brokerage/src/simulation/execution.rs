//! Executes plans: pages are fetched as the accesses need them, changes are logged.

use super::database::Database;
use crate::simulation::plan::{Plan, Step};
use crate::simulation::schema::{TABLES, Table};
use crate::simulation::tree::Path;
use edb::EngineError;
use edb::cache::{CacheError, PageRef};
use edb::position::{LogPosition, PageNumber};
use runtime::{Directory, IoError, IoFailure, IoOperation};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Bytes of a log record besides its data: kind, transaction, page, previous position.
const RECORD_BYTES: usize = 60;
/// Bytes of a row that a change replaces, on average.
const CHANGED_BYTES: usize = 16;

/// A table is large that has one of so many pages.
const LARGE_TABLE_SHARE: u64 = 50;

/// Contents of log records: as long as needed, and zero.
static EMPTY_RECORD: [u8; 1 << 14] = [0; 1 << 14];

/// Read-ahead of a nested loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NestedLoop {
    /// Fewest rows for read-ahead.
    pub(crate) from_rows: u32,
    /// Lookups under way at the same time.
    pub(crate) depth: u32,
}

/// When a transaction returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commit {
    /// Once its log is on stable storage.
    Durable,
    /// At once; the caller waits for the log later.
    Asynchronous,
}

/// The result of an execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Executed {
    /// Page accesses, repeated ones and those served by the cache included.
    pub(crate) pages: u64,
    /// Rank of the trade that was appended, if any.
    pub(crate) trade: Option<u64>,
}

impl<D: Directory> Database<D> {
    /// Executes a plan and commits.
    pub(crate) async fn execute(
        self: &Rc<Self>,
        plan: &Plan,
        how: NestedLoop,
        commit: Commit,
    ) -> Result<Executed, EngineError> {
        let mut executed = Executed::default();
        let mut begin = None;
        for &step in &plan.steps {
            self.cache.check()?;
            match step {
                Step::LookUp { table, from, until } => {
                    let rows = &plan.rows[from as usize..until as usize];
                    executed.pages += self.look_up(table, rows, how).await?;
                }
                Step::Range { table, row, rows } => {
                    executed.pages += self.range(table, row, rows, how).await?;
                }
                change => {
                    self.log.admit().await?;
                    executed.pages += self.change(change, &mut begin, &mut executed.trade).await?;
                }
            }
        }
        let pages = self.trees.borrow().used_pages();
        while let Some(page) = self.measured.take_late_read(pages) {
            self.read_again(page).await?;
        }
        self.commit(begin, commit).await?;
        Ok(executed)
    }

    /// Reads a page, whatever the cache has of it.
    async fn read_again(&self, page: PageNumber) -> Result<(), EngineError> {
        let read = self.cache.store().read_again(page).await;
        Ok(read.map_err(CacheError::from)?)
    }

    async fn commit(&self, begin: Option<LogPosition>, how: Commit) -> Result<(), EngineError> {
        let Some(begin) = begin else {
            return Ok(());
        };
        let end = self.append_measured().await?;
        if how == Commit::Durable {
            self.log.make_durable(end).await?;
        }
        self.open.release(begin);
        Ok(())
    }

    /// Appends the record of a commit, and as much more as the log of a measured run had. Gives the end of it.
    async fn append_measured(&self) -> Result<LogPosition, EngineError> {
        let mut end = self.log.append(&EMPTY_RECORD[..RECORD_BYTES]).end;
        let pending_bytes = end.0.saturating_sub(self.log.durable().0);
        let mut due_bytes = self.measured.log_bytes_due(pending_bytes) as usize;
        while due_bytes > 0 {
            let bytes = due_bytes.min(EMPTY_RECORD.len());
            let bytes = bytes.min(self.log.most_record_bytes());
            self.log.admit().await?;
            end = self.log.append(&EMPTY_RECORD[..bytes]).end;
            due_bytes -= bytes;
        }
        Ok(end)
    }

    /// Makes a write of the log of a measured run, beside those of commits.
    pub(crate) async fn write_log(&self) -> Result<(), EngineError> {
        self.log.admit().await?;
        let end = self.append_measured().await?;
        Ok(self.log.make_durable(end).await?)
    }

    /// Waits until everything committed so far is durable.
    pub(crate) async fn make_durable(&self) -> Result<(), EngineError> {
        Ok(self.log.make_durable(self.log.end()).await?)
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
                pages += self.read_path(table, self.path(table, row)).await?;
            }
            return Ok(pages);
        }
        self.look_up_ahead(table, rows, how.depth).await
    }

    /// `depth` concurrent lookups, each taking the next row when it is done with one.
    async fn look_up_ahead(
        self: &Rc<Self>,
        table: Table,
        rows: &[u64],
        depth: u32,
    ) -> Result<u64, EngineError> {
        let is_read_again = self.measured.owes_read() && self.is_large(table);
        let missing = |row: &&u64| {
            let path = self.path(table, **row);
            let is_missing = |&page: &u32| !self.cache.contains(PageNumber(page));
            is_read_again || path.pages().iter().any(is_missing)
        };
        // Cached rows need no task.
        let wanted: Rc<[u64]> = rows.iter().filter(missing).copied().collect();
        let mut pages = 0;
        for &row in rows {
            let path = self.path(table, row);
            pages += path.pages().len() as u64;
            for &page in path.pages() {
                drop(self.cache.get(PageNumber(page)));
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
                        database.read_path(table, database.path(table, row)).await?;
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

    /// Reads the leaves of consecutive rows, with read-ahead after the first.
    async fn range(
        self: &Rc<Self>,
        table: Table,
        row: u64,
        rows: u32,
        how: NestedLoop,
    ) -> Result<u64, EngineError> {
        let mut pages = self.read_path(table, self.path(table, row)).await?;
        let (per_leaf, last) = {
            let trees = self.trees.borrow();
            let tree = trees.tree(table);
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
        self.cache.preread(ahead.collect());
        for row in leaves {
            pages += self.read_path(table, self.path(table, row)).await?;
        }
        Ok(pages)
    }

    fn path(&self, table: Table, row: u64) -> Path {
        self.trees.borrow().tree(table).path(row)
    }

    async fn read_path(&self, table: Table, path: Path) -> Result<u64, EngineError> {
        for &page in path.pages() {
            let is_leaf = page == path.leaf();
            let page = PageNumber(page);
            if !self.cache.touch(page) {
                self.cache.fetch(page).await?;
            } else if is_leaf && self.is_large(table) && self.measured.take_read() {
                self.read_again(page).await?;
            }
        }
        Ok(path.pages().len() as u64)
    }

    /// Whether a table has a considerable part of all pages, so that a database has not all of it in memory.
    fn is_large(&self, table: Table) -> bool {
        let trees = self.trees.borrow();
        trees.tree(table).pages() * LARGE_TABLE_SHARE >= trees.used_pages()
    }

    /// Executes a change: its leaf and new pages are changed with one log record.
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
        // While pages are read, others may let the tree grow: the path is computed again.
        let mut pins: Vec<PageRef<()>> = Vec::new();
        let path = loop {
            let path = self.path(table, at);
            let missing = path.pages().iter().map(|&page| PageNumber(page));
            match missing.into_iter().find(|&page| !self.cache.touch(page)) {
                None => break path,
                Some(missing) => pins.push(self.cache.fetch(missing).await?),
            }
        };
        let created = self.grow(step, trade)?;
        let row_bytes = TABLES[table as usize].row_bytes as usize;
        let bytes = match step {
            Step::Append { .. } | Step::Insert { .. } | Step::Remove { .. } => row_bytes,
            _ => 2 * CHANGED_BYTES,
        };
        let split_bytes = created.len() * self.page_bytes as usize / 2;
        let bytes = (RECORD_BYTES + bytes + split_bytes).min(EMPTY_RECORD.len());
        let bytes = bytes.min(self.log.most_record_bytes());
        let span = self.log.append(&EMPTY_RECORD[..bytes]);
        if begin.is_none() {
            *begin = Some(span.begin);
            self.open.hold(span.begin);
        }
        self.measured.note_change(PageNumber(path.leaf()));
        if let Some(leaf) = self.cache.get(PageNumber(path.leaf())) {
            leaf.change(span.begin, span.end, |()| ());
        }
        for page in created {
            let page = self.cache.create(PageNumber(page));
            page.change(span.begin, span.end, |()| ());
        }
        Ok(path.pages().len() as u64)
    }

    /// Lets the tree grow or shrink; returns the pages added.
    fn grow(&self, step: Step, trade: &mut Option<u64>) -> Result<Vec<u32>, EngineError> {
        let mut trees = self.trees.borrow_mut();
        let full = || {
            EngineError::OutOfSpace(IoError {
                operation: IoOperation::Resize,
                file: "the data files".to_owned(),
                offset_bytes: 0,
                length_bytes: 0,
                failure: IoFailure::OutOfSpace,
            })
        };
        match step {
            Step::Append { table } => {
                let (row, pages) = trees.append(table).ok_or_else(full)?;
                if table == Table::Trade {
                    *trade = Some(row);
                }
                Ok(pages)
            }
            Step::Insert { table, row } => {
                let page = trees.insert(table, row).ok_or_else(full)?;
                Ok(page.into_iter().collect())
            }
            Step::Remove { table, row } => {
                trees.remove(table, row);
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Plans to be reused, so that transactions do not allocate.
#[derive(Debug, Default)]
pub(crate) struct PlanPool(RefCell<Vec<Plan>>);

impl PlanPool {
    /// A plan without steps, with the memory of one that was returned if there is any.
    pub(crate) fn take(&self) -> Plan {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    /// Returns a plan to the pool.
    pub(crate) fn put_back(&self, mut plan: Plan) {
        plan.clear();
        self.0.borrow_mut().push(plan);
    }
}
