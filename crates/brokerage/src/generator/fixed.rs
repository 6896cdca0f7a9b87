//! Reference tables, whose number of rows does not depend on the number of customers.

use super::row_writer::RowWriter;
use crate::dataset::DataSet;
use crate::dataset::name_lists;
use crate::dataset::rates::{COUNTRY_RATES, DIVISION_RATES, QUANTITY_RANGES, write_tax_rate_id};
use crate::dataset::securities::EXCHANGES;
use crate::dataset::trading_calendar::{CLOSE_MINUTE, OPEN_MINUTE};
use crate::error::DatabaseError;
use crate::kinds::{Status, TradeKind};

type Written = Result<(), DatabaseError>;

const STATUSES: [(Status, &str); 5] = [
    (Status::Completed, "completed"),
    (Status::Active, "active"),
    (Status::Submitted, "submitted"),
    (Status::Pending, "pending"),
    (Status::Cancelled, "cancelled"),
];

/// The name of a trade type.
pub(super) fn kind_name(kind: TradeKind) -> &'static str {
    kind.into()
}

pub(super) fn status_types(writer: &mut RowWriter) -> Written {
    for (status, name) in STATUSES {
        writer.number(status.id());
        writer.text(name);
        writer.end()?;
    }
    Ok(())
}

pub(super) fn trade_types(writer: &mut RowWriter) -> Written {
    for &kind in TradeKind::ALL {
        writer.number(kind.id());
        writer.text(kind_name(kind));
        writer.number(i64::from(kind.is_sell()));
        writer.number(i64::from(kind.is_market()));
        writer.end()?;
    }
    Ok(())
}

pub(super) fn tax_rates(data_set: &DataSet, writer: &mut RowWriter) -> Written {
    for rate in 0..COUNTRY_RATES + DIVISION_RATES {
        writer.compose(|text| write_tax_rate_id(rate, text));
        writer.compose(|text| {
            text.push_str(if rate < COUNTRY_RATES {
                "Income of the country, bracket "
            } else {
                "Gains in the division, bracket "
            });
            write_tax_rate_id(rate, text);
        });
        writer.number(data_set.tax_per_100000(rate));
        writer.end()?;
    }
    Ok(())
}

pub(super) fn sectors(data_set: &DataSet, writer: &mut RowWriter) -> Written {
    for sector in 0..data_set.sectors() {
        writer.text(data_set.sector_id(sector));
        writer.text(data_set.sector_name(sector));
        writer.end()?;
    }
    Ok(())
}

pub(super) fn industries(data_set: &DataSet, writer: &mut RowWriter) -> Written {
    for industry in 0..data_set.industries() {
        writer.text(data_set.industry_id(industry));
        writer.text(data_set.industry_name(industry));
        writer.text(data_set.sector_id(data_set.sector_of_industry(industry)));
        writer.end()?;
    }
    Ok(())
}

pub(super) fn exchanges(data_set: &DataSet, writer: &mut RowWriter) -> Written {
    for exchange in 0..EXCHANGES {
        let (id, name, description) = name_lists::EXCHANGES[exchange as usize];
        writer.text(id);
        writer.text(name);
        // Securities are assigned to the exchanges in turn.
        let securities = (data_set.securities() - exchange).div_ceil(EXCHANGES);
        writer.numbers(&[i64::from(securities), OPEN_MINUTE, CLOSE_MINUTE]);
        writer.text(description);
        writer.number(data_set.address_of_exchange(exchange));
        writer.end()?;
    }
    Ok(())
}

pub(super) fn charges(data_set: &DataSet, writer: &mut RowWriter) -> Written {
    for &kind in TradeKind::ALL {
        for tier in 1..=3 {
            let charge = data_set.charge_cents(kind, tier);
            writer.numbers(&[kind.id(), i64::from(tier), charge]);
            writer.end()?;
        }
    }
    Ok(())
}

pub(super) fn commission_rates(data_set: &DataSet, writer: &mut RowWriter) -> Written {
    for tier in 1..=3 {
        for &kind in TradeKind::ALL {
            for exchange in 0..EXCHANGES {
                for (from, to) in QUANTITY_RANGES {
                    let rate = data_set.commission_rate_hundredths(kind, tier, exchange, from);
                    writer.numbers(&[i64::from(tier), kind.id()]);
                    writer.text(data_set.exchange_id(exchange));
                    writer.numbers(&[from, to, rate]);
                    writer.end()?;
                }
            }
        }
    }
    Ok(())
}
