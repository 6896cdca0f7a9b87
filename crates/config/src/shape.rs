//! What may be written for a setting, as data: for messages, the reference and JSON Schema.

use crate::quantity::{ByteSize, TimeSpan};
use crate::value::Value;

/// What may be written for a setting.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Either `true` or `false`.
    Flag,
    /// Any string, the empty one too.
    Text,
    /// A whole number within bounds.
    Whole {
        /// The least value allowed.
        low: u64,
        /// The greatest value allowed.
        high: u64,
    },
    /// A number within bounds; without them any number, infinity included.
    Number {
        /// The least value allowed.
        low: Option<f64>,
        /// The greatest value allowed.
        high: Option<f64>,
    },
    /// A size within bounds.
    Size {
        /// The least size allowed.
        low: ByteSize,
        /// The greatest size allowed.
        high: ByteSize,
    },
    /// A span of time within bounds.
    Time {
        /// The shortest span allowed.
        low: TimeSpan,
        /// The longest span allowed.
        high: TimeSpan,
    },
    /// One of a few names, each with its meaning.
    Choice(Vec<(&'static str, &'static str)>),
    /// The one or the other.
    Either(Box<Shape>, Box<Shape>),
    /// This word and nothing else.
    Word(&'static str),
    /// A list; one value stands for a list of one.
    List(Box<Shape>),
    /// A table of declared keys.
    Table(fn() -> Table),
    /// A table whose keys are names: `[disks.NAME]`.
    Named(Box<Shape>),
}

impl Shape {
    /// What would be right, to follow the word "write".
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            // Bounds that are those of the type say nothing to a reader.
            Self::Whole { low, high } if [u32::MAX.into(), u64::MAX].contains(high) => {
                format!("a whole number, {low} or more")
            }
            Self::List(inner) => match inner.as_ref() {
                Self::Table(_) => "a table, or several".to_owned(),
                inner => format!("{}, or a list of these", inner.expected()),
            },
            Self::Table(_) => "a table".to_owned(),
            Self::Named(inner) => match inner.as_ref() {
                Self::Table(_) => "tables with names".to_owned(),
                inner => format!("a table of names, each with {}", inner.expected()),
            },
            Self::Either(one, other) => format!("{}, or {}", one.expected(), other.expected()),
            other => other.bounded(),
        }
    }

    /// The same with bounds that [`Shape::expected`] leaves out.
    pub(crate) fn bounded(&self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Text => "a text in quotes".to_owned(),
            Self::Whole { low, high } => format!("a whole number from {low} to {high}"),
            Self::Number { low, high } => {
                let literal = |bound: &f64| Value::Number(*bound).literal();
                match (low, high) {
                    (Some(low), Some(high)) => {
                        format!("a number from {} to {}", literal(low), literal(high))
                    }
                    (Some(low), None) => format!("a number, {} or more", literal(low)),
                    (None, Some(high)) => format!("a number, {} at most", literal(high)),
                    (None, None) => "a number".to_owned(),
                }
            }
            Self::Size { low, high } => format!("a size from \"{low}\" to \"{high}\""),
            Self::Time { low, high } => format!("a time from \"{low}\" to \"{high}\""),
            Self::Choice(names) => {
                let names: Vec<String> = names.iter().map(|(n, _)| format!("\"{n}\"")).collect();
                names.join(" or ")
            }
            Self::Word(word) => format!("\"{word}\""),
            other => other.expected(),
        }
    }

    /// The table behind this shape: its own, that of a list's elements or of named tables.
    #[must_use]
    pub fn table(&self) -> Option<Table> {
        match self {
            Self::Table(table) => Some(table()),
            Self::List(inner) | Self::Named(inner) => inner.table(),
            _ => None,
        }
    }

    /// Whether tables of this shape have no single path: elements of a list, or named ones.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        matches!(self, Self::List(_) | Self::Named(_))
    }
}

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
    /// This value holds, which is the default.
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
