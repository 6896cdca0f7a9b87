//! Settings and their declarations as text: commented TOML, the reference, JSON Schema.

mod reference;
mod schema;
mod toml;

pub use reference::{reference, reference_of};
pub use schema::json_schema;
pub use toml::to_toml;

use std::collections::BTreeMap;

use crate::codec::Settings;
use crate::value::Value;

/// All settings by their dotted paths, as JSON holds them; elements of lists by their numbers.
#[must_use]
pub fn settings_by_path<T: Settings>(settings: &T) -> BTreeMap<String, serde_json::Value> {
    let mut found = BTreeMap::new();
    collect(&settings.to_value(), "", &mut found);
    found
}

fn collect(value: &Value, path: &str, found: &mut BTreeMap<String, serde_json::Value>) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match value {
        Value::Table(entries) => {
            for (key, value) in entries {
                collect(value, &below(key), found);
            }
        }
        Value::List(list) if list.iter().any(|one| matches!(one, Value::Table(_))) => {
            for (number, value) in list.iter().enumerate() {
                collect(value, &below(&number.to_string()), found);
            }
        }
        value => {
            found.insert(path.to_owned(), value.to_json());
        }
    }
}
