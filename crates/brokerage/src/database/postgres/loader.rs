//! Bulk loading by COPY in binary format: neither side has to scan text for separators, or to
//! convert integers to digits and back.

use runtime::thread::complete;

use super::connection::Connection;
use crate::database::interface::Loader;
use crate::error::DatabaseError;
use crate::row::RowSink;
use crate::schema::{Column, TableName, Type};

/// Bytes of rows per CopyData message.
const PIECE_BYTES: usize = 128 * 1024;

/// Kind and length of a message.
const HEADER_BYTES: usize = 5;

/// The header before the first row: signature, no flags, no extension.
const SIGNATURE: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// The trailer after the last row, in place of a number of columns: -1.
const NO_MORE_ROWS: [u8; 2] = (-1_i16).to_be_bytes();

/// The length of NULL.
const NULL: [u8; 4] = (-1_i32).to_be_bytes();

/// Loads rows over one connection.
pub struct PostgresLoader {
    connection: Connection,
    /// A message: header, then rows.
    piece: Vec<u8>,
    table: Option<TableName>,
    /// The columns of the table being loaded.
    columns: &'static [Column],
    rows: u64,
    /// Number of columns of the current row so far.
    filled: usize,
    /// What is wrong with the row: reported when it ends.
    fault: Option<String>,
}

impl PostgresLoader {
    pub(super) fn new(connection: Connection) -> Self {
        let mut piece = Vec::with_capacity(2 * PIECE_BYTES);
        piece.resize(HEADER_BYTES, 0);
        Self {
            connection,
            piece,
            table: None,
            columns: &[],
            rows: 0,
            filled: 0,
            fault: None,
        }
    }

    /// The column of the next value.
    fn next_column(&mut self) -> Option<&'static Column> {
        if self.filled == 0 {
            // Every table's number of columns fits.
            let count = self.columns.len() as i16;
            self.piece.extend_from_slice(&count.to_be_bytes());
        }
        self.filled += 1;
        self.columns.get(self.filled - 1)
    }

    fn refuse(&mut self, value: &dyn std::fmt::Display, column: Option<&Column>) {
        let name = column.map_or("a column too many", |column| column.name);
        self.fault = Some(format!("{value} does not fit {name}"));
    }

    fn value<const N: usize>(&mut self, bytes: [u8; N]) {
        self.piece.extend_from_slice(&(N as i32).to_be_bytes());
        self.piece.extend_from_slice(&bytes);
    }

    fn send(&mut self, table: TableName) -> Result<(), DatabaseError> {
        if self.piece.len() == HEADER_BYTES {
            return Ok(());
        }
        let what = || format!("the rows of {}", table.name());
        // The length counts itself and not the kind.
        let length = u32::try_from(self.piece.len() - 1).map_err(|_| DatabaseError::Failed {
            statement: what(),
            message: "a row is too long".to_owned(),
        })?;
        self.piece[0] = b'd';
        self.piece[1..HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
        self.connection.send_bytes(&self.piece)?;
        self.piece.truncate(HEADER_BYTES);
        if self.connection.has_message() {
            let answer = self.connection.copy_answer(&what());
            complete(self.connection.finish(answer))?;
        }
        Ok(())
    }
}

impl RowSink for PostgresLoader {
    fn null(&mut self) {
        if self.next_column().is_none() {
            self.refuse(&"nothing", None);
        }
        self.piece.extend_from_slice(&NULL);
    }

    fn integer(&mut self, number: i64) {
        let column = self.next_column();
        match column.map(|column| column.of) {
            Some(Type::Big) => self.value(number.to_be_bytes()),
            Some(Type::Integer) => match i32::try_from(number) {
                Ok(number) => self.value(number.to_be_bytes()),
                Err(_) => self.refuse(&number, column),
            },
            Some(Type::Small) => match i16::try_from(number) {
                Ok(number) => self.value(number.to_be_bytes()),
                Err(_) => self.refuse(&number, column),
            },
            Some(Type::Text(_) | Type::Long) | None => self.refuse(&number, column),
        }
    }

    fn text(&mut self, text: &str) {
        let column = self.next_column();
        let is_text = matches!(
            column,
            Some(Column {
                of: Type::Text(_) | Type::Long,
                ..
            })
        );
        match i32::try_from(text.len()) {
            Ok(length) if is_text && !text.as_bytes().contains(&0) => {
                self.piece.extend_from_slice(&length.to_be_bytes());
                self.piece.extend_from_slice(text.as_bytes());
            }
            Ok(_) if is_text => self.refuse(&"a text with a zero character in it", column),
            _ => self.refuse(&"a text", column),
        }
    }

    fn end_row(&mut self) -> Result<(), DatabaseError> {
        let Some(table) = self.table else {
            return Err(DatabaseError::failed("a row", "no table is open"));
        };
        if self.fault.is_none() && self.filled != self.columns.len() {
            let (filled, of) = (self.filled, self.columns.len());
            self.fault = Some(format!("{filled} of {of} columns are filled"));
        }
        if let Some(message) = self.fault.take() {
            return Err(DatabaseError::failed(
                format!("a row of {}", table.name()),
                message,
            ));
        }
        self.filled = 0;
        self.rows += 1;
        if self.piece.len() >= PIECE_BYTES {
            self.send(table)?;
        }
        Ok(())
    }
}

impl Loader for PostgresLoader {
    fn begin(&mut self, table: TableName) -> Result<(), DatabaseError> {
        assert!(self.table.is_none(), "one table is ended before the next");
        self.columns = table.table().columns;
        let names: Vec<_> = self.columns.iter().map(|column| column.name).collect();
        self.connection.begin_copy(&format!(
            "COPY {} ({}) FROM STDIN WITH (FORMAT binary)",
            table.name(),
            names.join(", ")
        ))?;
        self.piece.extend_from_slice(SIGNATURE);
        self.table = Some(table);
        self.rows = 0;
        Ok(())
    }

    fn end(&mut self) -> Result<u64, DatabaseError> {
        let Some(table) = self.table.take() else {
            return Ok(0);
        };
        self.piece.extend_from_slice(&NO_MORE_ROWS);
        self.send(table)?;
        let what = format!("the rows of {}", table.name());
        let taken = self.connection.end_copy(&what)?;
        if taken != self.rows {
            return Err(DatabaseError::failed(
                what,
                format!("of {} rows the server took {taken}", self.rows),
            ));
        }
        Ok(taken)
    }
}
