//! The orders of a thousand customers, in the order in which they were entered.
//!
//! What is ordered does not depend on what is held, and prices are a wave that is known beforehand,
//! so an order can say as it is entered when it will be carried out, and at which price.

use super::customers::customers_of;
use crate::house::House;
use crate::house::accounts::BROKERS_PER_UNIT;
use crate::house::identity::{Chance, LOAD_UNIT};
use crate::house::moments::TRADING_DAY_MS;
use crate::house::names::Symbol;
use crate::house::names::below;
use crate::house::skew;
use crate::market::Wave;
use crate::market::wave::{HIGHEST_CENTS, LOWEST_CENTS};
use crate::transactions::kinds::TradeKind;
use workload::random::{Dice, mix};

/// Average time until the exchange answers, and the longest in average ones.
const ANSWER_MS: f64 = 1_000.0;
const LONGEST_ANSWER: f64 = 5.0;

/// Quantities, all alike.
const QUANTITIES: [i64; 4] = [100, 200, 400, 800];

/// Of 100 purchases, those on margin: 8 of 100 trades.
const MARGIN_PERCENT: usize = 16;

/// Of 100 trades, those that take the last lots first.
const LIFO_PERCENT: usize = 35;

/// Of 100 orders on an account on which others may trade, those that another one enters: 10 of 100
/// of all orders.
const OTHERS_PERCENT: usize = 25;

/// An account of the unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account {
    pub id: i64,
    /// Counted from 0.
    pub customer: u32,
    pub broker_id: i64,
    pub tier: u8,
    pub tax_status: u8,
    /// Both tax rates of the customer together.
    pub tax_per_100000: i64,
    /// Who else may trade, counted from 0.
    pub others: [Option<u32>; 2],
    /// Where its securities stand among those of all accounts of the unit.
    pub first_slot: u32,
    pub slots: u32,
}

/// A thousand customers with their accounts.
#[derive(Debug)]
pub(super) struct Unit {
    pub house: House,
    pub number: u32,
    pub accounts: Vec<Account>,
    /// The security of each slot: slots are what accounts deal in, one after the other.
    pub securities: Vec<u32>,
    /// The first account and the number of accounts of each customer, by ordinal of weight.
    by_ordinal: Vec<(u32, u32)>,
}

/// An order, and how it was carried out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    /// In its unit, from 0.
    pub number: u32,
    pub kind: TradeKind,
    /// In its unit, from 0.
    pub account: u32,
    /// See [`Unit::securities`].
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
    pub fn new(house: &House, number: u32) -> Self {
        let mut unit = Self {
            house: *house,
            number,
            accounts: Vec::new(),
            securities: Vec::new(),
            by_ordinal: vec![(0, 0); LOAD_UNIT as usize],
        };
        for customer in customers_of(number) {
            let first = unit.accounts.len() as u32;
            house
                .accounts_of(customer)
                .for_each(|id| unit.add(id, customer));
            let ordinal = house.ordinal_of_customer(customer) as usize;
            unit.by_ordinal[ordinal] = (first, unit.accounts.len() as u32 - first);
        }
        unit
    }

    fn add(&mut self, id: i64, customer: u32) {
        let house = self.house;
        let first_slot = self.securities.len() as u32;
        house.fill_basket(id, &mut self.securities);
        let rates = house.tax_rates_of(customer);
        self.accounts.push(Account {
            id,
            customer,
            broker_id: house.broker_of_account(id),
            tier: house.tier(customer),
            tax_status: house.tax_status(id),
            tax_per_100000: rates.map(|rate| house.tax_per_100000(rate)).iter().sum(),
            others: house.permitted_customers(id),
            first_slot,
            slots: self.securities.len() as u32 - first_slot,
        });
    }

    /// The id of the first of its brokers, which follow each other.
    pub fn first_broker_id(&self) -> i64 {
        self.house.broker_id(self.number * BROKERS_PER_UNIT)
    }

    /// The id of a trade of this unit.
    pub fn trade_id(&self, number: u32) -> i64 {
        let before = u64::from(self.number) * self.house.trades_per_unit();
        (before + u64::from(number)) as i64 + 1
    }

    /// What is dealt in a slot.
    pub fn symbol_of_slot(&self, slot: u32) -> Symbol {
        self.house.symbol_of(self.securities[slot as usize])
    }

    /// The orders, by the moment at which they were entered.
    pub fn orders(&self) -> Orders<'_> {
        Orders {
            unit: self,
            dice: Dice::new(self.house.chance(Chance::Trades, self.number), 0),
            day_ms: 0,
            next: 0,
            end: self.house.trades_per_unit() as u32,
        }
    }
}

/// Gives the orders of a unit one after the other.
#[derive(Debug)]
pub(super) struct Orders<'a> {
    unit: &'a Unit,
    dice: Dice,
    /// When trading began on the day of the next order.
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
        let per_day = House::trades_per_unit_and_day();
        let (day, of_day) = (
            u64::from(self.next) / per_day,
            u64::from(self.next) % per_day,
        );
        if of_day == 0 {
            self.day_ms = self.unit.house.moment_ms(day * TRADING_DAY_MS);
        }
        // Each order has a span of its own, so that they come in order.
        let span_ms = TRADING_DAY_MS / per_day;
        let chance = self.dice.bits();
        let jitter_ms = below(chance as u32, span_ms as usize) as u64;
        let entered_at = self.day_ms + (of_day * span_ms + jitter_ms) as i64;
        self.next += 1;
        Some(self.order(self.next - 1, entered_at, chance))
    }
}

impl Orders<'_> {
    /// An order. The upper half of `chance` is still unused.
    fn order(&mut self, number: u32, entered_at: i64, chance: u64) -> Order {
        // Made here, where its period is a constant: dividing by it is then cheap.
        let wave = self.unit.house.wave();
        let kind = kind(percent(chance >> 32));
        let quantity = QUANTITIES[(chance >> 48) as usize % QUANTITIES.len()];
        let is_cash = kind.is_sell() || percent((chance >> 50) << 2) >= MARGIN_PERCENT;
        let ordinal = skew::ordinal(&mut self.dice) as usize;
        let (first, count) = self.unit.by_ordinal[ordinal];
        let chance = self.dice.bits();
        let account_number = first + below(chance as u32, count as usize) as u32;
        let account = &self.unit.accounts[account_number as usize];
        let slot = below((chance >> 32) as u32, account.slots as usize) as u32;
        let slot = account.first_slot + slot;
        let security = self.unit.securities[slot as usize];
        let chance = mix(chance);
        let prices = (HIGHEST_CENTS - LOWEST_CENTS + 1) as usize;
        let bid_cents = if kind.is_market() {
            wave.price_cents(security, entered_at)
        } else {
            LOWEST_CENTS + below(chance as u32, prices) as i64
        };
        let submitted_at = submitted_at(wave, kind, security, bid_cents, entered_at);
        let answer_ms = self.dice.exponential().min(LONGEST_ANSWER) * ANSWER_MS;
        let completed_at = submitted_at + answer_ms as i64;
        let market_cents = wave.price_cents(security, completed_at);
        Order {
            number,
            kind,
            account: account_number,
            slot,
            executor: executor(account, chance >> 48),
            is_cash,
            is_lifo: percent(chance >> 32) < LIFO_PERCENT,
            quantity,
            bid_cents,
            // A limit order gets its limit or better; a stop order gets what there is.
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

/// When an order is due. Limits lie between the lowest and the highest price, so that always comes.
#[inline]
fn submitted_at(wave: Wave, kind: TradeKind, security: u32, bid_cents: i64, from: i64) -> i64 {
    let due = match kind {
        TradeKind::MarketBuy | TradeKind::MarketSell => None,
        TradeKind::LimitSell => wave.first_at_or_above(security, bid_cents, from),
        TradeKind::LimitBuy | TradeKind::StopLoss => {
            wave.first_at_or_below(security, bid_cents, from)
        }
    };
    due.unwrap_or(from)
}

/// A number below 100, by the lower 16 of the bits.
fn percent(bits: u64) -> usize {
    (((bits & 0xffff) * 100) >> 16) as usize
}

/// Published shares: 30 % purchases and 30 % sales at the price of the market, 20 % limits on
/// purchases, 10 % limits on sales, 10 % stop orders.
fn kind(percent: usize) -> TradeKind {
    match percent {
        0..30 => TradeKind::MarketBuy,
        30..60 => TradeKind::MarketSell,
        60..80 => TradeKind::LimitBuy,
        80..90 => TradeKind::LimitSell,
        _ => TradeKind::StopLoss,
    }
}

/// The owner, or now and then another who may trade.
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
