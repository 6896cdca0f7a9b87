//! TOML that remembers where it was written: trees that can be laid over each other.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::source::Location;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The number of its source.
    pub source: usize,
    /// The key it was given by; for an element of a list, the element.
    pub key: Range<usize>,
    /// Where the value stands, in bytes of the source.
    pub span: Range<usize>,
    /// What was written there.
    pub value: NodeValue,
}

/// A value as it was written.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeValue {
    /// A string without its quotation marks.
    Text(String),
    /// A whole number, with or without a sign.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// Either `true` or `false`.
    Flag(bool),
    /// What no key takes; the words name it.
    Other(&'static str),
    /// A list, with the place of each element.
    List(Vec<Node>),
    /// A table by key.
    Table(BTreeMap<String, Node>),
}

impl NodeValue {
    /// The value as messages call it.
    pub fn described(&self) -> String {
        match self {
            Self::Text(text) => format!("the text \"{text}\""),
            Self::Integer(number) => format!("the number {number}"),
            Self::Float(number) => format!("the number {number:?}"),
            Self::Flag(flag) => flag.to_string(),
            Self::Other(words) => (*words).to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
        }
    }
}

impl Node {
    /// A table without keys, for nothing read yet.
    pub(crate) fn empty() -> Self {
        Self {
            source: 0,
            key: 0..0,
            span: 0..0,
            value: NodeValue::Table(BTreeMap::new()),
        }
    }

    /// The document of source number `source`.
    ///
    /// # Errors
    /// Where and why it is not TOML.
    pub(crate) fn parse(source: usize, text: &str) -> Result<Self, (Option<Location>, String)> {
        let table = DeTable::parse(text).map_err(|error| {
            let place = error.span().map(|span| Location { source, span });
            (place, error.message().to_owned())
        })?;
        Ok(Self {
            source,
            key: 0..0,
            span: 0..0,
            value: table_of(source, 0, table.get_ref()),
        })
    }

    /// The value of an assignment: bytes `span` of `text`; as text if it is not TOML.
    pub(crate) fn assigned(
        source: usize,
        text: &str,
        key: Range<usize>,
        span: Range<usize>,
    ) -> Self {
        let given = text[span.clone()].trim();
        let value = match DeValue::parse(given) {
            Ok(value) => value_of(source, span.start, value.get_ref()),
            Err(_) => NodeValue::Text(given.to_owned()),
        };
        Self {
            source,
            key,
            span,
            value,
        }
    }

    /// Where its key stands.
    pub fn key_location(&self) -> Location {
        Location {
            source: self.source,
            span: self.key.clone(),
        }
    }

    /// Where its value stands.
    pub fn location(&self) -> Location {
        Location {
            source: self.source,
            span: self.span.clone(),
        }
    }

    /// What stands at the key of a table, or at the number of a list.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            NodeValue::Table(table) => table.get(key),
            NodeValue::List(list) => list.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// The elements of a list; anything else stands for a list of one.
    pub(crate) fn elements(&self) -> Vec<Node> {
        match &self.value {
            NodeValue::List(list) => list.clone(),
            _ => vec![self.clone()],
        }
    }

    /// Puts `node` at a key of a table in place of what is there.
    pub(crate) fn put(&mut self, key: &str, node: Node) {
        if let NodeValue::Table(table) = &mut self.value {
            table.insert(key.to_owned(), node);
        }
    }

    /// Lays `over` over this: tables key by key, everything else as a whole.
    pub(crate) fn overlay(&mut self, over: Node) {
        match (&mut self.value, over.value) {
            (NodeValue::Table(table), NodeValue::Table(given)) => {
                for (key, node) in given {
                    match table.get_mut(&key) {
                        Some(there) => there.overlay(node),
                        None => {
                            table.insert(key, node);
                        }
                    }
                }
                (self.source, self.key, self.span) = (over.source, over.key, over.span);
            }
            (_, value) => {
                *self = Node { value, ..over };
            }
        }
    }

    /// Puts `node` at `path`. On the way, a key that is not the number of an element goes to all
    /// elements of a list, so that `pool.ssd_count` reaches every pool; a number may be left out
    /// of the path of a single table, too.
    ///
    /// # Errors
    /// A sentence when something on the way is neither table nor list.
    pub(crate) fn assign(&mut self, path: &[&str], node: &Node) -> Result<(), String> {
        let Some((first, rest)) = path.split_first() else {
            self.overlay(node.clone());
            return Ok(());
        };
        match &mut self.value {
            NodeValue::List(list) => {
                let count = list.len();
                match first.parse::<usize>() {
                    Ok(number) => match list.get_mut(number) {
                        Some(element) => element.assign(rest, node),
                        None => Err(format!(
                            "there is no number {number}; the list has {count}, from 0 on"
                        )),
                    },
                    Err(_) => list
                        .iter_mut()
                        .try_for_each(|element| element.assign(path, node)),
                }
            }
            NodeValue::Table(table) => {
                if rest.is_empty() && !table.contains_key(*first) {
                    table.insert((*first).to_owned(), node.clone());
                    return Ok(());
                }
                // A single table stands for a list of one.
                if *first == "0" && !table.contains_key("0") {
                    return self.assign(rest, node);
                }
                let inner = table.entry((*first).to_owned()).or_insert_with(|| Node {
                    value: NodeValue::Table(BTreeMap::new()),
                    ..node.clone()
                });
                inner.assign(rest, node)
            }
            other => Err(format!("{} has no key '{first}'", other.described())),
        }
    }

    /// The node at the longest part of the dotted `path` that exists. Numbers of elements are
    /// passed over where a single table stands for a list.
    pub(crate) fn nearest(&self, path: &str) -> &Node {
        let mut node = self;
        for part in path.split('.') {
            let Some(inner) = node.get(part) else {
                if part.parse::<usize>().is_ok() {
                    continue;
                }
                break;
            };
            node = inner;
        }
        node
    }

    /// Whether something stands at exactly the dotted `path`.
    pub(crate) fn find(&self, path: &str) -> Option<&Node> {
        let mut node = self;
        for part in path.split('.') {
            match node.get(part) {
                Some(inner) => node = inner,
                None if part == "0" && matches!(node.value, NodeValue::Table(_)) => {}
                None => return None,
            }
        }
        Some(node)
    }

    /// Removes what stands at a key of a table.
    pub(crate) fn remove(&mut self, key: &str) {
        if let NodeValue::Table(table) = &mut self.value {
            table.remove(key);
        }
    }

    /// Removes what was given by the key, or as the value, at bytes `span` of its source.
    pub(crate) fn omit(&mut self, span: &Range<usize>) {
        let is_it = |node: &Node| node.key == *span || node.span == *span;
        match &mut self.value {
            NodeValue::Table(table) => {
                table.retain(|_, node| !is_it(node));
                table.values_mut().for_each(|node| node.omit(span));
            }
            NodeValue::List(list) => {
                list.retain(|node| !is_it(node));
                list.iter_mut().for_each(|node| node.omit(span));
            }
            _ => {}
        }
    }

    /// Every node below this one, those inside before those around them.
    pub(crate) fn below(&self) -> Vec<&Node> {
        let inner: Vec<&Node> = match &self.value {
            NodeValue::Table(table) => table.values().collect(),
            NodeValue::List(list) => list.iter().collect(),
            _ => Vec::new(),
        };
        let deeper = inner.iter().flat_map(|node| node.below());
        let mut all: Vec<&Node> = deeper.collect();
        all.extend(inner);
        all
    }

    /// The tree as plain TOML.
    pub(crate) fn to_toml(&self) -> toml::Value {
        match &self.value {
            NodeValue::Text(text) => toml::Value::String(text.clone()),
            NodeValue::Integer(number) => toml::Value::Integer(*number),
            NodeValue::Float(number) => toml::Value::Float(*number),
            NodeValue::Flag(flag) => toml::Value::Boolean(*flag),
            NodeValue::Other(words) => toml::Value::String((*words).to_owned()),
            NodeValue::List(list) => toml::Value::Array(list.iter().map(Self::to_toml).collect()),
            NodeValue::Table(table) => {
                let entries = table
                    .iter()
                    .map(|(key, node)| (key.clone(), node.to_toml()));
                toml::Value::Table(entries.collect())
            }
        }
    }
}

fn table_of(source: usize, offset: usize, table: &DeTable<'_>) -> NodeValue {
    let entries = table.iter().map(|(key, value)| {
        let node = Node {
            source,
            key: shifted(key.span(), offset),
            span: shifted(value.span(), offset),
            value: value_of(source, offset, value.get_ref()),
        };
        (key.get_ref().to_string(), node)
    });
    NodeValue::Table(entries.collect())
}

fn shifted(span: Range<usize>, offset: usize) -> Range<usize> {
    span.start + offset..span.end + offset
}

fn value_of(source: usize, offset: usize, value: &DeValue<'_>) -> NodeValue {
    match value {
        DeValue::String(text) => NodeValue::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).map_or(
            NodeValue::Other("a whole number of more than 63 bits"),
            NodeValue::Integer,
        ),
        DeValue::Float(number) => number.as_str().parse().map_or(
            NodeValue::Other("a number that is too large"),
            NodeValue::Float,
        ),
        DeValue::Boolean(flag) => NodeValue::Flag(*flag),
        DeValue::Datetime(_) => NodeValue::Other("a date or time of day"),
        DeValue::Array(list) => NodeValue::List(
            list.iter()
                .map(|element| {
                    let span = shifted(element.span(), offset);
                    Node {
                        source,
                        key: span.clone(),
                        span,
                        value: value_of(source, offset, element.get_ref()),
                    }
                })
                .collect(),
        ),
        DeValue::Table(table) => table_of(source, offset, table),
    }
}
