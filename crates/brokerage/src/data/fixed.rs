//! Tables that are the same in every house but for its size.

use super::pen::Pen;
use crate::error::DatabaseError;
use crate::house::House;
use crate::house::moments::{CLOSE_MINUTE, OPEN_MINUTE};
use crate::house::rates::{COUNTRY_RATES, DIVISION_RATES, QUANTITY_RANGES, write_tax_rate_id};
use crate::house::securities::EXCHANGES;
use crate::house::words;
use crate::transactions::kinds::{Status, TradeKind};

type Written = Result<(), DatabaseError>;

const STATUSES: [(Status, &str); 5] = [
    (Status::Completed, "completed"),
    (Status::Active, "active"),
    (Status::Submitted, "submitted"),
    (Status::Pending, "pending"),
    (Status::Cancelled, "cancelled"),
];

/// What a trade is called by its kind.
pub(super) fn kind_name(kind: TradeKind) -> &'static str {
    match kind {
        TradeKind::MarketBuy => "market-buy",
        TradeKind::MarketSell => "market-sell",
        TradeKind::StopLoss => "stop-loss",
        TradeKind::LimitSell => "limit-sell",
        TradeKind::LimitBuy => "limit-buy",
    }
}

pub(super) fn status_types(pen: &mut Pen) -> Written {
    for (status, name) in STATUSES {
        pen.number(status.id());
        pen.text(name);
        pen.end()?;
    }
    Ok(())
}

pub(super) fn trade_types(pen: &mut Pen) -> Written {
    for kind in TradeKind::ALL {
        pen.number(kind.id());
        pen.text(kind_name(kind));
        pen.number(i64::from(kind.is_sell()));
        pen.number(i64::from(kind.is_market()));
        pen.end()?;
    }
    Ok(())
}

pub(super) fn tax_rates(house: &House, pen: &mut Pen) -> Written {
    for rate in 0..COUNTRY_RATES + DIVISION_RATES {
        pen.compose(|text| write_tax_rate_id(rate, text));
        pen.compose(|text| {
            text.push_str(if rate < COUNTRY_RATES {
                "Income of the country, bracket "
            } else {
                "Gains in the division, bracket "
            });
            write_tax_rate_id(rate, text);
        });
        pen.number(house.tax_per_100000(rate));
        pen.end()?;
    }
    Ok(())
}

pub(super) fn sectors(house: &House, pen: &mut Pen) -> Written {
    for sector in 0..house.sectors() {
        pen.text(house.sector_id(sector));
        pen.text(house.sector_name(sector));
        pen.end()?;
    }
    Ok(())
}

pub(super) fn industries(house: &House, pen: &mut Pen) -> Written {
    for industry in 0..house.industries() {
        pen.text(house.industry_id(industry));
        pen.text(house.industry_name(industry));
        pen.text(house.sector_id(house.sector_of_industry(industry)));
        pen.end()?;
    }
    Ok(())
}

pub(super) fn exchanges(house: &House, pen: &mut Pen) -> Written {
    for exchange in 0..EXCHANGES {
        let (id, name, description) = words::EXCHANGES[exchange as usize];
        pen.text(id);
        pen.text(name);
        // Securities are dealt to the exchanges in turn.
        let securities = (house.securities() - exchange).div_ceil(EXCHANGES);
        pen.numbers(&[i64::from(securities), OPEN_MINUTE, CLOSE_MINUTE]);
        pen.text(description);
        pen.number(house.address_of_exchange(exchange));
        pen.end()?;
    }
    Ok(())
}

pub(super) fn charges(house: &House, pen: &mut Pen) -> Written {
    for kind in TradeKind::ALL {
        for tier in 1..=3 {
            let charge = house.charge_cents(kind, tier);
            pen.numbers(&[kind.id(), i64::from(tier), charge]);
            pen.end()?;
        }
    }
    Ok(())
}

pub(super) fn commission_rates(house: &House, pen: &mut Pen) -> Written {
    for tier in 1..=3 {
        for kind in TradeKind::ALL {
            for exchange in 0..EXCHANGES {
                for (from, to) in QUANTITY_RANGES {
                    let rate = house.commission_rate_hundredths(kind, tier, exchange, from);
                    pen.numbers(&[i64::from(tier), kind.id()]);
                    pen.text(house.exchange_id(exchange));
                    pen.numbers(&[from, to, rate]);
                    pen.end()?;
                }
            }
        }
    }
    Ok(())
}
