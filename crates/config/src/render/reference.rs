//! The reference of every setting, as Markdown: one table for each section.

use crate::codec::Settings;
use crate::shape::Shape;
use crate::shape::{Absent, Field, Table};
use crate::value::Value;

/// The reference of every setting with the defaults of the declaration.
#[must_use]
pub fn reference<T: Settings>() -> String {
    let mut out = String::new();
    write_section(&mut out, &T::declaration(), "Top of the file", "", None);
    out
}

/// The reference of every setting with the values of `settings` as defaults.
#[must_use]
pub fn reference_of<T: Settings>(settings: &T) -> String {
    let mut out = String::new();
    let values = settings.to_value();
    write_section(
        &mut out,
        &T::declaration(),
        "Top of the file",
        "",
        Some(&values),
    );
    out
}

/// Up to this many names of a choice are explained in the cell of its meaning.
const MOST_NAMES: usize = 8;

fn write_section(out: &mut String, table: &Table, title: &str, path: &str, values: Option<&Value>) {
    let is_setting = |field: &&Field| field.shape.table().is_none();
    let has_sources = table.fields.iter().any(|field| !field.source.is_empty());
    let (head, line) = match has_sources {
        true => (" source of the default |", "---|"),
        false => ("", ""),
    };
    out.push_str(&format!("\n### {title}\n\n{}\n", table.meaning));
    if table.fields.iter().any(|field| is_setting(&field)) {
        out.push_str(&format!(
            "\n| key | default | type | meaning |{head}\n|---|---|---|---|{line}\n"
        ));
    }
    for field in table.fields.iter().filter(is_setting) {
        let source = match has_sources {
            true => format!(" {} |", field.source),
            false => String::new(),
        };
        out.push_str(&format!(
            "| `{}` | {} | {} | {} |{source}\n",
            field.key,
            default_of(field, values),
            written(field),
            meaning(field),
        ));
    }
    for field in &table.fields {
        write_names(out, field);
    }
    for field in &table.fields {
        let Some(inner) = field.shape.table() else {
            continue;
        };
        let path = match path {
            "" => field.key.to_owned(),
            path => format!("{path}.{}", field.key),
        };
        let values = values.and_then(|values| values.get(field.key));
        let (title, path) = match &field.shape {
            Shape::List(_) => (format!("`[{path}]`, or several `[[{path}]]`"), path),
            Shape::Named(_) => (format!("`[{path}.NAME]`"), format!("{path}.NAME")),
            _ => (format!("`[{path}]`"), path),
        };
        write_section(out, &inner, &title, &path, values);
    }
}

fn default_of(field: &Field, values: Option<&Value>) -> String {
    let given = values.and_then(|values| values.get(field.key));
    match (given, &field.default) {
        (Some(value), _) | (None, Absent::Value(value)) => {
            format!("`{}`", rounded(value).literal())
        }
        (None, Absent::Required) => "required".to_owned(),
        (None, Absent::Nothing) => "none".to_owned(),
    }
}

/// A number of more than six digits that is no whole one is written with six.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.fract() != 0.0 => {
            let text = format!("{number:.5e}");
            Value::Number(text.parse().unwrap_or(*number))
        }
        value => value.clone(),
    }
}

/// The type, with the unit that the key ends with.
fn written(field: &Field) -> String {
    let expected = match has_own_table(field) {
        true => "one of the values below".to_owned(),
        false => field.shape.type_name(),
    };
    match field.unit() {
        Some(unit) => format!("{expected}; {unit}"),
        None => expected,
    }
}

/// Whether there are too many names for a cell.
fn has_own_table(field: &Field) -> bool {
    matches!(&field.shape, Shape::Choice(names) if names.len() > MOST_NAMES)
}

/// The names of a setting that has too many for a cell; the second time only where they are.
fn write_names(out: &mut String, field: &Field) {
    let (Shape::Choice(names), true) = (&field.shape, has_own_table(field)) else {
        return;
    };
    let mut table = format!(
        "\nValues of `{}`:\n\n| value | meaning |\n|---|---|\n",
        field.key
    );
    for (name, meaning) in names {
        table.push_str(&format!("| `{name}` | {} |\n", meaning.replace('|', "\\|")));
    }
    if out.contains(&table) {
        table = format!("\nThe values of `{}` are those above.\n", field.key);
    }
    out.push_str(&table);
}

/// The meaning of a setting, and of each of the names it takes where they have one.
fn meaning(field: &Field) -> String {
    let names = match &field.shape {
        Shape::Choice(names) if !has_own_table(field) => names.as_slice(),
        _ => &[],
    };
    let names = names.iter().filter(|(_, meaning)| !meaning.is_empty());
    let names: Vec<String> = names
        .map(|(name, meaning)| format!("`{name}`: {meaning}"))
        .collect();
    let all = std::iter::once(field.meaning.to_owned()).chain(names);
    let all: Vec<String> = all.filter(|text| !text.is_empty()).collect();
    all.join(" ").replace('|', "\\|")
}
