//! Statements of data maintenance.

use crate::schema::Type;
use crate::statement::Statement;

/// A statement of maintenance: name, SQL and parameters.
macro_rules! statement {
    ($name:ident, $title:literal, $sql:literal, [$($parameter:expr),*]) => {
        pub(in crate::transactions) static $name: Statement = Statement {
            name: $title,
            sql: $sql,
            parameters: &[$($parameter),*],
        };
    };
}

statement!(
    PERMISSIONS,
    "maintain_permissions",
    "UPDATE account_permission SET access = CASE access WHEN '1111' THEN '0011' ELSE '1111' END
WHERE account_id = $1",
    [Type::Big]
);
statement!(
    READ_PERMISSIONS,
    "maintain_read_permissions",
    "SELECT tax_id, access FROM account_permission WHERE account_id = $1 ORDER BY tax_id",
    [Type::Big]
);
statement!(
    ADDRESS_OF_CUSTOMER,
    "maintain_address_of_customer",
    "UPDATE address SET line_2 = CASE line_2 WHEN 'Apt. 10C' THEN 'Apt. 22' ELSE 'Apt. 10C' END
WHERE id = (SELECT address_id FROM customer WHERE id = $1)",
    [Type::Big]
);
statement!(
    READ_ADDRESS_OF_CUSTOMER,
    "maintain_read_address_of_customer",
    "SELECT line_2 FROM address WHERE id = (SELECT address_id FROM customer WHERE id = $1)",
    [Type::Big]
);
statement!(
    ADDRESS_OF_COMPANY,
    "maintain_address_of_company",
    "UPDATE address SET line_2 = CASE line_2 WHEN 'Apt. 10C' THEN 'Apt. 22' ELSE 'Apt. 10C' END
WHERE id = (SELECT address_id FROM company WHERE id = $1)",
    [Type::Big]
);
statement!(
    READ_ADDRESS_OF_COMPANY,
    "maintain_read_address_of_company",
    "SELECT line_2 FROM address WHERE id = (SELECT address_id FROM company WHERE id = $1)",
    [Type::Big]
);
statement!(
    COMPANY,
    "maintain_company",
    "UPDATE company SET credit_rating = CASE credit_rating WHEN 'ABA' THEN 'AAA' ELSE 'ABA' END
WHERE id = $1",
    [Type::Big]
);
statement!(
    READ_COMPANY,
    "maintain_read_company",
    "SELECT credit_rating FROM company WHERE id = $1",
    [Type::Big]
);
statement!(
    EMAIL,
    "maintain_email",
    "SELECT email_2 FROM customer WHERE id = $1",
    [Type::Big]
);
statement!(
    CHANGE_EMAIL,
    "maintain_change_email",
    "UPDATE customer SET email_2 = $2 WHERE id = $1",
    [Type::Big, Type::Text(50)]
);
statement!(
    TAX_RATES,
    "maintain_tax_rates",
    "SELECT tax_rate_id FROM customer_tax_rate WHERE customer_id = $1 ORDER BY tax_rate_id",
    [Type::Big]
);
statement!(
    CHANGE_TAX_RATE,
    "maintain_change_tax_rate",
    "UPDATE customer_tax_rate SET tax_rate_id = $3 WHERE customer_id = $1 AND tax_rate_id = $2",
    [Type::Big, Type::Text(4), Type::Text(4)]
);
statement!(
    DAYS,
    "maintain_days",
    "UPDATE daily_market SET volume = volume + $3 WHERE symbol = $1 AND day % 30 = $2",
    [Type::Text(15), Type::Integer, Type::Big]
);
statement!(
    READ_DAYS,
    "maintain_read_days",
    "SELECT day, volume FROM daily_market WHERE symbol = $1 AND day % 30 = $2 ORDER BY day",
    [Type::Text(15), Type::Integer]
);
statement!(
    EXCHANGES,
    "maintain_exchanges",
    "SELECT id, description FROM exchange ORDER BY id",
    []
);
statement!(
    CHANGE_EXCHANGE,
    "maintain_change_exchange",
    "UPDATE exchange SET description = $2 WHERE id = $1",
    [Type::Text(6), Type::Text(150)]
);
statement!(
    REPORTS,
    "maintain_reports",
    "SELECT year, quarter, quarter_start_day FROM financial WHERE company_id = $1
ORDER BY year, quarter",
    [Type::Big]
);
statement!(
    CHANGE_REPORTS,
    "maintain_change_reports",
    "UPDATE financial SET quarter_start_day = quarter_start_day + $2 WHERE company_id = $1",
    [Type::Big, Type::Integer]
);
statement!(
    NEWS,
    "maintain_news",
    "UPDATE news_item SET published_at = published_at + 86400000
WHERE id = (SELECT MIN(news_item_id) FROM news_reference WHERE company_id = $1)",
    [Type::Big]
);
statement!(
    READ_NEWS,
    "maintain_read_news",
    "SELECT published_at FROM news_item
WHERE id = (SELECT MIN(news_item_id) FROM news_reference WHERE company_id = $1)",
    [Type::Big]
);
statement!(
    SECURITY,
    "maintain_security",
    "UPDATE security SET exchange_day = exchange_day + 1 WHERE symbol = $1",
    [Type::Text(15)]
);
statement!(
    READ_SECURITY,
    "maintain_read_security",
    "SELECT exchange_day FROM security WHERE symbol = $1",
    [Type::Text(15)]
);
statement!(
    TAX_NAME,
    "maintain_tax_name",
    "SELECT name FROM tax_rate WHERE id = $1",
    [Type::Text(4)]
);
statement!(
    CHANGE_TAX_NAME,
    "maintain_change_tax_name",
    "UPDATE tax_rate SET name = $2 WHERE id = $1",
    [Type::Text(4), Type::Text(50)]
);
statement!(
    WATCHED,
    "maintain_watched",
    "SELECT wi.watch_list_id, wi.symbol
FROM watch_list wl
JOIN watch_item wi ON wi.watch_list_id = wl.id
WHERE wl.customer_id = $1
ORDER BY wi.symbol",
    [Type::Big]
);
statement!(
    NOT_WATCHED,
    "maintain_not_watched",
    "SELECT s.symbol FROM security s
WHERE s.symbol > $2 AND NOT EXISTS
 (SELECT 1 FROM watch_item wi WHERE wi.watch_list_id = $1 AND wi.symbol = s.symbol)
ORDER BY s.symbol
LIMIT 1",
    [Type::Big, Type::Text(15)]
);
statement!(
    CHANGE_WATCHED,
    "maintain_change_watched",
    "UPDATE watch_item SET symbol = $3 WHERE watch_list_id = $1 AND symbol = $2",
    [Type::Big, Type::Text(15), Type::Text(15)]
);
