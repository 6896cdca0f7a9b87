//! Zip codes and addresses.

use super::row_writer::RowWriter;
use crate::dataset::DataSet;
use crate::dataset::data_set::RandomField;
use crate::dataset::name_lists::{self, name_lists};
use crate::dataset::names::{self, pick, push_digits};
use crate::dataset::row_counts::ZIP_CODES;
use crate::dataset::securities::{ADDRESSES_PER_UNIT, first_address};
use crate::error::DatabaseError;

/// Divisions of the country, each with as many zip codes.
const DIVISIONS: usize = 62;

/// Appends the zip code of a number.
fn write_zip_code(number: u32, text: &mut String) {
    // Five digits that are all different, with gaps.
    push_digits(text, 10_007 + u64::from(number) * 6, 5);
}

pub(super) fn zip_codes(writer: &mut RowWriter) -> Result<(), DatabaseError> {
    let name_lists = name_lists();
    for number in 0..ZIP_CODES {
        writer.compose(|text| write_zip_code(number, text));
        writer.text(&name_lists.towns[number as usize * 7 % name_lists.towns.len()]);
        let division = number as usize * DIVISIONS / ZIP_CODES as usize;
        writer.compose(|text| {
            text.push_str(&name_lists.last_names[division]);
            text.push_str(" Province");
        });
        writer.end()?;
    }
    Ok(())
}

pub(super) fn addresses(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    let first = if unit == 0 { 1 } else { first_address(unit) };
    let end = first_address(unit) + i64::from(ADDRESSES_PER_UNIT);
    for id in first..end {
        address(data_set, id, writer)?;
    }
    Ok(())
}

fn address(data_set: &DataSet, id: i64, writer: &mut RowWriter) -> Result<(), DatabaseError> {
    let (name_lists, random_bits) = (
        name_lists(),
        data_set.random_bits(RandomField::Address, id as u64),
    );
    let more = workload::random::mix(random_bits);
    writer.number(id);
    writer.compose(|text| {
        push_digits(text, 1 + (random_bits & 0x3ff), 1);
        text.push(' ');
        text.push_str(pick(&name_lists.last_names, (random_bits >> 32) as u32));
        text.push(' ');
        text.push_str(
            name_lists::STREET_KINDS[(random_bits >> 10) as usize % name_lists::STREET_KINDS.len()],
        );
    });
    // One in three has an apartment number.
    if more.is_multiple_of(3) {
        writer.compose(|text| {
            text.push_str("Flat ");
            push_digits(text, 1 + (more >> 8) % 240, 1);
        });
    } else {
        writer.null();
    }
    let zip_code = names::below((more >> 32) as u32, ZIP_CODES as usize) as u32;
    writer.compose(|text| write_zip_code(zip_code, text));
    // Four in five live in the first country.
    let country = usize::from((more >> 16).is_multiple_of(5));
    writer.text(name_lists::COUNTRIES[country]);
    writer.end()
}
