//! Declarations: tables of settings and names of choices, each written once.

mod macros;

use crate::codec::Codec;
use crate::shape::{Absent, Field, Shape};
use crate::value::Value;

/// What the macro [`settings!`](crate::settings) declares of one field: that field, or those of a
/// table that is written among the keys of the one around it.
#[doc(hidden)]
pub fn fields_of<T>(
    key: &'static str,
    former: &'static str,
    meaning: &'static str,
    source: &'static str,
    codec: &impl Codec<T>,
    default: Option<T>,
) -> Vec<Field> {
    let shape = codec.shape();
    if let (true, Shape::Table(table)) = (codec.is_flattened(), &shape) {
        return table().fields;
    }
    let default = match default.or_else(|| codec.absent()) {
        Some(value) => codec.write(&value).map_or(Absent::Nothing, Absent::Value),
        None => Absent::Required,
    };
    vec![Field {
        key,
        former,
        meaning: meaning.trim(),
        source,
        shape,
        default,
    }]
}

/// Adds a field to the entries of its table as the macro [`settings!`](crate::settings) does.
#[doc(hidden)]
pub fn write_field<T>(
    key: &str,
    codec: &impl Codec<T>,
    value: &T,
    entries: &mut Vec<(String, Value)>,
) {
    match codec.write(value) {
        Some(Value::Table(inner)) if codec.is_flattened() => entries.extend(inner),
        Some(value) => entries.push((key.to_owned(), value)),
        None => {}
    }
}
