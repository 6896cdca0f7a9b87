//! How a value of TOML becomes a typed setting and is written again: one codec per kind of value.
//!
//! Every type that settings are commonly made of has a codec of its own ([`HasCodec`]); a
//! declaration names another with `as`, such as [`within`] for bounds or [`or_word`] for a word that
//! stands for "nothing".

mod collections;
mod reader;
mod scalars;

pub use collections::{
    Flattened, ListOf, Named, Nested, Optional, flattened, list, named, optional,
};
pub(crate) use reader::read;
pub use reader::{Keys, Reader};
pub use scalars::{
    AnyNumber, Choices, Limit, NoQuantity, NumberOrText, OrWord, Quantity, Switch, Text, Within,
    limit_ms, limit_s, number_or_text, or_word, within,
};

use crate::node::Node;
use crate::shape::{Shape, Table};
use crate::value::Value;

/// Reads and writes the values of a setting of type `T`.
pub trait Codec<T> {
    /// Reads the value at a node. `None` when something was wrong, which the reader then knows.
    /// What the node leaves out comes from `base`, such as the keys of a table.
    fn read(&self, node: &Node, base: Option<&T>, reader: &mut Reader<'_>) -> Option<T>;

    /// The value as it is written; `None` when its key is left out.
    fn write(&self, value: &T) -> Option<Value>;

    /// What may be written.
    fn shape(&self) -> Shape;

    /// What it means when the key is left out and the declaration has no default.
    fn absent(&self) -> Option<T> {
        None
    }

    /// Whether the keys of this table are those of the table around it.
    fn is_flattened(&self) -> bool {
        false
    }
}

/// A type with a codec of its own.
pub trait HasCodec: Sized {
    /// The codec of the type, without further bounds.
    fn codec() -> impl Codec<Self>;
}

/// A type whose values have names in TOML; [`choice!`](crate::choice) declares one.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value with its name and its meaning.
    const NAMES: &'static [(&'static str, Self, &'static str)];

    /// The name of this value.
    fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, value, _)| *value == self);
        found.map_or("", |(name, ..)| name)
    }

    /// The value of that name.
    fn of_name(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, ..)| *known == name);
        found.map(|(_, value, _)| *value)
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
