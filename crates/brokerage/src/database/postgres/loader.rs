//! Rows into PostgreSQL by COPY, as text.

use super::connection::Connection;
use crate::database::house::Loader;
use crate::error::DatabaseError;
use crate::row::RowSink;
use crate::schema::TableName;

/// Rows are sent when so many bytes of them have come together.
const PIECE_BYTES: usize = 128 * 1024;

/// The letter of a message with rows, and its length in four bytes.
const HEADER_BYTES: usize = 5;

/// Takes rows over one connection.
pub struct PostgresLoader {
    connection: Connection,
    /// A message: header, then rows.
    piece: Vec<u8>,
    digits: itoa::Buffer,
    table: Option<TableName>,
    rows: u64,
    is_first_column: bool,
    has_zero: bool,
}

impl PostgresLoader {
    pub(super) fn new(connection: Connection) -> Self {
        let mut piece = Vec::with_capacity(2 * PIECE_BYTES);
        piece.resize(HEADER_BYTES, 0);
        Self {
            connection,
            piece,
            digits: itoa::Buffer::new(),
            table: None,
            rows: 0,
            is_first_column: true,
            has_zero: false,
        }
    }

    fn next_column(&mut self) {
        if !std::mem::replace(&mut self.is_first_column, false) {
            self.piece.push(b'\t');
        }
    }

    fn send(&mut self, table: TableName) -> Result<(), DatabaseError> {
        if self.piece.len() == HEADER_BYTES {
            return Ok(());
        }
        let what = || format!("the rows of {}", table.name());
        // The length counts itself and not the letter.
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
            self.connection.finish(answer)?;
        }
        Ok(())
    }
}

impl RowSink for PostgresLoader {
    fn null(&mut self) {
        self.next_column();
        self.piece.extend_from_slice(b"\\N");
    }

    fn integer(&mut self, number: i64) {
        self.next_column();
        self.piece
            .extend_from_slice(self.digits.format(number).as_bytes());
    }

    fn text(&mut self, text: &str) {
        self.next_column();
        let mut rest = text.as_bytes();
        let is_special = |byte: &u8| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r' | 0);
        while let Some(at) = rest.iter().position(is_special) {
            self.piece.extend_from_slice(&rest[..at]);
            self.piece.push(b'\\');
            self.piece.push(match rest[at] {
                b'\t' => b't',
                b'\n' => b'n',
                b'\r' => b'r',
                other => other,
            });
            self.has_zero |= rest[at] == 0;
            rest = &rest[at + 1..];
        }
        self.piece.extend_from_slice(rest);
    }

    fn end_row(&mut self) -> Result<(), DatabaseError> {
        let Some(table) = self.table else {
            return Err(DatabaseError::Failed {
                statement: "a row".to_owned(),
                message: "no table was begun".to_owned(),
            });
        };
        if self.has_zero {
            return Err(DatabaseError::Failed {
                statement: format!("a row of {}", table.name()),
                message: "a text has a zero character in it".to_owned(),
            });
        }
        self.piece.push(b'\n');
        self.is_first_column = true;
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
        let columns: Vec<_> = table
            .table()
            .columns
            .iter()
            .map(|column| column.name)
            .collect();
        let columns = columns.join(", ");
        let name = table.name();
        self.connection
            .begin_copy(&format!("COPY {name} ({columns}) FROM STDIN"))?;
        self.table = Some(table);
        self.rows = 0;
        Ok(())
    }

    fn end(&mut self) -> Result<u64, DatabaseError> {
        let Some(table) = self.table.take() else {
            return Ok(0);
        };
        self.send(table)?;
        let what = format!("the rows of {}", table.name());
        let taken = self.connection.end_copy(&what)?;
        if taken != self.rows {
            return Err(DatabaseError::Failed {
                statement: what,
                message: format!("of {} rows the server took {taken}", self.rows),
            });
        }
        Ok(taken)
    }
}
