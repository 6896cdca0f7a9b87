//! Statements of a trade result.

use crate::schema::Type;
use crate::statement::Statement;

pub(in crate::transactions) static TRADE: Statement = Statement {
    name: "trade_result_trade",
    sql: "SELECT t.account_id, t.symbol, t.quantity, t.status_id, t.is_cash, t.is_lifo,
 t.charge_cents, tt.name, tt.is_sell, ca.broker_id, ca.customer_id, ca.tax_status,
 s.name, COALESCE(hs.quantity, 0), cr.rate_hundredths
FROM trade t
JOIN trade_type tt ON tt.id = t.trade_type_id
JOIN customer_account ca ON ca.id = t.account_id
JOIN customer c ON c.id = ca.customer_id
JOIN security s ON s.symbol = t.symbol
JOIN commission_rate cr ON cr.tier = c.tier AND cr.trade_type_id = t.trade_type_id
 AND cr.exchange_id = s.exchange_id
 AND cr.from_quantity <= t.quantity AND cr.to_quantity >= t.quantity
LEFT JOIN holding_summary hs ON hs.account_id = t.account_id AND hs.symbol = t.symbol
WHERE t.id = $1",
    parameters: &[Type::Big],
};

pub(in crate::transactions) static LOTS: Statement = Statement {
    name: "trade_result_lots",
    sql: "SELECT h.trade_id, h.quantity, h.price_cents
FROM trade t
JOIN holding h ON h.account_id = t.account_id AND h.symbol = t.symbol
WHERE t.id = $1
ORDER BY h.bought_at, h.trade_id",
    parameters: &[Type::Big],
};

pub(in crate::transactions) static TAX_RATES: Statement = Statement {
    name: "trade_result_tax_rates",
    sql: "SELECT CAST(COALESCE(SUM(r.rate_per_100000), 0) AS @integer@)
FROM trade t
JOIN customer_account ca ON ca.id = t.account_id
JOIN customer_tax_rate cr ON cr.customer_id = ca.customer_id
JOIN tax_rate r ON r.id = cr.tax_rate_id
WHERE t.id = $1",
    parameters: &[Type::Big],
};

pub(in crate::transactions) static SUMMARY_BEGINS: Statement = Statement {
    name: "trade_result_summary_begins",
    sql: "INSERT INTO holding_summary (account_id, symbol, quantity) VALUES ($1, $2, $3)",
    parameters: &[Type::Big, Type::Text(15), Type::Integer],
};

pub(in crate::transactions) static SUMMARY_CHANGES: Statement = Statement {
    name: "trade_result_summary_changes",
    sql: "UPDATE holding_summary SET quantity = $3 WHERE account_id = $1 AND symbol = $2",
    parameters: &[Type::Big, Type::Text(15), Type::Integer],
};

pub(in crate::transactions) static SUMMARY_ENDS: Statement = Statement {
    name: "trade_result_summary_ends",
    sql: "DELETE FROM holding_summary WHERE account_id = $1 AND symbol = $2",
    parameters: &[Type::Big, Type::Text(15)],
};

pub(in crate::transactions) static LOT_BEGINS: Statement = Statement {
    name: "trade_result_lot_begins",
    sql: "INSERT INTO holding (trade_id, account_id, symbol, bought_at, price_cents, quantity)
VALUES ($1, $2, $3, $4, $5, $6)",
    parameters: &[
        Type::Big,
        Type::Big,
        Type::Text(15),
        Type::Big,
        Type::Big,
        Type::Integer,
    ],
};

pub(in crate::transactions) static LOT_CHANGES: Statement = Statement {
    name: "trade_result_lot_changes",
    sql: "UPDATE holding SET quantity = $2 WHERE trade_id = $1",
    parameters: &[Type::Big, Type::Integer],
};

pub(in crate::transactions) static LOT_ENDS: Statement = Statement {
    name: "trade_result_lot_ends",
    sql: "DELETE FROM holding WHERE trade_id = $1",
    parameters: &[Type::Big],
};

pub(in crate::transactions) static LOT_HISTORY: Statement = Statement {
    name: "trade_result_lot_history",
    sql: "INSERT INTO holding_history (holding_trade_id, trade_id, before_quantity, after_quantity)
VALUES ($1, $2, $3, $4)",
    parameters: &[Type::Big, Type::Big, Type::Integer, Type::Integer],
};

pub(in crate::transactions) static COMPLETE: Statement = Statement {
    name: "trade_result_complete",
    sql: "UPDATE trade SET entered_at = $2, status_id = $3, trade_price_cents = $4,
 commission_cents = $5, tax_cents = $6
WHERE id = $1",
    parameters: &[
        Type::Big,
        Type::Big,
        Type::Small,
        Type::Big,
        Type::Big,
        Type::Big,
    ],
};

pub(in crate::transactions) static BROKER: Statement = Statement {
    name: "trade_result_broker",
    sql: "UPDATE broker SET trade_count = trade_count + 1,
 commission_cents = commission_cents + $2
WHERE id = $1",
    parameters: &[Type::Big, Type::Big],
};

pub(in crate::transactions) static SETTLE: Statement = Statement {
    name: "trade_result_settle",
    sql: "INSERT INTO settlement (trade_id, cash_type, due_day, amount_cents)
VALUES ($1, $2, $3, $4)",
    parameters: &[Type::Big, Type::Text(40), Type::Integer, Type::Big],
};

pub(in crate::transactions) static PAY: Statement = Statement {
    name: "trade_result_pay",
    sql: "UPDATE customer_account SET balance_cents = balance_cents + $2 WHERE id = $1",
    parameters: &[Type::Big, Type::Big],
};

pub(in crate::transactions) static CASH: Statement = Statement {
    name: "trade_result_cash",
    sql: "INSERT INTO cash_transaction (trade_id, booked_at, amount_cents, name)
VALUES ($1, $2, $3, $4)",
    parameters: &[Type::Big, Type::Big, Type::Big, Type::Text(100)],
};

pub(in crate::transactions) static BALANCE: Statement = Statement {
    name: "trade_result_balance",
    sql: "SELECT balance_cents FROM customer_account WHERE id = $1",
    parameters: &[Type::Big],
};
