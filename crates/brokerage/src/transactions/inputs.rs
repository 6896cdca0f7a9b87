//! What users ask for, drawn by chance: who, what and when, as often as published.
//!
//! Everything follows from the house and the dice; the database is not asked. Look-up windows are
//! drawn in trading time and shrink with the trade days of small books.

use super::deck::Deck;
use super::kinds::TradeKind;
use super::old_trades::{self, Chosen, Window};
use super::trade_order::Executor;
use super::{
    broker_volume, customer_position, data_maintenance, market_watch, security_detail,
    trade_lookup, trade_order, trade_status, trade_update,
};
use crate::house::House;
use crate::house::rates::{COUNTRY_RATES, DIVISION_RATES};
use crate::house::skew::joined;
use crate::market::wave::{HIGHEST_CENTS, LOWEST_CENTS};
use workload::profile::brokerage::Orders;
use workload::random::{Dice, derive};

/// Milliseconds of an hour and of a minute.
const HOUR_MS: u64 = 3_600_000;
const MINUTE_MS: u64 = 60_000;

/// How long before the end of the books windows begin at the latest: of an account, of a security,
/// and to the first trade of an account.
const ACCOUNT_BACK_OFF_MS: u64 = 32 * HOUR_MS;
const SYMBOL_BACK_OFF_MS: u64 = 200 * MINUTE_MS;
const FIRST_BACK_OFF_MS: u64 = 500 * MINUTE_MS;

/// Companies in a row that a market watch looks through for an industry.
const COMPANIES_WATCHED: u32 = 500;

/// How many shares orders are for.
const QUANTITIES: [i64; 4] = [100, 200, 400, 800];

/// Of a hundred orders on accounts with somebody permitted (40 % of them), so many are not the
/// owner's: one in ten of all.
const OTHERS_PERCENT: f64 = 25.0;

/// Draws inputs. Each user has one of its own.
#[derive(Debug, Clone)]
pub struct Inputs {
    house: House,
    orders: Orders,
    rollbacks: Deck<bool>,
    dice: Dice,
}

impl Inputs {
    /// Inputs of the stream `stream` of a seed: streams are independent of each other.
    #[must_use]
    pub fn new(house: House, orders: &Orders, seed: u64, stream: u64) -> Self {
        let seed = derive(seed, stream);
        Self {
            house,
            orders: orders.clone(),
            rollbacks: Deck::of_share(orders.rollback_percent, Dice::new(seed, 0)),
            dice: Dice::new(seed, 1),
        }
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.dice.below(u64::from(limit)) as u32
    }

    fn account(&mut self) -> i64 {
        let customer = self.house.draw_customer(&mut self.dice);
        self.house.draw_account_of(customer, &mut self.dice)
    }

    fn symbol(&mut self) -> String {
        let security = self.below(self.house.securities());
        self.house.symbol(security)
    }

    fn company(&mut self) -> i64 {
        let company = self.below(self.house.companies());
        self.house.company_id(company)
    }

    /// Trade status.
    pub fn trade_status(&mut self) -> trade_status::Input {
        trade_status::Input {
            account: self.account(),
        }
    }

    /// Market watch.
    pub fn market_watch(&mut self) -> market_watch::Input {
        let of = match self.dice.below(100) {
            0..60 => {
                let customer = self.house.draw_customer(&mut self.dice);
                market_watch::Watched::Customer(self.house.customer_id(customer))
            }
            60..95 => market_watch::Watched::Account(self.account()),
            _ => {
                let all = self.house.companies();
                let within = COMPANIES_WATCHED.min(all);
                let first = self.below(all - within + 1);
                let industry = self.below(self.house.industries());
                market_watch::Watched::Industry {
                    name: self.house.industry_name(industry).to_owned(),
                    first_company: self.house.company_id(first),
                    last_company: self.house.company_id(first + within - 1),
                }
            }
        };
        let weeks = u64::from(self.house.price_weeks());
        let week = joined(&mut self.dice, weeks, 1 << 8, 0) as u32;
        let day = week * 5 + self.below(5);
        let day = self.house.price_day(day);
        market_watch::Input { of, day }
    }

    /// Security detail.
    pub fn security_detail(&mut self) -> security_detail::Input {
        let days = 5 + self.below(16);
        let last = self.house.price_days().saturating_sub(days);
        let first = self.below(last + 1);
        security_detail::Input {
            symbol: self.symbol(),
            first_day: self.house.price_day(first),
            days: i64::from(days),
            with_news_text: self.dice.happens(0.01),
        }
    }

    /// Customer position.
    pub fn customer_position(&mut self) -> customer_position::Input {
        let customer = self.house.draw_customer(&mut self.dice);
        let who = if self.dice.happens(0.5) {
            customer_position::Who::TaxId(self.house.tax_id(customer))
        } else {
            customer_position::Who::Id(self.house.customer_id(customer))
        };
        let with_history = self.dice.happens(0.5);
        let account = self.house.draw_account_of(customer, &mut self.dice);
        customer_position::Input {
            customer: who,
            history_of: with_history.then_some(account),
        }
    }

    /// Broker volume.
    pub fn broker_volume(&mut self) -> broker_volume::Input {
        let all = self.house.brokers();
        let wanted = (20 + self.below(21)).min(all);
        let mut brokers: Vec<u32> = Vec::with_capacity(wanted as usize);
        // Floyd's choice of different ones: each step adds the new last one if the one drawn is in.
        for last in all - wanted..all {
            let drawn = self.below(last + 1);
            let new = if brokers.contains(&drawn) {
                last
            } else {
                drawn
            };
            brokers.push(new);
        }
        let sector = self.below(self.house.sectors());
        let name = |&broker: &u32| self.house.broker_name(self.house.broker_id(broker));
        broker_volume::Input {
            brokers: brokers.iter().map(name).collect(),
            sector: self.house.sector_name(sector).to_owned(),
        }
    }

    /// Trade look-up.
    pub fn trade_lookup(&mut self) -> trade_lookup::Input {
        match self.dice.below(100) {
            0..30 => trade_lookup::Input::Trades(self.trades_by_id()),
            30..60 => trade_lookup::Input::Trades(self.trades_by_account()),
            60..90 => trade_lookup::Input::Trades(self.trades_by_symbol()),
            _ => trade_lookup::Input::FirstTrade {
                account: self.account(),
                from_ms: self.window(FIRST_BACK_OFF_MS).from_ms,
            },
        }
    }

    /// Trade update.
    pub fn trade_update(&mut self) -> trade_update::Input {
        match self.dice.below(100) {
            0..33 => self.trades_by_id(),
            33..66 => self.trades_by_account(),
            _ => self.trades_by_symbol(),
        }
    }

    /// Twenty different trades of the initial books, a few blocks of 128 more often than others.
    fn trades_by_id(&mut self) -> Chosen {
        let built = self.house.built_trades();
        let wanted = old_trades::TRADES.min(built as usize);
        let mut ids = Vec::with_capacity(wanted);
        while ids.len() < wanted {
            let id = 1 + joined(&mut self.dice, built, 1 << 16, 7) as i64;
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

    /// A time from a moment of the initial books to their end. It begins so long before the end at
    /// least, in small books a quarter of all their time; some minutes come more often than others.
    fn window(&mut self, back_off_ms: u64) -> Window {
        let all = self.house.trading_ms();
        let back_off_ms = back_off_ms.min(all / 4);
        let begins = joined(&mut self.dice, all - back_off_ms, 1 << 12, 16);
        Window {
            from_ms: self.house.moment_ms(begins),
            until_ms: self.house.opening_ms(),
        }
    }

    /// Trade order: the trade of this id is ordered at this moment.
    pub fn trade_order(&mut self, trade: i64, now_ms: i64) -> trade_order::Input {
        let account = self.account();
        let basket = self.house.basket(account);
        let security = basket[self.dice.below(basket.len() as u64) as usize];
        let kind = self.kind();
        let by_company = self.dice.happens(0.4).then(|| {
            let company = self.house.company_of_security(security);
            let issue = self.house.issue(security).to_owned();
            (self.house.company_name(company), issue)
        });
        let prices = (HIGHEST_CENTS - LOWEST_CENTS + 1) as u64;
        let limit_cents = LOWEST_CENTS + self.dice.below(prices) as i64;
        // Only purchases are paid with borrowed money, and they are half of all orders.
        let margin = 2.0 * self.orders.margin_percent / 100.0;
        trade_order::Input {
            trade,
            account,
            executor: self.executor(account),
            symbol: self.house.symbol(security),
            by_company,
            kind,
            quantity: QUANTITIES[self.dice.below(QUANTITIES.len() as u64) as usize],
            limit_cents,
            is_margin: self.dice.happens(margin) && !kind.is_sell(),
            is_lifo: self.dice.happens(0.35),
            rolls_back: self.rollbacks.deal(),
            now_ms,
        }
    }

    fn kind(&mut self) -> TradeKind {
        let is_market = self.dice.happens(self.orders.market_percent / 100.0);
        match (is_market, self.dice.below(4)) {
            (true, 0..2) => TradeKind::MarketBuy,
            (true, _) => TradeKind::MarketSell,
            (false, 0..2) => TradeKind::LimitBuy,
            (false, 2) => TradeKind::LimitSell,
            (false, _) => TradeKind::StopLoss,
        }
    }

    /// Who orders, unless it is the owner.
    fn executor(&mut self, account: i64) -> Option<Executor> {
        let mut permitted = self.house.permitted(account);
        if permitted.is_empty() || !self.dice.happens(OTHERS_PERCENT / 100.0) {
            return None;
        }
        let number = self.dice.below(permitted.len() as u64) as usize;
        let other = permitted.swap_remove(number);
        Some(Executor {
            tax_id: other.tax_id,
            last_name: other.last_name.to_owned(),
            first_name: other.first_name.to_owned(),
        })
    }

    /// A round of data maintenance: the twelve tables come in turn.
    pub fn data_maintenance(&mut self, round: u64, now_ms: i64) -> data_maintenance::Input {
        use data_maintenance::Input;
        let drawn = self.house.draw_customer(&mut self.dice);
        let customer = self.house.customer_id(drawn);
        let company = self.company();
        match round % data_maintenance::TABLES {
            0 => Input::Permissions {
                account: self.account(),
            },
            1 if self.dice.happens(0.67) => Input::AddressOfCustomer { customer },
            1 => Input::AddressOfCompany { company },
            2 => Input::Company { company },
            3 => Input::Customer { customer },
            4 => Input::TaxRateOfCustomer { customer },
            5 => Input::DailyMarket {
                symbol: self.symbol(),
                day_of_thirty: self.dice.below(30) as i64,
                more: self.dice.below(11) as i64 - 5,
            },
            6 => Input::Exchanges { now_ms },
            7 => Input::Reports { company },
            8 => Input::News { company },
            9 => Input::Security {
                symbol: self.symbol(),
            },
            10 => {
                let rate = self.below(COUNTRY_RATES + DIVISION_RATES);
                let id = self.house.tax_rate_id(rate);
                Input::TaxRate { id }
            }
            _ => Input::WatchList { customer },
        }
    }
}

#[cfg(test)]
#[path = "inputs_tests.rs"]
mod tests;
