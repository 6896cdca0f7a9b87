//! A transaction with its input, ready to run on any session, and to be retried after a
//! serialization failure.

use std::fmt::Debug;

use super::inputs::Inputs;
use super::market_order::MarketOrder;
use super::trade_result::TradeResult;
use super::{
    broker_volume, customer_position, data_maintenance, market_feed, market_watch, security_detail,
    trade_lookup, trade_order, trade_result, trade_status, trade_update,
};
use crate::error::DatabaseError;
use crate::operation::Operation;
use crate::session::Session;

/// A transaction to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The names are those of the transactions.
pub enum Request {
    TradeStatus(trade_status::Input),
    MarketWatch(market_watch::Input),
    SecurityDetail(security_detail::Input),
    CustomerPosition(customer_position::Input),
    TradeOrder(Box<trade_order::Input>),
    TradeLookup(trade_lookup::Input),
    BrokerVolume(broker_volume::Input),
    TradeUpdate(trade_update::Input),
    TradeResult(trade_result::Input),
    /// One entry of a market feed.
    FeedEntry(market_feed::Input),
    DataMaintenance(data_maintenance::Input),
}

/// Looks at the output of a transaction.
pub type Inspect<'a> = &'a mut dyn FnMut(&dyn Debug);

/// What a transaction has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The operation that it counts as.
    pub operation: Operation,
    /// Orders to be sent to the market now.
    pub market_orders: Vec<MarketOrder>,
    /// How a trade result ended; `None` for other transactions.
    pub trade_result: Option<TradeResult>,
}

impl Request {
    /// Draws the input of a transaction that a user begins. An order takes its trade id from
    /// `next_trade`, which must return a new one each time.
    ///
    /// # Panics
    /// Users do not begin such an operation.
    #[must_use]
    pub fn draw(
        operation: Operation,
        inputs: &mut Inputs,
        next_trade: impl FnOnce() -> i64,
        now_ms: i64,
    ) -> Self {
        match operation {
            Operation::TradeStatus => Self::TradeStatus(inputs.trade_status()),
            Operation::MarketWatch => Self::MarketWatch(inputs.market_watch()),
            Operation::SecurityDetail => Self::SecurityDetail(inputs.security_detail()),
            Operation::CustomerPosition => Self::CustomerPosition(inputs.customer_position()),
            Operation::TradeOrder => {
                Self::TradeOrder(Box::new(inputs.trade_order(next_trade(), now_ms)))
            }
            Operation::TradeLookup => Self::TradeLookup(inputs.trade_lookup()),
            Operation::BrokerVolume => Self::BrokerVolume(inputs.broker_volume()),
            Operation::TradeUpdate => Self::TradeUpdate(inputs.trade_update()),
            other => panic!("users do not begin a {}", other.name()),
        }
    }

    /// The operation that it counts as, unless it is rolled back intentionally.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Self::TradeStatus(_) => Operation::TradeStatus,
            Self::MarketWatch(_) => Operation::MarketWatch,
            Self::SecurityDetail(_) => Operation::SecurityDetail,
            Self::CustomerPosition(_) => Operation::CustomerPosition,
            Self::TradeOrder(_) => Operation::TradeOrder,
            Self::TradeLookup(_) => Operation::TradeLookup,
            Self::BrokerVolume(_) => Operation::BrokerVolume,
            Self::TradeUpdate(_) => Operation::TradeUpdate,
            Self::TradeResult(_) => Operation::TradeResult,
            Self::FeedEntry(_) => Operation::FeedEntry,
            Self::DataMaintenance(_) => Operation::DataMaintenance,
        }
    }

    /// Runs it once, and shows its output to `inspect`, if there is such a function: to compare what
    /// two databases answer.
    ///
    /// # Errors
    /// Those of the session. After [`DatabaseError::Conflict`] it can be retried. After
    /// [`DatabaseError::Unavailable`] the outcome of the commit is unknown: results may be repeated
    /// all the same, a run finds orders by their trade ids and feed entries by
    /// [`market_feed::sent_on`], and repeating any other does no harm.
    pub async fn run(
        &self,
        session: &mut dyn Session,
        inspect: Option<Inspect<'_>>,
    ) -> Result<Done, DatabaseError> {
        let mut done = Done {
            operation: self.operation(),
            market_orders: Vec::new(),
            trade_result: None,
        };
        let show = |output: &dyn Debug| {
            if let Some(inspect) = inspect {
                inspect(output);
            }
        };
        match self {
            Self::TradeStatus(of) => show(&trade_status::run(session, of).await?),
            Self::MarketWatch(of) => show(&market_watch::run(session, of).await?),
            Self::SecurityDetail(of) => show(&security_detail::run(session, of).await?),
            Self::CustomerPosition(of) => show(&customer_position::run(session, of).await?),
            Self::TradeOrder(of) => {
                let order = trade_order::run(session, of).await?;
                if order.outcome != trade_order::Outcome::Entered {
                    done.operation = Operation::TradeOrderRolledBack;
                }
                show(&order);
                done.market_orders.extend(order.market_orders);
            }
            Self::TradeLookup(of) => show(&trade_lookup::run(session, of).await?),
            Self::BrokerVolume(of) => show(&broker_volume::run(session, of).await?),
            Self::TradeUpdate(of) => {
                show(&trade_update::run(session, of, &mut |_, _| {}).await?);
            }
            Self::TradeResult(of) => {
                let result = trade_result::run(session, of).await?;
                show(&result);
                done.trade_result = Some(result);
            }
            Self::FeedEntry(of) => {
                let entry = market_feed::run(session, of).await?;
                show(&entry);
                done.market_orders = entry.market_orders;
            }
            Self::DataMaintenance(of) => show(&data_maintenance::run(session, of).await?),
        }
        Ok(done)
    }
}
