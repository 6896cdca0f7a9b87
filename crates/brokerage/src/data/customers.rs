//! Customers, who may trade for them, and what they watch.

use super::pen::Pen;
use crate::error::DatabaseError;
use crate::house::House;
use crate::house::accounts::OWNER_ACCESS;
use crate::house::identity::{Chance, LOAD_UNIT};
use crate::house::names::{below, push_digits};
use crate::house::rates::write_tax_rate_id;
use crate::transactions::kinds::Status;
use std::ops::Range;
use workload::random::mix;

/// Ages of customers in days, at least and at most: 18 to 95 years.
const AGES_DAYS: (i64, usize) = (6_575, 28_124);

/// Where customers get their mail.
const MAIL_DOMAINS: [&str; 6] = [
    "@post.example",
    "@letters.example",
    "@courier.example",
    "@office.example",
    "@home.example",
    "@wire.example",
];

/// The customers of a unit.
pub(super) fn customers_of(unit: u32) -> Range<u32> {
    unit * LOAD_UNIT..(unit + 1) * LOAD_UNIT
}

pub(super) fn customers(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    for customer in customers_of(unit) {
        let chance = house.chance(Chance::Customer, customer);
        let (last, first) = house.customer_names(customer);
        pen.number(house.customer_id(customer));
        pen.compose(|text| house.write_tax_id(customer, text));
        pen.number(Status::Active.id());
        pen.text(last);
        pen.text(first);
        pen.compose(|text| text.push(char::from(b'A' + (chance % 26) as u8)));
        pen.text(if house.is_woman(customer) { "F" } else { "M" });
        let (youngest, spread) = AGES_DAYS;
        let age = youngest + below((chance >> 32) as u32, spread) as i64;
        pen.numbers(&[
            i64::from(house.tier(customer)),
            house.opening_day() - age,
            house.address_of_customer(customer),
        ]);
        (0..3).for_each(|number| phone(mix(chance ^ number), pen));
        mail_address(first, last, chance >> 8, pen);
        mail_address(last, first, chance >> 16, pen);
        pen.end()?;
    }
    Ok(())
}

/// Country, area, local number and extension.
fn phone(chance: u64, pen: &mut Pen) {
    pen.text(if chance.is_multiple_of(5) {
        "022"
    } else {
        "021"
    });
    pen.compose(|text| push_digits(text, 100 + (chance >> 8) % 900, 3));
    pen.compose(|text| push_digits(text, (chance >> 20) % 10_000_000, 7));
    // One in four is behind an exchange of its own.
    if (chance >> 50).is_multiple_of(4) {
        pen.compose(|text| push_digits(text, (chance >> 52) % 1_000, 3));
    } else {
        pen.null();
    }
}

fn mail_address(before: &str, after: &str, chance: u64, pen: &mut Pen) {
    pen.compose(|text| {
        text.push_str(before);
        text.push('.');
        text.push_str(after);
        push_digits(text, chance % 100, 2);
        text.push_str(MAIL_DOMAINS[(chance >> 8) as usize % MAIL_DOMAINS.len()]);
        text.make_ascii_lowercase();
    });
}

pub(super) fn tax_rates(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    for customer in customers_of(unit) {
        for rate in house.tax_rates_of(customer) {
            pen.compose(|text| write_tax_rate_id(rate, text));
            pen.number(house.customer_id(customer));
            pen.end()?;
        }
    }
    Ok(())
}

pub(super) fn permissions(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    for owner in customers_of(unit) {
        for account in house.accounts_of(owner) {
            permission(house, account, owner, OWNER_ACCESS, pen)?;
            let others = house.permitted_customers(account);
            for (place, other) in others.into_iter().flatten().enumerate() {
                permission(house, account, other, house.permitted_access(place), pen)?;
            }
        }
    }
    Ok(())
}

fn permission(
    house: &House,
    account: i64,
    customer: u32,
    access: &str,
    pen: &mut Pen,
) -> Result<(), DatabaseError> {
    let (last, first) = house.customer_names(customer);
    pen.number(account);
    pen.compose(|text| house.write_tax_id(customer, text));
    pen.text(access);
    pen.text(last);
    pen.text(first);
    pen.end()
}

pub(super) fn watch_lists(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    for customer in customers_of(unit) {
        pen.numbers(&[house.watch_list_id(customer), house.customer_id(customer)]);
        pen.end()?;
    }
    Ok(())
}

pub(super) fn watch_items(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    for customer in customers_of(unit) {
        let list = house.watch_list_id(customer);
        for security in house.watched(customer) {
            pen.number(list);
            pen.text(house.symbol_of(security).as_str());
            pen.end()?;
        }
    }
    Ok(())
}
