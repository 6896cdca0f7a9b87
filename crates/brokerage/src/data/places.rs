//! Zip codes and addresses.

use super::pen::Pen;
use crate::error::DatabaseError;
use crate::house::House;
use crate::house::identity::Chance;
use crate::house::names::{self, pick, push_digits};
use crate::house::securities::{ADDRESSES_PER_UNIT, first_address};
use crate::house::size::ZIP_CODES;
use crate::house::words::{self, words};

/// Divisions of the country: as many zip codes lie in each.
const DIVISIONS: usize = 62;

/// Appends the zip code of a number.
fn write_zip_code(number: u32, text: &mut String) {
    // Five digits that are all different, with gaps.
    push_digits(text, 10_007 + u64::from(number) * 6, 5);
}

pub(super) fn zip_codes(pen: &mut Pen) -> Result<(), DatabaseError> {
    let words = words();
    for number in 0..ZIP_CODES {
        pen.compose(|text| write_zip_code(number, text));
        pen.text(&words.towns[number as usize * 7 % words.towns.len()]);
        let division = number as usize * DIVISIONS / ZIP_CODES as usize;
        pen.compose(|text| {
            text.push_str(&words.last_names[division]);
            text.push_str(" Province");
        });
        pen.end()?;
    }
    Ok(())
}

pub(super) fn addresses(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    let first = if unit == 0 { 1 } else { first_address(unit) };
    let end = first_address(unit) + i64::from(ADDRESSES_PER_UNIT);
    for id in first..end {
        address(house, id, pen)?;
    }
    Ok(())
}

fn address(house: &House, id: i64, pen: &mut Pen) -> Result<(), DatabaseError> {
    let (words, chance) = (words(), house.chance(Chance::Address, id as u64));
    let more = workload::random::mix(chance);
    pen.number(id);
    pen.compose(|text| {
        push_digits(text, 1 + (chance & 0x3ff), 1);
        text.push(' ');
        text.push_str(pick(&words.last_names, (chance >> 32) as u32));
        text.push(' ');
        text.push_str(words::STREET_KINDS[(chance >> 10) as usize % words::STREET_KINDS.len()]);
    });
    // One in three lives in a flat.
    if more.is_multiple_of(3) {
        pen.compose(|text| {
            text.push_str("Flat ");
            push_digits(text, 1 + (more >> 8) % 240, 1);
        });
    } else {
        pen.null();
    }
    let zip_code = names::below((more >> 32) as u32, ZIP_CODES as usize) as u32;
    pen.compose(|text| write_zip_code(zip_code, text));
    // Four in five live in the first country.
    let country = usize::from((more >> 16).is_multiple_of(5));
    pen.text(words::COUNTRIES[country]);
    pen.end()
}
