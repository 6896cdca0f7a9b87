//! From a tree to typed keys, with every fault and its place.
//!
//! A `serde` deserializer over [`Node`]s. It stops at the first fault, as all of them do; so the
//! faulty part is taken out of the tree and the rest is read again, until nothing is left to say.

use std::collections::BTreeSet;
use std::fmt::{self, Display};

use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, Expected, IntoDeserializer, Unexpected, Visitor};

use super::node::{Node, NodeValue};
use super::source::{DescriptionFault, Location};

/// Reads `T` from a tree.
///
/// # Errors
/// Every fault that was found.
pub(super) fn read<T: for<'de> Deserialize<'de>>(root: &Node) -> Result<T, Vec<DescriptionFault>> {
    let mut root = root.clone();
    let mut faults = Vec::new();
    let mut removed: BTreeSet<Vec<String>> = BTreeSet::new();
    loop {
        let error = match T::deserialize(Reader { node: &root }) {
            Ok(read) if faults.is_empty() => return Ok(read),
            Ok(_) => return Err(faults),
            Err(error) => error,
        };
        let path: Vec<String> = error.path.iter().rev().cloned().collect();
        let secondary = error.missing.is_some_and(|field| {
            let mut whole = path.clone();
            whole.push(field.to_owned());
            removed.contains(&whole)
        });
        if !secondary {
            let table = path
                .iter()
                .map(String::as_str)
                .filter(|part| !is_number(part));
            let table = table.collect::<Vec<_>>().join(".");
            faults.push(DescriptionFault {
                place: error.place,
                message: match error.missing {
                    Some(field) if table.is_empty() => format!("the key '{field}' is missing"),
                    Some(field) => format!("the key '{field}' is missing in [{table}]"),
                    None => error.message,
                },
                help: error.help,
            });
        }
        if !root.remove(&path) {
            return Err(faults);
        }
        removed.insert(path);
    }
}

fn is_number(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

/// Why reading stopped.
#[derive(Debug)]
pub(super) struct ReadError {
    message: String,
    help: Option<String>,
    missing: Option<&'static str>,
    place: Option<Location>,
    /// Keys from the faulty one outwards.
    path: Vec<String>,
}

impl ReadError {
    fn new(message: String, help: Option<String>) -> Self {
        Self {
            message,
            help,
            missing: None,
            place: None,
            path: Vec::new(),
        }
    }

    fn placed(mut self, place: impl FnOnce() -> Location) -> Self {
        self.place.get_or_insert_with(place);
        self
    }

    fn below(mut self, key: &str) -> Self {
        self.path.push(key.to_owned());
        self
    }
}

impl Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string(), None)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let message = format!(
            "{} does not fit here; write {}",
            said(&found),
            words(expected)
        );
        Self::new(message, None)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let message = format!("\"{variant}\" is none of the words that fit here");
        Self::new(message, Some(choice(variant, expected, "write")))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let message = format!("there is no key '{field}' here");
        Self::new(message, Some(choice(field, expected, "the keys here are")))
    }

    fn missing_field(field: &'static str) -> Self {
        Self {
            missing: Some(field),
            ..Self::new(String::new(), None)
        }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("the key '{field}' stands twice"), None)
    }
}

fn choice(given: &str, expected: &[&str], all: &str) -> String {
    let near = expected
        .iter()
        .map(|name| (strsim::damerau_levenshtein(given, name), name))
        .min()
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4);
    match near {
        Some((_, name)) => format!("did you mean '{name}'?"),
        None if expected.is_empty() => "nothing fits here".to_owned(),
        None => format!("{all} {}", expected.join(", ")),
    }
}

fn said(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(flag) => flag.to_string(),
        Unexpected::Unsigned(number) => format!("the number {number}"),
        Unexpected::Signed(number) => format!("the number {number}"),
        Unexpected::Float(number) => format!("the number {number:?}"),
        Unexpected::Str(text) => format!("the text \"{text}\""),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Other(words) => (*words).to_owned(),
        other => other.to_string(),
    }
}

fn words(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "u8" => "a whole number from 0 to 255".to_owned(),
        "u16" => "a whole number from 0 to 65535".to_owned(),
        "u32" => "a whole number from 0 to 4294967295".to_owned(),
        "u64" => "a whole number, 0 or more".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "a sequence" => "a list".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

struct Reader<'a> {
    node: &'a Node,
}

impl<'de> Reader<'de> {
    fn within<T>(&self, result: Result<T, ReadError>) -> Result<T, ReadError> {
        result.map_err(|error| {
            error.placed(|| match self.node.value {
                // The whole of a table is too much to underline.
                NodeValue::Table(_) => self.node.key_location(),
                _ => self.node.location(),
            })
        })
    }
}

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let result = match &self.node.value {
            NodeValue::Text(text) => visitor.visit_str(text),
            NodeValue::Integer(number) => match u64::try_from(*number) {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => visitor.visit_i64(*number),
            },
            NodeValue::Float(number) => visitor.visit_f64(*number),
            NodeValue::Flag(flag) => visitor.visit_bool(*flag),
            NodeValue::Other(words) => {
                Err(de::Error::invalid_type(Unexpected::Other(words), &visitor))
            }
            NodeValue::List(list) => visitor.visit_seq(Elements { list, next: 0 }),
            NodeValue::Table(table) => visitor.visit_map(Entries {
                rest: table.iter(),
                value: None,
            }),
        };
        self.within(result)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    /// One thing stands for a list of one.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.node.value {
            NodeValue::List(_) => self.deserialize_any(visitor),
            _ => {
                let list = std::slice::from_ref(self.node);
                let result = visitor.visit_seq(Elements { list, next: 0 });
                self.within(result)
            }
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let result = match &self.node.value {
            NodeValue::Text(text) => {
                let inner: StrDeserializer<'_, ReadError> = text.as_str().into_deserializer();
                visitor.visit_enum(inner)
            }
            other => Err(ReadError::new(
                format!("{} does not fit here", other.described()),
                Some(format!("write \"{}\"", variants.join("\" or \""))),
            )),
        };
        self.within(result)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

struct Elements<'a> {
    list: &'a [Node],
    next: usize,
}

impl<'de> de::SeqAccess<'de> for Elements<'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        let Some(node) = self.list.get(self.next) else {
            return Ok(None);
        };
        let number = self.next;
        self.next += 1;
        let read = seed.deserialize(Reader { node });
        read.map(Some)
            .map_err(|error| error.below(&number.to_string()))
    }
}

struct Entries<'a> {
    rest: std::collections::btree_map::Iter<'a, String, Node>,
    value: Option<(&'a String, &'a Node)>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        let Some((key, node)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some((key, node));
        let name: StrDeserializer<'_, ReadError> = key.as_str().into_deserializer();
        let read = seed.deserialize(name);
        read.map(Some)
            .map_err(|error| error.placed(|| node.key_location()).below(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let Some((key, node)) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        let read = seed.deserialize(Reader { node });
        read.map_err(|error| error.below(key))
    }
}
