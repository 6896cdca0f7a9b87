//! Random inputs of the transactions, with the published distributions.
//!
//! They depend on the data set and the random stream alone; the database is not queried. Lookup
//! windows are drawn in trading time and shrink with the trading days of small data sets.

use super::deck::share_deck;
use super::old_trades::{self, Chosen, Window};
use super::trade_order::Executor;
use super::{
    broker_volume, customer_position, data_maintenance, market_watch, security_detail,
    trade_lookup, trade_order, trade_status, trade_update,
};
use crate::dataset::DataSet;
use crate::dataset::rates::{COUNTRY_RATES, DIVISION_RATES};
use crate::kinds::TradeKind;
use crate::market::price_wave::{HIGHEST_CENTS, LOWEST_CENTS};
use crate::profile::Orders;
use crate::skew::joined;
use workload::deck::Deck;
use workload::random::{SeededRng, derive};

const HOUR_MS: u64 = 3_600_000;
const MINUTE_MS: u64 = 60_000;

/// How long before the end of the initial trades a lookup window begins at the latest: of an
/// account, of a security, and for the first trade of an account.
const ACCOUNT_BACK_OFF_MS: u64 = 32 * HOUR_MS;
const SYMBOL_BACK_OFF_MS: u64 = 200 * MINUTE_MS;
const FIRST_BACK_OFF_MS: u64 = 500 * MINUTE_MS;

/// Consecutive companies that a market watch of an industry considers.
const COMPANIES_WATCHED: u32 = 500;

/// Quantities of orders, with equal probability.
pub(crate) const QUANTITIES: [i64; 4] = [100, 200, 400, 800];

/// Percentage of orders by a permitted person on accounts that have one (40 % of them): one in ten
/// of all orders.
const OTHERS_PERCENT: f64 = 25.0;

/// Draws inputs. Each user has an instance.
#[derive(Debug, Clone)]
pub struct Inputs {
    data_set: DataSet,
    orders: Orders,
    rollbacks: Deck<bool>,
    rng: SeededRng,
}

impl Inputs {
    /// Inputs of the stream `stream` of a seed; streams are independent.
    #[must_use]
    pub fn new(data_set: DataSet, orders: &Orders, seed: u64, stream: u64) -> Self {
        let seed = derive(seed, stream);
        Self {
            data_set,
            orders: orders.clone(),
            rollbacks: share_deck(orders.rollback_percent, SeededRng::new(seed, 0)),
            rng: SeededRng::new(seed, 1),
        }
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.rng.below(u64::from(limit)) as u32
    }

    fn account(&mut self) -> i64 {
        let customer = self.data_set.draw_customer(&mut self.rng);
        self.data_set.draw_account_of(customer, &mut self.rng)
    }

    fn symbol(&mut self) -> String {
        let security = self.below(self.data_set.securities());
        self.data_set.symbol(security)
    }

    fn company(&mut self) -> i64 {
        let company = self.below(self.data_set.companies());
        self.data_set.company_id(company)
    }

    /// Draws the input of [`trade_status`].
    pub fn trade_status(&mut self) -> trade_status::Input {
        trade_status::Input {
            account: self.account(),
        }
    }

    /// Draws the input of [`market_watch`].
    pub fn market_watch(&mut self) -> market_watch::Input {
        let of = match self.rng.below(100) {
            0..60 => {
                let customer = self.data_set.draw_customer(&mut self.rng);
                market_watch::Watched::Customer(self.data_set.customer_id(customer))
            }
            60..95 => market_watch::Watched::Account(self.account()),
            _ => {
                let all = self.data_set.companies();
                let within = COMPANIES_WATCHED.min(all);
                let first = self.below(all - within + 1);
                let industry = self.below(self.data_set.industries());
                market_watch::Watched::Industry {
                    name: self.data_set.industry_name(industry).to_owned(),
                    first_company: self.data_set.company_id(first),
                    last_company: self.data_set.company_id(first + within - 1),
                }
            }
        };
        let weeks = u64::from(self.data_set.price_weeks());
        let week = joined(&mut self.rng, weeks, 1 << 8, 0) as u32;
        let day = week * 5 + self.below(5);
        let day = self.data_set.price_day(day);
        market_watch::Input { of, day }
    }

    /// Draws the input of [`security_detail`].
    pub fn security_detail(&mut self) -> security_detail::Input {
        let days = 5 + self.below(16);
        let last = self.data_set.price_days().saturating_sub(days);
        let first = self.below(last + 1);
        security_detail::Input {
            symbol: self.symbol(),
            first_day: self.data_set.price_day(first),
            days: i64::from(days),
            with_news_text: self.rng.happens(0.01),
        }
    }

    /// Draws the input of [`customer_position`].
    pub fn customer_position(&mut self) -> customer_position::Input {
        let customer = self.data_set.draw_customer(&mut self.rng);
        let who = if self.rng.happens(0.5) {
            customer_position::CustomerKey::TaxId(self.data_set.tax_id(customer))
        } else {
            customer_position::CustomerKey::Id(self.data_set.customer_id(customer))
        };
        let with_history = self.rng.happens(0.5);
        let account = self.data_set.draw_account_of(customer, &mut self.rng);
        customer_position::Input {
            customer: who,
            history_of: with_history.then_some(account),
        }
    }

    /// Draws the input of [`broker_volume`].
    pub fn broker_volume(&mut self) -> broker_volume::Input {
        let all = self.data_set.brokers();
        let wanted = (20 + self.below(21)).min(all);
        let mut brokers: Vec<u32> = Vec::with_capacity(wanted as usize);
        // Floyd's sampling without replacement: each step adds the new last one if the one drawn is
        // in.
        for last in all - wanted..all {
            let drawn = self.below(last + 1);
            let new = if brokers.contains(&drawn) {
                last
            } else {
                drawn
            };
            brokers.push(new);
        }
        let sector = self.below(self.data_set.sectors());
        let name = |&broker: &u32| self.data_set.broker_name(self.data_set.broker_id(broker));
        broker_volume::Input {
            brokers: brokers.iter().map(name).collect(),
            sector: self.data_set.sector_name(sector).to_owned(),
        }
    }

    /// Draws the input of [`trade_lookup`].
    pub fn trade_lookup(&mut self) -> trade_lookup::Input {
        match self.rng.below(100) {
            0..30 => trade_lookup::Input::Trades(self.trades_by_id()),
            30..60 => trade_lookup::Input::Trades(self.trades_by_account()),
            60..90 => trade_lookup::Input::Trades(self.trades_by_symbol()),
            _ => trade_lookup::Input::FirstTrade {
                account: self.account(),
                from_ms: self.window(FIRST_BACK_OFF_MS).from_ms,
            },
        }
    }

    /// Draws the input of [`trade_update`].
    pub fn trade_update(&mut self) -> trade_update::Input {
        match self.rng.below(100) {
            0..33 => self.trades_by_id(),
            33..66 => self.trades_by_account(),
            _ => self.trades_by_symbol(),
        }
    }

    /// Twenty different initial trades, a few blocks of 128 more often than others.
    fn trades_by_id(&mut self) -> Chosen {
        let built = self.data_set.built_trades();
        let wanted = old_trades::TRADES.min(built as usize);
        let mut ids = Vec::with_capacity(wanted);
        while ids.len() < wanted {
            let id = 1 + joined(&mut self.rng, built, 1 << 16, 7) as i64;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids.sort_unstable();
        Chosen::ById(ids)
    }

    fn trades_by_account(&mut self) -> Chosen {
        let account = self.account();
        Chosen::ByAccount(account, self.window(ACCOUNT_BACK_OFF_MS))
    }

    fn trades_by_symbol(&mut self) -> Chosen {
        let symbol = self.symbol();
        Chosen::BySymbol(symbol, self.window(SYMBOL_BACK_OFF_MS))
    }

    /// A window from a random time to the end of the initial trades. It begins at least this long
    /// before the end, in small data sets a quarter of the whole time; some minutes come more often
    /// than others.
    fn window(&mut self, back_off_ms: u64) -> Window {
        let all = self.data_set.trading_ms();
        let back_off_ms = back_off_ms.min(all / 4);
        let begins = joined(&mut self.rng, all - back_off_ms, 1 << 12, 16);
        Window {
            from_ms: self.data_set.timestamp_ms(begins),
            until_ms: self.data_set.opening_ms(),
        }
    }

    /// Input of [`trade_order`]: the trade with this id is ordered at this time.
    pub fn trade_order(&mut self, trade: i64, now_ms: i64) -> trade_order::Input {
        let account = self.account();
        let basket = self.data_set.basket(account);
        let security = basket[self.rng.below(basket.len() as u64) as usize];
        let kind = self.kind();
        let by_company = self.rng.happens(0.4).then(|| {
            let company = self.data_set.company_of_security(security);
            let issue = self.data_set.issue(security).to_owned();
            (self.data_set.company_name(company), issue)
        });
        let prices = (HIGHEST_CENTS - LOWEST_CENTS + 1) as u64;
        let limit_cents = LOWEST_CENTS + self.rng.below(prices) as i64;
        // Only purchases are on margin, and they are half of all orders.
        let margin = 2.0 * self.orders.margin_percent / 100.0;
        trade_order::Input {
            trade,
            account,
            executor: self.executor(account),
            symbol: self.data_set.symbol(security),
            by_company,
            kind,
            quantity: QUANTITIES[self.rng.below(QUANTITIES.len() as u64) as usize],
            limit_cents,
            is_margin: self.rng.happens(margin) && !kind.is_sell(),
            is_lifo: self.rng.happens(0.35),
            rolls_back: self.rollbacks.deal(),
            now_ms,
        }
    }

    fn kind(&mut self) -> TradeKind {
        let is_market = self.rng.happens(self.orders.market_percent / 100.0);
        match (is_market, self.rng.below(4)) {
            (true, 0..2) => TradeKind::MarketBuy,
            (true, _) => TradeKind::MarketSell,
            (false, 0..2) => TradeKind::LimitBuy,
            (false, 2) => TradeKind::LimitSell,
            (false, _) => TradeKind::StopLoss,
        }
    }

    /// The permitted person who orders, unless it is the owner.
    fn executor(&mut self, account: i64) -> Option<Executor> {
        let mut permitted = self.data_set.permitted(account);
        if permitted.is_empty() || !self.rng.happens(OTHERS_PERCENT / 100.0) {
            return None;
        }
        let number = self.rng.below(permitted.len() as u64) as usize;
        let other = permitted.swap_remove(number);
        Some(Executor {
            tax_id: other.tax_id,
            last_name: other.last_name.to_owned(),
            first_name: other.first_name.to_owned(),
        })
    }

    /// Input of [`data_maintenance`]: the twelve tables come in turn.
    pub fn data_maintenance(&mut self, round: u64, now_ms: i64) -> data_maintenance::Input {
        use data_maintenance::Input;
        let drawn = self.data_set.draw_customer(&mut self.rng);
        let customer = self.data_set.customer_id(drawn);
        let company = self.company();
        match round % data_maintenance::TABLES {
            0 => Input::Permissions(self.account()),
            1 if self.rng.happens(0.67) => Input::AddressOfCustomer(customer),
            1 => Input::AddressOfCompany(company),
            2 => Input::Company(company),
            3 => Input::Customer(customer),
            4 => Input::TaxRateOfCustomer(customer),
            5 => Input::DailyMarket {
                symbol: self.symbol(),
                day_of_thirty: self.rng.below(30) as i64,
                more: self.rng.below(11) as i64 - 5,
            },
            6 => Input::Exchanges(now_ms),
            7 => Input::Reports(company),
            8 => Input::News(company),
            9 => Input::Security(self.symbol()),
            10 => {
                let rate = self.below(COUNTRY_RATES + DIVISION_RATES);
                let id = self.data_set.tax_rate_id(rate);
                Input::TaxRate(id)
            }
            _ => Input::WatchList(customer),
        }
    }
}

#[cfg(test)]
#[path = "inputs_tests.rs"]
mod tests;
