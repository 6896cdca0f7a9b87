//! What must hold in the books. Each question answers one row if it does not: what the example is
//! of (a trade or an account), something about it, what was found, what was expected, and how
//! many there are in all. The parameter leaves out trades up to an id.
//!
//! No subquery looks out of a derived table: MariaDB 10.11 finds its columns only the first time.

use crate::schema::Type;
use crate::statement::Statement;

/// Something that must hold.
pub(super) struct Invariant {
    /// Its name.
    pub name: &'static str,
    /// Asks for what breaks it.
    pub question: Statement,
    /// Says so.
    pub sentence: fn(&Example<'_>) -> String,
}

/// One of the cases that break an invariant.
pub(super) struct Example<'a> {
    /// How many there are.
    pub count: u64,
    /// The trade or the account of this one.
    pub of: i64,
    /// More about it: a symbol or a name.
    pub about: &'a str,
    /// What was found.
    pub found: i64,
    /// What was expected.
    pub expected: i64,
}

const fn question(name: &'static str, sql: &'static str) -> Statement {
    Statement {
        name,
        sql,
        parameters: &[Type::Big],
        columns: &[Type::Big, Type::Text(15), Type::Big, Type::Big, Type::Big],
    }
}

/// How many trades are in each state.
pub(super) static STATES: Statement = Statement {
    name: "books_states",
    sql: "SELECT status_id, COUNT(*) FROM trade WHERE id > $1 GROUP BY status_id ORDER BY status_id",
    parameters: &[Type::Big],
    columns: &[Type::Small, Type::Big],
};

/// All of them.
pub(super) static INVARIANTS: [Invariant; 12] = [
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

const POSITIONS: Invariant = Invariant {
    name: "positions",
    question: question(
        "books_positions",
        "SELECT account_id, symbol, held, lots, COUNT(*) OVER () FROM (
 SELECT p.account_id, p.symbol, CAST(COALESCE(hs.quantity, 0) AS @integer@) AS held,
 CAST(COALESCE(SUM(h.quantity), 0) AS @integer@) AS lots
 FROM (SELECT DISTINCT account_id, symbol FROM trade WHERE id > $1) p
 LEFT JOIN holding_summary hs ON hs.account_id = p.account_id AND hs.symbol = p.symbol
 LEFT JOIN holding h ON h.account_id = p.account_id AND h.symbol = p.symbol
 GROUP BY p.account_id, p.symbol, hs.quantity) q
WHERE held <> lots
ORDER BY account_id, symbol
LIMIT 1",
    ),
    sentence: |example| {
        format!(
            "{} positions are not the sum of their lots, such as that of account {} in {}: {} \
             shares, and lots of {}.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};

const NO_EMPTY_POSITION: Invariant = Invariant {
    name: "empty positions",
    question: question(
        "books_empty_positions",
        "SELECT p.account_id, p.symbol, CAST(0 AS @integer@), CAST(0 AS @integer@),
 COUNT(*) OVER ()
FROM (SELECT DISTINCT account_id, symbol FROM trade WHERE id > $1) p
JOIN holding_summary hs ON hs.account_id = p.account_id AND hs.symbol = p.symbol
WHERE hs.quantity = 0
ORDER BY p.account_id, p.symbol
LIMIT 1",
    ),
    sentence: |example| {
        format!(
            "{} positions are of no shares and should be gone, such as that of account {} in {}.",
            example.count, example.of, example.about
        )
    },
};

const NO_EMPTY_LOT: Invariant = Invariant {
    name: "empty lots",
    question: question(
        "books_empty_lots",
        "SELECT h.trade_id, h.symbol, CAST(0 AS @integer@), CAST(0 AS @integer@),
 COUNT(*) OVER ()
FROM (SELECT DISTINCT account_id, symbol FROM trade WHERE id > $1) p
JOIN holding h ON h.account_id = p.account_id AND h.symbol = p.symbol
WHERE h.quantity = 0
ORDER BY h.trade_id
LIMIT 1",
    ),
    sentence: |example| {
        format!(
            "{} lots are of no shares and should be gone, such as that of trade {} in {}.",
            example.count, example.of, example.about
        )
    },
};

const LOT_HISTORIES: Invariant = Invariant {
    name: "histories of lots",
    question: question(
        "books_lot_histories",
        "SELECT holding_trade_id, '', left_over, changes, COUNT(*) OVER () FROM (
 SELECT touched.holding_trade_id, CAST(COALESCE(h.quantity, 0) AS @integer@) AS left_over,
 CAST(SUM(hh.after_quantity - hh.before_quantity) AS @integer@) AS changes
 FROM (SELECT DISTINCT holding_trade_id FROM holding_history WHERE trade_id > $1) touched
 JOIN holding_history hh ON hh.holding_trade_id = touched.holding_trade_id
 LEFT JOIN holding h ON h.trade_id = touched.holding_trade_id
 GROUP BY touched.holding_trade_id, h.quantity) q
WHERE left_over <> changes
ORDER BY holding_trade_id
LIMIT 1",
    ),
    sentence: |example| {
        format!(
            "{} lots are not what their histories leave, such as that of trade {}: {} shares, and \
             changes that add up to {}.",
            example.count, example.of, example.found, example.expected
        )
    },
};

const TRADE_HISTORIES: Invariant = Invariant {
    name: "shares of trades",
    question: question(
        "books_trade_histories",
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
    sentence: |example| {
        format!(
            "{} completed trades did not change as many shares as they traded, such as trade {} in \
             {}: lots changed by {}, and it traded {}.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};

const SETTLED: Invariant = Invariant {
    name: "settlements of trades",
    question: question(
        "books_settled",
        "SELECT t.id, t.symbol, CAST(0 AS @integer@), CAST(1 AS @integer@), COUNT(*) OVER ()
FROM trade t
WHERE t.id > $1 AND t.status_id = 1
 AND NOT EXISTS (SELECT 1 FROM settlement se WHERE se.trade_id = t.id)
ORDER BY t.id
LIMIT 1",
    ),
    sentence: |example| {
        format!(
            "{} completed trades have no settlement, such as trade {} in {}.",
            example.count, example.of, example.about
        )
    },
};

const SETTLED_ONLY_COMPLETED: Invariant = Invariant {
    name: "trades of settlements",
    question: question(
        "books_settled_only_completed",
        "SELECT se.trade_id, t.symbol, CAST(t.status_id AS @integer@), CAST(1 AS @integer@),
 COUNT(*) OVER ()
FROM settlement se
JOIN trade t ON t.id = se.trade_id
WHERE se.trade_id > $1 AND t.status_id <> 1
ORDER BY se.trade_id
LIMIT 1",
    ),
    sentence: |example| {
        format!(
            "{} settlements are of trades that are not completed, such as that of trade {}, whose \
             status is {}.",
            example.count, example.of, example.found
        )
    },
};

const CASH: Invariant = Invariant {
    name: "cash of trades",
    question: question(
        "books_cash",
        "SELECT t.id, t.symbol, COALESCE(ct.amount_cents, 0), se.amount_cents, COUNT(*) OVER ()
FROM trade t
JOIN settlement se ON se.trade_id = t.id
LEFT JOIN cash_transaction ct ON ct.trade_id = t.id
WHERE t.id > $1 AND t.status_id = 1 AND t.is_cash = 1
 AND (ct.amount_cents IS NULL OR ct.amount_cents <> se.amount_cents)
ORDER BY t.id
LIMIT 1",
    ),
    sentence: |example| {
        format!(
            "{} trades for cash did not move what was settled, such as trade {}: {} cents moved, \
             {} settled.",
            example.count, example.of, example.found, example.expected
        )
    },
};

const CASH_ONLY_PAID: Invariant = Invariant {
    name: "trades of cash",
    question: question(
        "books_cash_only_paid",
        "SELECT ct.trade_id, t.symbol, CAST(t.status_id AS @integer@), CAST(1 AS @integer@),
 COUNT(*) OVER ()
FROM cash_transaction ct
JOIN trade t ON t.id = ct.trade_id
WHERE ct.trade_id > $1 AND (t.status_id <> 1 OR t.is_cash <> 1)
ORDER BY ct.trade_id
LIMIT 1",
    ),
    sentence: |example| {
        format!(
            "{} cash transactions are of trades on margin or not completed, such as that of trade \
             {}, whose status is {}.",
            example.count, example.of, example.found
        )
    },
};

// Orders at the price of the market are submitted and completed; others were pending before. Steps
// beyond the status count too, so that they are too many.
const STEPS: Invariant = Invariant {
    name: "steps of trades",
    question: question(
        "books_steps",
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
    sentence: |example| {
        format!(
            "{} trades have a history that does not lead to their status, such as trade {} in {}: \
             {} steps of {}.",
            example.count, example.of, example.about, example.found, example.expected
        )
    },
};

const REQUESTS: Invariant = Invariant {
    name: "trades of requests",
    question: question(
        "books_requests",
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
    sentence: |example| {
        format!(
            "{} requests are not those of orders that wait for a price, such as that of trade {}, \
             whose status is {}.",
            example.count, example.of, example.found
        )
    },
};

const PENDING: Invariant = Invariant {
    name: "requests of trades",
    question: question(
        "books_pending",
        "SELECT t.id, t.symbol, CAST(0 AS @integer@), CAST(1 AS @integer@), COUNT(*) OVER ()
FROM trade t
WHERE t.id > $1 AND t.status_id = 4
 AND NOT EXISTS (SELECT 1 FROM trade_request tr WHERE tr.trade_id = t.id)
ORDER BY t.id
LIMIT 1",
    ),
    sentence: |example| {
        format!(
            "{} orders wait for a price without a request, such as trade {} in {}.",
            example.count, example.of, example.about
        )
    },
};
