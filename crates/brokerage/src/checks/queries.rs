//! One SQL query per check. It returns no row if the check passes, else one: the example's id (a
//! trade or an account), its symbol or name, the value found, the value expected, and the number of
//! violations. The parameter excludes trades up to an id; 0 includes every row of the database, also
//! of tables in which no trade is named.
//!
//! No subquery refers to columns outside of a derived table: MariaDB 10.11 resolves them only the
//! first time.

use crate::schema::Type;
use crate::statement::Statement;

/// A check made by one query.
pub(super) struct CheckQuery {
    /// The check's name, as in [`super::CONSISTENCY_CHECKS`].
    pub name: &'static str,
    /// Returns the first violation and their number.
    pub query: Statement,
    /// Formats the first violation as a sentence.
    pub message: fn(&Example<'_>) -> String,
}

/// One of the violations of a check.
pub(super) struct Example<'a> {
    /// Number of violations found by the query.
    pub count: u64,
    /// Id of the trade or account of this one.
    pub of: i64,
    /// Its symbol or name.
    pub about: &'a str,
    /// The value found in this row.
    pub found: i64,
    /// The value it should have.
    pub expected: i64,
}

/// A query whose parameter is the last trade that is not examined.
pub(super) const fn query(name: &'static str, sql: &'static str) -> Statement {
    Statement {
        name,
        sql,
        parameters: &[Type::Big],
    }
}

/// Number of trades in each state.
pub(super) static STATES: Statement = Statement {
    name: "check_states",
    sql: "SELECT status_id, COUNT(*) FROM trade WHERE id > $1 GROUP BY status_id ORDER BY status_id",
    parameters: &[Type::Big],
};

/// The checks that are made by a query.
pub(super) static CHECKS: [CheckQuery; 12] = [
    POSITIONS,
    NO_EMPTY_POSITION,
    NO_EMPTY_LOT,
    LOT_HISTORIES,
    TRADE_HISTORIES,
    SETTLED,
    SETTLED_ONLY_COMPLETED,
    CASH,
    CASH_ONLY_PAID,
    STEPS,
    REQUESTS,
    PENDING,
];

const POSITIONS: CheckQuery = CheckQuery {
    name: "positions",
    query: query(
        "check_positions",
        "SELECT account_id, symbol, held, lots, COUNT(*) OVER () FROM (
 SELECT p.account_id, p.symbol, CAST(COALESCE(hs.quantity, 0) AS @integer@) AS held,
 CAST(COALESCE(SUM(h.quantity), 0) AS @integer@) AS lots
 FROM (SELECT account_id, symbol FROM trade WHERE id > $1
 UNION SELECT account_id, symbol FROM holding_summary WHERE $1 = 0
 UNION SELECT account_id, symbol FROM holding WHERE $1 = 0) p
 LEFT JOIN holding_summary hs ON hs.account_id = p.account_id AND hs.symbol = p.symbol
 LEFT JOIN holding h ON h.account_id = p.account_id AND h.symbol = p.symbol
 GROUP BY p.account_id, p.symbol, hs.quantity) q
WHERE held <> lots
ORDER BY account_id, symbol
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} positions are not the sum of their lots, such as that of account {} in {}: {} \
             shares, and lots of {}.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};

const NO_EMPTY_POSITION: CheckQuery = CheckQuery {
    name: "empty positions",
    query: query(
        "check_empty_positions",
        "SELECT p.account_id, p.symbol, CAST(0 AS @integer@), CAST(0 AS @integer@),
 COUNT(*) OVER ()
FROM (SELECT account_id, symbol FROM trade WHERE id > $1
 UNION SELECT account_id, symbol FROM holding_summary WHERE $1 = 0
 UNION SELECT account_id, symbol FROM holding WHERE $1 = 0) p
JOIN holding_summary hs ON hs.account_id = p.account_id AND hs.symbol = p.symbol
WHERE hs.quantity = 0
ORDER BY p.account_id, p.symbol
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} positions have no shares and should not exist, such as that of account {} in {}.",
            example.count, example.of, example.about
        )
    },
};

const NO_EMPTY_LOT: CheckQuery = CheckQuery {
    name: "empty lots",
    query: query(
        "check_empty_lots",
        "SELECT h.trade_id, h.symbol, CAST(0 AS @integer@), CAST(0 AS @integer@),
 COUNT(*) OVER ()
FROM (SELECT account_id, symbol FROM trade WHERE id > $1
 UNION SELECT account_id, symbol FROM holding_summary WHERE $1 = 0
 UNION SELECT account_id, symbol FROM holding WHERE $1 = 0) p
JOIN holding h ON h.account_id = p.account_id AND h.symbol = p.symbol
WHERE h.quantity = 0
ORDER BY h.trade_id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} lots have no shares and should not exist, such as that of trade {} in {}.",
            example.count, example.of, example.about
        )
    },
};

const LOT_HISTORIES: CheckQuery = CheckQuery {
    name: "histories of lots",
    query: query(
        "check_lot_histories",
        "SELECT holding_trade_id, '', left_over, changes, COUNT(*) OVER () FROM (
 SELECT touched.holding_trade_id, CAST(COALESCE(h.quantity, 0) AS @integer@) AS left_over,
 CAST(COALESCE(SUM(hh.after_quantity - hh.before_quantity), 0) AS @integer@) AS changes
 FROM (SELECT holding_trade_id FROM holding_history WHERE trade_id > $1
 UNION SELECT trade_id FROM holding WHERE $1 = 0) touched
 LEFT JOIN holding_history hh ON hh.holding_trade_id = touched.holding_trade_id
 LEFT JOIN holding h ON h.trade_id = touched.holding_trade_id
 GROUP BY touched.holding_trade_id, h.quantity) q
WHERE left_over <> changes
ORDER BY holding_trade_id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} lots differ from the sum of their history, such as that of trade {}: {} shares, \
             and changes that add up to {}.",
            example.count, example.of, example.found, example.expected
        )
    },
};

const TRADE_HISTORIES: CheckQuery = CheckQuery {
    name: "shares of trades",
    query: query(
        "check_trade_histories",
        "SELECT id, symbol, changes, traded, COUNT(*) OVER () FROM (
 SELECT t.id, t.symbol,
 CAST(COALESCE(SUM(hh.after_quantity - hh.before_quantity), 0) AS @integer@) AS changes,
 CAST(CASE tt.is_sell WHEN 1 THEN -t.quantity ELSE t.quantity END AS @integer@) AS traded
 FROM trade t
 JOIN trade_type tt ON tt.id = t.trade_type_id
 LEFT JOIN holding_history hh ON hh.trade_id = t.id
 WHERE t.id > $1 AND t.status_id = 1
 GROUP BY t.id, t.symbol, t.quantity, tt.is_sell) q
WHERE changes <> traded
ORDER BY id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} completed trades did not change as many shares as they traded, such as trade {} in \
             {}: lots changed by {}, and it traded {}.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};

const SETTLED: CheckQuery = CheckQuery {
    name: "settlements of trades",
    query: query(
        "check_settled",
        "SELECT t.id, t.symbol, CAST(0 AS @integer@), CAST(1 AS @integer@), COUNT(*) OVER ()
FROM trade t
WHERE t.id > $1 AND t.status_id = 1
 AND NOT EXISTS (SELECT 1 FROM settlement se WHERE se.trade_id = t.id)
ORDER BY t.id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} completed trades have no settlement, such as trade {} in {}.",
            example.count, example.of, example.about
        )
    },
};

const SETTLED_ONLY_COMPLETED: CheckQuery = CheckQuery {
    name: "trades of settlements",
    query: query(
        "check_settled_only_completed",
        "SELECT se.trade_id, t.symbol, CAST(t.status_id AS @integer@), CAST(1 AS @integer@),
 COUNT(*) OVER ()
FROM settlement se
JOIN trade t ON t.id = se.trade_id
WHERE se.trade_id > $1 AND t.status_id <> 1
ORDER BY se.trade_id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} settlements belong to trades that are not completed, such as that of trade {}, \
             whose status is {}.",
            example.count, example.of, example.found
        )
    },
};

const CASH: CheckQuery = CheckQuery {
    name: "cash of trades",
    query: query(
        "check_cash",
        "SELECT t.id, t.symbol, COALESCE(ct.amount_cents, 0), se.amount_cents, COUNT(*) OVER ()
FROM trade t
JOIN settlement se ON se.trade_id = t.id
LEFT JOIN cash_transaction ct ON ct.trade_id = t.id
WHERE t.id > $1 AND t.status_id = 1 AND t.is_cash = 1
 AND (ct.amount_cents IS NULL OR ct.amount_cents <> se.amount_cents)
ORDER BY t.id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} cash trades did not move the settled amount, such as trade {}: {} cents moved, {} \
             settled.",
            example.count, example.of, example.found, example.expected
        )
    },
};

const CASH_ONLY_PAID: CheckQuery = CheckQuery {
    name: "trades of cash",
    query: query(
        "check_cash_only_paid",
        "SELECT ct.trade_id, t.symbol, CAST(t.status_id AS @integer@), CAST(1 AS @integer@),
 COUNT(*) OVER ()
FROM cash_transaction ct
JOIN trade t ON t.id = ct.trade_id
WHERE ct.trade_id > $1 AND (t.status_id <> 1 OR t.is_cash <> 1)
ORDER BY ct.trade_id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} cash transactions belong to trades that are on margin or not completed, such as \
             that of trade {}, whose status is {}.",
            example.count, example.of, example.found
        )
    },
};

// Market orders are submitted and completed; others were pending before. History rows beyond the
// status count too, so that they make the number too large.
const STEPS: CheckQuery = CheckQuery {
    name: "steps of trades",
    query: query(
        "check_steps",
        "SELECT id, symbol, steps, wanted, COUNT(*) OVER () FROM (
 SELECT t.id, t.symbol, COUNT(th.trade_id) AS steps,
 CAST(CASE WHEN t.status_id = 1 THEN 3 - tt.is_market WHEN t.status_id = 3 THEN 2 - tt.is_market
  ELSE 1 END AS @integer@) AS wanted
 FROM trade t
 JOIN trade_type tt ON tt.id = t.trade_type_id
 LEFT JOIN trade_history th ON th.trade_id = t.id AND (th.status_id = t.status_id
  OR (t.status_id = 1 AND th.status_id = 3)
  OR (t.status_id IN (1, 3) AND th.status_id = 4 AND tt.is_market = 0)
  OR (t.status_id IN (3, 4) AND th.status_id IN (1, 5))
  OR (t.status_id = 4 AND th.status_id = 3)
  OR (t.status_id = 1 AND th.status_id = 5)
  OR (t.status_id = 5 AND th.status_id = 1))
 WHERE t.id > $1
 GROUP BY t.id, t.symbol, t.status_id, tt.is_market) q
WHERE steps <> wanted
ORDER BY id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} trades have a history that does not match their status, such as trade {} in {}: \
             {} rows instead of {}.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};

const REQUESTS: CheckQuery = CheckQuery {
    name: "trades of requests",
    query: query(
        "check_requests",
        "SELECT tr.trade_id, tr.symbol, CAST(t.status_id AS @integer@), CAST(4 AS @integer@),
 COUNT(*) OVER ()
FROM trade_request tr
JOIN trade t ON t.id = tr.trade_id
JOIN trade_type tt ON tt.id = t.trade_type_id
WHERE tr.trade_id > $1 AND (t.status_id <> 4 OR tt.is_market = 1
 OR t.symbol <> tr.symbol OR t.quantity <> tr.quantity
 OR t.bid_price_cents <> tr.bid_price_cents OR t.trade_type_id <> tr.trade_type_id)
ORDER BY tr.trade_id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} requests do not belong to pending orders, such as that of trade {}, whose status \
             is {}.",
            example.count, example.of, example.found
        )
    },
};

const PENDING: CheckQuery = CheckQuery {
    name: "requests of trades",
    query: query(
        "check_pending",
        "SELECT t.id, t.symbol, CAST(0 AS @integer@), CAST(1 AS @integer@), COUNT(*) OVER ()
FROM trade t
WHERE t.id > $1 AND t.status_id = 4
 AND NOT EXISTS (SELECT 1 FROM trade_request tr WHERE tr.trade_id = t.id)
ORDER BY t.id
LIMIT 1",
    ),
    message: |example| {
        format!(
            "{} pending orders have no request, such as trade {} in {}.",
            example.count, example.of, example.about
        )
    },
};
