//! Encodes calls as packets, and decodes rows.

use super::wire::{Reader, put_counted};
use crate::database::call::invalid_call;
use crate::error::DatabaseError;
use crate::row::Answers;
use crate::session::Call;
use crate::statement::Statement;
use crate::value::Value;

/// Type codes of the protocol.
const TINY: u8 = 1;
const SHORT: u8 = 2;
const LONG: u8 = 3;
const NULL: u8 = 6;
const LONG_LONG: u8 = 8;
const MEDIUM: u8 = 9;
const YEAR: u8 = 13;
const VARCHAR: u8 = 15;
const BLOBS: std::ops::RangeInclusive<u8> = 249..=252;
const VAR_STRING: u8 = 253;
const STRING: u8 = 254;

/// Command byte of a call of a prepared statement (COM_STMT_EXECUTE).
const EXECUTE: u8 = 0x17;

/// Encodes a call of a prepared statement; `places` has the parameter for each placeholder.
pub(super) fn call(call: &Call, number: u32, places: &[usize], packet: &mut Vec<u8>) {
    packet.push(EXECUTE);
    packet.extend_from_slice(&number.to_le_bytes());
    packet.push(0);
    packet.extend_from_slice(&1_u32.to_le_bytes());
    if places.is_empty() {
        return;
    }
    let nulls = packet.len();
    packet.resize(nulls + places.len().div_ceil(8), 0);
    packet.push(1);
    for (place, parameter) in places.iter().enumerate() {
        let of = match &call.parameters[*parameter] {
            Value::Integer(_) => LONG_LONG,
            Value::Text(_) => VAR_STRING,
            Value::Null => {
                packet[nulls + place / 8] |= 1 << (place % 8);
                NULL
            }
        };
        packet.extend_from_slice(&[of, 0]);
    }
    for parameter in places {
        match &call.parameters[*parameter] {
            Value::Null => {}
            Value::Integer(number) => packet.extend_from_slice(&number.to_le_bytes()),
            Value::Text(text) => {
                put_counted(packet, text.len());
                packet.extend_from_slice(text.as_bytes());
            }
        }
    }
}

/// The type of a column, from its description packet.
pub(super) fn column_type(packet: &[u8]) -> u8 {
    let mut reader = Reader::new(packet);
    // Catalog, schema, table and original table, column and original column.
    for _ in 0..6 {
        reader.counted_bytes();
    }
    // Length of the fixed fields, character set, length.
    reader.skip(1 + 2 + 4);
    u8::try_from(reader.number(1)).unwrap_or(0)
}

/// Checks that the columns hold integers or texts.
pub(super) fn check_columns(statement: &Statement, types: &[u8]) -> Result<(), DatabaseError> {
    let is_known = |of: &u8| match *of {
        TINY | SHORT | LONG | LONG_LONG | MEDIUM | YEAR | VARCHAR | VAR_STRING | STRING | NULL => {
            true
        }
        of => BLOBS.contains(&of),
    };
    match types.iter().position(|of| !is_known(of)) {
        None => Ok(()),
        Some(column) => Err(invalid_call(
            statement,
            format!(
                "its column {} is neither an integer nor a text; CAST it",
                column + 1
            ),
        )),
    }
}

/// Decodes a row in binary form.
pub(super) fn row(
    packet: &[u8],
    types: &[u8],
    statement: &Statement,
    answers: &mut Answers,
) -> Result<(), DatabaseError> {
    let mut reader = Reader::new(packet);
    reader.skip(1);
    // Two bits are reserved.
    let nulls = reader.bytes((types.len() + 2).div_ceil(8));
    for (column, of) in types.iter().enumerate() {
        let bit = column + 2;
        let is_null = nulls
            .get(bit / 8)
            .is_none_or(|byte| byte & 1 << (bit % 8) != 0);
        if is_null {
            answers.null();
            continue;
        }
        let length: u8 = match *of {
            TINY => 1,
            SHORT | YEAR => 2,
            LONG | MEDIUM => 4,
            LONG_LONG => 8,
            _ => 0,
        };
        if length == 0 {
            let text = str::from_utf8(reader.counted_bytes());
            let text = text.map_err(|error| invalid_call(statement, error.to_string()))?;
            answers.text(text);
        } else {
            // Extends the sign.
            let unused = 64 - 8 * u32::from(length);
            let number = reader.number(usize::from(length)) << unused;
            answers.integer(number.cast_signed() >> unused);
        }
    }
    Ok(())
}
