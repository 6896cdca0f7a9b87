//! What users, market workers and the sampler share.

use super::error_counts::ErrorCounts;
use super::full_volume::Volumes;
use super::outage::Outages;
use super::server_process::ServerProcesses;
use super::shard_link::{ONLY_SHARD, ShardLink};
use crate::database::{Database, RunMark};
use crate::dataset::DataSet;
use crate::error::DatabaseError;
use crate::ledger::Ledger;
use crate::market::{Exchange, Settings};
use crate::operation::Operation;
use crate::parallel::lock;
use crate::profile::Brokerage;
use crate::transactions::{Inputs, MarketOrder, clean_up, mix_deck};
use runtime::thread::pause;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use workload::deck::Deck;
use workload::failure::{Failure, FailureKind};
use workload::random::{SeededRng, derive};

/// Random streams of the run; those of the users are counted from 0.
const DECK_STREAM: u64 = u64::MAX;
/// Longest sleep before checking whether the run has ended.
const LONGEST_SLEEP_NS: u64 = 100_000_000;
const EXCHANGE_STREAM: u64 = u64::MAX - 1;
/// Trade ids reserved per user in a run: more than anyone could use up.
const TRADE_IDS_PER_USER: i64 = 1 << 32;

/// The state of a run that all clients share.
pub struct RunContext {
    /// The link to the run coordinator.
    pub link: Arc<ShardLink>,
    /// The database under load.
    pub database: Arc<dyn Database>,
    /// The data set in the database.
    pub data_set: DataSet,
    /// What the database has acknowledged.
    pub ledger: Arc<Ledger>,
    /// Counts of failed attempts.
    pub error_counts: ErrorCounts,
    /// Outages of the server.
    pub outages: Mutex<Outages>,
    /// The processes of the server.
    pub server: Mutex<ServerProcesses>,
    /// The simulated exchange, shared by all clients.
    pub exchange: Mutex<Exchange>,
    brokerage: Brokerage,
    volumes: Volumes,
    seed: u64,
    deck: Mutex<Deck<Operation>>,
    last_trade: i64,
    /// The market clock minus the clock of the run.
    clock_offset_ms: i64,
    is_open: AtomicBool,
}

impl RunContext {
    /// Prepares a run: cancels the orders that an earlier run left open, and continues the market
    /// clock from there. Also returns a message about that, empty if there were none.
    ///
    /// # Errors
    /// The database did not answer.
    pub fn open(
        link: Arc<ShardLink>,
        database: Arc<dyn Database>,
        ledger: Arc<Ledger>,
        data_set: DataSet,
        (brokerage, volumes): (&Brokerage, Volumes),
        seed: u64,
    ) -> Result<(Self, String), DatabaseError> {
        let mut session = database.connect()?;
        let built = data_set.built_trades() as i64;
        let last_trade = clean_up::last_trade(&mut *session)?;
        let base = last_trade.max(built);
        let run = ledger.run();
        RunMark { run, base }.write(&*database)?;
        let last_ms = clean_up::last_moment(&mut *session, built)?;
        // A second between two runs keeps their timestamps apart.
        let start_ms = data_set.opening_ms().max(last_ms + 1_000);
        let input = clean_up::Input {
            after_trade: built,
            now_ms: start_ms,
        };
        let cleaned = clean_up::run(&mut *session, &input)?;
        let note = match cleaned.cancelled {
            0 => String::new(),
            open => format!("Cancelled {open} orders that an earlier run had left open."),
        };
        let exchange = Exchange::new(
            &Settings::from(&brokerage.market),
            data_set.securities(),
            derive(seed, EXCHANGE_STREAM),
            start_ms,
        );
        let deck = mix_deck(&brokerage.mix, SeededRng::new(seed, DECK_STREAM));
        let clock_offset_ms = start_ms - (link.now_ns() / 1_000_000) as i64;
        let last_trade = base;
        ledger.begin(last_trade, link.started());
        let context = Self {
            link,
            database,
            ledger,
            error_counts: ErrorCounts::default(),
            outages: Mutex::default(),
            server: Mutex::default(),
            exchange: Mutex::new(exchange),
            brokerage: brokerage.clone(),
            volumes,
            seed,
            deck: Mutex::new(deck),
            last_trade,
            clock_offset_ms,
            is_open: AtomicBool::new(false),
            data_set,
        };
        Ok((context, note))
    }

    /// The profile's brokerage section.
    #[must_use]
    pub fn brokerage(&self) -> &Brokerage {
        &self.brokerage
    }

    /// The market clock, in milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.clock_offset_ms + (self.link.now_ns() / 1_000_000) as i64
    }

    /// The next transaction to begin: the mix is dealt over all users.
    #[must_use]
    pub fn deal(&self) -> Operation {
        lock(&self.deck).deal()
    }

    /// The id of a user's first new trade; its others follow. Those of two users are far apart: if
    /// all concurrent trades were neighbours, any two results would read and change the same page
    /// of the trade index, which PostgreSQL must take for a serialization conflict.
    #[must_use]
    pub fn first_trade(&self, user: u32) -> i64 {
        self.last_trade + 1 + i64::from(user) * TRADE_IDS_PER_USER
    }

    /// The inputs of a user or market worker.
    #[must_use]
    pub fn inputs(&self, stream: u64) -> Inputs {
        let orders = &self.brokerage.orders;
        Inputs::new(self.data_set, orders, self.seed, stream)
    }

    /// Sends orders to the market, after their commit.
    pub fn submit<'a>(&self, orders: impl IntoIterator<Item = &'a MarketOrder>) {
        let now_ms = self.now_ms();
        for order in orders {
            if let Some(order) = order.order(&self.data_set) {
                lock(&self.exchange).submit(order, now_ms);
            }
        }
    }

    /// Counts a completed transaction.
    pub fn count(&self, operation: Operation, started_ns: u64, due_ns: Option<u64>) {
        let mut counts = self.link.counts();
        let now_ns = self.link.now_ns();
        let from_intended_start_ns = due_ns.map(|due_ns| now_ns.saturating_sub(due_ns));
        let service_ns = now_ns.saturating_sub(started_ns);
        counts.operation(
            ONLY_SHARD,
            operation as usize,
            service_ns,
            from_intended_start_ns,
        );
    }

    /// Starts or ends the load.
    pub fn set_open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::Relaxed);
    }

    /// Whether the load is on.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed) && !self.link.has_failed()
    }

    /// Sleeps for this long, at most until the load ends.
    pub async fn sleep(&self, length_ns: u64) {
        let until_ns = self.link.now_ns().saturating_add(length_ns);
        while self.is_open() {
            let left_ns = until_ns.saturating_sub(self.link.now_ns());
            if left_ns == 0 {
                break;
            }
            pause(Duration::from_nanos(left_ns.min(LONGEST_SLEEP_NS))).await;
        }
    }

    /// Ends the run with an error of the database.
    pub fn fail(&self, error: &DatabaseError, doing: &str) {
        let mut failure = failure(error, doing);
        if failure.kind == FailureKind::OutOfSpace
            && let Some(volume) = self.volumes.named_full()
        {
            failure.file = volume.display().to_string();
        }
        self.link.fail(failure);
    }

    /// Ends the run if the database is gone because a volume of it is full; returns whether it is.
    pub fn fail_if_full(&self, error: &DatabaseError, doing: &str) -> bool {
        let Some(volume) = self.volumes.full() else {
            return false;
        };
        let (kind, file) = (FailureKind::OutOfSpace, volume.display().to_string());
        self.link
            .fail(Failure::new(kind, file, doing, error.to_string()));
        true
    }
}

/// Converts a database error to the failure that ends a run.
#[must_use]
pub fn failure(error: &DatabaseError, doing: &str) -> Failure {
    let kind = match error {
        DatabaseError::Damaged(_) => FailureKind::Integrity,
        DatabaseError::NoSpace(_) => FailureKind::OutOfSpace,
        DatabaseError::Unavailable { .. } => FailureKind::Unavailable,
        // A user, a right or a database that is no longer there, or a server that has become a standby.
        DatabaseError::Refused(_)
        | DatabaseError::Unusable(_)
        | DatabaseError::ServerSide { .. } => FailureKind::ServerSide,
        DatabaseError::Conflict(_) | DatabaseError::Failed { .. } => FailureKind::Internal,
    };
    Failure::new(kind, "the brokerage database", doing, error.to_string())
}
