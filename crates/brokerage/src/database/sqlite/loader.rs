//! Bulk loading: rows are collected by each thread, and written by one at a time.

use std::sync::{Arc, Mutex};

use super::failure::failure;
use super::timed_vfs::TimedConnection;
use crate::database::interface::Loader;
use crate::error::DatabaseError;
use crate::parallel::lock;
use crate::row::RowSink;
use crate::schema::TableName;
use crate::value::Value;

/// Values that a thread collects before it writes.
const VALUES: usize = 32 * 1024;

/// Bytes of text that a thread collects before it writes.
const TEXT_BYTES: usize = 1024 * 1024;

/// Loads rows over the connection that all loaders of a file share.
pub struct SqliteLoader {
    shared: Arc<Mutex<TimedConnection>>,
    table: Option<TableName>,
    /// Whole rows, then the columns of the current one.
    values: Vec<Value>,
    text_bytes: usize,
    rows: u64,
}

impl SqliteLoader {
    pub(super) fn new(shared: Arc<Mutex<TimedConnection>>) -> Self {
        Self {
            shared,
            table: None,
            values: Vec::with_capacity(VALUES + 64),
            text_bytes: 0,
            rows: 0,
        }
    }

    fn write(&mut self, table: TableName) -> Result<(), DatabaseError> {
        let name = table.name();
        let columns = table.table().columns.len();
        let places = vec!["?"; columns].join(", ");
        let sql = format!("INSERT INTO {name} VALUES ({places})");
        let failed = |error: rusqlite::Error| failure(&error, &format!("a row of {name}"));
        let connection = lock(&self.shared);
        let work = connection.unchecked_transaction().map_err(failed)?;
        {
            let mut insert = connection.prepare_cached(&sql).map_err(failed)?;
            for row in self.values.chunks_exact(columns) {
                for (number, value) in row.iter().enumerate() {
                    insert
                        .raw_bind_parameter(number + 1, value)
                        .map_err(failed)?;
                }
                insert.raw_execute().map_err(failed)?;
            }
        }
        work.commit().map_err(failed)?;
        drop(connection);
        self.values.clear();
        self.text_bytes = 0;
        Ok(())
    }
}

impl RowSink for SqliteLoader {
    fn null(&mut self) {
        self.values.push(Value::Null);
    }

    fn integer(&mut self, number: i64) {
        self.values.push(Value::Integer(number));
    }

    fn text(&mut self, text: &str) {
        self.text_bytes += text.len();
        self.values.push(Value::from(text));
    }

    fn end_row(&mut self) -> Result<(), DatabaseError> {
        let columns = self.table.map_or(0, |table| table.table().columns.len());
        let Some(table) = self
            .table
            .filter(|_| self.values.len().is_multiple_of(columns))
        else {
            return Err(DatabaseError::failed(
                "a row",
                "no table is open, or the row has not all of its columns",
            ));
        };
        self.rows += 1;
        if self.values.len() >= VALUES || self.text_bytes >= TEXT_BYTES {
            self.write(table)?;
        }
        Ok(())
    }
}

impl Loader for SqliteLoader {
    fn begin(&mut self, table: TableName) -> Result<(), DatabaseError> {
        assert!(self.table.is_none(), "one table is ended before the next");
        self.table = Some(table);
        self.rows = 0;
        Ok(())
    }

    fn end(&mut self) -> Result<u64, DatabaseError> {
        let Some(table) = self.table.take() else {
            return Ok(0);
        };
        self.write(table)?;
        Ok(self.rows)
    }
}
