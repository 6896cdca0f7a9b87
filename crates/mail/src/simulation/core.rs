//! What all parts of a simulated database share, and the loop of every operation: fetch what is
//! missing, then log and change in one step, as in the engine.

use super::record::{self, Undo};
use super::replaced::LongValueIds;
use super::shape::{Change, Node, PageList, Shape, StepWork};
use super::spaces::NeedsPages;
use super::transactions::{SimulatedTransaction, Transactions, Update};
use edb::cache::{Cache, PageRef};
use edb::log::Log;
use edb::position::{LogSpan, PageNumber};
use edb::store::{ContentlessStore, FileStore};
use edb::{EngineError, EngineSettings};
use runtime::sync::{Notify, Semaphore};
use runtime::{Directory, Handle};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Records are this: as long as needed, and empty.
static NOTHING: [u8; 1 << 17] = [0; 1 << 17];

/// The shared state of one open database.
pub(crate) struct Core<D: Directory> {
    pub(crate) handle: Handle,
    pub(crate) settings: EngineSettings,
    pub(crate) cache: Cache<(), ContentlessStore<D::File>>,
    pub(crate) log: Log,
    /// For what the cache does not do: headers, and growth of the file.
    pub(crate) file: FileStore<D::File>,
    pub(crate) shape: RefCell<Shape>,
    pub(crate) long_values: RefCell<LongValueIds>,
    /// One bit for each row that has been deleted.
    pub(crate) deleted: RefCell<Vec<u64>>,
    pub(crate) transactions: Rc<RefCell<Transactions>>,
    /// Pages 1 to this one belong to the database root.
    pub(crate) owned_pages: Cell<u32>,
    /// Pages the file has.
    pub(crate) file_pages: Cell<u32>,
    /// Only one extension at a time.
    pub(crate) growth_turn: Rc<Semaphore>,
    pub(crate) closing: Cell<bool>,
    pub(crate) cleanup_wanted: Notify,
    pub(crate) cleanup_turn: Rc<Semaphore>,
}

impl<D: Directory> Core<D> {
    /// The first of these pages that is not in the cache; the others have been touched.
    fn first_missing(&self, pages: &PageList) -> Option<PageNumber> {
        let mut numbers = pages.as_slice().iter().map(|&page| PageNumber(page));
        numbers.find(|&page| !self.cache.touch(page))
    }

    /// Reads pages: those that `want` names, fetching what is missing one by one.
    pub(crate) async fn read(
        &self,
        want: impl Fn(&Shape, &mut PageList),
    ) -> Result<(), EngineError> {
        let mut pins: Vec<PageRef<()>> = Vec::new();
        loop {
            self.cache.check()?;
            let mut pages = PageList::new();
            want(&self.shape.borrow(), &mut pages);
            match self.first_missing(&pages) {
                None => return Ok(()),
                Some(missing) => pins.push(self.cache.fetch(missing).await?),
            }
        }
    }

    /// Waits until everything a change needs is there.
    async fn prepare(
        &self,
        node: Node,
        change: Change,
        pins: &mut Vec<PageRef<()>>,
    ) -> Result<(), EngineError> {
        loop {
            self.cache.check()?;
            self.log.admit().await?;
            let mut pages = PageList::new();
            let wanted = self.shape.borrow().wanted(node, change, &mut pages);
            if let Some(missing) = self.first_missing(&pages) {
                pins.push(self.cache.fetch(missing).await?);
                continue;
            }
            match wanted {
                Ok(()) => return Ok(()),
                Err(NeedsPages(pages)) => self.grow(pages).await?,
            }
        }
    }

    /// Changes a node for a transaction.
    pub(crate) async fn update(
        &self,
        transaction: &mut SimulatedTransaction,
        node: Node,
        change: Change,
    ) -> Result<(), EngineError> {
        let mut pins = Vec::new();
        self.prepare(node, change, &mut pins).await?;
        if transaction.begin.is_none() {
            let begin = self.append(record::MARK).begin;
            transaction.begin = Some(begin);
            self.transactions.borrow_mut().hold(begin);
        }
        let (key, _) = self.shape.borrow().size_of(node);
        let row_changed = self.shape.borrow().geometry.row_changed;
        let undo = match change {
            Change::Insert => Undo::Nothing,
            Change::Replace => Undo::Node {
                changed: row_changed,
            },
            Change::Flag | Change::Remove => Undo::Node { changed: 0 },
        };
        self.step(node, change, |bytes| record::update(key, undo, bytes));
        transaction.updates.push(Update { node, change });
        Ok(())
    }

    /// Takes a change back for a transaction.
    pub(crate) async fn take_back(&self, update: Update) -> Result<(), EngineError> {
        let change = match update.change {
            Change::Insert | Change::Flag | Change::Remove => Change::Flag,
            Change::Replace => Change::Replace,
        };
        let mut pins = Vec::new();
        self.prepare(update.node, change, &mut pins).await?;
        self.step(update.node, change, record::taken_back);
        Ok(())
    }

    /// Changes a node on nobody's behalf.
    pub(crate) async fn change(&self, node: Node, change: Change) -> Result<(), EngineError> {
        let mut pins = Vec::new();
        self.prepare(node, change, &mut pins).await?;
        self.step(node, change, record::system);
        Ok(())
    }

    fn step(&self, node: Node, change: Change, record: impl FnOnce(usize) -> usize) {
        let mut work = StepWork::new();
        self.shape.borrow_mut().carry_out(node, change, &mut work);
        let bytes = record(work.bytes);
        self.log_and_change(&work, bytes);
    }

    /// Logs a step as one record of so many bytes, and marks its pages as changed by it.
    pub(crate) fn log_and_change(&self, work: &StepWork, bytes: usize) -> LogSpan {
        let span = self.append(bytes);
        for &page in work.changed.as_slice() {
            let page = PageNumber(page);
            let page = self.cache.get(page);
            // A page of a space tree that nobody had asked for is made rather than read.
            if let Some(page) = page {
                page.change(span.begin, span.end, |()| ());
            }
        }
        for &page in work.created.as_slice() {
            let page = self.cache.create(PageNumber(page));
            page.change(span.begin, span.end, |()| ());
        }
        span
    }

    /// Adds a record of that length to the log.
    pub(crate) fn append(&self, bytes: usize) -> LogSpan {
        let bytes = bytes.min(NOTHING.len()).min(self.log.most_record_bytes());
        self.log.append(&NOTHING[..bytes])
    }

    /// Whether a delete of the row has been committed.
    pub(crate) fn is_deleted(&self, row: u64) -> bool {
        let deleted = self.deleted.borrow();
        let word = deleted.get((row / 64) as usize);
        word.is_some_and(|word| word & (1 << (row % 64)) != 0)
    }

    /// Notes that a row is deleted.
    pub(crate) fn note_deleted(&self, row: u64) {
        let mut deleted = self.deleted.borrow_mut();
        let word = (row / 64) as usize;
        if deleted.len() <= word {
            deleted.resize(word + 1, 0);
        }
        deleted[word] |= 1 << (row % 64);
    }
}
