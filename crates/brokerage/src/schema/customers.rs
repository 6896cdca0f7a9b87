//! Customers, their accounts and their brokers.

use super::names::TableName;
use super::table::{Class, Table, big, index, integer, or_null, refers, small, text, unique};

pub(super) const CUSTOMER: Table = Table {
    name: TableName::Customer,
    class: Class::Scaling,
    columns: &[
        big("id"),
        text("tax_id", 20),
        small("status_id"),
        text("last_name", 25),
        text("first_name", 20),
        or_null(text("middle_name", 1)),
        or_null(text("gender", 1)),
        small("tier"),
        integer("birth_day"),
        big("address_id"),
        or_null(text("phone_1_country", 3)),
        or_null(text("phone_1_area", 3)),
        or_null(text("phone_1_local", 10)),
        or_null(text("phone_1_extension", 5)),
        or_null(text("phone_2_country", 3)),
        or_null(text("phone_2_area", 3)),
        or_null(text("phone_2_local", 10)),
        or_null(text("phone_2_extension", 5)),
        or_null(text("phone_3_country", 3)),
        or_null(text("phone_3_area", 3)),
        or_null(text("phone_3_local", 10)),
        or_null(text("phone_3_extension", 5)),
        or_null(text("email_1", 50)),
        or_null(text("email_2", 50)),
    ],
    primary_key: &["id"],
    references: &[
        refers(&["status_id"], TableName::StatusType),
        refers(&["address_id"], TableName::Address),
    ],
    indexes: &[unique(&["tax_id"])],
};

pub(super) const CUSTOMER_TAX_RATE: Table = Table {
    name: TableName::CustomerTaxRate,
    class: Class::Scaling,
    columns: &[text("tax_rate_id", 4), big("customer_id")],
    primary_key: &["tax_rate_id", "customer_id"],
    references: &[
        refers(&["tax_rate_id"], TableName::TaxRate),
        refers(&["customer_id"], TableName::Customer),
    ],
    indexes: &[index(&["customer_id"])],
};

pub(super) const BROKER: Table = Table {
    name: TableName::Broker,
    class: Class::Scaling,
    columns: &[
        big("id"),
        small("status_id"),
        text("name", 49),
        integer("trade_count"),
        big("commission_cents"),
    ],
    primary_key: &["id"],
    references: &[refers(&["status_id"], TableName::StatusType)],
    indexes: &[unique(&["name"])],
};

pub(super) const CUSTOMER_ACCOUNT: Table = Table {
    name: TableName::CustomerAccount,
    class: Class::Scaling,
    columns: &[
        big("id"),
        big("broker_id"),
        big("customer_id"),
        text("name", 50),
        small("tax_status"),
        big("balance_cents"),
    ],
    primary_key: &["id"],
    references: &[
        refers(&["broker_id"], TableName::Broker),
        refers(&["customer_id"], TableName::Customer),
    ],
    indexes: &[index(&["customer_id"])],
};

pub(super) const ACCOUNT_PERMISSION: Table = Table {
    name: TableName::AccountPermission,
    class: Class::Scaling,
    columns: &[
        big("account_id"),
        text("tax_id", 20),
        text("access", 4),
        text("last_name", 25),
        text("first_name", 20),
    ],
    primary_key: &["account_id", "tax_id"],
    references: &[refers(&["account_id"], TableName::CustomerAccount)],
    indexes: &[],
};

pub(super) const WATCH_LIST: Table = Table {
    name: TableName::WatchList,
    class: Class::Scaling,
    columns: &[big("id"), big("customer_id")],
    primary_key: &["id"],
    references: &[refers(&["customer_id"], TableName::Customer)],
    indexes: &[index(&["customer_id"])],
};

pub(super) const WATCH_ITEM: Table = Table {
    name: TableName::WatchItem,
    class: Class::Scaling,
    columns: &[big("watch_list_id"), text("symbol", 15)],
    primary_key: &["watch_list_id", "symbol"],
    references: &[
        refers(&["watch_list_id"], TableName::WatchList),
        refers(&["symbol"], TableName::Security),
    ],
    indexes: &[],
};
