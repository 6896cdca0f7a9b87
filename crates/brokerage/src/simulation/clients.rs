//! The clients of a simulated database: users, market and data maintenance.

use super::database::Database;
use super::execution::{Commit, Executed, NestedLoop, PlanPool};
use super::measured::WRITES_OUTSTANDING;
use crate::market::FEED_ENTRIES;
use crate::operation::{BY_USERS, Operation};
use crate::profile::Brokerage;
use crate::simulation::market::{Entry, Exchange};
use crate::simulation::orders::Order;
use crate::simulation::plan::{Plan, Planner};
use crate::simulation::trees::Trees;
use edb::EngineError;
use edb::cache::CacheError;
use measure::sample::Recorder;
use runtime::sync::Semaphore;
use runtime::{Directory, Handle};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use workload::controller::link::Orders;
use workload::controller::zero_delay_loop::ZeroDelayLoopDetector;
use workload::deck::Deck;
use workload::failure::Failure;
use workload::random::SeededRng;

/// Name of the database in messages.
pub(crate) const NAME: &str = "brokerage database";

/// Transactions at one instant that are too many. A transaction reads hundreds of pages, so that
/// users soon meet one that is not cached.
const TRANSACTIONS_AT_ONE_INSTANT_MAX: u64 = 10_000;

/// What helps where nothing reaches the array.
const REMEDY: &str = "Make the database larger than the database cache (--target-size), make the database \
    cache smaller, or let the users think (--set brokerage.think_time=1ms).";

/// Index of the only database in the recorder.
const DATABASE: usize = 0;

/// All clients of one database.
pub(crate) struct Clients<D: Directory> {
    handle: Handle,
    pub(crate) database: Rc<Database<D>>,
    settings: Brokerage,
    orders: Arc<Orders>,
    recorder: Rc<RefCell<Recorder>>,
    processors: Rc<Semaphore>,
    plans: PlanPool,
    deck: RefCell<Deck<Operation>>,
    rng: RefCell<SeededRng>,
    exchange: RefCell<Exchange>,
    running: Cell<bool>,
    /// Which users are running.
    alive: RefCell<Vec<bool>>,
    /// Users, results and feeds that have not ended.
    active: Cell<usize>,
    zero_delay_loop: ZeroDelayLoopDetector,
    failure: RefCell<Option<Failure>>,
}

impl<D: Directory> Clients<D> {
    pub(crate) fn new(
        database: Rc<Database<D>>,
        settings: &Brokerage,
        seed: u64,
        orders: Arc<Orders>,
        recorder: Rc<RefCell<Recorder>>,
    ) -> Rc<Self> {
        let weights = BY_USERS.into_iter().zip(settings.mix.shares());
        let weights: Vec<_> = weights.map(|(kind, (_, share))| (kind, share)).collect();
        let market = &settings.market;
        let securities = database.trees.borrow().securities();
        Rc::new(Self {
            handle: database.handle.clone(),
            processors: Semaphore::new(settings.server.cpu_cores as usize),
            plans: PlanPool::default(),
            deck: RefCell::new(Deck::new(&weights, SeededRng::new(seed, 1))),
            rng: RefCell::new(SeededRng::new(seed, 2)),
            exchange: RefCell::new(Exchange::new(
                market.execution_delay.as_ns(),
                market.price_period.as_ns(),
                securities,
                SeededRng::new(seed, 3),
            )),
            running: Cell::new(false),
            alive: RefCell::default(),
            active: Cell::new(0),
            zero_delay_loop: ZeroDelayLoopDetector::new(TRANSACTIONS_AT_ONE_INSTANT_MAX, REMEDY),
            failure: RefCell::default(),
            database,
            settings: settings.clone(),
            orders,
            recorder,
        })
    }

    /// Starts users, the ticker if there is one, and data maintenance.
    pub(crate) fn start(self: &Rc<Self>) {
        self.running.set(true);
        self.adjust();
        if self.settings.server.ticker_per_second > 0.0 {
            self.spawn(|clients| async move { clients.ticker().await });
        }
        self.spawn(|clients| async move { clients.maintain().await });
        if self.database.measured.has_log_writes() {
            self.spawn(|clients| async move { clients.write_log().await });
        }
        if self.database.measured.replaces_writes() {
            for _ in 0..WRITES_OUTSTANDING {
                self.spawn(|clients| async move { clients.write_pages().await });
            }
        }
    }

    /// Makes the log writes of a measured run until the load ends, one after the other.
    async fn write_log(self: Rc<Self>) -> Result<(), EngineError> {
        let measured = &self.database.measured;
        loop {
            let progress = measured.progress.notified();
            if !self.is_running() {
                return Ok(());
            }
            match measured.owes_log_write() {
                true => self.database.write_log().await?,
                false => progress.await,
            }
        }
    }

    /// Makes the writes of a measured run until the load ends.
    async fn write_pages(self: Rc<Self>) -> Result<(), EngineError> {
        let measured = &self.database.measured;
        loop {
            let progress = measured.progress.notified();
            if !self.is_running() {
                return Ok(());
            }
            let pages = self.database.trees.borrow().used_pages();
            match measured.take_write(pages) {
                Some(page) => {
                    let written = self.database.cache.store().write_measured(page).await;
                    written.map_err(CacheError::from)?;
                    measured.progress.notify_all();
                }
                None => progress.await,
            }
        }
    }

    /// Waits while too many writes of a measured run are due.
    async fn wait_for_writes(&self) {
        let measured = &self.database.measured;
        loop {
            let progress = measured.progress.notified();
            if !measured.must_wait_for_writes() || !self.is_running() {
                return;
            }
            progress.await;
        }
    }

    /// Starts users up to the number ordered.
    pub(crate) fn adjust(self: &Rc<Self>) {
        if !self.running.get() {
            return;
        }
        let wanted = self.orders.sessions() as usize;
        let mut alive = self.alive.borrow_mut();
        if alive.len() < wanted {
            alive.resize(wanted, false);
        }
        for number in 0..wanted {
            if !std::mem::replace(&mut alive[number], true) {
                self.spawn(move |clients| async move { clients.user(number).await });
            }
        }
    }

    /// Ends the load, and waits for open transactions.
    pub(crate) async fn stop(&self) {
        self.running.set(false);
        self.database.measured.progress.notify_all();
        while self.active.get() > 0 {
            self.handle.sleep_ns(1_000_000).await;
        }
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        self.failure.borrow().clone()
    }

    fn is_running(&self) -> bool {
        let may_begin = self.running.get() && !self.orders.is_stopped();
        may_begin && self.failure.borrow().is_none()
    }

    /// Spawns a task that [`Clients::stop`] waits for.
    fn spawn<F>(self: &Rc<Self>, work: impl FnOnce(Rc<Self>) -> F)
    where
        F: Future<Output = Result<(), EngineError>> + 'static,
    {
        self.active.set(self.active.get() + 1);
        let clients = Rc::clone(self);
        let work = work(Rc::clone(self));
        drop(self.handle.spawn(async move {
            if let Err(error) = work.await {
                let failure = Failure::of_engine(&error, NAME, "a transaction");
                clients.failure.borrow_mut().get_or_insert(failure);
            }
            clients.active.set(clients.active.get() - 1);
        }));
    }

    async fn user(self: Rc<Self>, number: usize) -> Result<(), EngineError> {
        while self.is_running() && number < self.orders.sessions() as usize {
            let think_ns = self.settings.think_time.as_ns() as f64;
            let think_ns = (self.rng.borrow_mut().exponential() * think_ns) as u64;
            if think_ns > 0 {
                self.handle.sleep_ns(think_ns).await;
            } else {
                self.handle.yield_now().await;
            }
            let operation = self.deck.borrow_mut().deal();
            match operation {
                Operation::TradeOrder => self.order().await?,
                other => {
                    let plan = self.plan(|planner| planner.plan(other));
                    self.transact(other, plan, Commit::Durable).await?;
                }
            }
            if let Err(failure) = self
                .zero_delay_loop
                .count(&self.handle, self.orders.sessions())
            {
                self.failure.borrow_mut().get_or_insert(failure);
            }
        }
        self.alive.borrow_mut()[number] = false;
        Ok(())
    }

    /// Plans a transaction, in memory of an earlier plan.
    fn plan(&self, what: impl FnOnce(&mut Planner<'_>)) -> Plan {
        let mut plan = self.plans.take();
        let trees: &Trees = &self.database.trees.borrow();
        what(&mut Planner {
            trees,
            rng: &mut self.rng.borrow_mut(),
            plan: &mut plan,
        });
        plan
    }

    /// Executes a plan, with its CPU time, and counts it.
    async fn transact(
        &self,
        operation: Operation,
        plan: Plan,
        commit: Commit,
    ) -> Result<Executed, EngineError> {
        let started_ns = self.handle.now_ns();
        if BY_USERS.contains(&operation) {
            self.database.measured.begin_transaction();
            self.wait_for_writes().await;
        }
        let database = &self.settings.database;
        let how = NestedLoop {
            from_rows: database.prefetch_from_rows,
            depth: database.prefetch_depth,
        };
        let executed = self.database.execute(&plan, how, commit).await?;
        let rolled_back = plan.rolls_back;
        self.plans.put_back(plan);
        let server = &self.settings.server;
        let busy_ns = executed.pages * server.cpu_time_per_page.as_ns();
        if busy_ns > 0 {
            let _processor = self.processors.acquire().await;
            self.handle.sleep_ns(busy_ns).await;
        }
        let operation = match operation {
            Operation::TradeOrder if rolled_back => Operation::TradeOrderRolledBack,
            other => other,
        };
        self.count(operation, started_ns);
        Ok(executed)
    }

    fn count(&self, operation: Operation, started_ns: u64) {
        let service_ns = self.handle.now_ns() - started_ns;
        let mut recorder = self.recorder.borrow_mut();
        recorder.operation(DATABASE, operation as usize, service_ns, None);
    }

    /// Enters an order, and sends it to the exchange after the commit.
    async fn order(self: &Rc<Self>) -> Result<(), EngineError> {
        let mut entered = None;
        let orders = &self.settings.orders;
        let plan = self.plan(|planner| {
            let order = planner.order(orders);
            planner.enter(&order, orders);
            entered = Some(order);
        });
        let operation = Operation::TradeOrder;
        let executed = self.transact(operation, plan, Commit::Durable).await?;
        if let (Some(order), Some(trade)) = (entered, executed.trade) {
            self.send(Order { trade, ..order });
        }
        Ok(())
    }

    /// Takes an order at the exchange.
    fn send(self: &Rc<Self>, order: Order) {
        if order.is_limit {
            let now_ns = self.handle.now_ns();
            self.exchange.borrow_mut().wait_for_price(now_ns, order);
        } else {
            self.execute_at_exchange(order);
        }
    }

    /// Executes an order at the exchange, and records its result.
    fn execute_at_exchange(self: &Rc<Self>, order: Order) {
        let delay_ns = self.exchange.borrow_mut().answer_delay_ns();
        self.spawn(move |clients| async move {
            clients.handle.sleep_ns(delay_ns).await;
            if !clients.is_running() {
                return Ok(());
            }
            let plan = clients.plan(|planner| planner.result(&order));
            clients
                .transact(Operation::TradeResult, plan, Commit::Durable)
                .await?;
            let full = clients.exchange.borrow_mut().add_result(order.security);
            if full {
                let now_ns = clients.handle.now_ns();
                let entries = clients.exchange.borrow_mut().feed(now_ns);
                clients.feed(Operation::MarketFeed, entries).await?;
            }
            Ok(())
        });
    }

    /// Runs a feed: each entry is a transaction, with one log flush for all.
    async fn feed(
        self: &Rc<Self>,
        operation: Operation,
        entries: Vec<Entry>,
    ) -> Result<(), EngineError> {
        let started_ns = self.handle.now_ns();
        let mut triggered = Vec::new();
        for entry in entries {
            let order = entry.triggers;
            let plan = self.plan(|planner| planner.feed_entry(entry.security, order.as_ref()));
            self.transact(Operation::FeedEntry, plan, Commit::Asynchronous)
                .await?;
            triggered.extend(order);
        }
        self.database.make_durable().await?;
        self.count(operation, started_ns);
        triggered
            .into_iter()
            .for_each(|order| self.execute_at_exchange(order));
        Ok(())
    }

    /// The feeds that no result has caused.
    async fn ticker(self: Rc<Self>) -> Result<(), EngineError> {
        let per_second = self.settings.server.ticker_per_second;
        let interval_ns = (FEED_ENTRIES as f64 / per_second * 1e9) as u64;
        let mut due_ns = self.handle.now_ns();
        while self.is_running() {
            due_ns += interval_ns.max(1);
            self.handle.sleep_until_ns(due_ns).await;
            let entries = self
                .exchange
                .borrow_mut()
                .unsolicited_feed(self.handle.now_ns());
            self.feed(Operation::Ticker, entries).await?;
        }
        Ok(())
    }

    /// Runs a data maintenance transaction at each interval until the load ends.
    async fn maintain(self: Rc<Self>) -> Result<(), EngineError> {
        const POLL_NS: u64 = 100_000_000;
        let interval_ns = self.settings.market.data_maintenance_interval.as_ns();
        let mut due_ns = self.handle.now_ns() + interval_ns;
        let mut round = 0;
        while self.is_running() {
            let now_ns = self.handle.now_ns();
            if now_ns >= due_ns {
                due_ns += interval_ns;
                let plan = self.plan(|planner| planner.data_maintenance(round));
                round += 1;
                self.transact(Operation::DataMaintenance, plan, Commit::Durable)
                    .await?;
            }
            self.handle.sleep_ns(POLL_NS).await;
        }
        Ok(())
    }
}
