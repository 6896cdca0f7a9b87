//! Companies, their securities and their quarterly reports.

use super::prices::{History, securities_of};
use super::row_writer::RowWriter;
use crate::dataset::DataSet;
use crate::dataset::data_set::RandomField;
use crate::dataset::name_lists::name_lists;
use crate::dataset::names::{below, pick};
use crate::dataset::securities::COMPANIES_PER_UNIT;
use crate::dataset::trading_calendar::{QUARTERS, quarter};
use crate::error::DatabaseError;
use crate::kinds::Status;
use std::ops::Range;
use workload::random::mix;

/// Credit ratings, best first.
const RATINGS: [&str; 10] = ["AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB", "BB", "B"];

/// The oldest company was founded on 1 January 1850; days since 1970.
const OLDEST_DAY: i64 = -43_829;

/// Days from founding to listing on an exchange, at least and at most.
const LISTED_AFTER_DAYS: (i64, usize) = (365, 3_000);

/// The companies of a load unit.
pub(super) fn companies_of(unit: u32) -> Range<u32> {
    unit * COMPANIES_PER_UNIT..(unit + 1) * COMPANIES_PER_UNIT
}

/// The day on which a company was founded: ten years before the opening at the latest.
fn founded_day(data_set: &DataSet, company: u32) -> i64 {
    let days = data_set.opening_day() - 3_650 - OLDEST_DAY;
    let random_bits = data_set.random_bits(RandomField::Company, company);
    OLDEST_DAY + below(random_bits as u32, days as usize) as i64
}

pub(super) fn companies(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    let name_lists = name_lists();
    for company in companies_of(unit) {
        let random_bits = mix(data_set.random_bits(RandomField::Company, company));
        let industry = data_set.industry_of_company(company);
        writer.numbers(&[data_set.company_id(company), Status::Active.id()]);
        writer.compose(|text| data_set.write_company_name(company, text));
        writer.text(data_set.industry_id(industry));
        writer.text(RATINGS[below(random_bits as u32, RATINGS.len())]);
        writer.compose(|text| {
            text.push_str(pick(&name_lists.first_names, (random_bits >> 32) as u32));
            text.push(' ');
            text.push_str(pick(&name_lists.last_names, mix(random_bits) as u32));
        });
        writer.number(data_set.address_of_company(company));
        writer.compose(|text| {
            text.push_str(data_set.industry_name(industry));
            text.push_str(" from ");
            text.push_str(pick(&name_lists.towns, (mix(random_bits) >> 32) as u32));
            text.push_str(", in the sector of ");
            text.push_str(data_set.sector_name(data_set.sector_of_industry(industry)));
        });
        writer.number(founded_day(data_set, company));
        writer.end()?;
    }
    Ok(())
}

pub(super) fn competitors(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    for company in companies_of(unit) {
        let industry = data_set.industry_of_company(company);
        for competitor in data_set.competitors(company) {
            writer.numbers(&[
                data_set.company_id(company),
                data_set.company_id(competitor),
            ]);
            writer.text(data_set.industry_id(industry));
            writer.end()?;
        }
    }
    Ok(())
}

/// Shares outstanding of a security.
fn shares_out(data_set: &DataSet, security: u32) -> i64 {
    let random_bits = data_set.random_bits(RandomField::Security, security);
    4_000_000 + below(random_bits as u32, 9_500_000) as i64 * 1_000
}

pub(super) fn securities(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    for security in securities_of(unit) {
        let random_bits = mix(data_set.random_bits(RandomField::Security, security));
        let company = data_set.company_of_security(security);
        writer.text(data_set.symbol_of(security).as_str());
        writer.text(data_set.issue(security));
        writer.number(Status::Active.id());
        writer.compose(|text| data_set.write_security_name(security, text));
        writer.text(data_set.exchange_id(data_set.exchange_of_security(security)));
        let (least, spread) = LISTED_AFTER_DAYS;
        let start = founded_day(data_set, company) + least / 2;
        let exchange = start + least / 2 + below(random_bits as u32, spread) as i64;
        let year = History::of(data_set, security).year(data_set);
        let dividend_cents = below((random_bits >> 32) as u32, 400) as i64;
        // A year's dividend relative to the last price.
        let last = History::of(data_set, security).day(data_set.price_days() - 1);
        let yield_hundredths = dividend_cents * 10_000 / last.close_cents;
        writer.numbers(&[
            data_set.company_id(company),
            shares_out(data_set, security),
            start,
            exchange,
            1_000 + below(mix(random_bits) as u32, 11_000) as i64,
            year.high_cents,
            year.high_day,
            year.low_cents,
            year.low_day,
            dividend_cents,
            yield_hundredths,
        ]);
        writer.end()?;
    }
    Ok(())
}

pub(super) fn financials(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    for company in companies_of(unit) {
        let key = data_set.random_bits(RandomField::Financials, company);
        // The common stock of a company comes first.
        let common = data_set.securities_of_company(company).next().unwrap_or(0);
        let shares = shares_out(data_set, common);
        for report in 0..QUARTERS {
            let random_bits = mix(key ^ u64::from(report));
            let (year, number, first_day) = quarter(report);
            let revenue = 1_000_000_000 + below(random_bits as u32, 1_000_000) as i64 * 1_500_000;
            let margin = below((random_bits >> 32) as u32, 4_000) as i64 - 500;
            let earnings = revenue / 10_000 * margin;
            let assets = revenue + revenue / 100 * below(mix(random_bits) as u32, 300) as i64;
            let liabilities = assets / 100 * below((mix(random_bits) >> 32) as u32, 90) as i64;
            let diluted = shares + shares / 20;
            writer.numbers(&[data_set.company_id(company), year, number, first_day]);
            writer.numbers(&[
                revenue,
                earnings,
                earnings / shares,
                earnings / diluted,
                margin,
            ]);
            writer.numbers(&[revenue / 9, assets, liabilities, shares, diluted]);
            writer.end()?;
        }
    }
    Ok(())
}
