//! A JSON Schema of a declaration, by which editors complete and check TOML while it is written.

use serde_json::{Map, Value as Json, json};

use crate::codec::Settings;
use crate::shape::Shape;
use crate::shape::{Absent, Table};

/// The JSON Schema (draft 2020-12) of documents with the settings `T`. `extends` are the names of
/// what such a document may extend; if there are any, nothing must be written.
#[must_use]
pub fn json_schema<T: Settings>(title: &str, extends: &[&str]) -> Json {
    let declaration = T::declaration();
    let mut schema = table_schema(&declaration, extends.is_empty());
    if let Some(root) = schema.as_object_mut() {
        root.insert(
            "$schema".to_owned(),
            "https://json-schema.org/draft/2020-12/schema".into(),
        );
        root.insert("title".to_owned(), title.into());
    }
    if !extends.is_empty() {
        schema["properties"]["extends"] = json!({
            "enum": extends,
            "description": "The bundled document whose settings hold where this one says nothing.",
        });
    }
    schema
}

fn table_schema(table: &Table, with_required: bool) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in &table.fields {
        let mut schema = shape_schema(&field.shape, with_required);
        if let Some(object) = schema.as_object_mut() {
            if !field.meaning.is_empty() {
                object.insert("description".to_owned(), field.meaning.into());
            }
            match &field.default {
                Absent::Value(value) if field.shape.table().is_none() => {
                    object.insert("default".to_owned(), value.to_json());
                }
                Absent::Required => required.push(field.key),
                _ => {}
            }
        }
        properties.insert(field.key.to_owned(), schema);
    }
    let mut schema = json!({
        "type": "object",
        "description": table.meaning,
        "properties": properties,
        "additionalProperties": false,
    });
    if with_required && !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

fn shape_schema(shape: &Shape, with_required: bool) -> Json {
    match shape {
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Text => json!({ "type": "string" }),
        // TOML has whole numbers of 63 bits.
        Shape::Whole { low, high } if *high > i64::MAX.unsigned_abs() => {
            json!({ "type": "integer", "minimum": low })
        }
        Shape::Whole { low, high } => {
            json!({ "type": "integer", "minimum": low, "maximum": high })
        }
        Shape::Number { low, high } => {
            let mut schema = json!({ "type": "number" });
            if let Some(low) = low {
                schema["minimum"] = (*low).into();
            }
            if let Some(high) = high {
                schema["maximum"] = (*high).into();
            }
            schema
        }
        Shape::Size { .. } => json!({ "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^ *[0-9][0-9_.]* *([kKmMgGtTpP][iI]?)?[bB]? *$" },
        ]}),
        Shape::Time { .. } => json!({ "anyOf": [
            { "const": 0 },
            {
                "type": "string",
                "pattern": "^ *(0|([0-9][0-9_.]* *(ns|us|ms|s|m|min|h|d) *)+)$",
            },
        ]}),
        Shape::Choice(names) => {
            json!({ "enum": names.iter().map(|(name, _)| *name).collect::<Vec<_>>() })
        }
        Shape::Word(word) => json!({ "const": word }),
        Shape::Either(one, other) => {
            json!({ "anyOf": [shape_schema(one, with_required), shape_schema(other, with_required)] })
        }
        Shape::List(inner) => {
            let one = shape_schema(inner, with_required);
            json!({ "anyOf": [{ "type": "array", "items": one }, one] })
        }
        Shape::Table(table) => table_schema(&table(), with_required),
        Shape::Named(inner) => json!({
            "type": "object",
            "additionalProperties": shape_schema(inner, with_required),
        }),
    }
}
