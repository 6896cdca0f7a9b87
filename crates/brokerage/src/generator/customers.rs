//! Customers, account permissions and watch lists.

use super::row_writer::RowWriter;
use crate::dataset::DataSet;
use crate::dataset::accounts::OWNER_ACCESS;
use crate::dataset::data_set::{LOAD_UNIT, RandomField};
use crate::dataset::names::{below, push_digits};
use crate::dataset::rates::write_tax_rate_id;
use crate::error::DatabaseError;
use crate::kinds::Status;
use std::ops::Range;
use workload::random::mix;

/// Ages of customers in days, at least and at most: 18 to 95 years.
const AGES_DAYS: (i64, usize) = (6_575, 28_124);

/// Mail domains of customers.
const MAIL_DOMAINS: [&str; 6] = [
    "@post.example",
    "@letters.example",
    "@courier.example",
    "@office.example",
    "@home.example",
    "@wire.example",
];

/// The customers of a load unit.
pub(super) fn customers_of(unit: u32) -> Range<u32> {
    unit * LOAD_UNIT..(unit + 1) * LOAD_UNIT
}

pub(super) fn customers(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    for customer in customers_of(unit) {
        let random_bits = data_set.random_bits(RandomField::Customer, customer);
        let (last, first) = data_set.customer_names(customer);
        writer.number(data_set.customer_id(customer));
        writer.compose(|text| data_set.write_tax_id(customer, text));
        writer.number(Status::Active.id());
        writer.text(last);
        writer.text(first);
        writer.compose(|text| text.push(char::from(b'A' + (random_bits % 26) as u8)));
        writer.text(if data_set.is_woman(customer) {
            "F"
        } else {
            "M"
        });
        let (youngest, spread) = AGES_DAYS;
        let age = youngest + below((random_bits >> 32) as u32, spread) as i64;
        writer.numbers(&[
            i64::from(data_set.tier(customer)),
            data_set.opening_day() - age,
            data_set.address_of_customer(customer),
        ]);
        (0..3).for_each(|number| phone(mix(random_bits ^ number), writer));
        mail_address(first, last, random_bits >> 8, writer);
        mail_address(last, first, random_bits >> 16, writer);
        writer.end()?;
    }
    Ok(())
}

/// Country, area, local number and extension.
fn phone(random_bits: u64, writer: &mut RowWriter) {
    writer.text(if random_bits.is_multiple_of(5) {
        "022"
    } else {
        "021"
    });
    writer.compose(|text| push_digits(text, 100 + (random_bits >> 8) % 900, 3));
    writer.compose(|text| push_digits(text, (random_bits >> 20) % 10_000_000, 7));
    // One in four has an extension.
    if (random_bits >> 50).is_multiple_of(4) {
        writer.compose(|text| push_digits(text, (random_bits >> 52) % 1_000, 3));
    } else {
        writer.null();
    }
}

fn mail_address(before: &str, after: &str, random_bits: u64, writer: &mut RowWriter) {
    writer.compose(|text| {
        text.push_str(before);
        text.push('.');
        text.push_str(after);
        push_digits(text, random_bits % 100, 2);
        text.push_str(MAIL_DOMAINS[(random_bits >> 8) as usize % MAIL_DOMAINS.len()]);
        text.make_ascii_lowercase();
    });
}

pub(super) fn tax_rates(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    for customer in customers_of(unit) {
        for rate in data_set.tax_rates_of(customer) {
            writer.compose(|text| write_tax_rate_id(rate, text));
            writer.number(data_set.customer_id(customer));
            writer.end()?;
        }
    }
    Ok(())
}

pub(super) fn permissions(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    for owner in customers_of(unit) {
        for account in data_set.accounts_of(owner) {
            permission(data_set, account, owner, OWNER_ACCESS, writer)?;
            let others = data_set.permitted_customers(account);
            for (place, other) in others.into_iter().flatten().enumerate() {
                permission(
                    data_set,
                    account,
                    other,
                    data_set.permitted_access(place),
                    writer,
                )?;
            }
        }
    }
    Ok(())
}

fn permission(
    data_set: &DataSet,
    account: i64,
    customer: u32,
    access: &str,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    let (last, first) = data_set.customer_names(customer);
    writer.number(account);
    writer.compose(|text| data_set.write_tax_id(customer, text));
    writer.text(access);
    writer.text(last);
    writer.text(first);
    writer.end()
}

pub(super) fn watch_lists(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    for customer in customers_of(unit) {
        writer.numbers(&[
            data_set.watch_list_id(customer),
            data_set.customer_id(customer),
        ]);
        writer.end()?;
    }
    Ok(())
}

pub(super) fn watch_items(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    for customer in customers_of(unit) {
        let list = data_set.watch_list_id(customer);
        for security in data_set.watched(customer) {
            writer.number(list);
            writer.text(data_set.symbol_of(security).as_str());
            writer.end()?;
        }
    }
    Ok(())
}
