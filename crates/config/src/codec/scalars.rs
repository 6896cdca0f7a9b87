//! Codecs of single values: flags, texts, numbers, sizes, times, names.

use std::ops::RangeInclusive;

use super::reader::Reader;
use super::{Choice, Codec, HasCodec};
use crate::node::{Node, NodeValue};
use crate::quantity::{ByteSize, TimeSpan};
use crate::shape::Shape;
use crate::value::Value;

/// Why a value stands for no quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoQuantity {
    /// Its type is another one.
    OtherType,
    /// The sentence says what is wrong, and not yet what may be written.
    Wrong(String),
    /// The sentence says what is wrong and what may be written.
    WrongWithRemedy(String),
}

/// Something measurable that a setting can hold.
pub trait Quantity: Copy + PartialOrd {
    /// The quantity that a value stands for.
    ///
    /// # Errors
    /// When it stands for none.
    fn read(value: &NodeValue) -> Result<Self, NoQuantity>;
    /// The quantity as a value.
    fn to_value(self) -> Value;
    /// What may be written for one within bounds.
    fn shape(low: Self, high: Self) -> Shape;
}

macro_rules! whole_quantity {
    ($($type:ty),*) => {$(
        impl Quantity for $type {
            fn read(value: &NodeValue) -> Result<Self, NoQuantity> {
                match value {
                    NodeValue::Integer(number) => Self::try_from(*number)
                        .map_err(|_| NoQuantity::Wrong(format!("{number} is out of range"))),
                    _ => Err(NoQuantity::OtherType),
                }
            }

            fn to_value(self) -> Value {
                Value::Whole(self as u64)
            }

            fn shape(low: Self, high: Self) -> Shape {
                Shape::Whole { low: low as u64, high: high as u64 }
            }
        }

        impl HasCodec for $type {
            fn codec() -> impl Codec<Self> {
                within(<$type>::MIN..=<$type>::MAX)
            }
        }
    )*};
}

whole_quantity!(u8, u16, u32, u64, usize);

/// The number that a value stands for, whether or not it is finite.
fn number(value: &NodeValue) -> Option<f64> {
    match value {
        NodeValue::Integer(number) => Some(*number as f64),
        NodeValue::Float(number) => Some(*number),
        _ => None,
    }
}

fn bound(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

impl Quantity for f64 {
    fn read(value: &NodeValue) -> Result<Self, NoQuantity> {
        number(value)
            .filter(|number| number.is_finite())
            .ok_or(NoQuantity::OtherType)
    }

    fn to_value(self) -> Value {
        Value::Number(self)
    }

    fn shape(low: Self, high: Self) -> Shape {
        Shape::Number {
            low: bound(low),
            high: bound(high),
        }
    }
}

impl Quantity for f32 {
    fn read(value: &NodeValue) -> Result<Self, NoQuantity> {
        f64::read(value).map(|number| number as Self)
    }

    /// The shortest decimal that reads back exactly.
    fn to_value(self) -> Value {
        Value::Number(self.to_string().parse().unwrap_or(f64::from(self)))
    }

    fn shape(low: Self, high: Self) -> Shape {
        f64::shape(low.into(), high.into())
    }
}

impl Quantity for ByteSize {
    fn read(value: &NodeValue) -> Result<Self, NoQuantity> {
        match value {
            NodeValue::Integer(number) if *number >= 0 => Ok(Self(number.unsigned_abs())),
            NodeValue::Text(text) => Self::parse(text).map_err(NoQuantity::WrongWithRemedy),
            _ => Err(NoQuantity::OtherType),
        }
    }

    fn to_value(self) -> Value {
        Value::Text(self.to_string())
    }

    fn shape(low: Self, high: Self) -> Shape {
        Shape::Size { low, high }
    }
}

impl Quantity for TimeSpan {
    fn read(value: &NodeValue) -> Result<Self, NoQuantity> {
        match value {
            NodeValue::Integer(0) => Ok(Self(0)),
            NodeValue::Integer(number) if *number > 0 => Err(NoQuantity::Wrong(format!(
                "the number {number} has no unit of time, such as \"{number}s\" or \"{number}ms\""
            ))),
            NodeValue::Text(text) => Self::parse(text).map_err(NoQuantity::WrongWithRemedy),
            _ => Err(NoQuantity::OtherType),
        }
    }

    fn to_value(self) -> Value {
        Value::Text(self.to_string())
    }

    fn shape(low: Self, high: Self) -> Shape {
        Shape::Time { low, high }
    }
}

impl HasCodec for ByteSize {
    fn codec() -> impl Codec<Self> {
        within(Self(0)..=Self(u64::MAX))
    }
}

impl HasCodec for TimeSpan {
    fn codec() -> impl Codec<Self> {
        within(Self(0)..=Self(u64::MAX))
    }
}

/// A number, size or time within bounds.
#[derive(Clone, Debug)]
pub struct Within<T>(RangeInclusive<T>);

/// A number, size or time within `range`.
pub fn within<T: Quantity>(range: RangeInclusive<T>) -> Within<T> {
    Within(range)
}

impl<T: Quantity> Within<T> {
    fn shape_of_range(&self) -> Shape {
        T::shape(*self.0.start(), *self.0.end())
    }

    /// The value, or a sentence saying what is wrong and what would be right.
    fn take(&self, value: &NodeValue) -> Result<T, String> {
        let shape = self.shape_of_range();
        let found = T::read(value).map_err(|problem| match problem {
            NoQuantity::WrongWithRemedy(sentence) => sentence,
            NoQuantity::Wrong(sentence) => format!("{sentence}; write {}", shape.bounded()),
            NoQuantity::OtherType => misfit(value, &shape.expected()),
        })?;
        if self.0.contains(&found) {
            return Ok(found);
        }
        let literal = found.to_value().literal();
        Err(format!(
            "{literal} is out of range; write {}",
            shape.bounded()
        ))
    }
}

/// The sentence for a value of the wrong type.
pub(crate) fn misfit(value: &NodeValue, expected: &str) -> String {
    format!("{} does not fit here; write {expected}", value.described())
}

impl<T: Quantity> Codec<T> for Within<T> {
    fn read(&self, node: &Node, _base: Option<&T>, reader: &mut Reader<'_>) -> Option<T> {
        reader.take(node, self.take(&node.value))
    }

    fn write(&self, value: &T) -> Option<Value> {
        Some(value.to_value())
    }

    fn shape(&self) -> Shape {
        self.shape_of_range()
    }
}

/// Any number, infinity and "not a number" included; rules elsewhere say what is right.
#[derive(Clone, Copy, Debug)]
pub struct AnyNumber;

impl Codec<f64> for AnyNumber {
    fn read(&self, node: &Node, _base: Option<&f64>, reader: &mut Reader<'_>) -> Option<f64> {
        let found = number(&node.value).ok_or_else(|| misfit(&node.value, "a number"));
        reader.take(node, found)
    }

    fn write(&self, value: &f64) -> Option<Value> {
        Some(Value::Number(*value))
    }

    fn shape(&self) -> Shape {
        Shape::Number {
            low: None,
            high: None,
        }
    }
}

impl Codec<f32> for AnyNumber {
    fn read(&self, node: &Node, _base: Option<&f32>, reader: &mut Reader<'_>) -> Option<f32> {
        Codec::<f64>::read(self, node, None, reader).map(|number| number as f32)
    }

    fn write(&self, value: &f32) -> Option<Value> {
        Some(value.to_value())
    }

    fn shape(&self) -> Shape {
        Codec::<f64>::shape(self)
    }
}

impl HasCodec for f64 {
    fn codec() -> impl Codec<Self> {
        AnyNumber
    }
}

impl HasCodec for f32 {
    fn codec() -> impl Codec<Self> {
        AnyNumber
    }
}

/// A value, or a word that stands for `None`.
#[derive(Clone, Debug)]
pub struct OrWord<C> {
    word: &'static str,
    value: C,
}

/// What `value` takes, or `word` for `None`.
pub fn or_word<C>(word: &'static str, value: C) -> OrWord<C> {
    OrWord { word, value }
}

impl<T: Quantity> Codec<Option<T>> for OrWord<Within<T>> {
    fn read(
        &self,
        node: &Node,
        _base: Option<&Option<T>>,
        reader: &mut Reader<'_>,
    ) -> Option<Option<T>> {
        let read = match &node.value {
            NodeValue::Text(text) if text == self.word => Ok(None),
            value => match self.value.take(value) {
                Ok(found) => Ok(Some(found)),
                Err(message) => Err(format!("{message}, or \"{}\"", self.word)),
            },
        };
        reader.take(node, read)
    }

    fn write(&self, value: &Option<T>) -> Option<Value> {
        let word = || Value::Text(self.word.to_owned());
        Some(value.map_or_else(word, Quantity::to_value))
    }

    fn shape(&self) -> Shape {
        let (value, word) = (self.value.shape_of_range(), Shape::Word(self.word));
        Shape::Either(Box::new(value), Box::new(word))
    }
}

/// A limit written as a time and kept as a number of milliseconds or seconds; "none" is kept as
/// infinity: nothing is judged.
#[derive(Clone, Debug)]
pub struct Limit {
    unit_ns: f64,
    range: Within<TimeSpan>,
}

/// The word for a limit that is not judged.
const UNLIMITED: &str = "none";

/// A latency from 1 us to 10 min, kept in milliseconds.
#[must_use]
pub fn limit_ms() -> Limit {
    Limit {
        unit_ns: 1e6,
        range: within(TimeSpan(1_000)..=TimeSpan::seconds(600)),
    }
}

/// A length of time up to `longest`, kept in seconds.
#[must_use]
pub fn limit_s(longest: TimeSpan) -> Limit {
    Limit {
        unit_ns: 1e9,
        range: within(TimeSpan(0)..=longest),
    }
}

impl Codec<f64> for Limit {
    fn read(&self, node: &Node, _base: Option<&f64>, reader: &mut Reader<'_>) -> Option<f64> {
        let read = match &node.value {
            NodeValue::Text(text) if text == UNLIMITED => Ok(f64::INFINITY),
            value => match self.range.take(value) {
                Ok(found) => Ok(found.as_ns() as f64 / self.unit_ns),
                Err(message) => Err(format!("{message}, or \"{UNLIMITED}\"")),
            },
        };
        reader.take(node, read)
    }

    fn write(&self, value: &f64) -> Option<Value> {
        if value.is_infinite() {
            return Some(Value::Text(UNLIMITED.to_owned()));
        }
        Some(TimeSpan((*value * self.unit_ns).round() as u64).to_value())
    }

    fn shape(&self) -> Shape {
        let (time, word) = (self.range.shape_of_range(), Shape::Word(UNLIMITED));
        Shape::Either(Box::new(time), Box::new(word))
    }
}

/// Reads `true` or `false`.
#[derive(Clone, Copy, Debug)]
pub struct Switch;

impl Codec<bool> for Switch {
    fn read(&self, node: &Node, _base: Option<&bool>, reader: &mut Reader<'_>) -> Option<bool> {
        let read = match node.value {
            NodeValue::Flag(flag) => Ok(flag),
            ref other => Err(misfit(other, &self.shape().expected())),
        };
        reader.take(node, read)
    }

    fn write(&self, value: &bool) -> Option<Value> {
        Some(Value::Flag(*value))
    }

    fn shape(&self) -> Shape {
        Shape::Flag
    }
}

impl HasCodec for bool {
    fn codec() -> impl Codec<Self> {
        Switch
    }
}

/// Reads a string of any length.
#[derive(Clone, Copy, Debug)]
pub struct Text;

impl Codec<String> for Text {
    fn read(&self, node: &Node, _base: Option<&String>, reader: &mut Reader<'_>) -> Option<String> {
        let read = match &node.value {
            NodeValue::Text(text) => Ok(text.clone()),
            other => Err(misfit(other, &self.shape().expected())),
        };
        reader.take(node, read)
    }

    fn write(&self, value: &String) -> Option<Value> {
        Some(Value::Text(value.clone()))
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }
}

impl HasCodec for String {
    fn codec() -> impl Codec<Self> {
        Text
    }
}

/// A whole number or any text, kept as text.
#[derive(Clone, Copy, Debug)]
pub struct NumberOrText;

/// A whole number or any text, kept as text, so that `"auto"` and `4` may both be written.
#[must_use]
pub fn number_or_text() -> NumberOrText {
    NumberOrText
}

impl Codec<String> for NumberOrText {
    fn read(&self, node: &Node, base: Option<&String>, reader: &mut Reader<'_>) -> Option<String> {
        match &node.value {
            NodeValue::Text(_) => Text.read(node, base, reader),
            value => {
                let number = within(0..=u64::MAX)
                    .take(value)
                    .map(|number| number.to_string());
                reader.take(
                    node,
                    number.map_err(|_| misfit(value, &self.shape().expected())),
                )
            }
        }
    }

    fn write(&self, value: &String) -> Option<Value> {
        Text.write(value)
    }

    fn shape(&self) -> Shape {
        let (low, high) = (0, u64::MAX);
        Shape::Either(Box::new(Shape::Whole { low, high }), Box::new(Shape::Text))
    }
}

/// One of the names of a [`Choice`].
#[derive(Clone, Copy, Debug)]
pub struct Choices;

impl<T: Choice> Codec<T> for Choices {
    fn read(&self, node: &Node, _base: Option<&T>, reader: &mut Reader<'_>) -> Option<T> {
        let names: Vec<&str> = T::NAMES.iter().map(|(name, ..)| *name).collect();
        let NodeValue::Text(text) = &node.value else {
            let expected = Codec::<T>::shape(self).expected();
            return reader.take(node, Err(misfit(&node.value, &expected)));
        };
        let found = T::of_name(text);
        if found.is_none() {
            reader.unknown_name(node, text, &names);
        }
        found
    }

    fn write(&self, value: &T) -> Option<Value> {
        Some(Value::Text(value.name().to_owned()))
    }

    fn shape(&self) -> Shape {
        let names = T::NAMES
            .iter()
            .map(|(name, _, meaning)| (*name, meaning.trim()));
        Shape::Choice(names.collect())
    }
}
