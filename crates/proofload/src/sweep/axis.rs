//! What a sweep varies: a setting and its values.

use measure::grid::GridAxis;

use crate::setting::{Key, Value};

/// A setting with the values to predict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Which setting is varied.
    pub key: Key,
    /// Its values, none twice.
    pub values: Vec<Value>,
}

impl Axis {
    /// The values of the setting that `name` stands for, such as `threads` or
    /// `array.pool.ssd_count`.
    pub fn new<V: Into<Value>>(name: &str, values: impl IntoIterator<Item = V>) -> Self {
        Self {
            key: Key::named(name),
            values: values.into_iter().map(Into::into).collect(),
        }
    }

    /// The axis in a result.
    pub(crate) fn entry(&self) -> GridAxis {
        GridAxis {
            key: self.key.to_string(),
            values: self.values.iter().map(Value::to_string).collect(),
        }
    }
}

/// A name for a setting: its last part, or the whole path where another one ends alike.
pub fn short_key(key: &Key, axes: &[Axis]) -> String {
    let key = key.to_string();
    let last = key.rsplit('.').next().unwrap_or(&key);
    let alike = axes
        .iter()
        .filter(|axis| axis.key.to_string().ends_with(last));
    match alike.count() {
        0 | 1 => last.to_owned(),
        _ => key,
    }
}
