//! Converting rows into records and index keys, and records into rows.

use super::value::Value;
use crate::catalog::TableState;
use crate::error::EngineError;
use crate::format::key::DEFAULT_MAX_KEY_BYTES;
use crate::format::long_value::{MAX_INTRINSIC_BYTES, MAX_LONG_VALUE_ID};
use crate::format::page::max_record_bytes;
use crate::format::record::Field;
use crate::format::schema::COLUMN_NOT_NULL;

/// A row ready to be written.
pub(crate) struct EncodedRow {
    pub(crate) record: Vec<u8>,
    /// Key of each secondary index.
    pub(crate) index_keys: Vec<Vec<u8>>,
    /// Long values to be stored outside the record: their numbers and the positions of their columns.
    pub(crate) separated: Vec<(u32, usize)>,
}

/// The longest key of an index: a row with a longer one is refused, because a cut key could equal
/// another one.
const MAX_INDEX_KEY_BYTES: usize = DEFAULT_MAX_KEY_BYTES;

/// Encodes a row. Long values go outside the record when they are longer than the format keeps
/// inside, and then the longest first while the record is too large for a page.
pub(crate) fn encode_row(
    table: &TableState,
    number: i64,
    values: &[Value],
    page_size_bytes: usize,
) -> Result<EncodedRow, EngineError> {
    let refuse = |reason: String| EngineError::Row {
        table: table.name().to_owned(),
        reason,
    };
    let columns = &table.stored.definition.columns;
    if values.len() != columns.len() {
        return Err(refuse(format!(
            "{} values for {} columns",
            values.len(),
            columns.len()
        )));
    }
    let mut fields: Vec<Field<'_>> = values.iter().map(Value::field).collect();
    let key_field = table.key_field(number);
    fields[table.key_column] =
        key_field.ok_or_else(|| refuse("the key column is used up".to_owned()))?;
    for (column, field) in columns.iter().zip(&fields) {
        if column.flags & COLUMN_NOT_NULL != 0 && *field == Field::Null {
            return Err(refuse(format!("column {} must have a value", column.name)));
        }
        let is_reference = matches!(field, Field::LongValue(_));
        if is_reference && !column.column_type.is_long() {
            return Err(refuse(format!(
                "column {} is not a long value",
                column.name
            )));
        }
    }
    let index_keys: Vec<Vec<u8>> = table
        .indexes
        .iter()
        .map(|index| index.key_of(&fields))
        .collect();
    for (index, key) in table.indexes.iter().zip(&index_keys) {
        if key.len() > MAX_INDEX_KEY_BYTES {
            return Err(refuse(format!(
                "its key in index {} has {} bytes; {MAX_INDEX_KEY_BYTES} are allowed",
                index.name,
                key.len()
            )));
        }
    }
    let separated = separate(table, &mut fields, page_size_bytes, &refuse)?;
    let record = table.layout.encode(&fields);
    let record = record.map_err(|error| EngineError::of_record(table.name(), &error))?;
    Ok(EncodedRow {
        record,
        index_keys,
        separated,
    })
}

fn separate(
    table: &TableState,
    fields: &mut [Field<'_>],
    page_size_bytes: usize,
    refuse: &impl Fn(String) -> EngineError,
) -> Result<Vec<(u32, usize)>, EngineError> {
    let most = max_record_bytes(page_size_bytes, DEFAULT_MAX_KEY_BYTES);
    let mut separated = Vec::new();
    loop {
        let longest = longest_inside(table, fields);
        let too_long = longest.filter(|&(length, _)| length > MAX_INTRINSIC_BYTES);
        let (length, position) = match too_long {
            Some(longest) => longest,
            None => {
                let bytes = table.layout.encoded_bytes(fields);
                let bytes = bytes.map_err(|error| EngineError::of_record(table.name(), &error))?;
                match longest {
                    _ if bytes <= most => return Ok(separated),
                    Some(longest) => longest,
                    None => {
                        return Err(refuse(format!("its record has {bytes} bytes; {most} fit")));
                    }
                }
            }
        };
        if u32::try_from(length).is_err() {
            return Err(refuse("a long value has 4 GiB or more".to_owned()));
        }
        let id = table.next_long_value.get();
        if id > MAX_LONG_VALUE_ID {
            return Err(refuse("the numbers of long values are used up".to_owned()));
        }
        table.next_long_value.set(id + 1);
        fields[position] = Field::LongValue(id);
        separated.push((id, position));
    }
}

/// The longest long value that is still in the record and longer than a reference to it.
fn longest_inside(table: &TableState, fields: &[Field<'_>]) -> Option<(usize, usize)> {
    let columns = &table.stored.definition.columns;
    let lengths = fields
        .iter()
        .enumerate()
        .filter_map(|(position, field)| match field {
            Field::Bytes(bytes) if columns[position].column_type.is_long() && bytes.len() > 8 => {
                Some((bytes.len(), position))
            }
            _ => None,
        });
    lengths.max_by_key(|&(length, position)| (length, std::cmp::Reverse(position)))
}

/// The values of a record, one per column of the table.
pub(crate) fn decode_row(table: &TableState, record: &[u8]) -> Result<Vec<Value>, EngineError> {
    let view = table.layout.view(record);
    let view = view.map_err(|error| EngineError::damaged(table.name(), &error))?;
    let columns = table.layout.column_count();
    let mut values = Vec::with_capacity(columns);
    for position in 0..columns {
        let field = view.field(position);
        let field = field.map_err(|error| EngineError::damaged(table.name(), &error))?;
        values.push(Value::of_field(field));
    }
    Ok(values)
}
