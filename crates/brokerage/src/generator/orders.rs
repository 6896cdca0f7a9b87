//! The orders of a load unit, in the order of entry.
//!
//! Orders do not depend on holdings, and prices are a known wave, so the time of execution and the
//! price of an order are known when it is entered.

use super::customers::customers_of;
use crate::dataset::DataSet;
use crate::dataset::accounts::BROKERS_PER_UNIT;
use crate::dataset::data_set::{LOAD_UNIT, RandomField};
use crate::dataset::names::Symbol;
use crate::dataset::names::below;
use crate::dataset::trading_calendar::TRADING_DAY_MS;
use crate::kinds::TradeKind;
use crate::market::price_wave::{HIGHEST_CENTS, LOWEST_CENTS};
use crate::market::{PriceWave, execution_delay};
use crate::skew;
use crate::transactions::inputs::QUANTITIES;
use workload::random::{SeededRng, mix};

/// Mean execution delay of the exchange.
const ANSWER_MS: f64 = 1_000.0;

/// Percentage of purchases that are on margin: 8 % of all trades.
const MARGIN_PERCENT: usize = 16;

/// Percentage of trades that close the last lots first.
const LIFO_PERCENT: usize = 35;

/// Percentage of orders on an account with permitted persons that one of them enters: 10 % of all
/// orders.
const OTHERS_PERCENT: usize = 25;

/// An account of the unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account {
    pub id: i64,
    /// Its owner, counted from 0.
    pub customer: u32,
    pub broker_id: i64,
    pub tier: u8,
    pub tax_status: u8,
    /// Sum of both tax rates of the customer.
    pub tax_per_100000: i64,
    /// Permitted persons, counted from 0.
    pub others: [Option<u32>; 2],
    /// Index of its first security in [`Unit::securities`].
    pub first_slot: u32,
    pub slots: u32,
}

/// A load unit: 1,000 customers with their accounts.
#[derive(Debug)]
pub(super) struct Unit {
    pub data_set: DataSet,
    pub number: u32,
    pub accounts: Vec<Account>,
    /// The security of each slot: a slot is a pair of account and security.
    pub securities: Vec<u32>,
    /// The first account and the number of accounts of each customer, by ordinal.
    by_ordinal: Vec<(u32, u32)>,
}

/// An order, and its execution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    /// Number in the load unit, from 0.
    pub number: u32,
    pub kind: TradeKind,
    /// Account in the load unit, from 0.
    pub account: u32,
    /// Index in [`Unit::securities`]: the pair of account and security.
    pub slot: u32,
    /// Who entered it, counted from 0.
    pub executor: u32,
    pub is_cash: bool,
    pub is_lifo: bool,
    pub quantity: i64,
    pub bid_cents: i64,
    pub price_cents: i64,
    pub entered_at: i64,
    pub submitted_at: i64,
    pub completed_at: i64,
}

impl Unit {
    pub fn new(data_set: &DataSet, number: u32) -> Self {
        let mut unit = Self {
            data_set: *data_set,
            number,
            accounts: Vec::new(),
            securities: Vec::new(),
            by_ordinal: vec![(0, 0); LOAD_UNIT as usize],
        };
        for customer in customers_of(number) {
            let first = unit.accounts.len() as u32;
            data_set
                .accounts_of(customer)
                .for_each(|id| unit.add(id, customer));
            let ordinal = skew::ordinal_of_customer(customer) as usize;
            unit.by_ordinal[ordinal] = (first, unit.accounts.len() as u32 - first);
        }
        unit
    }

    fn add(&mut self, id: i64, customer: u32) {
        let data_set = self.data_set;
        let first_slot = self.securities.len() as u32;
        data_set.fill_basket(id, &mut self.securities);
        let rates = data_set.tax_rates_of(customer);
        self.accounts.push(Account {
            id,
            customer,
            broker_id: data_set.broker_of_account(id),
            tier: data_set.tier(customer),
            tax_status: data_set.tax_status(id),
            tax_per_100000: rates.map(|rate| data_set.tax_per_100000(rate)).iter().sum(),
            others: data_set.permitted_customers(id),
            first_slot,
            slots: self.securities.len() as u32 - first_slot,
        });
    }

    /// The id of the first of its brokers, whose ids are consecutive.
    pub fn first_broker_id(&self) -> i64 {
        self.data_set.broker_id(self.number * BROKERS_PER_UNIT)
    }

    /// The id of a trade of this unit.
    pub fn trade_id(&self, number: u32) -> i64 {
        let before = u64::from(self.number) * self.data_set.trades_per_unit();
        (before + u64::from(number)) as i64 + 1
    }

    /// The symbol of a slot's security.
    pub fn symbol_of_slot(&self, slot: u32) -> Symbol {
        self.data_set.symbol_of(self.securities[slot as usize])
    }

    /// The orders in the order of entry.
    pub fn orders(&self) -> Orders<'_> {
        Orders {
            unit: self,
            rng: SeededRng::new(
                self.data_set.random_bits(RandomField::Trades, self.number),
                0,
            ),
            day_ms: 0,
            next: 0,
            end: self.data_set.trades_per_unit() as u32,
        }
    }
}

/// Iterates over the orders of a load unit.
#[derive(Debug)]
pub(super) struct Orders<'a> {
    unit: &'a Unit,
    rng: SeededRng,
    /// When trading opens on the day of the next order.
    day_ms: i64,
    next: u32,
    end: u32,
}

impl Iterator for Orders<'_> {
    type Item = Order;

    fn next(&mut self) -> Option<Order> {
        if self.next == self.end {
            return None;
        }
        let per_day = DataSet::trades_per_unit_and_day();
        let (day, of_day) = (
            u64::from(self.next) / per_day,
            u64::from(self.next) % per_day,
        );
        if of_day == 0 {
            self.day_ms = self.unit.data_set.timestamp_ms(day * TRADING_DAY_MS);
        }
        // Each order has an interval of its own, so that they are ordered.
        let span_ms = TRADING_DAY_MS / per_day;
        let random_bits = self.rng.bits();
        let jitter_ms = below(random_bits as u32, span_ms as usize) as u64;
        let entered_at = self.day_ms + (of_day * span_ms + jitter_ms) as i64;
        self.next += 1;
        Some(self.order(self.next - 1, entered_at, random_bits))
    }
}

impl Orders<'_> {
    /// An order. The upper half of `random_bits` is still unused.
    fn order(&mut self, number: u32, entered_at: i64, random_bits: u64) -> Order {
        // Constructed here, where its period is a constant: dividing by it is then cheap.
        let wave = self.unit.data_set.wave();
        let kind = kind(percent(random_bits >> 32));
        let quantity = QUANTITIES[(random_bits >> 48) as usize % QUANTITIES.len()];
        let is_cash = kind.is_sell() || percent((random_bits >> 50) << 2) >= MARGIN_PERCENT;
        let ordinal = skew::ordinal(&mut self.rng) as usize;
        let (first, count) = self.unit.by_ordinal[ordinal];
        let random_bits = self.rng.bits();
        let account_number = first + below(random_bits as u32, count as usize) as u32;
        let account = &self.unit.accounts[account_number as usize];
        let slot = below((random_bits >> 32) as u32, account.slots as usize) as u32;
        let slot = account.first_slot + slot;
        let security = self.unit.securities[slot as usize];
        let random_bits = mix(random_bits);
        let prices = (HIGHEST_CENTS - LOWEST_CENTS + 1) as usize;
        let bid_cents = if kind.is_market() {
            wave.price_cents(security, entered_at)
        } else {
            LOWEST_CENTS + below(random_bits as u32, prices) as i64
        };
        let submitted_at = submitted_at(wave, kind, security, bid_cents, entered_at);
        let answer_ms = execution_delay(&mut self.rng) * ANSWER_MS;
        let completed_at = submitted_at + answer_ms as i64;
        let market_cents = wave.price_cents(security, completed_at);
        Order {
            number,
            kind,
            account: account_number,
            slot,
            executor: executor(account, random_bits >> 48),
            is_cash,
            is_lifo: percent(random_bits >> 32) < LIFO_PERCENT,
            quantity,
            bid_cents,
            // A limit order is executed at its limit or better; a stop order at the market price.
            price_cents: match kind {
                TradeKind::LimitSell => market_cents.max(bid_cents),
                TradeKind::LimitBuy => market_cents.min(bid_cents),
                _ => market_cents,
            },
            entered_at,
            submitted_at,
            completed_at,
        }
    }
}

/// When an order is submitted to the market. Limits are between the lowest and the highest price,
/// so every order is.
#[inline]
fn submitted_at(wave: PriceWave, kind: TradeKind, security: u32, bid_cents: i64, from: i64) -> i64 {
    let due = match kind {
        TradeKind::MarketBuy | TradeKind::MarketSell => None,
        TradeKind::LimitSell => wave.first_at_or_above(security, bid_cents, from),
        TradeKind::LimitBuy | TradeKind::StopLoss => {
            wave.first_at_or_below(security, bid_cents, from)
        }
    };
    due.unwrap_or(from)
}

/// A number below 100 from the lower 16 bits.
fn percent(bits: u64) -> usize {
    (((bits & 0xffff) * 100) >> 16) as usize
}

/// Published shares: 30 % market buys, 30 % market sells, 20 % limit buys, 10 % limit sells, 10 %
/// stop losses.
fn kind(percent: usize) -> TradeKind {
    match percent {
        0..30 => TradeKind::MarketBuy,
        30..60 => TradeKind::MarketSell,
        60..80 => TradeKind::LimitBuy,
        80..90 => TradeKind::LimitSell,
        _ => TradeKind::StopLoss,
    }
}

/// The owner, or now and then a permitted person.
fn executor(account: &Account, bits: u64) -> u32 {
    let [Some(first), second] = account.others else {
        return account.customer;
    };
    if percent(bits) >= OTHERS_PERCENT {
        return account.customer;
    }
    // The lowest bits of the same draw choose between two.
    second.filter(|_| bits & 1 == 1).unwrap_or(first)
}
