//! Companies, their securities and their reports.

use super::pen::Pen;
use super::prices::{History, securities_of};
use crate::error::DatabaseError;
use crate::house::House;
use crate::house::identity::Chance;
use crate::house::moments::{QUARTERS, quarter};
use crate::house::names::{below, pick};
use crate::house::securities::COMPANIES_PER_UNIT;
use crate::house::words::words;
use crate::transactions::kinds::Status;
use std::ops::Range;
use workload::random::mix;

/// Credit ratings, best first.
const RATINGS: [&str; 10] = ["AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB", "BB", "B"];

/// The oldest company was founded on 1 January 1850; days since 1970.
const OLDEST_DAY: i64 = -43_829;

/// Days from a founding to the listing on an exchange, at least and at most.
const LISTED_AFTER_DAYS: (i64, usize) = (365, 3_000);

/// The companies of a unit.
pub(super) fn companies_of(unit: u32) -> Range<u32> {
    unit * COMPANIES_PER_UNIT..(unit + 1) * COMPANIES_PER_UNIT
}

/// The day on which a company was founded: ten years before the opening at the latest.
fn founded_day(house: &House, company: u32) -> i64 {
    let days = house.opening_day() - 3_650 - OLDEST_DAY;
    let chance = house.chance(Chance::Company, company);
    OLDEST_DAY + below(chance as u32, days as usize) as i64
}

pub(super) fn companies(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    let words = words();
    for company in companies_of(unit) {
        let chance = mix(house.chance(Chance::Company, company));
        let industry = house.industry_of_company(company);
        pen.numbers(&[house.company_id(company), Status::Active.id()]);
        pen.compose(|text| house.write_company_name(company, text));
        pen.text(house.industry_id(industry));
        pen.text(RATINGS[below(chance as u32, RATINGS.len())]);
        pen.compose(|text| {
            text.push_str(pick(&words.first_names, (chance >> 32) as u32));
            text.push(' ');
            text.push_str(pick(&words.last_names, mix(chance) as u32));
        });
        pen.number(house.address_of_company(company));
        pen.compose(|text| {
            text.push_str(house.industry_name(industry));
            text.push_str(" from ");
            text.push_str(pick(&words.towns, (mix(chance) >> 32) as u32));
            text.push_str(", in the sector of ");
            text.push_str(house.sector_name(house.sector_of_industry(industry)));
        });
        pen.number(founded_day(house, company));
        pen.end()?;
    }
    Ok(())
}

pub(super) fn competitors(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    for company in companies_of(unit) {
        let industry = house.industry_of_company(company);
        for competitor in house.competitors(company) {
            pen.numbers(&[house.company_id(company), house.company_id(competitor)]);
            pen.text(house.industry_id(industry));
            pen.end()?;
        }
    }
    Ok(())
}

/// Shares that a company has issued of a security.
fn shares_out(house: &House, security: u32) -> i64 {
    let chance = house.chance(Chance::Security, security);
    4_000_000 + below(chance as u32, 9_500_000) as i64 * 1_000
}

pub(super) fn securities(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    for security in securities_of(unit) {
        let chance = mix(house.chance(Chance::Security, security));
        let company = house.company_of_security(security);
        pen.text(house.symbol_of(security).as_str());
        pen.text(house.issue(security));
        pen.number(Status::Active.id());
        pen.compose(|text| house.write_security_name(security, text));
        pen.text(house.exchange_id(house.exchange_of_security(security)));
        let (least, spread) = LISTED_AFTER_DAYS;
        let start = founded_day(house, company) + least / 2;
        let exchange = start + least / 2 + below(chance as u32, spread) as i64;
        let year = History::of(house, security).year(house);
        let dividend_cents = below((chance >> 32) as u32, 400) as i64;
        // A year's dividend for the last price.
        let last = History::of(house, security).day(house.price_days() - 1);
        let yield_hundredths = dividend_cents * 10_000 / last.close_cents;
        pen.numbers(&[
            house.company_id(company),
            shares_out(house, security),
            start,
            exchange,
            1_000 + below(mix(chance) as u32, 11_000) as i64,
            year.high_cents,
            year.high_day,
            year.low_cents,
            year.low_day,
            dividend_cents,
            yield_hundredths,
        ]);
        pen.end()?;
    }
    Ok(())
}

pub(super) fn financials(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    for company in companies_of(unit) {
        let key = house.chance(Chance::Financials, company);
        // The common stock of a company stands first.
        let common = house.securities_of_company(company).next().unwrap_or(0);
        let shares = shares_out(house, common);
        for report in 0..QUARTERS {
            let chance = mix(key ^ u64::from(report));
            let (year, number, first_day) = quarter(report);
            let revenue = 1_000_000_000 + below(chance as u32, 1_000_000) as i64 * 1_500_000;
            let margin = below((chance >> 32) as u32, 4_000) as i64 - 500;
            let earnings = revenue / 10_000 * margin;
            let assets = revenue + revenue / 100 * below(mix(chance) as u32, 300) as i64;
            let liabilities = assets / 100 * below((mix(chance) >> 32) as u32, 90) as i64;
            let diluted = shares + shares / 20;
            pen.numbers(&[house.company_id(company), year, number, first_day]);
            pen.numbers(&[
                revenue,
                earnings,
                earnings / shares,
                earnings / diluted,
                margin,
            ]);
            pen.numbers(&[revenue / 9, assets, liabilities, shares, diluted]);
            pen.end()?;
        }
    }
    Ok(())
}
