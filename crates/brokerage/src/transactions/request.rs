//! A transaction with its input, ready to be carried out on any session, as often as conflicts ask
//! for it.

use super::inputs::Inputs;
use super::output::{Digest, Output};
use super::to_market::ToMarket;
use super::{
    broker_volume, customer_position, data_maintenance, market_feed, market_watch, security_detail,
    trade_lookup, trade_order, trade_result, trade_status, trade_update,
};
use crate::error::DatabaseError;
use crate::session::Session;
use workload::brokerage::kinds::Operation;

/// A transaction to be carried out.
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

/// A transaction that has been carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The names are those of the transactions.
pub enum Done<'a> {
    TradeStatus(trade_status::TradeStatus<'a>),
    MarketWatch(market_watch::MarketWatch),
    SecurityDetail(Box<security_detail::SecurityDetail<'a>>),
    CustomerPosition(Box<customer_position::CustomerPosition<'a>>),
    TradeOrder(Box<trade_order::TradeOrder>),
    TradeLookup(trade_lookup::TradeLookup<'a>),
    BrokerVolume(broker_volume::BrokerVolume<'a>),
    TradeUpdate(trade_update::TradeUpdate),
    TradeResult(Box<trade_result::TradeResult>),
    FeedEntry(market_feed::FeedEntry),
    DataMaintenance(data_maintenance::DataMaintenance),
}

impl Request {
    /// Draws what a user begins. An order takes its trade's id from `next_trade`, which must give a
    /// new one each time.
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

    /// Under which name it is counted, unless it is rolled back on purpose.
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

    /// Carries it out once.
    ///
    /// # Errors
    /// Those of the session. After [`DatabaseError::Conflict`] it can be carried out again. After
    /// [`DatabaseError::Unavailable`] whether it was committed is open: results may be repeated all
    /// the same, for orders [`trade_order::was_entered`] tells, for feed entries
    /// [`market_feed::sent_on`], and all others do no harm.
    pub async fn run<'a>(&self, session: &'a mut dyn Session) -> Result<Done<'a>, DatabaseError> {
        Ok(match self {
            Self::TradeStatus(input) => Done::TradeStatus(trade_status::run(session, input).await?),
            Self::MarketWatch(input) => Done::MarketWatch(market_watch::run(session, input).await?),
            Self::SecurityDetail(input) => {
                Done::SecurityDetail(Box::new(security_detail::run(session, input).await?))
            }
            Self::CustomerPosition(input) => {
                Done::CustomerPosition(Box::new(customer_position::run(session, input).await?))
            }
            Self::TradeOrder(input) => {
                Done::TradeOrder(Box::new(trade_order::run(session, input).await?))
            }
            Self::TradeLookup(input) => Done::TradeLookup(trade_lookup::run(session, input).await?),
            Self::BrokerVolume(input) => {
                Done::BrokerVolume(broker_volume::run(session, input).await?)
            }
            Self::TradeUpdate(input) => Done::TradeUpdate(trade_update::run(session, input).await?),
            Self::TradeResult(input) => {
                Done::TradeResult(Box::new(trade_result::run(session, input).await?))
            }
            Self::FeedEntry(input) => Done::FeedEntry(market_feed::run(session, input).await?),
            Self::DataMaintenance(input) => {
                Done::DataMaintenance(data_maintenance::run(session, input).await?)
            }
        })
    }
}

impl Done<'_> {
    /// Under which name it is counted.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Self::TradeStatus(_) => Operation::TradeStatus,
            Self::MarketWatch(_) => Operation::MarketWatch,
            Self::SecurityDetail(_) => Operation::SecurityDetail,
            Self::CustomerPosition(_) => Operation::CustomerPosition,
            Self::TradeOrder(order) => match order.outcome {
                trade_order::Outcome::Entered => Operation::TradeOrder,
                trade_order::Outcome::RolledBack | trade_order::Outcome::NotPermitted => {
                    Operation::TradeOrderRolledBack
                }
            },
            Self::TradeLookup(_) => Operation::TradeLookup,
            Self::BrokerVolume(_) => Operation::BrokerVolume,
            Self::TradeUpdate(_) => Operation::TradeUpdate,
            Self::TradeResult(_) => Operation::TradeResult,
            Self::FeedEntry(_) => Operation::FeedEntry,
            Self::DataMaintenance(_) => Operation::DataMaintenance,
        }
    }

    /// What the market must be told now.
    #[must_use]
    pub fn to_market(&self) -> &[ToMarket] {
        match self {
            Self::TradeOrder(order) => order.to_market.as_slice(),
            Self::FeedEntry(entry) => &entry.to_market,
            _ => &[],
        }
    }
}

impl Output for Done<'_> {
    fn add_to(&self, digest: &mut Digest) {
        digest.bytes(&[self.operation() as u8]);
        match self {
            Self::TradeStatus(output) => output.add_to(digest),
            Self::MarketWatch(output) => output.add_to(digest),
            Self::SecurityDetail(output) => output.add_to(digest),
            Self::CustomerPosition(output) => output.add_to(digest),
            Self::TradeOrder(output) => output.add_to(digest),
            Self::TradeLookup(output) => output.add_to(digest),
            Self::BrokerVolume(output) => output.add_to(digest),
            Self::TradeUpdate(output) => output.add_to(digest),
            Self::TradeResult(output) => output.add_to(digest),
            Self::FeedEntry(output) => output.add_to(digest),
            Self::DataMaintenance(output) => output.add_to(digest),
        }
    }
}
