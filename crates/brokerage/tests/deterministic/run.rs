//! A deterministic run: one user and the market work by a logical clock, one transaction at a time.
//! The same data set, seed and length give the same outputs on every database, each with its
//! fingerprint, so a difference between two databases is found at the first transaction that
//! differs.

#![allow(dead_code)] // Not every test that runs it looks at all outputs.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use brokerage::dataset::DataSet;
use brokerage::error::DatabaseError;
use brokerage::market::{Action, Exchange, Settings, TickerEntry};
use brokerage::operation::Operation;
use brokerage::profile::Brokerage;
use brokerage::session::Session;
use brokerage::transactions::trade_result::{self, TradeResult};
use brokerage::transactions::{Done, Inputs, Request, clean_up, market_feed, mix_deck};
use runtime::thread::complete;
use workload::random::{SeededRng, derive};

/// The parameters of a deterministic run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The data set in the database.
    pub data_set: DataSet,
    /// Transaction mix and orders.
    pub brokerage: Brokerage,
    /// Delays and periods of the exchange.
    pub market: Settings,
    /// The seed of all random draws.
    pub seed: u64,
    /// Transactions begun by the user; those of the market come on top.
    pub transactions: u64,
    /// Logical time from one transaction to the next.
    pub step_ms: i64,
}

/// The outputs of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunOutputs {
    /// Number of operations of each kind, in the order of [`Operation::ALL`].
    pub counts: [u64; Operation::ALL.len()],
    /// Every database transaction with the fingerprint of its output, in order.
    pub transactions: Vec<(Operation, u64)>,
    /// Orders that wait for a price or for their execution.
    pub pending: u64,
}

impl RunOutputs {
    /// Number of operations of a kind.
    #[must_use]
    pub fn count(&self, operation: Operation) -> u64 {
        self.counts[operation as usize]
    }
}

/// Runs the plan, after cancelling the orders that an earlier run left open.
///
/// # Errors
/// The first error of the session: with one session there are no serialization failures.
pub fn run(session: &mut dyn Session, plan: &Plan) -> Result<RunOutputs, DatabaseError> {
    let built = plan.data_set.built_trades() as i64;
    let last_ms = clean_up::last_moment(session, built)?;
    let start_ms = plan.data_set.opening_ms().max(last_ms + 1);
    let cancel = clean_up::Input {
        after_trade: built,
        now_ms: start_ms,
    };
    clean_up::run(session, &cancel)?;
    let orders = &plan.brokerage.orders;
    let securities = plan.data_set.securities();
    let market_seed = derive(plan.seed, 2);
    let mut state = DeterministicRun {
        next_trade: clean_up::last_trade(session)? + 1,
        session,
        data_set: plan.data_set,
        inputs: Inputs::new(plan.data_set, orders, plan.seed, 0),
        maintenance_inputs: Inputs::new(plan.data_set, orders, plan.seed, 1),
        exchange: Exchange::new(&plan.market, securities, market_seed, start_ms),
        outputs: RunOutputs::default(),
    };
    let mut deck = mix_deck(&plan.brokerage.mix, SeededRng::new(plan.seed, 3));
    for number in 0..plan.transactions {
        let now_ms = start_ms + number as i64 * plan.step_ms;
        state.run_user(deck.deal(), now_ms)?;
        state.run_market(now_ms)?;
    }
    let mut outputs = state.outputs;
    outputs.pending = state.exchange.pending() as u64;
    Ok(outputs)
}

struct DeterministicRun<'a> {
    session: &'a mut dyn Session,
    data_set: DataSet,
    inputs: Inputs,
    /// Inputs of data maintenance.
    maintenance_inputs: Inputs,
    exchange: Exchange,
    next_trade: i64,
    outputs: RunOutputs,
}

impl DeterministicRun<'_> {
    fn run_user(&mut self, operation: Operation, now_ms: i64) -> Result<(), DatabaseError> {
        let next_trade = || {
            self.next_trade += 1;
            self.next_trade - 1
        };
        let request = Request::draw(operation, &mut self.inputs, next_trade, now_ms);
        self.run_request(&request, now_ms)?;
        Ok(())
    }

    fn run_request(&mut self, request: &Request, now_ms: i64) -> Result<Done, DatabaseError> {
        let mut fingerprint = DefaultHasher::new();
        let mut inspect = |output: &dyn Debug| format!("{output:?}").hash(&mut fingerprint);
        let done = complete(request.run(self.session, Some(&mut inspect)))?;
        let fingerprint = fingerprint.finish();
        let operation = done.operation;
        self.outputs.counts[operation as usize] += 1;
        self.outputs.transactions.push((operation, fingerprint));
        for message in &done.market_orders {
            let unknown = || DatabaseError::Failed {
                statement: request.operation().name().to_owned(),
                message: format!("the data set has no security {}", message.symbol),
            };
            let order = message.order(&self.data_set).ok_or_else(unknown)?;
            self.exchange.submit(order, now_ms);
        }
        Ok(done)
    }

    /// Everything that is due, and what becomes due by it.
    fn run_market(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        loop {
            let actions = self.exchange.poll(now_ms);
            if actions.is_empty() {
                return Ok(());
            }
            for action in actions {
                self.run_action(action, now_ms)?;
            }
        }
    }

    fn run_action(&mut self, action: Action, now_ms: i64) -> Result<(), DatabaseError> {
        match action {
            Action::TradeResult {
                order, price_cents, ..
            } => {
                let request = Request::TradeResult(trade_result::Input {
                    trade: order.trade,
                    price_cents,
                    now_ms,
                });
                let done = self.run_request(&request, now_ms)?;
                let is_booked = matches!(done.trade_result, Some(TradeResult::Booked(_)));
                if is_booked {
                    self.exchange.result_committed(order.trade, now_ms);
                } else {
                    self.exchange.result_dropped(order.trade);
                }
                Ok(())
            }
            Action::MarketFeed { entries, .. } => {
                self.feed(&entries, Operation::MarketFeed, now_ms)
            }
            Action::Ticker { entries, .. } => self.feed(&entries, Operation::Ticker, now_ms),
            Action::DataMaintenance { round, .. } => {
                let input = self.maintenance_inputs.data_maintenance(round, now_ms);
                self.run_request(&Request::DataMaintenance(input), now_ms)?;
                Ok(())
            }
        }
    }

    fn feed(
        &mut self,
        entries: &[TickerEntry],
        operation: Operation,
        now_ms: i64,
    ) -> Result<(), DatabaseError> {
        for entry in entries {
            let request = Request::FeedEntry(market_feed::Input {
                symbol: self.data_set.symbol(entry.security),
                price_cents: entry.price_cents,
                quantity: entry.quantity,
                now_ms,
            });
            self.run_request(&request, now_ms)?;
        }
        self.outputs.counts[operation as usize] += 1;
        Ok(())
    }
}
