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
            "\n| key | default | write | meaning |{head}\n|---|---|---|---|{line}\n"
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
        (Some(value), _) | (None, Absent::Value(value)) => format!("`{}`", value.literal()),
        (None, Absent::Required) => "must be written".to_owned(),
        (None, Absent::Nothing) => "none".to_owned(),
    }
}

/// What may be written, with the unit that the key ends with.
fn written(field: &Field) -> String {
    let expected = field.shape.expected();
    match field.unit() {
        Some(unit) => format!("{expected}; {unit}"),
        None => expected,
    }
}

/// The meaning of a setting, and of each of the names it takes where they have one.
fn meaning(field: &Field) -> String {
    let names = match &field.shape {
        Shape::Choice(names) => names.as_slice(),
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
