//! Plain values, as settings are written: without a place in any text.

use std::fmt::Write as _;

/// A value of TOML that some setting holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string without quotation marks.
    Text(String),
    /// A whole number; settings have no negative ones.
    Whole(u64),
    /// A number with or without a fraction.
    Number(f64),
    /// Either `true` or `false`.
    Flag(bool),
    /// A list of values.
    List(Vec<Value>),
    /// Keys with their values, in the order of their declaration.
    Table(Vec<(String, Value)>),
}

impl Value {
    /// The value of `key`, if this is a table that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The value as it is written behind `key =` in TOML; tables are written inline.
    #[must_use]
    pub fn literal(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => number_literal(*number),
            Self::Flag(flag) => flag.to_string(),
            Self::List(list) => {
                let list: Vec<String> = list.iter().map(Self::literal).collect();
                format!("[{}]", list.join(", "))
            }
            Self::Table(entries) if entries.is_empty() => "{}".to_owned(),
            Self::Table(entries) => {
                let entry = |(key, value): &(String, Self)| {
                    format!("{} = {}", key_literal(key), value.literal())
                };
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }

    /// The value as JSON. Numbers that JSON has no form for (infinity) become strings.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Whole(number) => (*number).into(),
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                (*number as i64).into()
            }
            Self::Number(number) => serde_json::Number::from_f64(*number)
                .map_or_else(|| number.to_string().into(), serde_json::Value::Number),
            Self::Flag(flag) => (*flag).into(),
            Self::List(list) => list.iter().map(Self::to_json).collect(),
            Self::Table(entries) => {
                let entry = |(key, value): &(String, Self)| (key.clone(), value.to_json());
                serde_json::Value::Object(entries.iter().map(entry).collect())
            }
        }
    }
}

/// A number as TOML: without a fraction where it has none, else so that it reads back exactly.
fn number_literal(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return format!("{number}");
    }
    format!("{number:?}")
}

/// A key as TOML: bare where that is allowed.
pub(crate) fn key_literal(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) {
        return key.to_owned();
    }
    quoted(key)
}

/// `text` as a TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
