//! Index keys: where a row goes in the secondary index, and which row a key belongs to.
//!
//! A key is a bijective permutation of its row number, so keys are spread evenly and can still be
//! listed in order without a sort.

use workload::permutation::Permutation;
use workload::random::derive;

/// Length of an index key in bytes.
pub const INDEX_KEY_BYTES: usize = 16;

/// The key under which a row stands in the secondary index.
pub type IndexKey = [u8; INDEX_KEY_BYTES];

/// A row as sessions know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowAddress {
    /// Number of the row, from 0.
    pub row: u64,
    /// Its key in the secondary index, if there is one.
    pub key: IndexKey,
}

/// Which index key belongs to which row number of one database, both ways.
///
/// The first eight bytes hold the row's place in a domain of at least twice the rows that were
/// built, so inserts fall evenly between the rows that are there. Row numbers past the domain
/// repeat the places; the next four bytes, the epoch, keep their keys apart. The last four bytes
/// are the database's own mark.
#[derive(Debug, Clone)]
pub struct RowKeys {
    permutation: Permutation,
    bits: u32,
    mark: u32,
}

impl RowKeys {
    /// The keys of a database built with `built_rows` rows.
    #[must_use]
    pub fn new(built_rows: u64, seed: u64) -> Self {
        let bits = (2 * built_rows.max(8)).next_power_of_two().trailing_zeros();
        Self {
            permutation: Permutation::new(bits, seed),
            bits,
            mark: (derive(seed, 0x6d61_726b) >> 32) as u32,
        }
    }

    /// The index key of a row.
    #[must_use]
    pub fn key(&self, row: u64) -> IndexKey {
        let domain = self.permutation.domain();
        let place = self.permutation.apply(row & (domain - 1)) << (64 - self.bits);
        let epoch = u32::try_from(row >> self.bits).unwrap_or(u32::MAX);
        let mut key = [0; INDEX_KEY_BYTES];
        key[..8].copy_from_slice(&place.to_be_bytes());
        key[8..12].copy_from_slice(&epoch.to_be_bytes());
        key[12..].copy_from_slice(&self.mark.to_be_bytes());
        key
    }

    /// The row to which an index key belongs; `None` if it is not a key of this database.
    #[must_use]
    pub fn row(&self, key: &IndexKey) -> Option<u64> {
        let word = |at: usize| u32::from_be_bytes([key[at], key[at + 1], key[at + 2], key[at + 3]]);
        let place = u64::from(word(0)) << 32 | u64::from(word(4));
        let place_bits = place >> (64 - self.bits);
        if place_bits << (64 - self.bits) != place || word(12) != self.mark {
            return None;
        }
        Some(u64::from(word(8)) << self.bits | self.permutation.invert(place_bits))
    }

    /// The rows `0 .. built_rows` in ascending order of their index keys, without sorting.
    pub fn rows_in_key_order(&self, built_rows: u64) -> impl Iterator<Item = u64> + 'static {
        let permutation = self.permutation.clone();
        assert!(built_rows <= permutation.domain());
        (0..permutation.domain())
            .map(move |place| permutation.invert(place))
            .filter(move |&row| row < built_rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn index_keys_lead_back_to_their_rows(rows in 1_u64..1 << 40, seed: u64, row in 0_u64..1 << 44) {
            let keys = RowKeys::new(rows, seed);
            // Epochs are 32 bits wide; a domain of at least 16 places holds 2^36 rows.
            prop_assume!(row >> keys.bits < u64::from(u32::MAX));
            prop_assert_eq!(keys.row(&keys.key(row)), Some(row));
        }

        #[test]
        fn rows_come_in_key_order_each_once(rows in 1_u64..3_000, seed: u64) {
            let keys = RowKeys::new(rows, seed);
            let ordered: Vec<u64> = keys.rows_in_key_order(rows).collect();
            prop_assert_eq!(ordered.len() as u64, rows);
            prop_assert!(ordered.windows(2).all(|pair| keys.key(pair[0]) < keys.key(pair[1])));
        }
    }
}
