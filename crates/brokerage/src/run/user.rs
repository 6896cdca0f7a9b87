//! The users: each begins one transaction after the other, or takes those that are due.

use super::arrivals::Due;
use super::attempt::Seat;
use super::floor::Floor;
use super::recovery;
use crate::session::Session;
use crate::transactions::{Inputs, Request};
use runtime::thread::pause;
use std::time::Duration;
use workload::brokerage::kinds::Operation;
use workload::random::Dice;

/// How often a user who has nothing to do looks up.
const LOOK: Duration = Duration::from_millis(5);
/// Dice for the rests after conflicts come from streams of their own.
const REST_STREAM: u64 = 1 << 32;

/// One user, until the floor closes.
pub async fn work(floor: &Floor, number: u32, seed: u64, arrivals: Option<&Due>) {
    let stream = u64::from(number);
    let mut user = User {
        floor,
        seat: Seat::new(floor, Dice::new(seed, REST_STREAM + stream)),
        inputs: floor.inputs(stream),
        next_trade: floor.first_trade(number),
    };
    while floor.is_open() {
        let due_ns = match arrivals {
            None if number >= floor.line.orders().sessions() => {
                pause(LOOK).await;
                continue;
            }
            None => None,
            Some(due) => match due.wait(|| floor.line.now_ns(), LOOK).await {
                Some(due_ns) => Some(due_ns),
                None => continue,
            },
        };
        let begun_ns = floor.line.now_ns();
        if let Some(done) = user.transact(floor.deal()).await {
            floor.count(done, begun_ns, due_ns);
        }
        if arrivals.is_none() {
            floor.rest(floor.brokerage().think_time.as_ns()).await;
        }
    }
}

struct User<'a> {
    floor: &'a Floor,
    seat: Seat<'a>,
    inputs: Inputs,
    /// The id of the trade that it orders next.
    next_trade: i64,
}

impl User<'_> {
    /// Carries out a transaction of this kind. Gives what it is counted as; `None` when it did not
    /// come to its end.
    async fn transact(&mut self, operation: Operation) -> Option<Operation> {
        let (floor, trade) = (self.floor, self.next_trade);
        let next_trade = || {
            self.next_trade += 1;
            trade
        };
        let request = Request::draw(operation, &mut self.inputs, next_trade, floor.now_ms());
        let run = async |session: &mut dyn Session, is_in_doubt| {
            // An order whose commit was not answered may be in the books.
            if is_in_doubt
                && let Request::TradeOrder(input) = &request
                && let Some(order) = recovery::entered(session, input.trade).await?
            {
                return Ok((operation, vec![order]));
            }
            let done = request.run(session).await?;
            Ok((done.operation(), done.to_market().to_vec()))
        };
        let (counted_as, to_market) = self.seat.attempt(operation, run).await?;
        floor.submit(&to_market);
        Some(counted_as)
    }
}
