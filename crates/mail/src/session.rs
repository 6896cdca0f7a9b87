//! What a session does: one transaction after the other on one database.
//!
//! A transaction is planned before it begins: cards are dealt from the deck and rows chosen, so that
//! an attempt that meets a write conflict is rolled back and made again with the same plan. That
//! keeps the mix exact and the rows numbered without gaps. An operation counts when its transaction
//! has been committed.

use super::item::{Item, ItemMaker};
use super::ledger::VersionLedger;
use super::operation::Operation;
use super::population::{Population, PopulationState};
use super::store::{Commit, LongValues, MailStore, MessageNumber, ScanRequest, StoreError};
use measure::result::IntegrityClass;
use measure::sample::{Layout, OperationKind, Recorder};
use runtime::Handle;
use std::cell::RefCell;
use std::rc::Rc;
use workload::controller::host::{DatabaseStatistics, LoadedDatabase};
use workload::deck::Deck;
use workload::failure::Failure;
use workload::random::SeededRng;

/// Names of the two kinds of commit in results.
pub const COMMIT_DURABLE: &str = "commit-durable";
/// Transactions that return before the log is durable; see [`COMMIT_DURABLE`].
pub const COMMIT_LAZY: &str = "commit-lazy";

/// The operations of a mail run in the order in which a [`Recorder`] knows them.
#[must_use]
pub fn layout(databases: impl IntoIterator<Item = String>) -> Layout {
    let operations = Operation::ALL
        .iter()
        .map(|operation| operation.name().into());
    let commits = [COMMIT_DURABLE, COMMIT_LAZY].map(OperationKind::outside_total);
    Layout::new(databases, operations.chain(commits))
}

const COMMIT_DURABLE_INDEX: usize = Operation::ALL.len();
const COMMIT_LAZY_INDEX: usize = Operation::ALL.len() + 1;

/// What transactions look like.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSettings {
    /// Shares of the operations.
    pub mix: Vec<(Operation, f64)>,
    /// Operations in one transaction.
    pub operations_per_transaction: u32,
    /// Share of the changing transactions whose commit is lazy, 0 to 1.
    pub lazy_fraction: f64,
    /// Longest time until a lazy commit is durable, in ms.
    pub lazy_within_ms: u64,
    /// Whether a replace writes the long column too.
    pub replace_long: bool,
    /// Whether a read fetches the long column.
    pub read_long: bool,
    /// Share of the reads that go through the index, 0 to 1; the others use the message number.
    pub read_by_index_fraction: f64,
    /// Items that a scan reads.
    pub scan_items: u32,
    /// Whether a scan fetches long columns.
    pub scan_long: bool,
    /// Whether a scan reads ahead.
    pub scan_read_ahead: bool,
    /// Whether the items that a transaction reads are fetched side by side when it begins.
    pub read_ahead: bool,
}

/// One database as its sessions see it. Clones share it.
pub struct MailDatabase<S: MailStore> {
    shared: Rc<Shared<S>>,
}

impl<S: MailStore> Clone for MailDatabase<S> {
    fn clone(&self) -> Self {
        Self {
            shared: Rc::clone(&self.shared),
        }
    }
}

struct Shared<S: MailStore> {
    store: S,
    handle: Handle,
    settings: SessionSettings,
    maker: ItemMaker,
    recorder: Rc<RefCell<Recorder>>,
    /// Index of the database in the recorder's layout.
    index: usize,
    /// Rows that the database was built with; their message numbers follow from their row numbers.
    built_rows: u64,
    state: RefCell<State>,
}

struct State {
    population: Population,
    ledger: VersionLedger,
    deck: Deck<Operation>,
    commits: Deck<bool>,
    rng: SeededRng,
}

/// What is needed to put a database to work.
pub struct MailDatabaseParts<S: MailStore> {
    /// The database, as sessions use it.
    pub store: S,
    /// The runtime, for its clock and tasks.
    pub handle: Handle,
    /// What transactions look like.
    pub settings: SessionSettings,
    /// How items are made.
    pub maker: ItemMaker,
    /// The rows that exist.
    pub population: Population,
    /// Where operations are counted.
    pub recorder: Rc<RefCell<Recorder>>,
    /// Index of the database in the recorder's layout.
    pub index: usize,
    /// Seed of the run; each database draws from streams of its own.
    pub seed: u64,
}

/// One operation with the row it is about.
#[derive(Debug, Clone, Copy)]
struct Planned {
    operation: Operation,
    row: u64,
    /// Reads: whether the index is used.
    by_index: bool,
}

/// What is known about an attempt that went through, to be counted.
#[derive(Default)]
struct Attempt {
    steps: Vec<AttemptedStep>,
    replaced: Vec<(u64, u32)>,
}

/// One operation of an attempt.
struct AttemptedStep {
    /// The version of the row known to have been committed before the transaction began.
    at_least: u32,
    /// From its begin to its end.
    service_ns: u64,
}

impl<S: MailStore> MailDatabase<S> {
    /// Puts a database to work.
    #[must_use]
    pub fn new(parts: MailDatabaseParts<S>) -> Self {
        let stream = |number: u64| SeededRng::new(parts.seed, parts.index as u64 * 16 + number);
        let settings = parts.settings;
        let lazy = settings.lazy_fraction;
        let with_contents = S::CARRIES_CONTENTS && parts.maker.with_contents;
        let maker = ItemMaker {
            with_contents,
            ..parts.maker
        };
        let state = State {
            deck: Deck::new(&settings.mix, stream(1)),
            commits: Deck::new(&[(true, lazy), (false, 1.0 - lazy)], stream(2)),
            rng: stream(3),
            ledger: VersionLedger::default(),
            population: parts.population,
        };
        Self {
            shared: Rc::new(Shared {
                store: parts.store,
                handle: parts.handle,
                settings,
                maker,
                recorder: parts.recorder,
                index: parts.index,
                built_rows: state.population.state().built_rows,
                state: RefCell::new(state),
            }),
        }
    }

    /// The database, as sessions use it.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.shared.store
    }

    /// The rows that exist, to be asked when no transaction is under way. `None` if some that were to
    /// be inserted were not: then the rows have to be counted again.
    #[must_use]
    pub fn settled_rows(&self) -> Option<PopulationState> {
        let state = self.shared.state.borrow();
        let population = &state.population;
        population.is_settled().then(|| population.state())
    }
}

impl<S: MailStore> LoadedDatabase for MailDatabase<S> {
    async fn transact(&self, due_ns: Option<u64>) -> Result<u32, Failure> {
        let shared = &*self.shared;
        let plan = shared.plan();
        let updates = plan.iter().any(|planned| planned.operation.is_update());
        let durability = updates.then(|| shared.deal_commit());
        for tries in 0_u32.. {
            let lateness_ns = due_ns.map(|due_ns| shared.handle.now_ns().saturating_sub(due_ns));
            match shared.attempt(&plan, durability, lateness_ns).await {
                Ok(attempt) => {
                    shared.settle(&plan, &attempt, lateness_ns);
                    break;
                }
                Err(StoreError::Failed(failure)) => {
                    shared.give_up(&plan);
                    return Err(failure);
                }
                Err(StoreError::Conflict | StoreError::VersionsFull) => {
                    shared.wait_before_retry(tries).await;
                }
            }
        }
        Ok(plan.len() as u32)
    }

    fn statistics(&self) -> DatabaseStatistics {
        self.store().statistics()
    }

    fn take_damage(&self) -> Vec<Failure> {
        self.store().take_damage()
    }
}

impl<S: MailStore> Shared<S> {
    fn plan(&self) -> Vec<Planned> {
        let state = &mut *self.state.borrow_mut();
        let mut plan = Vec::with_capacity(self.settings.operations_per_transaction as usize);
        for _ in 0..self.settings.operations_per_transaction {
            let operation = state.deck.deal();
            let row = match operation {
                Operation::Insert => Some(state.population.begin_insert()),
                Operation::Delete => state.population.begin_delete(),
                Operation::Replace | Operation::Read | Operation::Scan => {
                    state.population.pick(&mut state.rng)
                }
            };
            let by_index = state.rng.happens(self.settings.read_by_index_fraction);
            match row {
                Some(row) => plan.push(Planned {
                    operation,
                    row,
                    by_index,
                }),
                // No such row is left: the card is played without effect, and said so.
                None => self
                    .recorder
                    .borrow_mut()
                    .operation_failed(self.index, operation as usize),
            }
        }
        plan
    }

    /// Settles the counters after a transaction that was rolled back and is not made again. What it was to
    /// delete counts as deleted: nobody asks for these rows any more.
    fn give_up(&self, plan: &[Planned]) {
        let population = &mut self.state.borrow_mut().population;
        for planned in plan {
            if planned.operation == Operation::Insert {
                population.give_up_insert(planned.row);
            }
        }
    }

    fn deal_commit(&self) -> Commit {
        if self.state.borrow_mut().commits.deal() {
            let within_ms = self.settings.lazy_within_ms;
            return Commit::Lazy { within_ms };
        }
        Commit::Durable
    }

    async fn attempt(
        &self,
        plan: &[Planned],
        durability: Option<Commit>,
        lateness_ns: Option<u64>,
    ) -> Result<Attempt, StoreError> {
        let mut attempt = Attempt::default();
        {
            let state = self.state.borrow();
            let steps = plan.iter().map(|planned| AttemptedStep {
                at_least: state.ledger.committed(planned.row),
                service_ns: 0,
            });
            attempt.steps.extend(steps);
        }
        if self.settings.read_ahead && plan.len() > 1 {
            self.read_ahead(plan).await;
        }
        let mut transaction = self.store.begin();
        for (number, planned) in plan.iter().enumerate() {
            let at_least = attempt.steps[number].at_least;
            let begun_ns = self.handle.now_ns();
            let done = self
                .operate(&mut transaction, *planned, at_least, &mut attempt)
                .await;
            if let Err(error) = done {
                self.recorder
                    .borrow_mut()
                    .operation_failed(self.index, planned.operation as usize);
                let rolled_back = self.store.roll_back(transaction).await;
                if matches!(error, StoreError::Failed(_)) {
                    // Should the rollback have failed, too, the database takes no more work, and the
                    // next transaction says so.
                    return Err(error);
                }
                rolled_back?;
                return Err(error);
            }
            attempt.steps[number].service_ns = self.handle.now_ns() - begun_ns;
        }
        let begun_ns = durability.map(|_| self.handle.now_ns());
        // Without changes there is nothing to wait for.
        let kind = durability.unwrap_or(Commit::Lazy {
            within_ms: u64::MAX,
        });
        self.store.commit(transaction, kind).await?;
        if let (Some(durability), Some(begun_ns)) = (durability, begun_ns) {
            let index = match durability {
                Commit::Durable => COMMIT_DURABLE_INDEX,
                Commit::Lazy { .. } => COMMIT_LAZY_INDEX,
            };
            let service_ns = self.handle.now_ns() - begun_ns;
            let from_due_ns = lateness_ns.map(|lateness_ns| lateness_ns + service_ns);
            let mut recorder = self.recorder.borrow_mut();
            recorder.operation(self.index, index, service_ns, from_due_ns);
        }
        Ok(attempt)
    }

    /// Fetches the items that the operations will read side by side, each in a transaction of its own. What
    /// fails here fails again where it is needed.
    async fn read_ahead(&self, plan: &[Planned]) {
        let reads = plan
            .iter()
            .filter(|planned| planned.operation == Operation::Read);
        let fetch = |planned: &Planned| {
            let (store, at) = (self.store.clone(), self.maker.address(planned.row));
            self.handle.spawn(async move {
                let mut transaction = store.begin();
                let _ = store.find(&mut transaction, at, fetch_if(false)).await;
                let _ = store.roll_back(transaction).await;
            })
        };
        let fetches: Vec<_> = reads.map(fetch).collect();
        for fetched in fetches {
            fetched.await;
        }
    }

    async fn operate(
        &self,
        transaction: &mut S::Transaction,
        planned: Planned,
        at_least: u32,
        attempt: &mut Attempt,
    ) -> Result<(), StoreError> {
        let row = planned.row;
        match planned.operation {
            Operation::Insert => {
                self.store
                    .insert(transaction, &self.maker.first(row))
                    .await?;
            }
            Operation::Delete => {
                if let Some((message, _)) = self.locate(transaction, row, at_least, true).await? {
                    self.store.delete(transaction, message).await?;
                }
            }
            Operation::Replace => {
                let with_long = self.settings.replace_long;
                let found = self.locate(transaction, row, at_least, with_long).await?;
                if let Some((message, item)) = found {
                    let next = self.maker.next(&item, with_long);
                    self.store.replace(transaction, message, &next).await?;
                    attempt.replaced.push((row, next.version));
                }
            }
            Operation::Read => self.read(transaction, planned, at_least).await?,
            Operation::Scan => {
                let request = ScanRequest {
                    from: self.maker.address(row),
                    items: self.settings.scan_items,
                    long: fetch_if(self.settings.scan_long),
                    read_ahead: self.settings.scan_read_ahead,
                };
                self.store.scan(transaction, &request).await?;
            }
        }
        Ok(())
    }

    async fn read(
        &self,
        transaction: &mut S::Transaction,
        planned: Planned,
        at_least: u32,
    ) -> Result<(), StoreError> {
        let (row, with_long) = (planned.row, self.settings.read_long);
        if planned.by_index || row >= self.built_rows {
            self.locate(transaction, row, at_least, with_long).await?;
            return Ok(());
        }
        let message = message_of_row(row);
        let found = self
            .store
            .get(transaction, message, fetch_if(with_long))
            .await?;
        self.verify(found.as_ref(), row, at_least)
    }

    /// Finds a row, through the index if there is one, and checks it. `None`: it was deleted in the meantime. Long
    /// columns that are about to change are fetched and checked too: their pages are read anyway.
    async fn locate(
        &self,
        transaction: &mut S::Transaction,
        row: u64,
        at_least: u32,
        with_long: bool,
    ) -> Result<Option<(MessageNumber, Item)>, StoreError> {
        let at = self.maker.address(row);
        let found = self
            .store
            .find(transaction, at, fetch_if(with_long))
            .await?;
        self.verify(found.as_ref().map(|(_, item)| item), row, at_least)?;
        Ok(found)
    }

    fn verify(&self, item: Option<&Item>, row: u64, at_least: u32) -> Result<(), StoreError> {
        let verdict = match item {
            Some(item) => self.maker.check(item, row, at_least),
            None if self.state.borrow().population.may_be_missing(row) => Ok(()),
            None => Err(format!("row {row} was committed and is not found any more")),
        };
        let (file, doing) = (self.store.name(), "reading a mail item");
        verdict.map_err(|error| {
            let class = IntegrityClass::Contents;
            StoreError::Failed(Failure::of_data(class, &file, doing, &error))
        })
    }

    /// Counts a committed transaction.
    fn settle(&self, plan: &[Planned], attempt: &Attempt, lateness_ns: Option<u64>) {
        let state = &mut *self.state.borrow_mut();
        for planned in plan {
            match planned.operation {
                Operation::Insert => state.population.settle_insert(planned.row),
                Operation::Delete => state.ledger.forget(planned.row),
                _ => {}
            }
        }
        for &(row, version) in &attempt.replaced {
            if !state.population.is_deleted(row) {
                state.ledger.commit(row, version);
            }
        }
        let mut recorder = self.recorder.borrow_mut();
        for (planned, &AttemptedStep { service_ns, .. }) in plan.iter().zip(&attempt.steps) {
            let from_due_ns = lateness_ns.map(|lateness_ns| lateness_ns + service_ns);
            recorder.operation(
                self.index,
                planned.operation as usize,
                service_ns,
                from_due_ns,
            );
        }
    }

    /// A short random pause, longer with every failed attempt, up to a tenth of a second.
    async fn wait_before_retry(&self, tries: u32) {
        let longest_ns = (100_000_u64 << tries.min(10)).min(100_000_000);
        let pause_ns = self.state.borrow_mut().rng.below(longest_ns);
        self.handle.sleep_ns(pause_ns).await;
    }
}

fn fetch_if(wanted: bool) -> LongValues {
    if wanted {
        LongValues::Fetch
    } else {
        LongValues::Leave
    }
}

/// The number of a row that the builder has made, or of any row where there is no index: rows are numbered
/// from 1 in their order.
#[must_use]
pub fn message_of_row(row: u64) -> MessageNumber {
    row as MessageNumber + 1
}
