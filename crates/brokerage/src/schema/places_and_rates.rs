//! The tables that do not depend on the number of customers: places, rates, enumerations.

use super::names::TableName;
use super::table::{Class, Table, big, index, integer, or_null, refers, small, text, unique};

pub(super) const ZIP_CODE: Table = Table {
    name: TableName::ZipCode,
    class: Class::Fixed,
    columns: &[text("code", 12), text("town", 80), text("division", 80)],
    primary_key: &["code"],
    references: &[],
    indexes: &[],
};

pub(super) const ADDRESS: Table = Table {
    name: TableName::Address,
    class: Class::Scaling,
    columns: &[
        big("id"),
        text("line_1", 80),
        or_null(text("line_2", 80)),
        text("zip_code", 12),
        or_null(text("country", 80)),
    ],
    primary_key: &["id"],
    references: &[refers(&["zip_code"], TableName::ZipCode)],
    indexes: &[],
};

pub(super) const STATUS_TYPE: Table = Table {
    name: TableName::StatusType,
    class: Class::Fixed,
    columns: &[small("id"), text("name", 10)],
    primary_key: &["id"],
    references: &[],
    indexes: &[],
};

pub(super) const TAX_RATE: Table = Table {
    name: TableName::TaxRate,
    class: Class::Fixed,
    columns: &[text("id", 4), text("name", 50), integer("rate_per_100000")],
    primary_key: &["id"],
    references: &[],
    indexes: &[],
};

pub(super) const SECTOR: Table = Table {
    name: TableName::Sector,
    class: Class::Fixed,
    columns: &[text("id", 2), text("name", 30)],
    primary_key: &["id"],
    references: &[],
    indexes: &[unique(&["name"])],
};

pub(super) const INDUSTRY: Table = Table {
    name: TableName::Industry,
    class: Class::Fixed,
    columns: &[text("id", 2), text("name", 50), text("sector_id", 2)],
    primary_key: &["id"],
    references: &[refers(&["sector_id"], TableName::Sector)],
    indexes: &[unique(&["name"]), index(&["sector_id"])],
};

pub(super) const EXCHANGE: Table = Table {
    name: TableName::Exchange,
    class: Class::Fixed,
    columns: &[
        text("id", 6),
        text("name", 100),
        integer("security_count"),
        integer("open_minute"),
        integer("close_minute"),
        text("description", 150),
        big("address_id"),
    ],
    primary_key: &["id"],
    references: &[refers(&["address_id"], TableName::Address)],
    indexes: &[],
};

pub(super) const TRADE_TYPE: Table = Table {
    name: TableName::TradeType,
    class: Class::Fixed,
    columns: &[
        small("id"),
        text("name", 12),
        small("is_sell"),
        small("is_market"),
    ],
    primary_key: &["id"],
    references: &[],
    indexes: &[],
};

pub(super) const CHARGE: Table = Table {
    name: TableName::Charge,
    class: Class::Fixed,
    columns: &[small("trade_type_id"), small("tier"), big("charge_cents")],
    primary_key: &["trade_type_id", "tier"],
    references: &[refers(&["trade_type_id"], TableName::TradeType)],
    indexes: &[],
};

pub(super) const COMMISSION_RATE: Table = Table {
    name: TableName::CommissionRate,
    class: Class::Fixed,
    columns: &[
        small("tier"),
        small("trade_type_id"),
        text("exchange_id", 6),
        integer("from_quantity"),
        integer("to_quantity"),
        integer("rate_hundredths"),
    ],
    primary_key: &["tier", "trade_type_id", "exchange_id", "from_quantity"],
    references: &[
        refers(&["trade_type_id"], TableName::TradeType),
        refers(&["exchange_id"], TableName::Exchange),
    ],
    indexes: &[],
};
