//! Trades, their history, settlements, cash and holdings.

use super::names::TableName;
use super::table::{Class, Table, big, index, integer, or_null, refers, small, text};

pub(super) const TRADE: Table = Table {
    name: TableName::Trade,
    class: Class::Growing,
    columns: &[
        big("id"),
        big("entered_at"),
        small("status_id"),
        small("trade_type_id"),
        small("is_cash"),
        text("symbol", 15),
        integer("quantity"),
        big("bid_price_cents"),
        big("account_id"),
        text("executor_name", 49),
        or_null(big("trade_price_cents")),
        big("charge_cents"),
        big("commission_cents"),
        big("tax_cents"),
        small("is_lifo"),
    ],
    primary_key: &["id"],
    references: &[
        refers(&["status_id"], TableName::StatusType),
        refers(&["trade_type_id"], TableName::TradeType),
        refers(&["symbol"], TableName::Security),
        refers(&["account_id"], TableName::CustomerAccount),
    ],
    indexes: &[
        index(&["account_id", "entered_at"]),
        index(&["symbol", "entered_at"]),
    ],
};

pub(super) const TRADE_HISTORY: Table = Table {
    name: TableName::TradeHistory,
    class: Class::Growing,
    columns: &[big("trade_id"), small("status_id"), big("changed_at")],
    primary_key: &["trade_id", "status_id"],
    references: &[
        refers(&["trade_id"], TableName::Trade),
        refers(&["status_id"], TableName::StatusType),
    ],
    indexes: &[],
};

pub(super) const TRADE_REQUEST: Table = Table {
    name: TableName::TradeRequest,
    class: Class::Growing,
    columns: &[
        big("trade_id"),
        small("trade_type_id"),
        text("symbol", 15),
        integer("quantity"),
        big("bid_price_cents"),
        big("broker_id"),
    ],
    primary_key: &["trade_id"],
    references: &[
        refers(&["trade_id"], TableName::Trade),
        refers(&["trade_type_id"], TableName::TradeType),
        refers(&["symbol"], TableName::Security),
        refers(&["broker_id"], TableName::Broker),
    ],
    indexes: &[index(&["broker_id", "symbol"]), index(&["symbol"])],
};

pub(super) const SETTLEMENT: Table = Table {
    name: TableName::Settlement,
    class: Class::Growing,
    columns: &[
        big("trade_id"),
        text("cash_type", 40),
        integer("due_day"),
        big("amount_cents"),
    ],
    primary_key: &["trade_id"],
    references: &[refers(&["trade_id"], TableName::Trade)],
    indexes: &[],
};

pub(super) const CASH_TRANSACTION: Table = Table {
    name: TableName::CashTransaction,
    class: Class::Growing,
    columns: &[
        big("trade_id"),
        big("booked_at"),
        big("amount_cents"),
        text("name", 100),
    ],
    primary_key: &["trade_id"],
    references: &[refers(&["trade_id"], TableName::Trade)],
    indexes: &[],
};

pub(super) const HOLDING_SUMMARY: Table = Table {
    name: TableName::HoldingSummary,
    class: Class::Growing,
    columns: &[big("account_id"), text("symbol", 15), integer("quantity")],
    primary_key: &["account_id", "symbol"],
    references: &[
        refers(&["account_id"], TableName::CustomerAccount),
        refers(&["symbol"], TableName::Security),
    ],
    indexes: &[],
};

pub(super) const HOLDING: Table = Table {
    name: TableName::Holding,
    class: Class::Growing,
    columns: &[
        big("trade_id"),
        big("account_id"),
        text("symbol", 15),
        big("bought_at"),
        big("price_cents"),
        integer("quantity"),
    ],
    primary_key: &["trade_id"],
    references: &[
        refers(&["trade_id"], TableName::Trade),
        refers(&["account_id", "symbol"], TableName::HoldingSummary),
    ],
    indexes: &[index(&["account_id", "symbol", "bought_at"])],
};

pub(super) const HOLDING_HISTORY: Table = Table {
    name: TableName::HoldingHistory,
    class: Class::Growing,
    columns: &[
        big("holding_trade_id"),
        big("trade_id"),
        integer("before_quantity"),
        integer("after_quantity"),
    ],
    primary_key: &["holding_trade_id", "trade_id"],
    references: &[
        refers(&["holding_trade_id"], TableName::Trade),
        refers(&["trade_id"], TableName::Trade),
    ],
    indexes: &[index(&["trade_id"])],
};
