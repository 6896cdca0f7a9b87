//! Statements of a trade order.

use crate::schema::Type;
use crate::statement::Statement;

pub(in crate::transactions) static ACCOUNT: Statement = Statement {
    name: "trade_order_account",
    sql: "SELECT ca.name, ca.broker_id, ca.customer_id, ca.tax_status, ca.balance_cents,
 c.last_name, c.first_name, c.tax_id, c.tier, b.name
FROM customer_account ca
JOIN customer c ON c.id = ca.customer_id
JOIN broker b ON b.id = ca.broker_id
WHERE ca.id = $1",
    parameters: &[Type::Big],
};

pub(in crate::transactions) static PERMISSION: Statement = Statement {
    name: "trade_order_permission",
    sql: "SELECT access FROM account_permission
WHERE account_id = $1 AND tax_id = $2 AND last_name = $3 AND first_name = $4",
    parameters: &[Type::Big, Type::Text(20), Type::Text(25), Type::Text(20)],
};

pub(in crate::transactions) static SECURITY_BY_SYMBOL: Statement = Statement {
    name: "trade_order_security_by_symbol",
    sql: "SELECT s.symbol, s.name, s.exchange_id, co.name, lt.price_cents
FROM security s
JOIN company co ON co.id = s.company_id
JOIN last_trade lt ON lt.symbol = s.symbol
WHERE s.symbol = $1",
    parameters: &[Type::Text(15)],
};

pub(in crate::transactions) static SECURITY_BY_COMPANY: Statement = Statement {
    name: "trade_order_security_by_company",
    sql: "SELECT s.symbol, s.name, s.exchange_id, co.name, lt.price_cents
FROM company co
JOIN security s ON s.company_id = co.id
JOIN last_trade lt ON lt.symbol = s.symbol
WHERE co.name = $1 AND s.issue = $2
ORDER BY s.symbol",
    parameters: &[Type::Text(60), Type::Text(6)],
};

pub(in crate::transactions) static KIND: Statement = Statement {
    name: "trade_order_kind",
    sql: "SELECT name, is_sell, is_market FROM trade_type WHERE id = $1",
    parameters: &[Type::Small],
};

pub(in crate::transactions) static SUMMARY: Statement = Statement {
    name: "trade_order_summary",
    sql: "SELECT quantity FROM holding_summary WHERE account_id = $1 AND symbol = $2",
    parameters: &[Type::Big, Type::Text(15)],
};

pub(in crate::transactions) static LOTS: Statement = Statement {
    name: "trade_order_lots",
    sql: "SELECT trade_id, quantity, price_cents FROM holding
WHERE account_id = $1 AND symbol = $2
ORDER BY bought_at, trade_id",
    parameters: &[Type::Big, Type::Text(15)],
};

pub(in crate::transactions) static TAX_RATES: Statement = Statement {
    name: "trade_order_tax_rates",
    sql: "SELECT CAST(COALESCE(SUM(r.rate_per_100000), 0) AS @integer@)
FROM customer_account ca
JOIN customer_tax_rate cr ON cr.customer_id = ca.customer_id
JOIN tax_rate r ON r.id = cr.tax_rate_id
WHERE ca.id = $1",
    parameters: &[Type::Big],
};

pub(in crate::transactions) static COMMISSION: Statement = Statement {
    name: "trade_order_commission",
    sql: "SELECT cr.rate_hundredths
FROM customer_account ca
JOIN customer c ON c.id = ca.customer_id
JOIN security s ON s.symbol = $2
JOIN commission_rate cr ON cr.tier = c.tier AND cr.trade_type_id = $3
 AND cr.exchange_id = s.exchange_id AND cr.from_quantity <= $4 AND cr.to_quantity >= $4
WHERE ca.id = $1",
    parameters: &[Type::Big, Type::Text(15), Type::Small, Type::Integer],
};

pub(in crate::transactions) static CHARGE: Statement = Statement {
    name: "trade_order_charge",
    sql: "SELECT ch.charge_cents
FROM customer_account ca
JOIN customer c ON c.id = ca.customer_id
JOIN charge ch ON ch.tier = c.tier AND ch.trade_type_id = $2
WHERE ca.id = $1",
    parameters: &[Type::Big, Type::Small],
};

pub(in crate::transactions) static ASSETS: Statement = Statement {
    name: "trade_order_assets",
    sql: "SELECT CAST(COALESCE(SUM(hs.quantity * lt.price_cents), 0) AS @integer@)
FROM holding_summary hs
JOIN last_trade lt ON lt.symbol = hs.symbol
WHERE hs.account_id = $1",
    parameters: &[Type::Big],
};

pub(in crate::transactions) static ENTER: Statement = Statement {
    name: "trade_order_enter",
    sql: "INSERT INTO trade (id, entered_at, status_id, trade_type_id, is_cash, symbol, quantity,
 bid_price_cents, account_id, executor_name, trade_price_cents, charge_cents,
 commission_cents, tax_cents, is_lifo)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL, $11, $12, 0, $13)",
    parameters: &[
        Type::Big,
        Type::Big,
        Type::Small,
        Type::Small,
        Type::Small,
        Type::Text(15),
        Type::Integer,
        Type::Big,
        Type::Big,
        Type::Text(49),
        Type::Big,
        Type::Big,
        Type::Small,
    ],
};

/// Inserts a row of trade history, for orders, results and feeds.
pub(in crate::transactions) static STEP: Statement = Statement {
    name: "trade_step",
    sql: "INSERT INTO trade_history (trade_id, status_id, changed_at) VALUES ($1, $2, $3)",
    parameters: &[Type::Big, Type::Small, Type::Big],
};

pub(in crate::transactions) static REQUEST: Statement = Statement {
    name: "trade_order_request",
    sql: "INSERT INTO trade_request (trade_id, trade_type_id, symbol, quantity,
 bid_price_cents, broker_id)
VALUES ($1, $2, $3, $4, $5, $6)",
    parameters: &[
        Type::Big,
        Type::Small,
        Type::Text(15),
        Type::Integer,
        Type::Big,
        Type::Big,
    ],
};
