//! The messages table: its columns, and items as rows of it.

use super::content::Part;
use super::content::RowVersion;
use super::item::{Item, ItemMaker};
use super::keys::INDEX_KEY_BYTES;
use super::session::message_of_row;
use edb::Value;
use edb::bulk::{RowSource, long_value_id};
use edb::format::record::Field;
use edb::format::schema::{COLUMN_AUTO_INCREMENT, COLUMN_NOT_NULL, ColumnType, TableDefinition};

/// Name of the table.
pub const TABLE: &str = "Messages";
/// Name of the secondary index.
pub const INDEX: &str = "MessageId";
/// A variable column holds up to so many bytes; a longer short column is cut over several.
const VARIABLE_BYTES: usize = 255;

/// Fixed columns, which come first, and the key.
const FIRST_SHORT: usize = 9;

/// The table for items whose short column has `short_bytes`, built with pages `fill_percent` full,
/// with or without the secondary index.
#[must_use]
pub fn definition(short_bytes: usize, fill_percent: u32, is_indexed: bool) -> TableDefinition {
    let number = ColumnType::UnsignedLong;
    let mut table = TableDefinition::new(TABLE)
        .fixed(
            "MessageNumber",
            ColumnType::LongLong,
            COLUMN_AUTO_INCREMENT | COLUMN_NOT_NULL,
        )
        .fixed("Row", ColumnType::LongLong, COLUMN_NOT_NULL)
        .fixed("Version", number, COLUMN_NOT_NULL)
        .fixed("LongVersion", number, COLUMN_NOT_NULL)
        .fixed("Mailbox", number, COLUMN_NOT_NULL)
        .fixed("Received", ColumnType::DateTime, COLUMN_NOT_NULL)
        .fixed("Flags", number, COLUMN_NOT_NULL)
        .fixed("Size", number, COLUMN_NOT_NULL)
        .variable("MessageId", ColumnType::Binary);
    for piece in 1..=short_bytes.div_ceil(VARIABLE_BYTES) {
        table = table.variable(&format!("Short{piece}"), ColumnType::Binary);
    }
    let table = table
        .tagged("Body", ColumnType::LongBinary)
        .density(fill_percent.clamp(20, 100))
        .primary("Primary", &["MessageNumber"]);
    if is_indexed {
        return table.unique_index(INDEX, &["MessageId"]);
    }
    table
}

/// Whether `table` is that of [`definition`], however full its pages were built.
#[must_use]
pub fn is_like(table: &TableDefinition, short_bytes: usize, is_indexed: bool) -> bool {
    let expected = definition(short_bytes, table.density_percent, is_indexed);
    table.columns == expected.columns && table.indexes.len() == expected.indexes.len()
}

/// The values of an item. Without a long column, `body` stands for it.
#[must_use]
pub fn values(item: &Item, body: Value) -> Vec<Value> {
    let mut values = vec![
        Value::Null, // The engine numbers the messages.
        Value::LongLong(item.row as i64),
        Value::UnsignedLong(item.version),
        Value::UnsignedLong(item.long_version),
        Value::UnsignedLong(item.mailbox),
        Value::DateTime(item.received),
        Value::UnsignedLong(item.flags),
        Value::UnsignedLong(item.size_bytes),
        Value::Bytes(item.key.to_vec()),
    ];
    let pieces = item.short.chunks(VARIABLE_BYTES);
    values.extend(pieces.map(|piece| Value::Bytes(piece.to_vec())));
    values.push(match &item.long {
        Some(long) => Value::Bytes(long.clone()),
        None => body,
    });
    values
}

/// The item that a row holds, or `None` if it is no row of this table.
#[must_use]
pub fn item(mut values: Vec<Value>) -> Option<Item> {
    let body = values.pop()?;
    let mut short = match values.get_mut(FIRST_SHORT) {
        Some(Value::Bytes(first)) => std::mem::take(first),
        Some(_) => return None,
        None => Vec::new(),
    };
    let [
        _,
        Value::LongLong(row),
        Value::UnsignedLong(version),
        Value::UnsignedLong(long_version),
        Value::UnsignedLong(mailbox),
        Value::DateTime(received),
        Value::UnsignedLong(flags),
        Value::UnsignedLong(size_bytes),
        Value::Bytes(key),
        pieces @ ..,
    ] = values.as_slice()
    else {
        return None;
    };
    for piece in pieces.iter().skip(1) {
        short.extend_from_slice(piece.as_bytes()?);
    }
    Some(Item {
        key: <[u8; INDEX_KEY_BYTES]>::try_from(key.as_slice()).ok()?,
        row: u64::try_from(*row).ok()?,
        version: *version,
        long_version: *long_version,
        mailbox: *mailbox,
        received: *received,
        flags: *flags,
        size_bytes: *size_bytes,
        short,
        long: match body {
            Value::Bytes(long) => Some(long),
            _ => None,
        },
    })
}

/// Position of the long column.
#[must_use]
pub fn body_position(short_bytes: usize) -> usize {
    FIRST_SHORT + short_bytes.div_ceil(VARIABLE_BYTES)
}

/// The rows of a new database, for the bulk builder.
pub struct BuiltRows {
    maker: ItemMaker,
    rows: u64,
    item: Item,
    /// Rows in the order of the index, those not given yet.
    in_key_order: Box<dyn Iterator<Item = u64>>,
}

impl BuiltRows {
    /// The first `rows` rows that `maker` makes.
    #[must_use]
    pub fn new(maker: ItemMaker, rows: u64) -> Self {
        Self {
            item: maker.first(0),
            in_key_order: Box::new(maker.keys.rows_in_key_order(rows)),
            maker,
            rows,
        }
    }
}

impl RowSource for BuiltRows {
    fn rows(&self) -> u64 {
        self.rows
    }

    fn row(&mut self, row: u64) -> Vec<Field<'_>> {
        let separated = self.maker.is_long_apart();
        self.item = self.maker.first_into(row, !separated);
        let item = &self.item;
        let mut fields = Vec::with_capacity(12);
        fields.extend([
            Field::LongLong(message_of_row(row)),
            Field::LongLong(row as i64),
            Field::UnsignedLong(item.version),
            Field::UnsignedLong(item.long_version),
            Field::UnsignedLong(item.mailbox),
            Field::DateTime(item.received),
            Field::UnsignedLong(item.flags),
            Field::UnsignedLong(item.size_bytes),
            Field::Bytes(&item.key),
        ]);
        fields.extend(item.short.chunks(VARIABLE_BYTES).map(Field::Bytes));
        fields.push(match &item.long {
            Some(long) => Field::Bytes(long),
            None => Field::LongValue(long_value_id(row)),
        });
        fields
    }

    fn long_value_bytes(&mut self, _row: u64) -> Option<usize> {
        self.maker.is_long_apart().then_some(self.maker.long_bytes)
    }

    fn write_long_value(&mut self, row: u64, value: &mut [u8]) {
        let version = RowVersion { row, version: 0 };
        self.maker.content.fill(version, Part::Long, value);
    }

    fn next_index_entry(&mut self, value: &mut Vec<u8>) -> Option<u64> {
        let row = self.in_key_order.next()?;
        value.clear();
        value.extend_from_slice(&self.maker.keys.key(row));
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_other_columns_or_indexes_are_distinguished() {
        let table = definition(200, 90, false);
        assert!(is_like(&table, 200, false));
        assert!(is_like(&definition(200, 70, false), 200, false));
        assert!(!is_like(&table, 200, true));
        assert!(!is_like(&table, 300, false));
    }
}
