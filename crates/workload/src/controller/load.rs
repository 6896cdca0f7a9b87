//! The sessions of one shard: as many as ordered, in a closed or an open loop.

use super::host::LoadedDatabase;
use super::link::Orders;
use super::zero_delay_loop::ZeroDelayLoopDetector;
use crate::failure::Failure;
use crate::pacing::arrivals::{Arrivals, Spacing};
use crate::pacing::backlog::{Admission, Backlog};
use crate::pacing::turns::{Division, Turns};
use crate::random::SeededRng;
use runtime::Handle;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// How sessions begin their transactions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loop {
    /// Each session begins the next one after a pause.
    Closed(Pause),
    /// The clock begins them; sessions only carry them out.
    Open {
        /// How arrivals are spread.
        spacing: Spacing,
    },
}

/// What a session of a closed loop rests between two transactions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pause {
    /// The same after every transaction, in ns.
    pub fixed_ns: u64,
    /// Multiple of the time that the transaction took, its commit and its retries included.
    pub factor: f64,
}

impl Pause {
    /// The rest after a transaction that took `taken_ns`.
    #[must_use]
    pub fn after_ns(self, taken_ns: u64) -> u64 {
        // A float conversion saturates, so an absurd factor means an absurd rest.
        let share_ns = (taken_ns as f64 * self.factor) as u64;
        self.fixed_ns.saturating_add(share_ns)
    }
}

/// The longest the pacer sleeps, so that it notices a new rate.
const PACER_POLL_NS: u64 = 20_000_000;

/// Arrivals that the pacer lets begin before it gives way.
const ARRIVALS_AT_ONCE: u32 = 1_000;

/// The longest a session sleeps, so that a long rest does not hold up the end of the load.
const REST_POLL_NS: u64 = 100_000_000;

/// Transactions at one instant that are too many: where one in ten thousand meets a page that is not
/// cached, a session never comes to them.
const TRANSACTIONS_AT_ONE_INSTANT_MAX: u64 = 1_000_000;

/// How long a session rests after an error, so that one damaged page in its way is not read as fast as
/// the storage answers.
const REST_AFTER_ERROR_NS: u64 = 10_000_000;

/// Called with an error that a transaction has met, and the number of its database in the load.
pub type OnError = Box<dyn Fn(usize, Failure)>;

/// What helps where nothing reaches the array.
const REMEDY: &str = "Make the databases larger than the database cache (--target-size), make the database \
    cache smaller, or hold a rate (--rate).";

/// The load of one shard. It runs in tasks of its own.
pub struct Load<D: LoadedDatabase> {
    handle: Handle,
    orders: Arc<Orders>,
    databases: Vec<D>,
    how: Loop,
    running: Cell<bool>,
    /// Which sessions of the closed loop are alive.
    alive: RefCell<Vec<bool>>,
    backlog: RefCell<Backlog>,
    turn: Cell<usize>,
    turns: Turns,
    zero_delay_loop: ZeroDelayLoopDetector,
    on_error: OnError,
    failure: RefCell<Option<Failure>>,
}

impl<D: LoadedDatabase> Load<D> {
    /// A load over these databases that has not begun. `on_error` hears of the errors after which it
    /// goes on.
    #[must_use]
    pub fn new(
        handle: Handle,
        orders: Arc<Orders>,
        databases: Vec<D>,
        (how, division): (Loop, Division),
        on_error: OnError,
    ) -> Rc<Self> {
        Rc::new(Self {
            handle,
            orders,
            how,
            running: Cell::new(false),
            alive: RefCell::default(),
            backlog: RefCell::new(Backlog::default()),
            turn: Cell::new(0),
            turns: Turns::new(division, databases.len()),
            databases,
            zero_delay_loop: ZeroDelayLoopDetector::new(TRANSACTIONS_AT_ONE_INSTANT_MAX, REMEDY),
            on_error,
            failure: RefCell::new(None),
        })
    }

    /// Starts the load: sessions, or arrivals at the held rate.
    pub fn start(self: &Rc<Self>, rng: SeededRng) {
        self.running.set(true);
        match self.how {
            Loop::Closed(_) => self.adjust(),
            Loop::Open { spacing } => {
                let arrivals = Arrivals::new(spacing, rng, self.handle.now_ns());
                let load = Rc::clone(self);
                self.handle.spawn(async move { load.pace(arrivals).await });
            }
        }
    }

    /// Brings the number of sessions of a closed loop to the one ordered.
    pub fn adjust(self: &Rc<Self>) {
        let Loop::Closed(pause) = self.how else {
            return;
        };
        if !self.running.get() || self.databases.is_empty() {
            return;
        }
        let wanted = self.orders.sessions() as usize;
        let mut alive = self.alive.borrow_mut();
        if alive.len() < wanted {
            alive.resize(wanted, false);
        }
        for number in 0..wanted {
            if !std::mem::replace(&mut alive[number], true) {
                let load = Rc::clone(self);
                self.handle
                    .spawn(async move { load.session(number, pause).await });
            }
        }
    }

    async fn session(self: Rc<Self>, number: usize, pause: Pause) {
        let mut turn = number;
        while self.goes_on() && number < self.orders.sessions() as usize {
            // Sessions go round the databases, so that all get their share of the load.
            let (begun, begun_ns) = (self.handle.turns(), self.handle.now_ns());
            self.transact(self.turns.database(number, turn), None).await;
            turn += 1;
            let sessions = self.orders.sessions();
            if let Err(failure) = self.zero_delay_loop.count(&self.handle, sessions) {
                self.fail(failure);
            }
            let pause_ns = pause.after_ns(self.handle.now_ns() - begun_ns);
            if pause_ns > 0 {
                self.rest(pause_ns).await;
            } else if self.handle.turns() == begun {
                // A transaction that found everything in the cache never waited.
                self.handle.yield_now().await;
            }
        }
        self.alive.borrow_mut()[number] = false;
    }

    /// Runs a transaction on the database with this number in the load. After an error that does not
    /// end the run it rests.
    async fn transact(&self, number: usize, due_ns: Option<u64>) {
        let database = self.databases[number].clone();
        match database.transact(due_ns).await {
            Ok(_) => {}
            Err(failure) if failure.ends_run() => self.fail(failure),
            Err(failure) => {
                (self.on_error)(number, failure);
                self.rest(REST_AFTER_ERROR_NS).await;
            }
        }
    }

    /// Sleeps, at most until the load is stopped.
    async fn rest(&self, pause_ns: u64) {
        let until_ns = self.handle.now_ns().saturating_add(pause_ns);
        while self.goes_on() {
            let now_ns = self.handle.now_ns();
            if now_ns >= until_ns {
                break;
            }
            self.handle
                .sleep_until_ns(until_ns.min(now_ns + REST_POLL_NS))
                .await;
        }
    }

    async fn pace(self: Rc<Self>, mut arrivals: Arrivals) {
        let mut changes = self.orders.load_changes();
        while self.goes_on() {
            let changes_now = self.orders.load_changes();
            self.backlog
                .borrow_mut()
                .set_limit(self.orders.backlog_limit());
            if std::mem::replace(&mut changes, changes_now) != changes_now {
                // What waits since the load before this one is no part of it.
                self.backlog.borrow_mut().abandon();
            }
            let now_ns = self.handle.now_ns();
            let rate = self.orders.transactions_per_second();
            let mut arrived = 0_u32;
            while self.goes_on()
                && let Some(due_ns) = arrivals.next_until(now_ns, rate)
            {
                self.arrive(due_ns);
                arrived += 1;
                if arrived.is_multiple_of(ARRIVALS_AT_ONCE) {
                    // A rate that nothing can carry must not keep the sessions from their work.
                    self.handle.yield_now().await;
                }
            }
            let next_ns = arrivals.expected_ns(rate).saturating_add(1);
            let poll_ns = self.handle.now_ns() + PACER_POLL_NS;
            self.handle.sleep_until_ns(next_ns.min(poll_ns)).await;
        }
    }

    fn arrive(self: &Rc<Self>, due_ns: u64) {
        let sessions = self.orders.sessions() as usize;
        if self.backlog.borrow_mut().arrive(due_ns, sessions) == Admission::Begin {
            let load = Rc::clone(self);
            self.handle
                .spawn(async move { load.work_off(due_ns).await });
        }
    }

    async fn work_off(self: Rc<Self>, first_due_ns: u64) {
        let mut due_ns = Some(first_due_ns);
        while let Some(at_ns) = due_ns {
            if self.goes_on() {
                let turn = self.turn.get();
                self.turn.set(turn + 1);
                let database = self.turns.database(turn, turn);
                self.transact(database, Some(at_ns)).await;
            }
            due_ns = self.backlog.borrow_mut().next_due();
        }
    }

    fn goes_on(&self) -> bool {
        let may_begin = self.running.get() && !self.orders.is_stopped();
        may_begin && self.failure.borrow().is_none()
    }

    fn fail(&self, failure: Failure) {
        self.failure.borrow_mut().get_or_insert(failure);
    }

    /// The first failure of a session.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.failure.borrow().clone()
    }

    /// Arrivals shed so far and waiting now.
    #[must_use]
    pub fn backlog(&self) -> (u64, u64) {
        let backlog = self.backlog.borrow();
        (backlog.shed(), backlog.waiting() as u64)
    }

    /// Ends the load: no transaction begins any more, and those under way are waited for.
    pub async fn stop(&self) {
        self.running.set(false);
        while self.is_at_work() {
            self.handle.sleep_ns(1_000_000).await;
        }
        self.backlog.borrow_mut().abandon();
    }

    fn is_at_work(&self) -> bool {
        self.alive.borrow().contains(&true) || self.backlog.borrow().at_work() > 0
    }

    /// The databases; to be taken when the load has been stopped.
    #[must_use]
    pub fn databases(&self) -> &[D] {
        &self.databases
    }
}
