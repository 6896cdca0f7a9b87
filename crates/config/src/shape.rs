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
                inner => format!("{}, or a list", inner.expected()),
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
            Self::Text => "a string in quotes".to_owned(),
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

    /// The type and its range, for a reference: `integer from 1 to 1,024`.
    pub(crate) fn type_name(&self) -> String {
        let bound = |value: &f64| Value::Number(*value).literal();
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Text => "string".to_owned(),
            Self::Whole { low, high } => {
                let high = (*high < BOUNDLESS as u64).then(|| grouped(&high.to_string()));
                range("integer", &grouped(&low.to_string()), high.as_deref())
            }
            Self::Number { low, high } => {
                let high = high.filter(|high| *high < BOUNDLESS);
                let high = high.map(|high| grouped(&bound(&high)));
                match low {
                    Some(low) => range("number", &grouped(&bound(low)), high.as_deref()),
                    None => high.map_or("number".to_owned(), |high| format!("number up to {high}")),
                }
            }
            Self::Size { low, high } => format!("size from \"{low}\" to \"{high}\""),
            Self::Time { low, high } => format!("time from \"{low}\" to \"{high}\""),
            Self::Either(one, other) => format!("{}, or {}", one.type_name(), other.type_name()),
            Self::List(inner) if inner.table().is_none() => {
                format!("{}, or a list", inner.type_name())
            }
            other => other.bounded(),
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

/// A bound from here on only keeps numbers finite and says nothing to a reader.
const BOUNDLESS: f64 = 1e9;

fn range(name: &str, low: &str, high: Option<&str>) -> String {
    match high {
        Some(high) => format!("{name} from {low} to {high}"),
        None => format!("{name}, {low} or more"),
    }
}

/// A number in plain decimals with commas between its thousands.
fn grouped(number: &str) -> String {
    let plain = number.bytes().all(|letter| letter.is_ascii_digit());
    let from_end = |at: usize| number.len() - at;
    let letters = number.chars().enumerate();
    letters.fold(String::new(), |mut text, (at, letter)| {
        if plain && at > 0 && from_end(at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(letter);
        text
    })
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
    /// The key that it had before, which is refused with the present one; empty without.
    pub former: &'static str,
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
            ("_4k_iops", "IOPS of 4 KiB"),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn number(low: Option<f64>, high: Option<f64>) -> Shape {
        Shape::Number { low, high }
    }

    fn whole(low: u64, high: u64) -> Shape {
        Shape::Whole { low, high }
    }

    fn list(inner: Shape) -> Shape {
        Shape::List(Box::new(inner))
    }

    fn named(inner: Shape) -> Shape {
        Shape::Named(Box::new(inner))
    }

    fn table() -> Shape {
        Shape::Table(|| Table {
            meaning: "A disk.",
            fields: Vec::new(),
        })
    }

    #[test]
    fn messages_and_the_reference_say_what_may_be_written() {
        let size = Shape::Size {
            low: ByteSize(512),
            high: ByteSize::mib(1),
        };
        let time = Shape::Time {
            low: TimeSpan::millis(1),
            high: TimeSpan::seconds(3600),
        };
        let choice = Shape::Choice(vec![("red", "As blood."), ("green", "")]);
        let either = |one, other| Shape::Either(Box::new(one), Box::new(other));
        let (most32, most64) = (u32::MAX.into(), u64::MAX);
        for (shape, message, type_name) in [
            (Shape::Flag, "true or false", "true or false"),
            (Shape::Text, "a string in quotes", "string"),
            (
                whole(1, 1_024),
                "a whole number from 1 to 1024",
                "integer from 1 to 1,024",
            ),
            (
                whole(0, 999_999_999),
                "a whole number from 0 to 999999999",
                "integer from 0 to 999,999,999",
            ),
            // From a thousand million on, a bound only keeps numbers finite.
            (
                whole(1_500, 1_000_000_000),
                "a whole number from 1500 to 1000000000",
                "integer, 1,500 or more",
            ),
            (
                whole(100, most32),
                "a whole number, 100 or more",
                "integer, 100 or more",
            ),
            (
                whole(0, most64),
                "a whole number, 0 or more",
                "integer, 0 or more",
            ),
            (
                number(Some(0.25), Some(12_345.0)),
                "a number from 0.25 to 12345",
                "number from 0.25 to 12,345",
            ),
            (
                number(Some(-1.0), Some(1e9)),
                "a number from -1 to 1000000000",
                "number, -1 or more",
            ),
            (
                number(Some(0.5), None),
                "a number, 0.5 or more",
                "number, 0.5 or more",
            ),
            (
                number(None, Some(7_200.0)),
                "a number, 7200 at most",
                "number up to 7,200",
            ),
            (
                number(None, Some(2e9)),
                "a number, 2000000000 at most",
                "number",
            ),
            (number(None, None), "a number", "number"),
            (
                size,
                "a size from \"512B\" to \"1MiB\"",
                "size from \"512B\" to \"1MiB\"",
            ),
            (
                time,
                "a time from \"1ms\" to \"1h\"",
                "time from \"1ms\" to \"1h\"",
            ),
            (choice, "\"red\" or \"green\"", "\"red\" or \"green\""),
            (
                either(whole(1, 64), Shape::Word("auto")),
                "a whole number from 1 to 64, or \"auto\"",
                "integer from 1 to 64, or \"auto\"",
            ),
            (
                list(Shape::Text),
                "a string in quotes, or a list",
                "string, or a list",
            ),
            (list(table()), "a table, or several", "a table, or several"),
            (table(), "a table", "a table"),
            (named(table()), "tables with names", "tables with names"),
            (
                named(whole(5, 6)),
                "a table of names, each with a whole number from 5 to 6",
                "a table of names, each with a whole number from 5 to 6",
            ),
        ] {
            assert_eq!(shape.expected(), message);
            assert_eq!(shape.type_name(), type_name, "{message}");
        }
        // A value that is out of the bounds of its type is refused with these bounds.
        assert_eq!(
            whole(0, most32).bounded(),
            "a whole number from 0 to 4294967295"
        );
    }

    #[test]
    fn tables_are_found_in_lists_and_behind_names() {
        for (shape, is_repeated) in [
            (table(), false),
            (list(table()), true),
            (named(table()), true),
            (named(list(table())), true),
        ] {
            let found = shape.table().map(|table| table.meaning);
            assert_eq!(found, Some("A disk."), "{}", shape.expected());
            assert_eq!(shape.is_repeated(), is_repeated, "{}", shape.expected());
        }
        assert!(list(Shape::Text).table().is_none());
        assert!(!Shape::Text.is_repeated() && Shape::Text.table().is_none());
    }

    #[test]
    fn the_unit_of_a_number_is_the_end_of_its_key() {
        let unit = |key, shape| {
            let field = Field {
                key,
                former: "",
                meaning: "",
                source: "",
                shape,
                default: Absent::Required,
            };
            field.unit()
        };
        for (key, name) in [
            ("seek_us_per_mib", "us per MiB"),
            ("rate_mib_per_s", "MiB/s"),
            ("rate_mb_per_s", "MB/s (10^6 bytes)"),
            ("random_4k_iops", "IOPS of 4 KiB"),
            ("stalls_per_second", "per second"),
            ("orders_per_s", "per second"),
            ("dirty_percent", "percent"),
            ("margin_fraction", "fraction of 1"),
            ("read_share", "fraction of 1"),
            ("track_sectors", "sectors of 512 bytes"),
            ("row_bytes", "bytes"),
            ("chunk_kib", "KiB"),
            ("cache_mib", "MiB"),
            ("disk_gib", "GiB"),
            ("disk_gb", "GB (10^9 bytes)"),
            ("step_ns", "ns"),
            ("transfer_us", "us"),
            ("seek_ms", "ms"),
            ("length_s", "s"),
            ("age_h", "h"),
        ] {
            assert_eq!(unit(key, whole(0, 1)), Some(name), "{key}");
            assert_eq!(unit(key, number(None, None)), Some(name), "{key}");
            assert_eq!(unit(key, Shape::Text), None, "{key} as a text");
        }
        assert_eq!(unit("disks", whole(0, 1)), None);
    }
}
