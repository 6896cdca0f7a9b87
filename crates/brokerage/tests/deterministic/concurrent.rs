//! Several users and the market at once: conflicts are retried, and the database stays consistent.

use crate::data_set::market;
use brokerage::checks::{self, Baseline};
use brokerage::database::Database;
use brokerage::dataset::DataSet;
use brokerage::error::DatabaseError;
use brokerage::market::{Action, Exchange};
use brokerage::operation::Operation;
use brokerage::profile::Brokerage;
use brokerage::session::Session;
use brokerage::transactions::trade_result::{self, TradeResult};
use brokerage::transactions::{Inputs, Request, market_feed, mix_deck};
use runtime::thread::complete;
use runtime::{Runtime, WallClockOptions};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use workload::deck::Deck;
use workload::random::SeededRng;

const USERS: u64 = 4;
const TRANSACTIONS: u64 = 300;

/// What all users share.
struct Office {
    data_set: DataSet,
    brokerage: Brokerage,
    exchange: Mutex<Exchange>,
    deck: Mutex<Deck<Operation>>,
    next_trade: AtomicI64,
    now_ms: AtomicI64,
    results: AtomicU64,
    conflicts: AtomicU64,
}

impl Office {
    /// Retries until there is no conflict, and returns the outcome of a result.
    async fn run_step(
        &self,
        session: &mut dyn Session,
        request: &Request,
        now_ms: i64,
    ) -> Option<TradeResult> {
        loop {
            match request.run(session, None).await {
                Ok(done) => {
                    let mut exchange = self.exchange.lock().unwrap();
                    for message in &done.market_orders {
                        exchange.submit(message.order(&self.data_set).unwrap(), now_ms);
                    }
                    return done.trade_result;
                }
                Err(DatabaseError::Conflict(_)) => {
                    self.conflicts.fetch_add(1, Ordering::Relaxed);
                }
                Err(other) => panic!("{:?}: {other}", request.operation()),
            }
        }
    }

    async fn act(
        &self,
        session: &mut dyn Session,
        inputs: &mut Inputs,
        action: Action,
        now_ms: i64,
    ) {
        match action {
            Action::TradeResult {
                order, price_cents, ..
            } => {
                let request = Request::TradeResult(trade_result::Input {
                    trade: order.trade,
                    price_cents,
                    now_ms,
                });
                let result = self.run_step(session, &request, now_ms).await;
                assert!(matches!(result, Some(TradeResult::Booked(_))), "{result:?}");
                // A booked result is not booked again.
                if order.trade % 16 == 0 {
                    let again = self.run_step(session, &request, now_ms).await;
                    assert_eq!(again, Some(TradeResult::BookedBefore));
                }
                self.results.fetch_add(1, Ordering::Relaxed);
                let mut exchange = self.exchange.lock().unwrap();
                assert!(exchange.result_committed(order.trade, now_ms));
            }
            Action::MarketFeed { entries, .. } | Action::Ticker { entries, .. } => {
                for entry in entries {
                    let request = Request::FeedEntry(market_feed::Input {
                        symbol: self.data_set.symbol(entry.security),
                        price_cents: entry.price_cents,
                        quantity: entry.quantity,
                        now_ms,
                    });
                    self.run_step(session, &request, now_ms).await;
                }
            }
            Action::DataMaintenance { round, .. } => {
                let request = Request::DataMaintenance(inputs.data_maintenance(round, now_ms));
                self.run_step(session, &request, now_ms).await;
            }
        }
    }

    async fn work(&self, session: &mut dyn Session, user: u64) {
        let mut inputs = Inputs::new(self.data_set, &self.brokerage.orders, 9, user);
        for _ in 0..TRANSACTIONS {
            let now_ms = self.now_ms.fetch_add(20, Ordering::Relaxed);
            let next_trade = || self.next_trade.fetch_add(1, Ordering::Relaxed);
            let card = self.deck.lock().unwrap().deal();
            let request = Request::draw(card, &mut inputs, next_trade, now_ms);
            self.run_step(session, &request, now_ms).await;
            let actions = self.exchange.lock().unwrap().poll(now_ms);
            for action in actions {
                self.act(session, &mut inputs, action, now_ms).await;
            }
        }
    }
}

/// All users on this thread, each in a task.
fn as_tasks(office: &Arc<Office>, sessions: Vec<Box<dyn Session>>) {
    let runtime = Runtime::wall_clock(&WallClockOptions::default()).unwrap();
    let users = (0..).zip(sessions).map(|(user, mut session)| {
        let office = Arc::clone(office);
        session.share_thread();
        let work = async move { office.work(&mut *session, user).await };
        runtime.handle().spawn(work)
    });
    let users: Vec<_> = users.collect();
    runtime.block_on(async {
        for user in users {
            user.await;
        }
    });
}

/// Runs several users on a database without open orders, from a time on.
pub fn work(database: &dyn Database, data_set: DataSet, from_ms: i64) {
    let brokerage = Brokerage::default();
    let settings = market();
    let before = Baseline::note(&mut *database.connect().unwrap()).unwrap();
    let office = Office {
        data_set,
        exchange: Mutex::new(Exchange::new(&settings, data_set.securities(), 9, from_ms)),
        deck: Mutex::new(mix_deck(&brokerage.mix, SeededRng::new(9, 9))),
        brokerage,
        next_trade: AtomicI64::new(before.last_trade() + 1),
        now_ms: AtomicI64::new(from_ms),
        results: AtomicU64::new(0),
        conflicts: AtomicU64::new(0),
    };
    let office = Arc::new(office);
    let mut sessions: Vec<_> = (0..USERS).map(|_| database.connect().unwrap()).collect();
    if database.shares_threads() {
        as_tasks(&office, sessions);
    } else {
        std::thread::scope(|scope| {
            for (user, session) in (0..).zip(&mut sessions) {
                let office = &office;
                scope.spawn(move || complete(office.work(&mut **session, user)));
            }
        });
    }
    let office = Arc::into_inner(office).unwrap();
    let checked = checks::check(&mut *database.connect().unwrap(), &before).unwrap();
    assert_eq!(checked.violations, []);
    assert_eq!(checked.completed, office.results.into_inner());
    assert!(checked.completed > 60, "{checked:?}");
    let pending = office.exchange.into_inner().unwrap().pending() as u64;
    assert_eq!(checked.pending + checked.submitted, pending);
    let conflicts = office.conflicts.into_inner();
    eprintln!("{checked:?}, {conflicts} conflicts");
}
