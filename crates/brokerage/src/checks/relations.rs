//! Checks of what completed trades are worth and when they happened: amounts, times and lots that
//! follow from each other, so that a row that somebody changed contradicts another one.
//!
//! Timestamps are those of the market clock, which never goes back: within a run it follows a clock
//! that no administrator sets, and a run continues after the last timestamp of the one before. A
//! feed takes its time before it finds an order, so an order may be submitted at an earlier time
//! than it was entered; it is completed after both.
//!
//! Numbers that somebody changed may be of any size: they are multiplied and added only within
//! bounds, because servers refuse to calculate beyond 64 bits.

use super::queries::{CheckQuery, query};

/// The checks, each made by a query.
pub(super) static CHECKS: [CheckQuery; 5] = [COSTS, AMOUNTS, TIMES, LOT_CHANGES, LOT_TRADES];

/// Charge and commission of every trade follow from the rates, by its price or, until it has one,
/// by what was bid. The commission is rounded half up.
const COSTS: CheckQuery = CheckQuery {
    name: "costs of trades",
    query: query(
        "check_costs",
        "SELECT id, symbol, commission_cents, COALESCE(expected, 0), COUNT(*) OVER () FROM (
 SELECT id, symbol, commission_cents, charge_cents, charge, is_beyond,
 CAST((hundredths - hundredths % 10000) / 10000 AS @integer@) AS expected FROM (
 SELECT t.id, t.symbol, t.commission_cents, t.charge_cents, ch.charge_cents AS charge,
 CASE WHEN (t.trade_type_id = 4 AND t.trade_price_cents < t.bid_price_cents)
  OR (t.trade_type_id = 5 AND t.trade_price_cents > t.bid_price_cents) THEN 1 ELSE 0
  END AS is_beyond,
 CASE WHEN COALESCE(t.trade_price_cents, t.bid_price_cents) BETWEEN 0 AND 10000000
  THEN COALESCE(t.trade_price_cents, t.bid_price_cents) * t.quantity * cr.rate_hundredths + 5000
  END AS hundredths
 FROM trade t
 JOIN customer_account ca ON ca.id = t.account_id
 JOIN customer c ON c.id = ca.customer_id
 JOIN security s ON s.symbol = t.symbol
 LEFT JOIN charge ch ON ch.tier = c.tier AND ch.trade_type_id = t.trade_type_id
 LEFT JOIN commission_rate cr ON cr.tier = c.tier AND cr.trade_type_id = t.trade_type_id
  AND cr.exchange_id = s.exchange_id
  AND cr.from_quantity <= t.quantity AND cr.to_quantity >= t.quantity
 WHERE t.id > $1) r) q
WHERE expected IS NULL OR commission_cents <> expected OR charge IS NULL OR charge_cents <> charge
 OR is_beyond = 1
ORDER BY id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} trades have a price, charge or commission that does not follow from their order, \
             such as trade {} in {}: a commission of {} cents, and {} by its price and rate.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};

/// What a trade adds to an account: its value, less charge and commission, less the tax if the
/// broker withholds it.
const AMOUNTS: CheckQuery = CheckQuery {
    name: "amounts of settlements",
    query: query(
        "check_amounts",
        "SELECT id, symbol, amount_cents, COALESCE(expected, 0), COUNT(*) OVER () FROM (
 SELECT t.id, t.symbol, se.amount_cents, t.tax_cents, ca.tax_status,
 CASE WHEN t.trade_price_cents BETWEEN 0 AND 10000000
  AND t.charge_cents BETWEEN 0 AND 1000000000000
  AND t.commission_cents BETWEEN 0 AND 1000000000000
  AND t.tax_cents BETWEEN 0 AND 1000000000000
  THEN CAST(CASE tt.is_sell WHEN 1 THEN t.trade_price_cents * t.quantity
   ELSE -t.trade_price_cents * t.quantity END
  - t.charge_cents - t.commission_cents
  - CASE ca.tax_status WHEN 1 THEN t.tax_cents ELSE 0 END AS @integer@)
  END AS expected
 FROM trade t
 JOIN trade_type tt ON tt.id = t.trade_type_id
 JOIN customer_account ca ON ca.id = t.account_id
 JOIN settlement se ON se.trade_id = t.id
 WHERE t.id > $1 AND t.status_id = 1) q
WHERE expected IS NULL OR amount_cents <> expected OR (tax_status = 0 AND tax_cents <> 0)
ORDER BY id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} settlements are not the value of their trade less its costs, such as that of trade \
             {} in {}: {} cents, and {} by its shares, price, charge, commission and tax.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};

/// The time of a trade is that of its last step; of one that was generated as completed, that of
/// its first.
const TIMES: CheckQuery = CheckQuery {
    name: "times of trades",
    query: query(
        "check_times",
        "SELECT t.id, t.symbol, t.entered_at, step.changed_at, COUNT(*) OVER ()
FROM trade t
JOIN trade_history step ON step.trade_id = t.id AND step.status_id = t.status_id
LEFT JOIN trade_history sent ON sent.trade_id = t.id AND sent.status_id = 3
LEFT JOIN trade_history waits ON waits.trade_id = t.id AND waits.status_id = 4
LEFT JOIN cash_transaction ct ON ct.trade_id = t.id
LEFT JOIN settlement se ON se.trade_id = t.id
WHERE t.id > $1 AND ((t.entered_at <> step.changed_at
  AND (t.status_id <> 1 OR t.entered_at <> COALESCE(waits.changed_at, sent.changed_at)))
 OR (t.status_id = 1 AND (sent.changed_at > step.changed_at OR waits.changed_at > step.changed_at
  OR ct.booked_at <> step.changed_at
  OR (CAST(se.due_day AS @integer@) - 2) * 86400000 > step.changed_at
  OR (CAST(se.due_day AS @integer@) - 1) * 86400000 <= step.changed_at)))
ORDER BY t.id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} trades have times that contradict each other, such as trade {} in {}: its own is \
             {}, and that of its last step {} (milliseconds since 1970); settlement, cash and \
             earlier steps must agree with them.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};

/// A lot begins with nothing, and each further change begins where another one has ended.
const LOT_CHANGES: CheckQuery = CheckQuery {
    name: "changes of lots",
    query: query(
        "check_lot_changes",
        "SELECT hh.trade_id, t.symbol, CAST(hh.before_quantity AS @integer@),
 hh.holding_trade_id, COUNT(*) OVER ()
FROM holding_history hh
JOIN trade t ON t.id = hh.trade_id
LEFT JOIN holding_history earlier ON earlier.holding_trade_id = hh.holding_trade_id
 AND earlier.after_quantity = hh.before_quantity AND earlier.trade_id <> hh.trade_id
WHERE hh.trade_id > $1
 AND ((hh.trade_id = hh.holding_trade_id AND hh.before_quantity <> 0)
 OR (hh.trade_id <> hh.holding_trade_id AND earlier.trade_id IS NULL))
ORDER BY hh.trade_id, hh.holding_trade_id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} changes of lots do not begin where another one has ended, such as that by trade {} \
             in {}: it found {} shares in the lot of trade {}.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};

/// A lot has the account, security, price and time of the trade that opened it.
const LOT_TRADES: CheckQuery = CheckQuery {
    name: "trades of lots",
    query: query(
        "check_lot_trades",
        "SELECT h.trade_id, h.symbol, h.price_cents, COALESCE(t.trade_price_cents, 0),
 COUNT(*) OVER ()
FROM holding h
JOIN trade t ON t.id = h.trade_id
LEFT JOIN trade_history step ON step.trade_id = h.trade_id AND step.status_id = 1
WHERE h.trade_id > $1
 AND (h.account_id <> t.account_id OR h.symbol <> t.symbol OR t.trade_price_cents IS NULL
 OR h.price_cents <> t.trade_price_cents OR step.changed_at IS NULL
 OR h.bought_at <> step.changed_at)
ORDER BY h.trade_id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} lots differ from the trades that opened them in account, security, price or time, \
             such as that of trade {} in {}: a price of {} cents, and {} of the trade.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};
