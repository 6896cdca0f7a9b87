//! Checks of the rows of small data sets.
//!
//! - `rules`: what the schema requires of any table.
//! - `consistency`: whether the trades are consistent.
//! - `counts`: row counts and shares.
//! - `repeats`: the same bytes whichever worker generates them.

mod consistency;
mod counts;
mod repeats;
mod rules;

use super::Generator;
use crate::dataset::DataSet;
use crate::error::DatabaseError;
use crate::row::RowSink;
use crate::schema::TableName;
use crate::value::Value;

/// Passes each row to a function.
struct Each<F> {
    row: Vec<Value>,
    take: F,
}

impl<F: FnMut(&[Value])> RowSink for Each<F> {
    fn null(&mut self) {
        self.row.push(Value::Null);
    }

    fn integer(&mut self, number: i64) {
        self.row.push(Value::Integer(number));
    }

    fn text(&mut self, text: &str) {
        self.row.push(Value::from(text));
    }

    fn end_row(&mut self) -> Result<(), DatabaseError> {
        (self.take)(&self.row);
        self.row.clear();
        Ok(())
    }
}

/// All rows of a table, part after part.
fn each(data_set: &DataSet, table: TableName, take: impl FnMut(&[Value])) {
    let generator = Generator::new(*data_set);
    let mut sink = Each {
        row: Vec::new(),
        take,
    };
    for part in 0..generator.parts(table) {
        generator.write(table, part, &mut sink).unwrap();
    }
    assert!(sink.row.is_empty(), "{} ends within a row", table.name());
}

/// The index of a column of a table.
fn column(table: TableName, name: &str) -> usize {
    let columns = table.table().columns;
    columns
        .iter()
        .position(|column| column.name == name)
        .unwrap()
}

/// These columns of all rows, all of them integers.
fn numbers<const N: usize>(
    data_set: &DataSet,
    table: TableName,
    names: [&str; N],
) -> Vec<[i64; N]> {
    let places = names.map(|name| column(table, name));
    let mut rows = Vec::new();
    each(data_set, table, |row| {
        rows.push(places.map(|place| row[place].as_integer().unwrap()));
    });
    rows
}

/// A column of texts.
fn texts(data_set: &DataSet, table: TableName, name: &str) -> Vec<String> {
    let place = column(table, name);
    let mut all = Vec::new();
    each(data_set, table, |row| {
        all.push(row[place].as_text().unwrap().to_owned());
    });
    all
}
