//! What the schema requires of any table: types, lengths, keys, references.

use super::each;
use crate::dataset::DataSet;
use crate::schema::{TABLES, Table, TableName, Type};
use crate::value::Value;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Keys as 64-bit hashes: a million keys have practically no collision.
fn key(places: &[usize], row: &[Value]) -> u64 {
    let values: Vec<&Value> = places.iter().map(|&place| &row[place]).collect();
    BuildHasherDefault::<DefaultHasher>::new().hash_one(values)
}

fn places(table: &Table, columns: &[&str]) -> Vec<usize> {
    let place = |name: &&str| super::column(table.name, name);
    columns.iter().map(place).collect()
}

fn check_values(table: &Table, row: &[Value]) {
    let name = table.name.name();
    assert_eq!(row.len(), table.columns.len(), "{name}");
    for (column, value) in table.columns.iter().zip(row) {
        let fits = match (column.of, value) {
            (_, Value::Null) => column.may_be_null,
            (Type::Big, Value::Integer(_)) => true,
            (Type::Integer, Value::Integer(number)) => i32::try_from(*number).is_ok(),
            (Type::Small, Value::Integer(number)) => i16::try_from(*number).is_ok(),
            (Type::Text(most), Value::Text(text)) => text.len() <= most as usize,
            (Type::Long, Value::Text(text)) => text.len() <= 100_000,
            _ => false,
        };
        assert!(fits, "{name}.{}: {value:?}", column.name);
    }
}

/// Primary keys of each table so far.
type Keys = HashMap<TableName, HashSet<u64>>;

fn check_table(data_set: &DataSet, table: &Table, keys: &mut Keys) {
    let name = table.name.name();
    let primary = places(table, table.primary_key);
    let unique = table.indexes.iter().filter(|index| index.is_unique);
    let unique: Vec<Vec<usize>> = unique.map(|index| places(table, index.columns)).collect();
    let mut seen = vec![HashSet::new(); unique.len()];
    let references = table.references.iter();
    let references: Vec<(TableName, Vec<usize>)> = references
        .map(|reference| (reference.table, places(table, reference.columns)))
        .collect();
    let mut own = HashSet::new();
    each(data_set, table.name, |row| {
        check_values(table, row);
        assert!(
            own.insert(key(&primary, row)),
            "{name}: {row:?} comes twice"
        );
        for (places, seen) in unique.iter().zip(&mut seen) {
            assert!(
                seen.insert(key(places, row)),
                "{name}: {row:?} is not unique"
            );
        }
        for (of, places) in &references {
            let found = keys[of].contains(&key(places, row));
            assert!(found, "{name}: {row:?} refers to no {}", of.name());
        }
    });
    keys.insert(table.name, own);
}

#[test]
fn types_keys_and_references_hold_in_every_table() {
    let data_set = DataSet::new(2_000, 1, 77);
    let mut keys = Keys::new();
    for table in &TABLES {
        check_table(&data_set, table, &mut keys);
        let (rows, expected) = (keys[&table.name].len() as u64, data_set.rows(table.name));
        if data_set.rows_are_exact(table.name) {
            assert_eq!(rows, expected, "{}", table.name.name());
        } else {
            let share = rows as f64 / expected as f64;
            assert!(
                (0.95..1.05).contains(&share),
                "{} {share}",
                table.name.name()
            );
        }
    }
}
