//! One row after the other.

use std::io;

use runtime::File;

use super::long_values::LongValueReader;
use super::{DatabaseReader, RowCount};

use crate::format::general::{GeneralColumn, GeneralRecord, GeneralTable, Part, Stored, expand};
use crate::format::record::Field;
use crate::format::record_view::read_fixed;
use crate::reading::{ReadError, Reader, TreeReader, reason_of};

/// What is found on the way through a table.
#[derive(Debug, Clone, PartialEq)]
pub enum RowEvent<'a> {
    /// A row begins. Its columns follow, all of them, in the order of the table.
    BeginRow,
    /// A column has no value.
    Null,
    /// A column has one value, which follows.
    One,
    /// A column has so many values, which follow.
    Many(usize),
    /// A value of a type with a fixed size.
    Fixed(Field<'static>),
    /// A value of bytes or text begins.
    BeginBytes,
    /// More bytes of it.
    Bytes(&'a [u8]),
    /// The value whose pieces were given is complete.
    EndBytes,
    /// The row is complete.
    EndRow,
}

type Take<'t> = dyn FnMut(RowEvent<'_>) -> io::Result<()> + 't;

/// Where a row lies, for messages.
struct Place<'p> {
    page: u32,
    object: &'p str,
}

impl<F: File> DatabaseReader<F> {
    /// Goes through the rows of a table in key order. Deleted columns are left out:
    /// [`Self::columns`] are the ones that are printed.
    ///
    /// # Errors
    /// If a part of the table is damaged, or `take` cannot go on.
    pub async fn rows(
        &self,
        table: &GeneralTable,
        take: &mut Take<'_>,
    ) -> Result<RowCount, ReadError> {
        let columns = Self::columns(table);
        let object = format!("table {}", table.name);
        let mut tree = TreeReader::new(&self.reader, &object, table.tree.root);
        let mut long_values = self.long_values(table, &object);
        let mut count = RowCount::default();
        while let Some(leaf) = tree.next_leaf().await? {
            let (page, object) = (leaf.number, object.as_str());
            let place = Place { page, object };
            let view = leaf.view();
            for index in 0..view.node_count() {
                let node = view.node(index);
                if !node.is_visible() {
                    continue;
                }
                count.rows += 1;
                let mut row = RowReader {
                    place: &place,
                    long_values: long_values.as_mut(),
                    incomplete_values: self.is_as_is.then_some(&mut count.incomplete_values),
                    take,
                };
                row.read(&self.reader, node.data, &columns).await?;
            }
        }
        Ok(count)
    }

    /// The columns of a table whose values can be read.
    #[must_use]
    pub fn columns(table: &GeneralTable) -> Vec<&GeneralColumn> {
        let known = |column: &&GeneralColumn| column.column_type().is_some();
        table.columns.iter().filter(known).collect()
    }

    fn long_values<'r>(
        &'r self,
        table: &GeneralTable,
        object: &str,
    ) -> Option<LongValueReader<'r, F>> {
        let root = table.long_values?.root;
        let tree = TreeReader::new(&self.reader, object, root);
        let page_bytes = self.reader.page_size_bytes;
        Some(LongValueReader::new(tree, page_bytes, table.chunk_bytes))
    }
}

struct RowReader<'a, 'r, F: File> {
    place: &'a Place<'a>,
    long_values: Option<&'a mut LongValueReader<'r, F>>,
    /// Counts those that are not in the file; `None` where that is an error.
    incomplete_values: Option<&'a mut u64>,
    take: &'a mut (dyn FnMut(RowEvent<'_>) -> io::Result<()> + 'a),
}

impl<F: File> RowReader<'_, '_, F> {
    async fn read(
        &mut self,
        reader: &Reader<F>,
        record: &[u8],
        columns: &[&GeneralColumn],
    ) -> Result<(), ReadError> {
        let damaged = |error| ReadError::Record {
            page: self.place.page,
            object: self.place.object.to_owned(),
            error,
        };
        let record = GeneralRecord::new(record, reader.page_size_bytes).map_err(damaged)?;
        self.emit(RowEvent::BeginRow)?;
        for column in columns {
            let stored = column.stored(&record).map_err(|error| ReadError::Record {
                page: self.place.page,
                object: self.place.object.to_owned(),
                error,
            })?;
            self.column(column, stored).await?;
        }
        self.emit(RowEvent::EndRow)
    }

    fn emit(&mut self, event: RowEvent<'_>) -> Result<(), ReadError> {
        (self.take)(event).map_err(ReadError::Output)
    }

    async fn column(
        &mut self,
        column: &GeneralColumn,
        stored: Stored<'_>,
    ) -> Result<(), ReadError> {
        match (stored, &column.default) {
            (Stored::Null, _) | (Stored::Absent, None) => self.emit(RowEvent::Null),
            (Stored::Absent, Some(default)) => {
                self.emit(RowEvent::One)?;
                self.bytes_or_fixed(column, default)
            }
            (Stored::One(part), _) => {
                self.emit(RowEvent::One)?;
                self.part(column, part).await
            }
            (Stored::Many(parts), _) => {
                self.emit(RowEvent::Many(parts.len()))?;
                for part in parts {
                    self.part(column, part).await?;
                }
                Ok(())
            }
        }
    }

    async fn part(&mut self, column: &GeneralColumn, part: Part<'_>) -> Result<(), ReadError> {
        if part.encrypted {
            return Err(self.unreadable(column, "encrypted".to_owned()));
        }
        if part.separated {
            return self.long_value(column, part.bytes).await;
        }
        if !part.compressed {
            return self.bytes_or_fixed(column, part.bytes);
        }
        let value = expand(part.bytes);
        let value = value.map_err(|error| self.unreadable(column, reason_of(error)))?;
        self.bytes_or_fixed(column, &value)
    }

    async fn long_value(
        &mut self,
        column: &GeneralColumn,
        reference: &[u8],
    ) -> Result<(), ReadError> {
        if self.long_values.is_none() {
            let reason = "outside the record, but the table has no long values".to_owned();
            return Err(self.unreadable(column, reason));
        }
        self.emit(RowEvent::BeginBytes)?;
        if let Some(values) = self.long_values.as_mut() {
            let take = &mut self.take;
            let mut piece = |bytes: &[u8]| take(RowEvent::Bytes(bytes)).map_err(ReadError::Output);
            match (
                values.read(reference, &mut piece).await,
                &mut self.incomplete_values,
            ) {
                (Err(ReadError::LongValue { .. }), Some(count)) => **count += 1,
                (read, _) => read?,
            }
        }
        self.emit(RowEvent::EndBytes)
    }

    fn bytes_or_fixed(&mut self, column: &GeneralColumn, bytes: &[u8]) -> Result<(), ReadError> {
        let column_type = column.column_type();
        if let Some(column_type) = column_type.filter(|kind| kind.fixed_bytes().is_some()) {
            return match read_fixed(column_type, bytes) {
                Some(value) => self.emit(RowEvent::Fixed(value)),
                None => Err(self.unreadable(column, "not as long as its type".to_owned())),
            };
        }
        self.emit(RowEvent::BeginBytes)?;
        self.emit(RowEvent::Bytes(bytes))?;
        self.emit(RowEvent::EndBytes)
    }

    fn unreadable(&self, column: &GeneralColumn, reason: String) -> ReadError {
        ReadError::Value {
            page: self.place.page,
            object: self.place.object.to_owned(),
            column: column.name.clone(),
            reason,
        }
    }
}
