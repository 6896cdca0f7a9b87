//! Declarations: tables of settings and names of choices, each written once.

mod macros;

use crate::codec::Codec;
use crate::node::Node;
use crate::reader::Reader;
use crate::shape::Shape;
use crate::value::Value;

/// A table of settings, as it is declared.
#[derive(Clone, Debug)]
pub struct Table {
    /// What the table is about.
    pub meaning: &'static str,
    /// Its settings and tables, in the order of the declaration.
    pub fields: Vec<Field>,
}

/// A setting or a table inside of a table.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its key in TOML.
    pub key: &'static str,
    /// What it does, as whole sentences.
    pub meaning: &'static str,
    /// Where the default comes from; empty where nothing is said.
    pub source: &'static str,
    /// What may be written.
    pub shape: Shape,
    /// What holds when it is left out.
    pub default: Absent,
}

/// What it means when a setting is left out.
#[derive(Clone, Debug, PartialEq)]
pub enum Absent {
    /// It must not be.
    Required,
    /// Nothing stands in its place.
    Nothing,
    /// This value holds.
    Value(Value),
}

impl Field {
    /// The unit of the setting's number, as the end of its key says; `None` when the value carries
    /// its unit itself or has none.
    #[must_use]
    pub fn unit(&self) -> Option<&'static str> {
        const UNITS: [(&str, &str); 20] = [
            ("_us_per_mib", "us per MiB"),
            ("_mib_per_s", "MiB/s"),
            ("_mb_per_s", "MB/s (10^6 bytes)"),
            ("_4k_per_s", "requests of 4 KiB per second"),
            ("_per_second", "per second"),
            ("_per_s", "per second"),
            ("_percent", "percent"),
            ("_fraction", "fraction of 1"),
            ("_share", "fraction of 1"),
            ("_sectors", "sectors of 512 bytes"),
            ("_bytes", "bytes"),
            ("_kib", "KiB"),
            ("_mib", "MiB"),
            ("_gib", "GiB"),
            ("_gb", "GB (10^9 bytes)"),
            ("_ns", "ns"),
            ("_us", "us"),
            ("_ms", "ms"),
            ("_s", "s"),
            ("_h", "h"),
        ];
        let is_number = matches!(self.shape, Shape::Whole { .. } | Shape::Number { .. });
        let units = UNITS.iter().filter(|_| is_number);
        let mut units = units.filter(|(end, _)| self.key.ends_with(end));
        units.next().map(|(_, unit)| *unit)
    }
}

/// A table of settings with a type of its own; [`settings!`](crate::settings) declares one.
pub trait Settings: Clone + Sized {
    /// The table as it is declared.
    fn declaration() -> Table;
    /// Reads the settings at a node, which is a table; what it leaves out comes from `base`, or
    /// from the declaration. `None` when something was wrong, which the reader then knows.
    fn read(node: &Node, base: Option<&Self>, reader: &mut Reader<'_>) -> Option<Self>;
    /// The settings by their keys, in the order of the declaration.
    fn to_value(&self) -> Value;
}

/// What the macro [`settings!`](crate::settings) declares of one field: that field, or those of a
/// table that is written among the keys of the one around it.
#[doc(hidden)]
pub fn fields_of<T>(
    key: &'static str,
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
