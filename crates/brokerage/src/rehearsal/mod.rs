//! A rehearsal: one user and the market work by a clock of steps, one transaction after the other.
//! The same house, seed and length give the same outputs on every database, each with its
//! fingerprint, so a difference between two databases is found at the first transaction that
//! differs.

use crate::error::DatabaseError;
use crate::house::House;
use crate::market::{Action, Exchange, Settings, TickerEntry};
use crate::session::Session;
use crate::transactions::trade_result::{self, TradeResult};
use crate::transactions::{Deck, Digest, Done, Inputs, Output, Request, clean_up, market_feed};
use runtime::thread::complete;
use workload::brokerage::kinds::Operation;
use workload::profile::Brokerage;
use workload::random::{Dice, derive};

/// What is rehearsed.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The house whose books the database keeps.
    pub house: House,
    /// Mix and orders.
    pub brokerage: Brokerage,
    /// How the exchange works.
    pub market: Settings,
    /// The seed of everything drawn.
    pub seed: u64,
    /// Transactions that the user begins; those of the market come on top.
    pub transactions: u64,
    /// Time from one of them to the next.
    pub step_ms: i64,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rehearsed {
    /// How many there were of each kind, in the order of [`Operation::ALL`].
    pub counts: [u64; Operation::ALL.len()],
    /// Every database transaction with the fingerprint of its output, in order.
    pub transactions: Vec<(Operation, u64)>,
    /// One number for all of them.
    pub fingerprint: u64,
    /// Orders that are still waiting for a price or with the market.
    pub pending: u64,
}

impl Rehearsed {
    /// How many there were of a kind.
    #[must_use]
    pub fn count(&self, operation: Operation) -> u64 {
        self.counts[operation as usize]
    }
}

/// Carries a rehearsal out, after giving up what an earlier one has left open.
///
/// # Errors
/// The first error of the session: alone, a transaction meets no conflict.
pub fn run(session: &mut dyn Session, plan: &Plan) -> Result<Rehearsed, DatabaseError> {
    let built = plan.house.built_trades() as i64;
    let last_ms = clean_up::last_moment(session, built)?;
    let start_ms = plan.house.opening_ms().max(last_ms + 1);
    let give_up = clean_up::Input {
        after_trade: built,
        now_ms: start_ms,
    };
    clean_up::run(session, &give_up)?;
    let orders = &plan.brokerage.orders;
    let securities = plan.house.securities();
    let market_seed = derive(plan.seed, 2);
    let mut rehearsal = Rehearsal {
        next_trade: clean_up::last_trade(session)? + 1,
        session,
        house: plan.house,
        inputs: Inputs::new(plan.house, orders, plan.seed, 0),
        house_inputs: Inputs::new(plan.house, orders, plan.seed, 1),
        exchange: Exchange::new(&plan.market, securities, market_seed, start_ms),
        digest: Digest::default(),
        rehearsed: Rehearsed::default(),
    };
    let mut deck = Deck::of_mix(&plan.brokerage.mix, Dice::new(plan.seed, 3));
    for number in 0..plan.transactions {
        let now_ms = start_ms + number as i64 * plan.step_ms;
        rehearsal.of_user(deck.deal(), now_ms)?;
        rehearsal.of_market(now_ms)?;
    }
    let mut rehearsed = rehearsal.rehearsed;
    rehearsed.fingerprint = rehearsal.digest.value();
    rehearsed.pending = rehearsal.exchange.pending() as u64;
    Ok(rehearsed)
}

struct Rehearsal<'a> {
    session: &'a mut dyn Session,
    house: House,
    inputs: Inputs,
    /// What the house itself draws: its maintenance.
    house_inputs: Inputs,
    exchange: Exchange,
    next_trade: i64,
    digest: Digest,
    rehearsed: Rehearsed,
}

impl Rehearsal<'_> {
    fn of_user(&mut self, operation: Operation, now_ms: i64) -> Result<(), DatabaseError> {
        let next_trade = || {
            self.next_trade += 1;
            self.next_trade - 1
        };
        let request = Request::draw(operation, &mut self.inputs, next_trade, now_ms);
        self.carry_out(&request, now_ms)?;
        Ok(())
    }

    fn carry_out(&mut self, request: &Request, now_ms: i64) -> Result<Done<'_>, DatabaseError> {
        let done = complete(request.run(self.session))?;
        let fingerprint = done.fingerprint();
        fingerprint.add_to(&mut self.digest);
        let operation = done.operation();
        self.rehearsed.counts[operation as usize] += 1;
        self.rehearsed.transactions.push((operation, fingerprint));
        for message in done.to_market() {
            let unknown = || DatabaseError::Failed {
                statement: request.operation().name().to_owned(),
                message: format!("the house has no security {}", message.symbol),
            };
            let order = message.order(&self.house).ok_or_else(unknown)?;
            self.exchange.submit(order, now_ms);
        }
        Ok(done)
    }

    /// Everything that has become due, and what becomes due by it.
    fn of_market(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        loop {
            let actions = self.exchange.poll(now_ms);
            if actions.is_empty() {
                return Ok(());
            }
            for action in actions {
                self.act(action, now_ms)?;
            }
        }
    }

    fn act(&mut self, action: Action, now_ms: i64) -> Result<(), DatabaseError> {
        match action {
            Action::TradeResult {
                order, price_cents, ..
            } => {
                let request = Request::TradeResult(trade_result::Input {
                    trade: order.trade,
                    price_cents,
                    now_ms,
                });
                let done = self.carry_out(&request, now_ms)?;
                let is_booked = matches!(&done, Done::TradeResult(result)
                    if matches!(**result, TradeResult::Booked(_)));
                if is_booked {
                    self.exchange.result_committed(order.trade, now_ms);
                } else {
                    self.exchange.result_abandoned(order.trade);
                }
                Ok(())
            }
            Action::MarketFeed { entries, .. } => {
                self.feed(&entries, Operation::MarketFeed, now_ms)
            }
            Action::Ticker { entries, .. } => self.feed(&entries, Operation::Ticker, now_ms),
            Action::DataMaintenance { round, .. } => {
                let input = self.house_inputs.data_maintenance(round, now_ms);
                self.carry_out(&Request::DataMaintenance(input), now_ms)?;
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
                symbol: self.house.symbol(entry.security),
                price_cents: entry.price_cents,
                quantity: entry.quantity,
                now_ms,
            });
            self.carry_out(&request, now_ms)?;
        }
        self.rehearsed.counts[operation as usize] += 1;
        Ok(())
    }
}
