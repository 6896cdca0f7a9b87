//! Bulk loading by multi-row inserts.

use std::thread;
use std::time::Duration;

use super::connection::Connection;
use crate::database::interface::Loader;
use crate::error::DatabaseError;
use crate::row::RowSink;
use crate::schema::TableName;

/// Size of an insert statement.
const PIECE_BYTES: usize = 1024 * 1024;

/// Loaders that fill neighbouring pages may deadlock; an insert that was chosen as the victim is
/// retried this often.
const MAX_TRIES: u32 = 50;
const REST: Duration = Duration::from_millis(5);

/// Loads rows over one connection.
pub struct MariaDbLoader {
    connection: Connection,
    piece_bytes: usize,
    piece: Vec<u8>,
    digits: itoa::Buffer,
    table: Option<TableName>,
    head_bytes: usize,
    rows: u64,
    is_first_column: bool,
}

impl MariaDbLoader {
    /// `largest` is the server's `max_allowed_packet`.
    pub(super) fn new(connection: Connection, largest: usize) -> Self {
        // The other half is for the last row, whose length is known only when it has come.
        let piece_bytes = PIECE_BYTES.min(largest / 2);
        Self {
            connection,
            piece_bytes,
            piece: Vec::with_capacity(piece_bytes + 256 * 1024),
            digits: itoa::Buffer::new(),
            table: None,
            head_bytes: 0,
            rows: 0,
            is_first_column: true,
        }
    }

    fn next_column(&mut self) {
        if std::mem::replace(&mut self.is_first_column, false) {
            let begin: &[u8] = if self.piece.len() > self.head_bytes {
                b",("
            } else {
                b"("
            };
            self.piece.extend_from_slice(begin);
        } else {
            self.piece.push(b',');
        }
    }

    fn send(&mut self, table: TableName) -> Result<(), DatabaseError> {
        if self.piece.len() == self.head_bytes {
            return Ok(());
        }
        let what = format!("the rows of {}", table.name());
        // Each insert is a transaction of its own, so that it can be retried alone.
        let mut tries = 0;
        while let Err(error) = self.connection.run_step(&self.piece, &what) {
            tries += 1;
            if tries == MAX_TRIES || !matches!(error, DatabaseError::Conflict(_)) {
                return Err(error);
            }
            thread::sleep(REST);
        }
        self.piece.truncate(self.head_bytes);
        Ok(())
    }
}

impl RowSink for MariaDbLoader {
    fn null(&mut self) {
        self.next_column();
        self.piece.extend_from_slice(b"NULL");
    }

    fn integer(&mut self, number: i64) {
        self.next_column();
        self.piece
            .extend_from_slice(self.digits.format(number).as_bytes());
    }

    fn text(&mut self, text: &str) {
        self.next_column();
        self.piece.push(b'\'');
        let mut rest = text.as_bytes();
        // The session takes backslashes literally; only quotes are doubled.
        while let Some(at) = rest.iter().position(|byte| *byte == b'\'') {
            self.piece.extend_from_slice(&rest[..=at]);
            self.piece.push(b'\'');
            rest = &rest[at + 1..];
        }
        self.piece.extend_from_slice(rest);
        self.piece.push(b'\'');
    }

    fn end_row(&mut self) -> Result<(), DatabaseError> {
        let Some(table) = self.table else {
            return Err(DatabaseError::failed("a row", "no table is open"));
        };
        self.piece.push(b')');
        self.is_first_column = true;
        self.rows += 1;
        if self.piece.len() >= self.piece_bytes {
            self.send(table)?;
        }
        Ok(())
    }
}

impl Loader for MariaDbLoader {
    fn begin(&mut self, table: TableName) -> Result<(), DatabaseError> {
        assert!(self.table.is_none(), "one table is ended before the next");
        let columns: Vec<_> = table
            .table()
            .columns
            .iter()
            .map(|column| column.name)
            .collect();
        let head = format!(
            "INSERT INTO {} ({}) VALUES ",
            table.name(),
            columns.join(",")
        );
        self.piece.clear();
        self.piece.extend_from_slice(head.as_bytes());
        self.head_bytes = head.len();
        self.table = Some(table);
        self.rows = 0;
        Ok(())
    }

    fn end(&mut self) -> Result<u64, DatabaseError> {
        let Some(table) = self.table.take() else {
            return Ok(0);
        };
        self.send(table)?;
        Ok(self.rows)
    }
}
