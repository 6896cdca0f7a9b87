//! All settings in force as TOML, each below its meaning.

use crate::codec::Settings;
use crate::shape::Shape;
use crate::shape::{Field, Table};
use crate::value::{Value, key_literal};

/// Widest line of a comment.
const WIDTH: usize = 100;

/// All settings in force as commented TOML, which reads back to the same settings.
#[must_use]
pub fn to_toml<T: Settings>(settings: &T) -> String {
    let mut out = String::new();
    write_table(&mut out, &T::declaration(), &settings.to_value(), "");
    out
}

/// Writes the settings of a table, then the tables inside of it.
fn write_table(out: &mut String, table: &Table, value: &Value, path: &str) {
    let written = |field: &Field| value.get(field.key).cloned();
    for field in &table.fields {
        if let Some(value) = written(field).filter(|value| !has_tables(field, value)) {
            comment(out, field.meaning);
            out.push_str(&format!(
                "{} = {}\n",
                key_literal(field.key),
                value.literal()
            ));
        }
    }
    for field in &table.fields {
        if let Some(value) = written(field).filter(|value| has_tables(field, value)) {
            write_tables(out, field, &value, &join(path, field.key));
        }
    }
}

/// Whether a value is written as tables of its own: not an empty list of tables, which has none.
fn has_tables(field: &Field, value: &Value) -> bool {
    let is_empty_list = matches!(value, Value::List(list) if list.is_empty());
    field.shape.table().is_some() && !is_empty_list
}

fn write_tables(out: &mut String, field: &Field, value: &Value, path: &str) {
    let Some(table) = field.shape.table() else {
        return;
    };
    let mut write = |header: String, value: &Value, path: &str| {
        out.push('\n');
        comment(out, table.meaning);
        out.push_str(&header);
        write_table(out, &table, value, path);
    };
    match (value, &field.shape) {
        (Value::List(list), _) => {
            for value in list {
                write(format!("[[{path}]]\n"), value, path);
            }
        }
        (Value::Table(named), Shape::Named(_)) => {
            for (name, value) in named {
                let path = join(path, name);
                write(format!("[{path}]\n"), value, &path);
            }
        }
        (value, _) => write(format!("[{path}]\n"), value, path),
    }
}

fn join(path: &str, key: &str) -> String {
    let key = key_literal(key);
    match path {
        "" => key,
        path => format!("{path}.{key}"),
    }
}

/// Appends `text` as comment lines of at most [`WIDTH`] characters.
fn comment(out: &mut String, text: &str) {
    if text.is_empty() {
        return;
    }
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
}
