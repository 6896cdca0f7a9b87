//! The trading floor: what users, the market's hands and the watchers share.

use super::line::{FIRST, Line, lock};
use super::outage::Outages;
use super::tally::Tally;
use crate::database::Database;
use crate::error::DatabaseError;
use crate::house::House;
use crate::market::{Exchange, Settings};
use crate::transactions::{Deck, Inputs, ToMarket, clean_up};
use runtime::thread::pause;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use workload::brokerage::kinds::Operation;
use workload::mail::store::{Failure, FailureKind};
use workload::profile::Brokerage;
use workload::random::{Dice, derive};

/// Streams of the seed, apart from those of the users, which are counted from 0.
const DECK_STREAM: u64 = u64::MAX;
/// Who rests looks up so often.
const LONGEST_SLEEP_NS: u64 = 100_000_000;
const EXCHANGE_STREAM: u64 = u64::MAX - 1;
/// Ids of trades that each user has for itself in a run: more than anybody could use up.
const TRADES_OF_A_USER: i64 = 1 << 32;

/// What everybody on the floor shares.
pub struct Floor {
    /// The line to the conductor.
    pub line: Arc<Line>,
    /// The database.
    pub database: Arc<dyn Database>,
    /// Who and what there is.
    pub house: House,
    /// How attempts ended that did not end well.
    pub tally: Tally,
    /// Times without service.
    pub outages: Mutex<Outages>,
    /// The exchange.
    pub exchange: Mutex<Exchange>,
    brokerage: Brokerage,
    seed: u64,
    deck: Mutex<Deck<Operation>>,
    last_trade: i64,
    /// What the clock of the books shows when that of the run shows zero.
    books_ms: i64,
    is_open: AtomicBool,
}

impl Floor {
    /// A floor in front of these books. What an earlier run has left open is given up first, and
    /// the clock of the books goes on from where it stood. Gives a sentence about that, which is
    /// empty when there was nothing.
    ///
    /// # Errors
    /// The database did not answer.
    pub fn open(
        line: Arc<Line>,
        database: Arc<dyn Database>,
        house: House,
        brokerage: &Brokerage,
        seed: u64,
    ) -> Result<(Self, String), DatabaseError> {
        let mut session = database.connect()?;
        let built = house.built_trades() as i64;
        let last_trade = clean_up::last_trade(&mut *session)?;
        let last_ms = clean_up::last_moment(&mut *session, built)?;
        // A second between two runs keeps their moments apart.
        let start_ms = house.opening_ms().max(last_ms + 1_000);
        let input = clean_up::Input {
            after_trade: built,
            now_ms: start_ms,
        };
        let cleaned = clean_up::run(&mut *session, &input)?;
        let note = match cleaned.cancelled {
            0 => String::new(),
            open => format!("{open} orders that an earlier run had left open were given up."),
        };
        let exchange = Exchange::new(
            &Settings::from(&brokerage.market),
            house.securities(),
            derive(seed, EXCHANGE_STREAM),
            start_ms,
        );
        let deck = Deck::of_mix(&brokerage.mix, Dice::new(seed, DECK_STREAM));
        let books_ms = start_ms - (line.now_ns() / 1_000_000) as i64;
        let floor = Self {
            line,
            database,
            tally: Tally::default(),
            outages: Mutex::default(),
            exchange: Mutex::new(exchange),
            brokerage: brokerage.clone(),
            seed,
            deck: Mutex::new(deck),
            last_trade: last_trade.max(built),
            books_ms,
            is_open: AtomicBool::new(false),
            house,
        };
        Ok((floor, note))
    }

    /// The settings.
    #[must_use]
    pub fn brokerage(&self) -> &Brokerage {
        &self.brokerage
    }

    /// The clock of the books.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.books_ms + (self.line.now_ns() / 1_000_000) as i64
    }

    /// What the next user shall begin: the mix holds over all users.
    #[must_use]
    pub fn deal(&self) -> Operation {
        lock(&self.deck).deal()
    }

    /// The id of a user's first new trade; its others follow. Those of two users lie far apart: if all trades under way were
    /// neighbours, any two results would read and change the same page of the index of trades, which
    /// PostgreSQL must take for a conflict.
    #[must_use]
    pub fn first_trade(&self, user: u32) -> i64 {
        self.last_trade + 1 + i64::from(user) * TRADES_OF_A_USER
    }

    /// The inputs of a user, or of one of the market's hands.
    #[must_use]
    pub fn inputs(&self, stream: u64) -> Inputs {
        let orders = &self.brokerage.orders;
        Inputs::new(self.house, orders, self.seed, stream)
    }

    /// Sends orders to the market, after their commit.
    pub fn submit<'a>(&self, orders: impl IntoIterator<Item = &'a ToMarket>) {
        let now_ms = self.now_ms();
        for order in orders {
            if let Some(order) = order.order(&self.house) {
                lock(&self.exchange).submit(order, now_ms);
            }
        }
    }

    /// Counts a transaction that ended well.
    pub fn count(&self, operation: Operation, begun_ns: u64, due_ns: Option<u64>) {
        let mut counts = self.line.counts();
        let now_ns = self.line.now_ns();
        let from_intended_start_ns = due_ns.map(|due_ns| now_ns.saturating_sub(due_ns));
        let service_ns = now_ns.saturating_sub(begun_ns);
        counts.operation(
            FIRST,
            operation as usize,
            service_ns,
            from_intended_start_ns,
        );
    }

    /// Opens or closes the floor.
    pub fn set_open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::Relaxed);
    }

    /// Whether business goes on.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed) && !self.line.has_failed()
    }

    /// Sleeps for so long, at most until the floor closes.
    pub async fn rest(&self, length_ns: u64) {
        let until_ns = self.line.now_ns().saturating_add(length_ns);
        while self.is_open() {
            let left_ns = until_ns.saturating_sub(self.line.now_ns());
            if left_ns == 0 {
                break;
            }
            pause(Duration::from_nanos(left_ns.min(LONGEST_SLEEP_NS))).await;
        }
    }

    /// Ends the run with an error of the database.
    pub fn fail(&self, error: &DatabaseError, doing: &str) {
        self.line.fail(failure(error, doing));
    }
}

/// An error of the database as the end of a run.
#[must_use]
pub fn failure(error: &DatabaseError, doing: &str) -> Failure {
    let kind = match error {
        DatabaseError::Damaged(_) => FailureKind::Integrity,
        DatabaseError::NoSpace(_) => FailureKind::OutOfSpace,
        DatabaseError::Unavailable(_) => FailureKind::Unavailable,
        DatabaseError::Refused(_) | DatabaseError::InTheWay(_) => FailureKind::Io,
        DatabaseError::Conflict(_) | DatabaseError::Failed { .. } => FailureKind::Internal,
    };
    Failure {
        kind,
        file: "the brokerage's database".to_owned(),
        page: None,
        operation: doing.to_owned(),
        error: error.to_string(),
    }
}
