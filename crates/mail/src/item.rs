//! One mail item: its columns, how they are made, and how they are checked.

use super::content::{ContentSource, Part, RowVersion};
use super::keys::{IndexKey, RowAddress, RowKeys};
use edb::format::long_value::MAX_INTRINSIC_BYTES;
use workload::random::mix;

/// A row of the messages table, without the message number that the engine gives it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    /// Where the row stands in the secondary index.
    pub key: IndexKey,
    /// Number of the row, from 0.
    pub row: u64,
    /// How often the row has been replaced.
    pub version: u32,
    /// The version at which the long column was last written.
    pub long_version: u32,
    /// The mailbox that the item lies in.
    pub mailbox: u32,
    /// When the item came, in 100 ns units since 1601, the time of Windows files.
    pub received: u64,
    /// Flags such as "read" or "flagged".
    pub flags: u32,
    /// Bytes of the short and the long column together.
    pub size_bytes: u32,
    /// Contents of the short column.
    pub short: Vec<u8>,
    /// The long column; `None` when it was not fetched or is not to be written.
    pub long: Option<Vec<u8>>,
}

/// Makes and checks the items of one database.
#[derive(Debug, Clone)]
pub struct ItemMaker {
    /// Which index key belongs to which row.
    pub keys: RowKeys,
    /// What the columns hold.
    pub content: ContentSource,
    /// Length of the short column in bytes.
    pub short_bytes: usize,
    /// Length of the long column in bytes.
    pub long_bytes: usize,
    /// Whether there is a secondary index with an entry for each row. Without, the workload numbers the
    /// rows, and they are found by their numbers.
    pub is_indexed: bool,
    /// Mailboxes in the database.
    pub mailboxes: u32,
    /// Whether items have contents. Without, all columns but the key are empty, and nothing is
    /// checked.
    pub with_contents: bool,
}

/// 2013-01-01 in 100 ns units since 1601.
const FIRST_RECEIVED: u64 = 130_014_720_000_000_000;
/// Ten seconds between the arrivals of items, in the same unit.
const BETWEEN_ITEMS: u64 = 100_000_000;

impl ItemMaker {
    /// The item of `row` as it is first inserted.
    #[must_use]
    pub fn first(&self, row: u64) -> Item {
        let mut item = self.at_version(row, 0);
        item.long = Some(self.column(row, 0, Part::Long));
        item
    }

    /// As [`ItemMaker::first`]; without `with_long` the long column is left out.
    #[must_use]
    pub fn first_into(&self, row: u64, with_long: bool) -> Item {
        if with_long {
            return self.first(row);
        }
        self.at_version(row, 0)
    }

    /// The item after one more replacement. Without `with_long` the long column stays as it is.
    #[must_use]
    pub fn next(&self, item: &Item, with_long: bool) -> Item {
        let version = item.version.wrapping_add(1);
        let mut next = self.at_version(item.row, version);
        if with_long {
            next.long = Some(self.column(item.row, version, Part::Long));
        } else {
            next.long_version = item.long_version;
        }
        next
    }

    /// Where a row is found.
    #[must_use]
    pub fn address(&self, row: u64) -> RowAddress {
        let key = self.keys.key(row);
        RowAddress { row, key }
    }

    /// Whether the long column lies in a tree of its own.
    #[must_use]
    pub fn is_long_apart(&self) -> bool {
        self.long_bytes > MAX_INTRINSIC_BYTES
    }

    fn at_version(&self, row: u64, version: u32) -> Item {
        if !self.with_contents {
            return self.bare(row, version);
        }
        Item {
            short: self.column(row, version, Part::Short),
            ..self.without_columns(row, version)
        }
    }

    /// The numbers of an item; both columns are missing.
    fn without_columns(&self, row: u64, version: u32) -> Item {
        let chance = mix(row ^ u64::from(version) << 40);
        Item {
            key: self.keys.key(row),
            row,
            version,
            long_version: version,
            mailbox: (mix(row) % u64::from(self.mailboxes.max(1))) as u32,
            received: FIRST_RECEIVED + row * BETWEEN_ITEMS,
            flags: (chance & 0x1f) as u32,
            size_bytes: (self.short_bytes + self.long_bytes) as u32,
            short: Vec::new(),
            long: None,
        }
    }

    fn bare(&self, row: u64, version: u32) -> Item {
        Item {
            key: self.keys.key(row),
            row,
            version,
            long_version: version,
            mailbox: 0,
            received: FIRST_RECEIVED,
            flags: 0,
            size_bytes: 0,
            short: Vec::new(),
            long: None,
        }
    }

    fn column(&self, row: u64, version: u32, part: Part) -> Vec<u8> {
        if !self.with_contents {
            return Vec::new();
        }
        let length = match part {
            Part::Short => self.short_bytes,
            Part::Long => self.long_bytes,
        };
        let mut bytes = vec![0; length];
        self.content
            .fill(RowVersion { row, version }, part, &mut bytes);
        bytes
    }

    /// Checks that `item` is what was written for `row`, no older than version `at_least`.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn check(&self, item: &Item, row: u64, at_least: u32) -> Result<(), String> {
        if !self.with_contents {
            return Ok(());
        }
        let expected = self.without_columns(row, item.version);
        if item.row != row {
            return Err(format!("row {row} was asked for and row {} came", item.row));
        }
        if item.key != expected.key {
            return Err(format!("row {row} has another key than was written"));
        }
        if item.version < at_least {
            return Err(format!(
                "row {row} came in version {}, but version {at_least} had been committed",
                item.version
            ));
        }
        let numbers = |item: &Item| (item.mailbox, item.received, item.flags, item.size_bytes);
        let version = item.version;
        let short = self
            .content
            .matches(RowVersion { row, version }, Part::Short, &item.short);
        if numbers(item) != numbers(&expected) || item.short.len() != self.short_bytes || !short {
            return Err(format!(
                "row {row} (version {}) holds other bytes than were written",
                item.version
            ));
        }
        let version = item.long_version;
        let good = |bytes: &Vec<u8>| {
            bytes.len() == self.long_bytes
                && self
                    .content
                    .matches(RowVersion { row, version }, Part::Long, bytes)
        };
        if version > item.version || !item.long.as_ref().is_none_or(good) {
            return Err(format!(
                "the long column of row {row} (version {version}) holds other bytes than were \
                 written"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maker() -> ItemMaker {
        ItemMaker {
            keys: RowKeys::new(1000, 3),
            content: ContentSource::new(3, 0, 0.25),
            short_bytes: 200,
            long_bytes: 2000,
            is_indexed: true,
            mailboxes: 10,
            with_contents: true,
        }
    }

    #[test]
    fn every_wrong_column_is_noticed() {
        let maker = maker();
        let first = maker.first(17);
        assert_eq!(maker.check(&first, 17, 0), Ok(()));
        let second = maker.next(&first, true);
        assert_eq!(maker.check(&second, 17, 1), Ok(()));
        assert!(
            maker
                .check(&first, 17, 1)
                .unwrap_err()
                .contains("version 1 had been committed")
        );
        assert!(maker.check(&first, 18, 0).is_err());
        let mut other_key = first.clone();
        other_key.key = maker.first(18).key;
        let problem = maker.check(&other_key, 17, 0);
        assert_eq!(
            problem,
            Err("row 17 has another key than was written".to_owned())
        );
        let spoil: [fn(&mut Item); 6] = [
            |item| item.short[199] ^= 1,
            |item| item.mailbox += 1,
            |item| item.flags ^= 1,
            |item| item.received += 1,
            |item| item.long.as_mut().unwrap()[0] ^= 1,
            |item| item.long.as_mut().unwrap().truncate(1999),
        ];
        for change in spoil {
            let mut wrong = first.clone();
            change(&mut wrong);
            assert!(maker.check(&wrong, 17, 0).is_err());
        }
    }

    #[test]
    fn a_long_column_that_was_not_replaced_keeps_its_version() {
        let maker = maker();
        let first = maker.first(5);
        let mut second = maker.next(&first, false);
        assert_eq!(
            (second.version, second.long_version, &second.long),
            (1, 0, &None)
        );
        second.long = first.long;
        assert_eq!(maker.check(&second, 5, 1), Ok(()));
    }
}
