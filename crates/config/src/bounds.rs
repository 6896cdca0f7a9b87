//! The declared bounds of settings that were set by code and not read from a text.

use crate::codec::Settings;
use crate::quantity::{ByteSize, TimeSpan};
use crate::shape::Shape;
use crate::shape::Table;
use crate::value::Value;

/// The settings whose values are out of their declared bounds: their dotted paths, elements of
/// lists by their numbers, each with a sentence saying what would be right. Settings that were read
/// from a text have none.
#[must_use]
pub fn out_of_bounds<T: Settings>(settings: &T) -> Vec<(String, String)> {
    let mut found = Vec::new();
    each_setting(settings, &mut |path, shape, current| {
        if let Some(value) = current.filter(|value| !fits(shape, value)) {
            let (value, right) = (value.literal(), shape.bounded());
            let message = format!("{value} is out of range; write {right}");
            found.push((path.to_owned(), message));
        }
    });
    found
}

/// What is called with a setting's path, what may be written for it and what it is.
pub type Visit<'a> = dyn FnMut(&str, &Shape, Option<&Value>) + 'a;

/// Calls `visit` for every setting in the order of the declaration. Tables that are left out are
/// not looked into.
pub fn each_setting<T: Settings>(settings: &T, visit: &mut Visit<'_>) {
    of_table(&T::declaration(), &settings.to_value(), "", visit);
}

fn of_table(table: &Table, value: &Value, path: &str, visit: &mut Visit<'_>) {
    for field in &table.fields {
        let path = match path {
            "" => field.key.to_owned(),
            path => format!("{path}.{}", field.key),
        };
        of_shape(&field.shape, value.get(field.key), &path, visit);
    }
}

fn of_shape(shape: &Shape, current: Option<&Value>, path: &str, visit: &mut Visit<'_>) {
    match (shape, current) {
        (Shape::Table(table), Some(value)) => of_table(&table(), value, path, visit),
        (Shape::List(inner), Some(Value::List(list))) if inner.table().is_some() => {
            for (number, value) in list.iter().enumerate() {
                of_shape(inner, Some(value), &format!("{path}.{number}"), visit);
            }
        }
        (Shape::Named(inner), Some(Value::Table(entries))) => {
            for (name, value) in entries {
                of_shape(inner, Some(value), &format!("{path}.{name}"), visit);
            }
        }
        (shape, current) if shape.table().is_none() => visit(path, shape, current),
        _ => {}
    }
}

fn fits(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Whole { low, high }, Value::Whole(number)) => (low..=high).contains(&number),
        (Shape::Number { low, high }, Value::Number(number)) => {
            low.is_none_or(|low| *number >= low) && high.is_none_or(|high| *number <= high)
        }
        (Shape::Size { low, high }, Value::Text(text)) => {
            ByteSize::parse(text).is_ok_and(|size| (*low..=*high).contains(&size))
        }
        (Shape::Time { low, high }, Value::Text(text)) => {
            TimeSpan::parse(text).is_ok_and(|time| (*low..=*high).contains(&time))
        }
        (Shape::Word(word), value) => matches!(value, Value::Text(text) if text == word),
        (Shape::Either(one, other), value) => fits(one, value) || fits(other, value),
        (Shape::List(inner), Value::List(list)) => list.iter().all(|value| fits(inner, value)),
        _ => true,
    }
}
