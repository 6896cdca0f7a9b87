//! Reading rows by key and by index.

use super::encode::decode_row;
use super::value::Value;
use crate::catalog::{Table, TableState};
use crate::engine::Core;
use crate::error::EngineError;
use crate::transaction::Transaction;
use crate::transaction::nodes::ReadView;
use crate::tree::{Need, Step};
use runtime::Directory;

/// Whether long values outside the record are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongValues {
    /// They come with the row.
    Fetch,
    /// They stay where they are; the row holds [`Value::LongValue`].
    Leave,
}

/// A row with its key, as the reader's transaction sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its number: the value of the key column.
    pub key: i64,
    /// One value per column.
    pub values: Vec<Value>,
}

impl<D: Directory> Transaction<D> {
    /// The row with this number, if there is one.
    ///
    /// # Errors
    /// If a page cannot be read.
    pub async fn get(
        &self,
        table: &Table,
        key: i64,
        long_values: LongValues,
    ) -> Result<Option<Row>, EngineError> {
        let (read_view, state) = (self.read_view()?, &table.state);
        let row = self.core.read_row(state, key, read_view).await?;
        self.core
            .with_long_values(state, row, long_values, read_view)
            .await
    }

    /// The row that has `bytes` in the column of a unique index, if there is one.
    ///
    /// # Errors
    /// If there is no such index or a page cannot be read.
    pub async fn seek_index(
        &self,
        table: &Table,
        index: &str,
        bytes: &[u8],
        long_values: LongValues,
    ) -> Result<Option<Row>, EngineError> {
        let (read_view, state) = (self.read_view()?, &table.state);
        let index = state.index(index)?;
        let key = index.key_of_bytes(bytes);
        let number = |data: &[u8]| state.number_of_key(data).ok_or_else(|| data.to_vec());
        // A snapshot sees the same entry whenever it looks, so the row may be read in a step of its
        // own: when its page is missing, the index is not searched again.
        let entry = self
            .core
            .read_node(index.root, &key, read_view, number)
            .await?;
        let row = match entry {
            Some(Ok(number)) => self.core.read_row(state, number, read_view).await?,
            Some(Err(key)) => return Err(no_key_of(state, &key)),
            None => None,
        };
        self.core
            .with_long_values(state, row, long_values, read_view)
            .await
    }
}

fn no_key_of(table: &TableState, key: &[u8]) -> EngineError {
    EngineError::damaged(table.name(), &format!("{key:02x?} is not a key of it"))
}

impl TableState {
    /// The index of this name.
    pub(crate) fn index(&self, name: &str) -> Result<&crate::catalog::SecondaryIndex, EngineError> {
        let found = self.indexes.iter().find(|index| index.name == name);
        found.ok_or_else(|| EngineError::NoSuchIndex {
            table: self.name().to_owned(),
            index: name.to_owned(),
        })
    }
}

impl<D: Directory> Core<D> {
    /// The row with this key within a step; long values are not fetched.
    pub(crate) fn row_at(
        &self,
        step: &Step<'_>,
        table: &TableState,
        key: &[u8],
        read_view: ReadView,
    ) -> Result<Option<Row>, Need> {
        let decode = |record: &[u8]| decode_row(table, record);
        let Some(values) = self.find_visible(step, table.root(), key, read_view, decode)? else {
            return Ok(None);
        };
        let number = table.number_of_key(key);
        let number = number.ok_or_else(|| no_key_of(table, key))?;
        Ok(Some(Row {
            key: number,
            values: values?,
        }))
    }

    /// The row of this number; long values are not fetched.
    async fn read_row(
        &self,
        table: &TableState,
        number: i64,
        read_view: ReadView,
    ) -> Result<Option<Row>, EngineError> {
        let key = table.row_key(number);
        let decode = |record: &[u8]| decode_row(table, record);
        let values = self
            .read_node(table.root(), &key, read_view, decode)
            .await?;
        let row = |values| Row {
            key: number,
            values,
        };
        values.map(|values| values.map(row)).transpose()
    }

    /// Fetches the long values of a row if wanted.
    pub(crate) async fn with_long_values(
        &self,
        table: &TableState,
        row: Option<Row>,
        long_values: LongValues,
        read_view: ReadView,
    ) -> Result<Option<Row>, EngineError> {
        let Some(mut row) = row else {
            return Ok(None);
        };
        if long_values == LongValues::Fetch {
            for value in &mut row.values {
                if let Value::LongValue(id) = *value {
                    *value = Value::Bytes(self.fetch_long_value(table, id, read_view).await?);
                }
            }
        }
        Ok(Some(row))
    }
}
