//! Codecs of what holds other settings: tables, lists, named tables, what may be left out.

use std::collections::BTreeMap;

use super::Settings;
use super::reader::Reader;
use super::scalars::misfit;
use super::{Codec, HasCodec};
use crate::node::{Node, NodeValue};
use crate::shape::Shape;
use crate::value::Value;

/// A table of declared settings.
#[derive(Clone, Copy, Debug)]
pub struct Nested;

impl<T: Settings> Codec<T> for Nested {
    fn read(&self, node: &Node, base: Option<&T>, reader: &mut Reader<'_>) -> Option<T> {
        match node.value {
            NodeValue::Table(_) => T::read(node, base, reader),
            _ => reader.not_a_table(node),
        }
    }

    fn write(&self, value: &T) -> Option<Value> {
        Some(value.to_value())
    }

    fn shape(&self) -> Shape {
        Shape::Table(T::declaration)
    }
}

/// A table whose keys are written among those of the table around it.
#[derive(Clone, Copy, Debug)]
pub struct Flattened;

/// The keys of this table are written among those of the table around it.
#[must_use]
pub fn flattened() -> Flattened {
    Flattened
}

impl<T: Settings> Codec<T> for Flattened {
    fn read(&self, node: &Node, base: Option<&T>, reader: &mut Reader<'_>) -> Option<T> {
        T::read(node, base, reader)
    }

    fn write(&self, value: &T) -> Option<Value> {
        Some(value.to_value())
    }

    fn shape(&self) -> Shape {
        Shape::Table(T::declaration)
    }

    fn is_flattened(&self) -> bool {
        true
    }
}

/// A list; one value stands for a list of one.
#[derive(Clone, Debug)]
pub struct ListOf<C>(C);

/// A list of what `element` takes.
pub fn list<C>(element: C) -> ListOf<C> {
    ListOf(element)
}

impl<T, C: Codec<T>> Codec<Vec<T>> for ListOf<C> {
    fn read(&self, node: &Node, _base: Option<&Vec<T>>, reader: &mut Reader<'_>) -> Option<Vec<T>> {
        let elements = match &node.value {
            NodeValue::List(list) => list.as_slice(),
            _ => std::slice::from_ref(node),
        };
        // All of them are read, so that every fault is found.
        let read: Vec<Option<T>> = elements
            .iter()
            .map(|element| self.0.read(element, None, reader))
            .collect();
        read.into_iter().collect()
    }

    fn write(&self, value: &Vec<T>) -> Option<Value> {
        let elements = value.iter().filter_map(|element| self.0.write(element));
        Some(Value::List(elements.collect()))
    }

    fn shape(&self) -> Shape {
        Shape::List(Box::new(self.0.shape()))
    }
}

/// A table whose keys are names.
#[derive(Clone, Debug)]
pub struct Named<C>(C);

/// A table whose keys are names of what `value` takes.
pub fn named<C>(value: C) -> Named<C> {
    Named(value)
}

impl<T: Clone, C: Codec<T>> Codec<BTreeMap<String, T>> for Named<C> {
    fn read(
        &self,
        node: &Node,
        base: Option<&BTreeMap<String, T>>,
        reader: &mut Reader<'_>,
    ) -> Option<BTreeMap<String, T>> {
        let NodeValue::Table(table) = &node.value else {
            return reader.take(node, Err(misfit(&node.value, &self.shape().expected())));
        };
        let mut all = base.cloned().unwrap_or_default();
        let mut is_whole = true;
        for (name, inner) in table {
            let under = base.and_then(|base| base.get(name));
            let read = reader.below(name, |reader| self.0.read(inner, under, reader));
            is_whole &= read.is_some();
            all.extend(read.map(|value| (name.clone(), value)));
        }
        is_whole.then_some(all)
    }

    fn write(&self, value: &BTreeMap<String, T>) -> Option<Value> {
        let entries = value
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), self.0.write(value)?)));
        Some(Value::Table(entries.collect()))
    }

    fn shape(&self) -> Shape {
        Shape::Named(Box::new(self.0.shape()))
    }
}

/// A setting that may be left out, which means `None`.
#[derive(Clone, Debug)]
pub struct Optional<C>(C);

/// What `value` takes; left out it is `None`.
pub fn optional<C>(value: C) -> Optional<C> {
    Optional(value)
}

impl<T, C: Codec<T>> Codec<Option<T>> for Optional<C> {
    fn read(
        &self,
        node: &Node,
        base: Option<&Option<T>>,
        reader: &mut Reader<'_>,
    ) -> Option<Option<T>> {
        let base = base.and_then(Option::as_ref);
        self.0.read(node, base, reader).map(Some)
    }

    fn write(&self, value: &Option<T>) -> Option<Value> {
        value.as_ref().and_then(|value| self.0.write(value))
    }

    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn absent(&self) -> Option<Option<T>> {
        Some(None)
    }
}

impl<T: HasCodec> HasCodec for Vec<T> {
    fn codec() -> impl Codec<Self> {
        ListOf(T::codec())
    }
}

impl<T: HasCodec> HasCodec for Option<T> {
    fn codec() -> impl Codec<Self> {
        Optional(T::codec())
    }
}

impl<T: HasCodec + Clone> HasCodec for BTreeMap<String, T> {
    fn codec() -> impl Codec<Self> {
        Named(T::codec())
    }
}
