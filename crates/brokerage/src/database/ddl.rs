//! The tables in the dialect of each database.
//!
//! Texts are compared byte by byte everywhere (`COLLATE "C"`, `BINARY`, `utf8mb4_nopad_bin`), so
//! that all databases order them alike. In PostgreSQL primary and foreign keys are added after
//! loading; in MariaDB and SQLite, whose tables are clustered by their primary key, that is created
//! with the table, and in SQLite foreign keys too, which it cannot add later.

use super::interface::Step;
use super::post_load::largest_first;
use crate::schema::{Class, Column, Index, Reference, TABLES, Table, Type};
use crate::statement::Dialect;

/// The statement that creates a table.
#[must_use]
pub fn create_table(table: &Table, dialect: Dialect) -> String {
    let mut lines: Vec<String> = table
        .columns
        .iter()
        .map(|column| column_line(table, column, dialect))
        .collect();
    let has_key = match dialect {
        Dialect::PostgreSql => false,
        Dialect::MariaDb => true,
        Dialect::Sqlite => arrives_in_order(table) && !is_row_number(table),
    };
    if has_key {
        lines.push(format!("PRIMARY KEY ({})", list(table.primary_key)));
    }
    if dialect == Dialect::Sqlite {
        lines.extend(table.references.iter().map(reference));
    }
    let end = match dialect {
        Dialect::PostgreSql => "",
        Dialect::MariaDb => " ENGINE=InnoDB",
        Dialect::Sqlite if has_key => " STRICT, WITHOUT ROWID",
        Dialect::Sqlite => " STRICT",
    };
    format!(
        "CREATE TABLE {} ({}){end}",
        table.name.name(),
        lines.join(", ")
    )
}

fn column_line(table: &Table, column: &Column, dialect: Dialect) -> String {
    let of = match dialect {
        Dialect::PostgreSql => match column.of {
            Type::Big => "bigint".to_owned(),
            Type::Integer => "integer".to_owned(),
            Type::Small => "smallint".to_owned(),
            Type::Text(length) => format!("varchar({length}) COLLATE \"C\""),
            Type::Long => "text COLLATE \"C\"".to_owned(),
        },
        Dialect::MariaDb => match column.of {
            Type::Big => "BIGINT".to_owned(),
            Type::Integer => "INT".to_owned(),
            Type::Small => "SMALLINT".to_owned(),
            Type::Text(length) => format!("VARCHAR({length})"),
            Type::Long => "MEDIUMTEXT".to_owned(),
        },
        Dialect::Sqlite => match column.of {
            Type::Big | Type::Integer | Type::Small => "INTEGER".to_owned(),
            Type::Text(_) | Type::Long => "TEXT".to_owned(),
        },
    };
    if dialect == Dialect::Sqlite && is_row_number(table) && table.primary_key == [column.name] {
        return format!("{} {of} PRIMARY KEY", column.name);
    }
    let null = if column.may_be_null { "" } else { " NOT NULL" };
    format!("{} {of}{null}", column.name)
}

/// Whether SQLite's rowid can be the primary key.
fn is_row_number(table: &Table) -> bool {
    table.primary_key.len() == 1
        && table
            .columns
            .iter()
            .any(|column| column.name == table.primary_key[0] && column.of == Type::Big)
}

/// Whether rows are generated in the order of the primary key, or are few: a table of SQLite can
/// then be clustered by it from the start. Otherwise the key is an index created afterwards.
fn arrives_in_order(table: &Table) -> bool {
    let leads_with_big = table
        .columns
        .iter()
        .any(|column| column.name == table.primary_key[0] && column.of == Type::Big);
    table.class == Class::Fixed || leads_with_big || table.primary_key.len() == 1
}

fn reference(reference: &Reference) -> String {
    let of = reference.table.table();
    format!(
        "FOREIGN KEY ({}) REFERENCES {} ({})",
        list(reference.columns),
        of.name.name(),
        list(of.primary_key)
    )
}

fn list(columns: &[&str]) -> String {
    columns.join(", ")
}

fn create_index(table: &Table, index: &Index) -> Step {
    let name = table.name.name();
    let unique = if index.is_unique { "UNIQUE " } else { "" };
    Step::new(
        format!("the index of {name} by {}", index.columns.join(" and ")),
        format!(
            "CREATE {unique}INDEX {} ON {name} ({})",
            table.index_name(index.columns),
            list(index.columns)
        ),
    )
}

fn indexes() -> Vec<Step> {
    largest_first()
        .into_iter()
        .flat_map(|table| table.indexes.iter().map(|index| create_index(table, index)))
        .collect()
}

/// PostgreSQL's steps after loading. Foreign keys are first added without validation, then
/// validated table by table: only so can several workers run without waiting for each other.
pub(super) fn finish_postgres() -> Vec<Vec<Step>> {
    let tables = largest_first();
    let keys = tables
        .iter()
        .map(|table| {
            let name = table.name.name();
            Step::new(
                format!("the primary key of {name}"),
                format!(
                    "ALTER TABLE {name} ADD PRIMARY KEY ({})",
                    list(table.primary_key)
                ),
            )
        })
        .collect();
    let mut named = Vec::new();
    let mut proved = Vec::new();
    for table in tables.iter().filter(|table| !table.references.is_empty()) {
        let name = table.name.name();
        let add = |(number, one): (usize, &Reference)| {
            format!(
                "ADD CONSTRAINT {name}_reference_{number} {} NOT VALID",
                reference(one)
            )
        };
        let authenticate = |number| format!("VALIDATE CONSTRAINT {name}_reference_{number}");
        let adds: Vec<_> = table.references.iter().enumerate().map(add).collect();
        let proves: Vec<_> = (0..table.references.len()).map(authenticate).collect();
        named.push(format!("ALTER TABLE {name} {}", adds.join(", ")));
        proved.push(Step::new(
            format!("the foreign keys of {name}"),
            format!("ALTER TABLE {name} {}", proves.join(", ")),
        ));
    }
    let named = vec![Step::new(
        "adding the foreign keys".to_owned(),
        named.join("; "),
    )];
    let tidied = tables
        .iter()
        .map(|table| {
            let name = table.name.name();
            Step::new(
                format!("statistics of {name}"),
                format!("VACUUM (FREEZE, ANALYZE) {name}"),
            )
        })
        .collect();
    let mut checkpoint = Step::new("a checkpoint".to_owned(), "CHECKPOINT".to_owned());
    checkpoint.is_optional = true;
    vec![keys, indexes(), named, proved, tidied, vec![checkpoint]]
}

/// SQLite's steps after loading: indexes, a foreign key check, statistics.
pub(super) fn finish_sqlite() -> Vec<Vec<Step>> {
    let tables = largest_first();
    let keys = tables
        .iter()
        .filter(|table| !is_row_number(table) && !arrives_in_order(table))
        .map(|table| {
            create_index(
                table,
                &Index {
                    columns: table.primary_key,
                    is_unique: true,
                },
            )
        })
        .collect();
    let proved = tables
        .iter()
        .filter(|table| !table.references.is_empty())
        .map(|table| {
            let name = table.name.name();
            Step::new(
                format!("the foreign keys of {name}"),
                format!("PRAGMA foreign_key_check({name})"),
            )
        })
        .collect();
    let tidied = vec![Step::new("statistics".to_owned(), "ANALYZE".to_owned())];
    vec![keys, indexes(), proved, tidied]
}

/// MariaDB's steps after loading: indexes, including those that foreign keys require; a foreign key
/// check, because adding them without a copy of the table does not check them; the foreign keys,
/// one table after the other, because each locks others; statistics.
pub(super) fn finish_mariadb() -> Vec<Vec<Step>> {
    let tables = largest_first();
    let mut indexed = Vec::new();
    let mut proved = Vec::new();
    let mut named = Vec::new();
    for table in &tables {
        let name = table.name.name();
        let indexes = table.indexes.iter().map(|index| {
            let unique = if index.is_unique { "UNIQUE " } else { "" };
            let columns = index.columns;
            format!(
                "ADD {unique}INDEX {} ({})",
                table.index_name(columns),
                list(columns)
            )
        });
        let behind = table
            .references
            .iter()
            .filter(|one| !is_indexed(table, one.columns));
        let behind = behind.map(|one| {
            format!(
                "ADD INDEX {} ({})",
                table.index_name(one.columns),
                list(one.columns)
            )
        });
        let adds: Vec<_> = indexes.chain(behind).collect();
        if !adds.is_empty() {
            let sql = format!("ALTER TABLE {name} {}", adds.join(", "));
            indexed.push(Step::new(format!("the indexes of {name}"), sql));
        }
        if table.references.is_empty() {
            continue;
        }
        let what = format!("the foreign keys of {name}");
        let proofs: Vec<_> = table
            .references
            .iter()
            .map(|one| orphans(table, one))
            .collect();
        proved.push(Step::new(what.clone(), proofs.join("; ")));
        let adds = table.references.iter().enumerate().map(|(number, one)| {
            format!(
                "ADD CONSTRAINT {name}_reference_{number} {}",
                reference(one)
            )
        });
        let adds: Vec<_> = adds.collect();
        let sql = format!("ALTER TABLE {name} {}", adds.join(", "));
        named.push(vec![Step::new(what, sql)]);
    }
    let tidied = tables.iter().map(|table| {
        let name = table.name.name();
        Step::new(
            format!("statistics of {name}"),
            format!("ANALYZE TABLE {name}"),
        )
    });
    let mut phases = vec![indexed, proved];
    phases.append(&mut named);
    phases.push(tidied.collect());
    phases
}

/// Whether an index of a table begins with these columns.
fn is_indexed(table: &Table, columns: &[&str]) -> bool {
    let indexes = table.indexes.iter().map(|index| index.columns);
    let mut all = indexes.chain([table.primary_key]);
    all.any(|index| index.starts_with(columns))
}

/// A query that returns a row if a foreign key is violated.
fn orphans(table: &Table, one: &Reference) -> String {
    let of = one.table.table();
    let pairs = one.columns.iter().zip(of.primary_key);
    let pairs: Vec<_> = pairs
        .map(|(here, there)| format!("c.{here} = p.{there}"))
        .collect();
    let filled: Vec<_> = one
        .columns
        .iter()
        .map(|here| format!("c.{here} IS NOT NULL"))
        .collect();
    format!(
        "SELECT 1 FROM {} c LEFT JOIN {} p ON {} WHERE p.{} IS NULL AND {} LIMIT 1",
        table.name.name(),
        of.name.name(),
        pairs.join(" AND "),
        of.primary_key[0],
        filled.join(" AND ")
    )
}

/// Statements that drop all tables, referring ones first.
pub(super) fn drop_tables() -> Vec<String> {
    let drop = |table: &Table| format!("DROP TABLE IF EXISTS {}", table.name.name());
    TABLES.iter().rev().map(drop).collect()
}
