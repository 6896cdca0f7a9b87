//! The market workers: they run trade results, market feeds and data maintenance.

use super::context::RunContext;
use super::retry::RetryingSession;
use crate::error::DatabaseError;
use crate::market::{Action, Order, TickerEntry};
use crate::operation::Operation;
use crate::parallel::lock;
use crate::session::Session;
use crate::transactions::{Inputs, data_maintenance, market_feed, trade_result};
use runtime::thread::pause;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};
use workload::random::SeededRng;

/// Poll interval of the exchange, at most and at least: the exchange takes a second for its
/// answers, so some milliseconds more do not matter.
const POLL_MS: std::ops::RangeInclusive<i64> = 10..=20;
/// Random streams of the workers.
const STREAM: u64 = 1 << 33;

/// The queue of due actions. One idle worker polls the exchange; the others wait until it wakes
/// them, so that many workers cost no more than one while there is little to do.
#[derive(Debug, Default)]
pub struct ActionQueue(Mutex<Due>);

#[derive(Debug, Default)]
struct Due {
    /// Due actions that no worker has taken yet.
    actions: VecDeque<Action>,
    is_watched: bool,
    /// Workers that wait. While there are any, one polls or is about to.
    waiting: VecDeque<(u32, Waker)>,
}

/// What a worker does next.
enum NextStep {
    Run(Action),
    /// Poll the exchange again after this interval.
    Watch(Duration),
    /// Wait to be woken.
    Wait,
}

/// Number of workers that keep up with this many users: results take several times as long as
/// users' transactions on average, and feeds are twenty transactions each.
#[must_use]
pub fn worker_count(users: u32) -> u32 {
    (users * 3 / 4).max(4)
}

/// Runs one worker until the run ends.
pub async fn work(context: &RunContext, queue: &ActionQueue, number: u32, seed: u64) {
    let stream = STREAM + u64::from(number);
    let mut worker = MarketWorker {
        context,
        session: RetryingSession::new(context, SeededRng::new(seed, stream)),
        inputs: context.inputs(stream),
    };
    while let Some(action) = queue.next(context, number).await {
        worker.run_action(&action).await;
    }
}

impl ActionQueue {
    /// The next action, waiting for one; `None` when the run ends.
    async fn next(&self, context: &RunContext, worker: u32) -> Option<Action> {
        while context.is_open() {
            match self.next_step(context) {
                NextStep::Run(action) => return Some(action),
                NextStep::Watch(interval) => {
                    let watch = Watch(self);
                    pause(interval).await;
                    drop(watch);
                }
                NextStep::Wait => self.wait_for_wake(context, worker).await,
            }
        }
        lock(&self.0).wake(usize::MAX);
        None
    }

    fn next_step(&self, context: &RunContext) -> NextStep {
        let mut due = lock(&self.0);
        if let Some(action) = due.actions.pop_front() {
            return NextStep::Run(action);
        }
        if due.is_watched {
            return NextStep::Wait;
        }
        let interval = due.poll(context);
        let Some(action) = due.actions.pop_front() else {
            due.is_watched = true;
            return NextStep::Watch(interval);
        };
        // One for each of the others, and one to poll in our place.
        let workers = due.actions.len() + 1;
        due.wake(workers);
        NextStep::Run(action)
    }

    /// Waits to be woken, or for a reason not to wait.
    async fn wait_for_wake(&self, context: &RunContext, worker: u32) {
        let mut was_waiting = false;
        poll_fn(|task| {
            let mut due = lock(&self.0);
            let place = due.waiting.iter().position(|(number, _)| *number == worker);
            let is_woken = was_waiting && place.is_none();
            let must_not_wait = !due.is_watched || !context.is_open();
            if is_woken || must_not_wait || !due.actions.is_empty() {
                due.waiting.retain(|(number, _)| *number != worker);
                return Poll::Ready(());
            }
            let waker = task.waker().clone();
            match place {
                Some(place) => due.waiting[place].1 = waker,
                None => due.waiting.push_back((worker, waker)),
            }
            was_waiting = true;
            Poll::Pending
        })
        .await;
    }
}

/// Marks this worker as the one that polls, until dropped.
struct Watch<'a>(&'a ActionQueue);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let mut due = lock(&self.0.0);
        due.is_watched = false;
        if thread::panicking() {
            due.wake(usize::MAX);
        }
    }
}

impl Due {
    /// Takes what is due at the exchange. Returns how long to wait before the next poll.
    fn poll(&mut self, context: &RunContext) -> Duration {
        let mut exchange = lock(&context.exchange);
        let now_ms = context.now_ms();
        self.actions.extend(exchange.poll(now_ms));
        let rest_ms = exchange.next_due_ms().saturating_sub(now_ms);
        let rest_ms = rest_ms.clamp(*POLL_MS.start(), *POLL_MS.end());
        Duration::from_millis(rest_ms.unsigned_abs())
    }

    /// Wakes this many workers, those that have waited longest first.
    fn wake(&mut self, workers: usize) {
        let workers = workers.min(self.waiting.len());
        for (_, waker) in self.waiting.drain(..workers) {
            waker.wake();
        }
    }
}

struct MarketWorker<'a> {
    context: &'a RunContext,
    session: RetryingSession<'a>,
    inputs: Inputs,
}

impl MarketWorker<'_> {
    async fn run_action(&mut self, action: &Action) {
        match action {
            Action::TradeResult {
                order, price_cents, ..
            } => self.book_result(order, *price_cents).await,
            Action::MarketFeed { entries, .. } => self.feed(entries, Operation::MarketFeed).await,
            Action::Ticker { entries, .. } => self.feed(entries, Operation::Ticker).await,
            Action::DataMaintenance { round, .. } => self.maintain(*round).await,
        }
    }

    async fn book_result(&mut self, order: &Order, price_cents: i64) {
        let (context, started_ns) = (self.context, self.context.link.now_ns());
        let input = trade_result::Input {
            trade: order.trade,
            price_cents,
            now_ms: context.now_ms(),
        };
        let run = async |session: &mut dyn Session, _| trade_result::run(session, &input).await;
        let Some(result) = self.session.attempt(Operation::TradeResult, run).await else {
            context.ledger.result_unknown(order.trade);
            return;
        };
        use trade_result::TradeResult;
        match result {
            TradeResult::Booked(_) => context.ledger.booked(order.trade, price_cents),
            TradeResult::BookedBefore => context.ledger.found_booked(order.trade),
            TradeResult::NotSubmitted { .. } | TradeResult::Missing => {}
        }
        match result {
            TradeResult::Booked(_) | TradeResult::BookedBefore => {
                context.count(Operation::TradeResult, started_ns, None);
                lock(&context.exchange).result_committed(order.trade, context.now_ms());
            }
            TradeResult::NotSubmitted { .. } | TradeResult::Missing => {
                lock(&context.exchange).result_dropped(order.trade);
                context.link.counts().operation_failed(
                    super::shard_link::ONLY_SHARD,
                    Operation::TradeResult as usize,
                );
            }
        }
    }

    /// Each entry of a feed is a transaction of its own.
    async fn feed(&mut self, entries: &[TickerEntry], operation: Operation) {
        let context = self.context;
        let feed_started_ns = context.link.now_ns();
        for entry in entries {
            let started_ns = context.link.now_ns();
            let input = market_feed::Input {
                symbol: context.data_set.symbol(entry.security).to_string(),
                price_cents: entry.price_cents,
                quantity: entry.quantity,
                now_ms: context.now_ms(),
            };
            let (ledger, security, shares) = (&context.ledger, entry.security, entry.quantity);
            let run = async |session: &mut dyn Session, commit_unknown| {
                if commit_unknown {
                    // The attempt before this one may have added them.
                    ledger.traded_unknown(security, shares);
                }
                let submitted = market_feed::run(session, &input).await?.market_orders;
                let mut orders = submitted.clone();
                if commit_unknown {
                    let sent_on = market_feed::sent_on(session, &input.symbol, input.now_ms);
                    orders.extend(sent_on.await?);
                }
                Ok((submitted, orders))
            };
            let Some((submitted, orders)) = self.session.attempt(Operation::FeedEntry, run).await
            else {
                ledger.traded_unknown(security, shares);
                return;
            };
            ledger.traded(security, shares);
            for order in &submitted {
                ledger.submitted(order.trade);
            }
            context.submit(&orders);
            context.count(Operation::FeedEntry, started_ns, None);
        }
        context.count(operation, feed_started_ns, None);
    }

    async fn maintain(&mut self, round: u64) {
        let (context, started_ns) = (self.context, self.context.link.now_ns());
        let begun = Instant::now();
        let input = self.inputs.data_maintenance(round, context.now_ms());
        let run = async |session: &mut dyn Session, _| {
            let done = data_maintenance::run(session, &input).await;
            if done.as_ref().is_err_and(DatabaseError::leaves_doubt) {
                context.ledger.maintenance_unknown(input.query());
            }
            done
        };
        let done = self.session.attempt(Operation::DataMaintenance, run).await;
        if let Some(done) = done {
            context
                .ledger
                .maintained(begun, input.query(), done.content);
            context.count(Operation::DataMaintenance, started_ns, None);
        }
    }
}
