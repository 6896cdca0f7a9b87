//! From the size of a database to its number of rows.

use super::keys::INDEX_KEY_BYTES;

/// What decides how many rows fill a database.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowSizes {
    /// Length of the short column in bytes.
    pub short_bytes: u64,
    /// Length of the long column in bytes.
    pub long_bytes: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// How full the builder leaves its pages, 0 to 1.
    pub page_fill: f64,
    /// Whether rows have entries in an index.
    pub is_indexed: bool,
}

/// Page header and tag of the external header.
const PAGE_OVERHEAD_BYTES: f64 = 84.0;
/// Fixed columns: message number, row number, two versions, mailbox, time, flags, size.
const FIXED_COLUMN_BYTES: u64 = 8 + 8 + 4 + 4 + 4 + 8 + 4 + 4;
/// Record header, NULL bits, offsets of variable columns, the entry of the long value; node header,
/// tag and key.
const ROW_OVERHEAD_BYTES: u64 = 4 + 2 + 8 + 9 + 16;
/// Node header, tag, keys, and the root node of a long value.
const LONG_VALUE_OVERHEAD_BYTES: u64 = 40;
/// Node header, tag and the key of the row it points to.
const INDEX_OVERHEAD_BYTES: u64 = 18;

impl RowSizes {
    /// Bytes of the file that one row takes, in the table, the long value tree and the index.
    #[must_use]
    pub fn bytes_per_row(&self) -> f64 {
        let index_key = INDEX_KEY_BYTES as u64;
        let row = FIXED_COLUMN_BYTES + index_key + self.short_bytes + ROW_OVERHEAD_BYTES;
        let index = index_key + INDEX_OVERHEAD_BYTES;
        let long = self.long_bytes + LONG_VALUE_OVERHEAD_BYTES;
        let usable = self.page_bytes as f64 - PAGE_OVERHEAD_BYTES;
        let per_node = |bytes: u64, fill: f64| {
            let room = usable * fill;
            let on_a_page = (room / bytes as f64).floor().max(1.0);
            // What is too large for one page takes several, the last of them shared.
            if bytes as f64 > room {
                bytes as f64 * self.page_bytes as f64 / room
            } else {
                self.page_bytes as f64 / on_a_page
            }
        };
        let table = per_node(row, self.page_fill) + per_node(long, 1.0);
        if self.is_indexed {
            return table + per_node(index, self.page_fill);
        }
        table
    }

    /// Rows that fill a database of `database_bytes`, at least 16.
    #[must_use]
    pub fn rows_in(&self, database_bytes: u64) -> u64 {
        ((database_bytes as f64 / self.bytes_per_row()) as u64).max(16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_item_takes_its_columns_and_a_little_more() {
        let sizes = RowSizes {
            short_bytes: 200,
            long_bytes: 2000,
            page_bytes: 32_768,
            page_fill: 0.9,
            is_indexed: true,
        };
        let per_row = sizes.bytes_per_row();
        assert!((2_300.0..2_700.0).contains(&per_row), "{per_row}");
        assert_eq!(
            sizes.rows_in(1 << 30),
            ((1_u64 << 30) as f64 / per_row) as u64
        );
        assert_eq!(sizes.rows_in(0), 16);
    }
}
