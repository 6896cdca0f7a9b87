//! A mail store in memory for tests, on a disk whose latency rises once it has more requests than
//! servers. It can be made to conflict, to fail and to return wrong data.

use super::item::Item;
use super::keys::{IndexKey, RowAddress};
use super::store::{Commit, LongValues, MailStore, MessageNumber, ScanRequest, StoreError};
use runtime::sync::Semaphore;
use runtime::{Handle, IoCause, IoDirection, IoEvent, IoObserver};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use workload::controller::host::DatabaseStatistics;
use workload::failure::{Failure, FailureKind};

/// How the simulated disk behaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestDisk {
    /// Requests served at once.
    pub servers: usize,
    /// Time of one request.
    pub service_ns: u64,
    /// Reads that an operation on an existing row causes.
    pub reads_per_operation: u32,
}

struct Row {
    message: MessageNumber,
    item: Item,
    changed_at: u64,
    locked_by: Option<u64>,
    deleted: bool,
}

struct Inner {
    handle: Handle,
    disk: TestDisk,
    servers: Rc<Semaphore>,
    observer: Rc<dyn IoObserver>,
    index: usize,
    rows: RefCell<BTreeMap<IndexKey, Row>>,
    keys: RefCell<BTreeMap<MessageNumber, IndexKey>>,
    clock: Cell<u64>,
    next_message: Cell<MessageNumber>,
    /// After so many requests every request fails.
    pub fail_after: Cell<u64>,
    /// Lazy and durable commits of changes.
    commits: Cell<(u64, u64)>,
    touched_pages: Cell<u64>,
}

/// The store. Clones share it.
#[derive(Clone)]
pub(crate) struct TestStore(Rc<Inner>);

pub(crate) struct TestTransaction {
    number: u64,
    changes: Vec<Change>,
}

enum Change {
    Insert(MessageNumber, Item),
    Replace(IndexKey, Item),
    Delete(IndexKey),
}

impl TestStore {
    pub(crate) fn new(
        handle: &Handle,
        disk: TestDisk,
        observer: Rc<dyn IoObserver>,
        index: usize,
        items: impl Iterator<Item = Item>,
    ) -> Self {
        let rows: BTreeMap<IndexKey, Row> = items
            .map(|item| {
                let message = item.row as MessageNumber + 1;
                (
                    item.key,
                    Row {
                        message,
                        item,
                        changed_at: 0,
                        locked_by: None,
                        deleted: false,
                    },
                )
            })
            .collect();
        Self(Rc::new(Inner {
            handle: handle.clone(),
            disk,
            servers: Semaphore::new(disk.servers),
            observer,
            index,
            next_message: Cell::new(rows.len() as MessageNumber + 1),
            keys: RefCell::new(
                rows.values()
                    .map(|row| (row.message, row.item.key))
                    .collect(),
            ),
            rows: RefCell::new(rows),
            clock: Cell::new(1),
            fail_after: Cell::new(u64::MAX),
            commits: Cell::default(),
            touched_pages: Cell::default(),
        }))
    }

    /// Makes every request after the next `requests` fail.
    pub(crate) fn fail_after(&self, requests: u64) {
        self.0.fail_after.set(requests);
    }

    /// Lazy and durable commits of changes so far.
    pub(crate) fn commits(&self) -> (u64, u64) {
        self.0.commits.get()
    }

    /// Rows that exist now.
    pub(crate) fn len(&self) -> usize {
        self.0
            .rows
            .borrow()
            .values()
            .filter(|row| !row.deleted)
            .count()
    }

    /// Lets `change` spoil every row.
    pub(crate) fn spoil(&self, change: impl Fn(&mut Item)) {
        self.0
            .rows
            .borrow_mut()
            .values_mut()
            .for_each(|row| change(&mut row.item));
    }

    /// Makes one device request, which fails once [`Self::fail_after`] says so.
    async fn request(
        &self,
        cause: IoCause,
        direction: IoDirection,
        length_bytes: u64,
    ) -> Result<(), StoreError> {
        let inner = &self.0;
        let left = inner.fail_after.get();
        if left == 0 {
            return Err(StoreError::Failed(Failure {
                kind: FailureKind::Io,
                integrity: None,
                database: None,
                file: self.name(),
                page: Some(7),
                operation: "database read".to_owned(),
                error: "the storage reported an error: it is broken".to_owned(),
            }));
        }
        inner.fail_after.set(left - 1);
        let issued_ns = inner.handle.now_ns();
        let server = inner.servers.acquire().await;
        inner.handle.sleep_ns(inner.disk.service_ns).await;
        drop(server);
        inner.observer.completed(&IoEvent {
            cause,
            direction,
            offset_bytes: 0,
            length_bytes,
            issued_ns,
            completed_ns: inner.handle.now_ns(),
            succeeded: true,
        });
        inner.touched_pages.set(inner.touched_pages.get() + 1);
        Ok(())
    }

    fn address(&self, key: IndexKey) -> RowAddress {
        let row = self.0.rows.borrow()[&key].item.row;
        RowAddress { row, key }
    }

    async fn reads(&self) -> Result<(), StoreError> {
        for _ in 0..self.0.disk.reads_per_operation {
            self.request(IoCause::Database, IoDirection::Read, 32_768)
                .await?;
        }
        Ok(())
    }

    /// Locks a row for a transaction that wants to change it.
    fn lock(
        &self,
        transaction: &TestTransaction,
        message: MessageNumber,
    ) -> Result<IndexKey, StoreError> {
        let mut rows = self.0.rows.borrow_mut();
        let key = self.0.keys.borrow()[&message];
        let row = rows.get_mut(&key).unwrap();
        let mine = Some(transaction.number);
        if row.changed_at > transaction.number || (row.locked_by.is_some() && row.locked_by != mine)
        {
            return Err(StoreError::Conflict);
        }
        row.locked_by = mine;
        Ok(key)
    }

    fn tick(&self) -> u64 {
        self.0.clock.set(self.0.clock.get() + 1);
        self.0.clock.get()
    }

    fn unlock(&self, transaction: &TestTransaction) {
        let mut rows = self.0.rows.borrow_mut();
        for change in &transaction.changes {
            if let Change::Replace(key, _) | Change::Delete(key) = change {
                rows.get_mut(key).unwrap().locked_by = None;
            }
        }
    }

    fn apply(&self, change: Change, now: u64) {
        let mut rows = self.0.rows.borrow_mut();
        match change {
            Change::Insert(message, item) => {
                let row = Row {
                    message,
                    changed_at: now,
                    locked_by: None,
                    deleted: false,
                    item,
                };
                self.0.keys.borrow_mut().insert(message, row.item.key);
                let before = rows.insert(row.item.key, row);
                assert!(
                    before.is_none_or(|before| before.deleted),
                    "a key comes twice"
                );
            }
            Change::Replace(key, item) => {
                let row = rows.get_mut(&key).unwrap();
                let long = item.long.clone().or(row.item.long.take());
                row.item = Item { long, ..item };
                row.changed_at = now;
            }
            Change::Delete(key) => {
                let row = rows.get_mut(&key).unwrap();
                (row.deleted, row.changed_at) = (true, now);
            }
        }
    }
}

impl MailStore for TestStore {
    type Transaction = TestTransaction;

    fn begin(&self) -> TestTransaction {
        TestTransaction {
            number: self.tick(),
            changes: Vec::new(),
        }
    }

    async fn find(
        &self,
        _: &mut TestTransaction,
        at: RowAddress,
        long: LongValues,
    ) -> Result<Option<(MessageNumber, Item)>, StoreError> {
        self.reads().await?;
        let rows = self.0.rows.borrow();
        Ok(rows.get(&at.key).filter(|row| !row.deleted).map(|row| {
            let mut item = row.item.clone();
            if long == LongValues::Leave {
                item.long = None;
            }
            (row.message, item)
        }))
    }

    async fn get(
        &self,
        transaction: &mut TestTransaction,
        message: MessageNumber,
        long: LongValues,
    ) -> Result<Option<Item>, StoreError> {
        let at = self.address(self.0.keys.borrow()[&message]);
        Ok(self
            .find(transaction, at, long)
            .await?
            .map(|(_, item)| item))
    }

    async fn messages(
        &self,
        transaction: &mut TestTransaction,
        from: MessageNumber,
        limit: u32,
    ) -> Result<Vec<(MessageNumber, u64)>, StoreError> {
        let mut found = Vec::new();
        let keys = self.0.keys.borrow().clone();
        for (&message, key) in keys.range(from..) {
            if found.len() < limit as usize
                && let Some((_, item)) = self
                    .find(transaction, self.address(*key), LongValues::Leave)
                    .await?
            {
                found.push((message, item.row));
            }
        }
        Ok(found)
    }

    async fn insert(
        &self,
        transaction: &mut TestTransaction,
        item: &Item,
    ) -> Result<MessageNumber, StoreError> {
        let message = self.0.next_message.get();
        self.0.next_message.set(message + 1);
        transaction
            .changes
            .push(Change::Insert(message, item.clone()));
        Ok(message)
    }

    async fn replace(
        &self,
        transaction: &mut TestTransaction,
        message: MessageNumber,
        item: &Item,
    ) -> Result<(), StoreError> {
        let key = self.lock(transaction, message)?;
        transaction.changes.push(Change::Replace(key, item.clone()));
        Ok(())
    }

    async fn delete(
        &self,
        transaction: &mut TestTransaction,
        message: MessageNumber,
    ) -> Result<(), StoreError> {
        let key = self.lock(transaction, message)?;
        transaction.changes.push(Change::Delete(key));
        Ok(())
    }

    async fn scan(
        &self,
        _: &mut TestTransaction,
        request: &ScanRequest,
    ) -> Result<u32, StoreError> {
        self.reads().await?;
        let rows = self.0.rows.borrow();
        Ok(rows
            .range(request.from.key..)
            .take(request.items as usize)
            .count() as u32)
    }

    async fn commit(
        &self,
        transaction: TestTransaction,
        durability: Commit,
    ) -> Result<(), StoreError> {
        if !transaction.changes.is_empty() {
            if durability == Commit::Durable {
                self.request(IoCause::Log, IoDirection::Write, 4096).await?;
            }
            let (lazy, durable) = self.0.commits.get();
            let is_durable = u64::from(durability == Commit::Durable);
            self.0
                .commits
                .set((lazy + 1 - is_durable, durable + is_durable));
        }
        self.unlock(&transaction);
        let now = self.tick();
        for change in transaction.changes {
            self.apply(change, now);
            let store = self.clone();
            self.0.handle.spawn(async move {
                store
                    .request(IoCause::Database, IoDirection::Write, 32_768)
                    .await
            });
        }
        Ok(())
    }

    async fn roll_back(&self, transaction: TestTransaction) -> Result<(), StoreError> {
        self.unlock(&transaction);
        Ok(())
    }

    fn statistics(&self) -> DatabaseStatistics {
        let pages = self.0.touched_pages.get();
        DatabaseStatistics {
            cached_pages: pages.min(1000),
            cache_capacity_pages: 1000,
            cache_largest_pages: None,
            page_fault_stalls: 0,
            size_bytes: 1 << 30,
            database_pages: 32_768,
            closing_bytes: 0,
            ..DatabaseStatistics::default()
        }
    }

    fn take_damage(&self) -> Vec<Failure> {
        Vec::new()
    }

    fn name(&self) -> String {
        format!("/simulated/mail-{:03}.edb", self.0.index + 1)
    }
}
