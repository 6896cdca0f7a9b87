//! The users: each runs one transaction after the other, or takes those that are due.

use super::arrivals::Due;
use super::context::RunContext;
use super::recovery;
use super::retry::RetryingSession;
use crate::error::DatabaseError;
use crate::market::Instruction;
use crate::operation::Operation;
use crate::session::Session;
use crate::transactions::trade_update::{self, Column};
use crate::transactions::{Inputs, Request};
use runtime::thread::pause;
use std::time::{Duration, Instant};
use workload::random::SeededRng;

/// Poll interval of an idle user.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Random streams of the back-off after serialization failures.
const REST_STREAM: u64 = 1 << 32;

/// Runs one user until the run ends.
pub async fn work(context: &RunContext, number: u32, seed: u64, arrivals: Option<&Due>) {
    let stream = u64::from(number);
    let mut user = User {
        context,
        session: RetryingSession::new(context, SeededRng::new(seed, REST_STREAM + stream)),
        inputs: context.inputs(stream),
        next_trade: context.first_trade(number),
    };
    while context.is_open() {
        let due_ns = match arrivals {
            None if number >= context.link.orders().sessions() => {
                pause(POLL_INTERVAL).await;
                continue;
            }
            None => None,
            Some(due) => match due.wait(|| context.link.now_ns(), POLL_INTERVAL).await {
                Some(due_ns) => Some(due_ns),
                None => continue,
            },
        };
        let started_ns = context.link.now_ns();
        if let Some(done) = user.transact(context.deal()).await {
            context.count(done, started_ns, due_ns);
        }
        if arrivals.is_none() {
            context.sleep(context.brokerage().think_time.as_ns()).await;
        }
    }
}

struct User<'a> {
    context: &'a RunContext,
    session: RetryingSession<'a>,
    inputs: Inputs,
    /// The id of its next trade.
    next_trade: i64,
}

impl User<'_> {
    /// Runs a transaction of this kind. Returns the operation it counts as; `None` when it was not
    /// completed.
    async fn transact(&mut self, operation: Operation) -> Option<Operation> {
        let (context, trade) = (self.context, self.next_trade);
        let next_trade = || {
            self.next_trade += 1;
            trade
        };
        let request = Request::draw(operation, &mut self.inputs, next_trade, context.now_ms());
        if let Request::TradeUpdate(input) = &request {
            return self.update(input).await.map(|()| operation);
        }
        let run = async |session: &mut dyn Session, commit_unknown| {
            // The order may exist although its commit was not answered.
            if commit_unknown
                && let Request::TradeOrder(input) = &request
                && let Some(order) = recovery::entered(session, input.trade).await?
            {
                return Ok((operation, vec![order]));
            }
            let done = request.run(session, None).await?;
            Ok((done.operation, done.market_orders))
        };
        let Some((counted_as, market_orders)) = self.session.attempt(operation, run).await else {
            if let Request::TradeOrder(input) = &request {
                context.ledger.order_unknown(input.trade);
            }
            return None;
        };
        for order in &market_orders {
            let is_submitted = order.instruction == Instruction::Execute;
            context.ledger.entered(order.trade, is_submitted);
        }
        context.submit(&market_orders);
        Some(counted_as)
    }

    /// Runs a trade update. Returns `None` when it was not completed.
    async fn update(&mut self, input: &trade_update::Input) -> Option<()> {
        let (ledger, begun) = (&self.context.ledger, Instant::now());
        let run = async |session: &mut dyn Session, _| {
            let mut rows = Vec::new();
            let mut note = |column: Column, trades: &[i64]| {
                rows.extend(trades.iter().map(|trade| (column, *trade)));
            };
            let done = trade_update::run(session, input, &mut note).await;
            if !rows.is_empty() && done.as_ref().is_err_and(DatabaseError::leaves_doubt) {
                ledger.update_unknown(&rows);
            }
            done
        };
        let done = self.session.attempt(Operation::TradeUpdate, run).await?;
        ledger.updated(begun, done.column, &done.now);
        Some(())
    }
}
