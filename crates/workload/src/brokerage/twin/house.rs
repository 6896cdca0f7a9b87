//! The house at work: its users, the exchange that answers them, and what goes by the clock.

use super::database::Database;
use super::work::{Commit, Done, NestedLoop, SparePlans};
use crate::brokerage::books::Books;
use crate::brokerage::kinds::{BY_USERS, FEED_ENTRIES, Operation};
use crate::brokerage::market::{Exchange, Tick};
use crate::brokerage::orders::Entered;
use crate::brokerage::plan::{Plan, Planner};
use crate::controller::link::Orders;
use crate::mail::deck::Deck;
use crate::mail::edb_store::failure_of;
use crate::mail::store::Failure;
use crate::profile::Brokerage;
use crate::random::Dice;
use edb::EngineError;
use measure::sample::Recorder;
use runtime::sync::Semaphore;
use runtime::{Directory, Handle};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// Index of the one database in the recorder.
const DATABASE: usize = 0;

/// Everything that transacts.
pub(crate) struct House<D: Directory> {
    handle: Handle,
    pub(crate) database: Rc<Database<D>>,
    settings: Brokerage,
    orders: Arc<Orders>,
    recorder: Rc<RefCell<Recorder>>,
    processors: Rc<Semaphore>,
    plans: SparePlans,
    deck: RefCell<Deck<Operation>>,
    dice: RefCell<Dice>,
    exchange: RefCell<Exchange>,
    running: Cell<bool>,
    /// Which users are at their desks.
    alive: RefCell<Vec<bool>>,
    /// Users, results and feeds that have not ended.
    at_work: Cell<usize>,
    failure: RefCell<Option<Failure>>,
}

impl<D: Directory> House<D> {
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
        let securities = database.books.borrow().securities();
        Rc::new(Self {
            handle: database.handle.clone(),
            processors: Semaphore::new(settings.server.processors as usize),
            plans: SparePlans::default(),
            deck: RefCell::new(Deck::new(&weights, Dice::new(seed, 1))),
            dice: RefCell::new(Dice::new(seed, 2)),
            exchange: RefCell::new(Exchange::new(
                market.answer_delay.as_ns(),
                market.price_period.as_ns(),
                securities,
                Dice::new(seed, 3),
            )),
            running: Cell::new(false),
            alive: RefCell::default(),
            at_work: Cell::new(0),
            failure: RefCell::default(),
            database,
            settings: settings.clone(),
            orders,
            recorder,
        })
    }

    /// Opens the house.
    pub(crate) fn start(self: &Rc<Self>) {
        self.running.set(true);
        self.adjust();
        if self.settings.server.ticker_per_second > 0.0 {
            self.spawn(|house| async move { house.ticker().await });
        }
        self.spawn(|house| async move { house.maintain().await });
    }

    /// Brings the number of users to the one ordered.
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
                self.spawn(move |house| async move { house.user(number).await });
            }
        }
    }

    /// Closes the house: nothing begins any more, and what is under way is waited for.
    pub(crate) async fn stop(&self) {
        self.running.set(false);
        while self.at_work.get() > 0 {
            self.handle.sleep_ns(1_000_000).await;
        }
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        self.failure.borrow().clone()
    }

    fn goes_on(&self) -> bool {
        self.running.get() && self.failure.borrow().is_none()
    }

    /// Lets something run that [`House::stop`] waits for.
    fn spawn<F>(self: &Rc<Self>, work: impl FnOnce(Rc<Self>) -> F)
    where
        F: Future<Output = Result<(), EngineError>> + 'static,
    {
        self.at_work.set(self.at_work.get() + 1);
        let house = Rc::clone(self);
        let work = work(Rc::clone(self));
        drop(self.handle.spawn(async move {
            if let Err(error) = work.await {
                let failure = failure_of(&error, super::shard::NAME, "a transaction");
                house.failure.borrow_mut().get_or_insert(failure);
            }
            house.at_work.set(house.at_work.get() - 1);
        }));
    }

    async fn user(self: Rc<Self>, number: usize) -> Result<(), EngineError> {
        while self.goes_on() && number < self.orders.sessions() as usize {
            let think_ns = self.settings.think_time.as_ns() as f64;
            let think_ns = (self.dice.borrow_mut().exponential() * think_ns) as u64;
            if think_ns > 0 {
                self.handle.sleep_ns(think_ns).await;
            } else {
                self.handle.yield_now().await;
            }
            let operation = self.deck.borrow_mut().deal();
            match operation {
                Operation::TradeOrder => self.order().await?,
                other => {
                    let plan = self.draw_up(|planner| planner.draw_up(other));
                    self.transact(other, plan, Commit::Durable).await?;
                }
            }
        }
        self.alive.borrow_mut()[number] = false;
        Ok(())
    }

    /// Draws a plan up.
    fn draw_up(&self, what: impl FnOnce(&mut Planner<'_>)) -> Plan {
        let mut plan = self.plans.take();
        let books: &Books = &self.database.books.borrow();
        what(&mut Planner {
            books,
            dice: &mut self.dice.borrow_mut(),
            plan: &mut plan,
        });
        plan
    }

    /// Carries a plan out, with the processor time that it takes, and counts it.
    async fn transact(
        &self,
        operation: Operation,
        plan: Plan,
        commit: Commit,
    ) -> Result<Done, EngineError> {
        let begun_ns = self.handle.now_ns();
        let database = &self.settings.database;
        let how = NestedLoop {
            from_rows: database.prefetch_from_rows,
            depth: database.prefetch_depth,
        };
        let done = self.database.carry_out(&plan, how, commit).await?;
        let rolled_back = plan.rolls_back;
        self.plans.give(plan);
        let server = &self.settings.server;
        let busy_ns = done.pages * server.processor_time_per_page.as_ns();
        if busy_ns > 0 {
            let _processor = self.processors.acquire().await;
            self.handle.sleep_ns(busy_ns).await;
        }
        let operation = match operation {
            Operation::TradeOrder if rolled_back => Operation::TradeOrderRolledBack,
            other => other,
        };
        self.count(operation, begun_ns);
        Ok(done)
    }

    fn count(&self, operation: Operation, begun_ns: u64) {
        let service_ns = self.handle.now_ns() - begun_ns;
        let mut recorder = self.recorder.borrow_mut();
        recorder.operation(DATABASE, operation as usize, service_ns, None);
    }

    /// Enters an order, and sends it to the exchange once it is committed.
    async fn order(self: &Rc<Self>) -> Result<(), EngineError> {
        let mut entered = None;
        let orders = &self.settings.orders;
        let plan = self.draw_up(|planner| {
            let order = planner.order(orders);
            planner.enter(&order, orders);
            entered = Some(order);
        });
        let operation = Operation::TradeOrder;
        let done = self.transact(operation, plan, Commit::Durable).await?;
        if let (Some(order), Some(trade)) = (entered, done.trade) {
            self.send(Entered { trade, ..order });
        }
        Ok(())
    }

    /// The exchange takes an order in.
    fn send(self: &Rc<Self>, order: Entered) {
        if order.waits {
            let now_ns = self.handle.now_ns();
            self.exchange.borrow_mut().keep(now_ns, order);
        } else {
            self.carry_out_at_exchange(order);
        }
    }

    /// The exchange carries an order out, and its answer is booked.
    fn carry_out_at_exchange(self: &Rc<Self>, order: Entered) {
        let delay_ns = self.exchange.borrow_mut().answer_delay_ns();
        self.spawn(move |house| async move {
            house.handle.sleep_ns(delay_ns).await;
            if !house.goes_on() {
                return Ok(());
            }
            let plan = house.draw_up(|planner| planner.result(&order));
            house
                .transact(Operation::TradeResult, plan, Commit::Durable)
                .await?;
            let full = house.exchange.borrow_mut().note(order.security);
            if full {
                let now_ns = house.handle.now_ns();
                let ticks = house.exchange.borrow_mut().feed(now_ns);
                house.feed(Operation::MarketFeed, ticks).await?;
            }
            Ok(())
        });
    }

    /// Takes a feed in: each entry is a transaction, and the log is waited for once.
    async fn feed(
        self: &Rc<Self>,
        operation: Operation,
        ticks: Vec<Tick>,
    ) -> Result<(), EngineError> {
        let begun_ns = self.handle.now_ns();
        let mut set_off = Vec::new();
        for tick in ticks {
            let order = tick.sets_off;
            let plan = self.draw_up(|planner| planner.feed_entry(tick.security, order.as_ref()));
            self.transact(Operation::FeedEntry, plan, Commit::Later)
                .await?;
            set_off.extend(order);
        }
        self.database.make_durable().await?;
        self.count(operation, begun_ns);
        set_off
            .into_iter()
            .for_each(|order| self.carry_out_at_exchange(order));
        Ok(())
    }

    /// The feeds that come whatever the house does.
    async fn ticker(self: Rc<Self>) -> Result<(), EngineError> {
        let per_second = self.settings.server.ticker_per_second;
        let apart_ns = (f64::from(FEED_ENTRIES) / per_second * 1e9) as u64;
        let mut due_ns = self.handle.now_ns();
        while self.goes_on() {
            due_ns += apart_ns.max(1);
            self.handle.sleep_until_ns(due_ns).await;
            let ticks = self.exchange.borrow_mut().own_feed(self.handle.now_ns());
            self.feed(Operation::Ticker, ticks).await?;
        }
        Ok(())
    }

    /// Data maintenance by the clock.
    async fn maintain(self: Rc<Self>) -> Result<(), EngineError> {
        const LOOK_NS: u64 = 100_000_000;
        let apart_ns = self.settings.market.data_maintenance_every.as_ns();
        let mut due_ns = self.handle.now_ns() + apart_ns;
        let mut round = 0;
        while self.goes_on() {
            let now_ns = self.handle.now_ns();
            if now_ns >= due_ns {
                due_ns += apart_ns;
                let plan = self.draw_up(|planner| planner.data_maintenance(round));
                round += 1;
                self.transact(Operation::DataMaintenance, plan, Commit::Durable)
                    .await?;
            }
            self.handle.sleep_ns(LOOK_NS).await;
        }
        Ok(())
    }
}
