//! Changing rows.
//!
//! An operation that fails half way, because of a conflict or a key that is there already, is taken
//! back as a whole; the transaction goes on.

use super::encode::{EncodedRow, decode_row, encode_row};
use super::value::Value;
use crate::catalog::{Table, TableState};
use crate::engine::Core;
use crate::error::EngineError;
use crate::transaction::{NodeChange, Transaction, WriteOutcome};
use crate::versions::OpenTransaction;
use runtime::Directory;
use std::rc::Rc;

impl<D: Directory> Transaction<D> {
    /// Adds a row and returns its number, which the engine chooses; the value given for the key
    /// column does not count.
    ///
    /// # Errors
    /// [`EngineError::KeyDuplicate`], [`EngineError::WriteConflict`],
    /// [`EngineError::VersionStoreFull`], [`EngineError::Row`] if the values do not fit, or as the
    /// storage fails.
    pub async fn insert(&mut self, table: &Table, values: &[Value]) -> Result<i64, EngineError> {
        let (core, state) = (Rc::clone(&self.core), &table.state);
        core.check()?;
        core.ensure_counters(state).await?;
        let number = state.next_key.get();
        self.insert_at(state, number, values).await?;
        Ok(number)
    }

    /// Adds a row with a number of the caller's choice. Numbers that the engine chooses later are
    /// above it.
    ///
    /// # Errors
    /// As [`Transaction::insert`]; [`EngineError::KeyDuplicate`] if there is a row with this number.
    pub async fn insert_numbered(
        &mut self,
        table: &Table,
        number: i64,
        values: &[Value],
    ) -> Result<(), EngineError> {
        let (core, state) = (Rc::clone(&self.core), &table.state);
        core.check()?;
        core.ensure_counters(state).await?;
        self.insert_at(state, number, values).await
    }

    /// Adds a row; the counters of the table are known.
    async fn insert_at(
        &mut self,
        state: &Rc<TableState>,
        number: i64,
        values: &[Value],
    ) -> Result<(), EngineError> {
        let core = Rc::clone(&self.core);
        let row = encode_row(state, number, values, core.settings.engine.page_bytes())?;
        let next = number.saturating_add(1).max(state.next_key.get());
        state.next_key.set(next);
        let open = self.open()?;
        let keep = open.updates.len();
        let result = core.insert_row(open, state, number, &row, values).await;
        core.finish(open, keep, result).await
    }

    /// Gives a row other values; `false` if there is no such row. Long values that are given as
    /// [`Value::LongValue`] stay.
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub async fn replace(
        &mut self,
        table: &Table,
        key: i64,
        values: &[Value],
    ) -> Result<bool, EngineError> {
        let changes: Vec<(usize, Value)> = values.iter().cloned().enumerate().collect();
        let columns = table.state.layout.column_count();
        if values.len() != columns {
            let reason = format!("{} values for {columns} columns", values.len());
            return Err(EngineError::Row {
                table: table.name().to_owned(),
                reason,
            });
        }
        self.update(table, key, changes).await
    }

    /// Gives some columns of a row other values, by position; `false` if there is no such row. The
    /// key column cannot be changed.
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub async fn update(
        &mut self,
        table: &Table,
        key: i64,
        changes: Vec<(usize, Value)>,
    ) -> Result<bool, EngineError> {
        let (core, state) = (Rc::clone(&self.core), &table.state);
        core.ensure_counters(state).await?;
        let open = self.open()?;
        let Some(old) = core.row_values(open, state, key).await? else {
            return Ok(false);
        };
        let mut new = old.clone();
        for (position, value) in changes {
            let Some(place) = new.get_mut(position) else {
                let reason = format!("there is no column {position}");
                return Err(EngineError::Row {
                    table: table.name().to_owned(),
                    reason,
                });
            };
            *place = value;
        }
        check_references(state, &old, &new)?;
        let keep = open.updates.len();
        let result = core.replace_row(open, state, key, &old, &new).await;
        core.finish(open, keep, result).await
    }

    /// Deletes a row; `false` if there is no such row.
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub async fn delete(&mut self, table: &Table, key: i64) -> Result<bool, EngineError> {
        let (core, state) = (Rc::clone(&self.core), &table.state);
        let open = self.open()?;
        let Some(old) = core.row_values(open, state, key).await? else {
            return Ok(false);
        };
        let keep = open.updates.len();
        let result = core.delete_row(open, state, key, &old).await;
        core.finish(open, keep, result).await
    }
}

/// A reference to a long value can only stay where it is.
fn check_references(table: &TableState, old: &[Value], new: &[Value]) -> Result<(), EngineError> {
    for (position, value) in new.iter().enumerate() {
        if matches!(value, Value::LongValue(_)) && old[position] != *value {
            let reason = format!("the long value of column {position} belongs to another row");
            return Err(EngineError::Row {
                table: table.name().to_owned(),
                reason,
            });
        }
    }
    Ok(())
}

impl<D: Directory> Core<D> {
    /// Takes an operation back if it failed.
    async fn finish<T>(
        &self,
        open: &mut OpenTransaction,
        keep: usize,
        result: Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        if result.is_err() && open.updates.len() > keep && self.check().is_ok() {
            self.undo_to(open, keep).await?;
        }
        result
    }

    async fn row_values(
        &self,
        open: &OpenTransaction,
        table: &TableState,
        key: i64,
    ) -> Result<Option<Vec<Value>>, EngineError> {
        let decode = |record: &[u8]| decode_row(table, record);
        let row = self
            .read_node(table.root(), &table.key(key), open.read_view(), decode)
            .await?;
        row.transpose()
    }

    async fn insert_row(
        &self,
        open: &mut OpenTransaction,
        table: &TableState,
        number: i64,
        row: &EncodedRow,
        values: &[Value],
    ) -> Result<(), EngineError> {
        let key = table.key(number);
        let change = NodeChange::Insert(&row.record);
        let outcome = self.write_node(open, table.root(), &key, change).await?;
        if outcome == WriteOutcome::Exists {
            let index = table.stored.definition.indexes[0].name.clone();
            return Err(EngineError::KeyDuplicate { index });
        }
        self.insert_separated(open, table, row, values).await?;
        for (place, index_key) in row.index_keys.iter().enumerate() {
            self.insert_index_entry(open, table, place, index_key, &key)
                .await?;
        }
        Ok(())
    }

    async fn insert_separated(
        &self,
        open: &mut OpenTransaction,
        table: &TableState,
        row: &EncodedRow,
        values: &[Value],
    ) -> Result<(), EngineError> {
        for &(id, position) in &row.separated {
            let Value::Bytes(bytes) = &values[position] else {
                unreachable!("only bytes are stored outside a record");
            };
            self.insert_long_value(open, table, id, bytes).await?;
        }
        Ok(())
    }

    async fn insert_index_entry(
        &self,
        open: &mut OpenTransaction,
        table: &TableState,
        place: usize,
        index_key: &[u8],
        key: &[u8],
    ) -> Result<(), EngineError> {
        let index = &table.indexes[place];
        let change = NodeChange::Insert(key);
        match self.write_node(open, index.root, index_key, change).await? {
            WriteOutcome::Done => Ok(()),
            WriteOutcome::Exists | WriteOutcome::Absent => Err(EngineError::KeyDuplicate {
                index: index.name.clone(),
            }),
        }
    }

    async fn replace_row(
        &self,
        open: &mut OpenTransaction,
        table: &TableState,
        number: i64,
        old: &[Value],
        new: &[Value],
    ) -> Result<bool, EngineError> {
        let row = encode_row(table, number, new, self.settings.engine.page_bytes())?;
        let key = table.key(number);
        let change = NodeChange::Replace(&row.record);
        match self.write_node(open, table.root(), &key, change).await? {
            WriteOutcome::Done => {}
            WriteOutcome::Exists | WriteOutcome::Absent => return Ok(false),
        }
        self.insert_separated(open, table, &row, new).await?;
        let old_fields: Vec<_> = old.iter().map(Value::field).collect();
        for (place, index) in table.indexes.iter().enumerate() {
            let (before, after) = (index.key_of(&old_fields), &row.index_keys[place]);
            if before != *after {
                self.delete_index_entry(open, table, place, &before).await?;
                self.insert_index_entry(open, table, place, after, &key)
                    .await?;
            }
        }
        for (position, value) in old.iter().enumerate() {
            if let Value::LongValue(id) = *value
                && new[position] != *value
            {
                self.release_long_value(open, table, id).await?;
            }
        }
        Ok(true)
    }

    async fn delete_index_entry(
        &self,
        open: &mut OpenTransaction,
        table: &TableState,
        place: usize,
        index_key: &[u8],
    ) -> Result<(), EngineError> {
        let index = &table.indexes[place];
        let outcome = self
            .write_node(open, index.root, index_key, NodeChange::Delete)
            .await?;
        if outcome == WriteOutcome::Done {
            return Ok(());
        }
        let reason = format!("index {} lacks the entry of a row", index.name);
        Err(EngineError::damaged(table.name(), &reason))
    }

    async fn delete_row(
        &self,
        open: &mut OpenTransaction,
        table: &TableState,
        number: i64,
        old: &[Value],
    ) -> Result<bool, EngineError> {
        let key = table.key(number);
        let outcome = self
            .write_node(open, table.root(), &key, NodeChange::Delete)
            .await?;
        if outcome != WriteOutcome::Done {
            return Ok(false);
        }
        let fields: Vec<_> = old.iter().map(Value::field).collect();
        for (place, index) in table.indexes.iter().enumerate() {
            self.delete_index_entry(open, table, place, &index.key_of(&fields))
                .await?;
        }
        for value in old {
            if let Value::LongValue(id) = *value {
                self.release_long_value(open, table, id).await?;
            }
        }
        Ok(true)
    }
}
