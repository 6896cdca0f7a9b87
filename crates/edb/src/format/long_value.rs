//! Long values: one tree per table, a root node and chunk nodes for each value.
//!
//! | node | key | data |
//! |---|---|---|
//! | root | big-endian long value id | reference count, total size (both u32) |
//! | chunk | big-endian id, big-endian byte offset | the bytes |
//!
//! Pages of these trees never compress keys: one reader damages a prefix whose second byte is 0x20
//! or more.

/// A value up to this many bytes stays in its record (unless the record would not fit).
pub const MAX_INTRINSIC_BYTES: usize = 1023;

/// The largest id the 32-bit form allows: the top bit would mean a 64-bit id.
pub const MAX_LONG_VALUE_ID: u32 = 0x7FFF_FFFF;

/// Bytes of every chunk but the last of a value.
///
/// Four chunks fill a large page; small pages hold one.
#[must_use]
pub const fn chunk_bytes(page_size_bytes: usize) -> usize {
    match page_size_bytes {
        32_768 => 8150,
        16_384 => 4050,
        small => small - 82,
    }
}

/// Key of a value's root node.
#[must_use]
pub fn root_key(id: u32) -> [u8; 4] {
    assert!(id <= MAX_LONG_VALUE_ID, "long value ids have 31 bits");
    id.to_be_bytes()
}

/// Key of the chunk that starts at `offset`.
#[must_use]
pub fn chunk_key(id: u32, offset: u32) -> [u8; 8] {
    let mut key = [0; 8];
    key[..4].copy_from_slice(&root_key(id));
    key[4..].copy_from_slice(&offset.to_be_bytes());
    key
}

/// What a key of a long value tree names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongValueKey {
    /// The root node of a value.
    Root {
        /// Number of the long value, unique in its table.
        id: u32,
    },
    /// A node with part of the value's bytes.
    Chunk {
        /// Number of the long value, unique in its table.
        id: u32,
        /// Where in the value it starts.
        offset: u32,
    },
}

impl LongValueKey {
    /// Reads a key; `None` if it is none.
    #[must_use]
    pub fn decode(key: &[u8]) -> Option<Self> {
        let id = u32::from_be_bytes(key.get(..4)?.try_into().ok()?);
        match key.len() {
            4 => Some(Self::Root { id }),
            8 => Some(Self::Chunk {
                id,
                offset: u32::from_be_bytes(key[4..].try_into().ok()?),
            }),
            _ => None,
        }
    }
}

/// Data of a root node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongValueRoot {
    /// How many records refer to the value.
    pub references: u32,
    /// Bytes of the value.
    pub size_bytes: u32,
}

impl LongValueRoot {
    /// Bytes in the node.
    #[must_use]
    pub fn encode(self) -> [u8; 8] {
        let mut data = [0; 8];
        data[..4].copy_from_slice(&self.references.to_le_bytes());
        data[4..].copy_from_slice(&self.size_bytes.to_le_bytes());
        data
    }

    /// Reads the node's data; `None` if it is not a root.
    #[must_use]
    pub fn decode(data: &[u8]) -> Option<Self> {
        let references = u32::from_le_bytes(data.get(..4)?.try_into().ok()?);
        let size_bytes = u32::from_le_bytes(data.get(4..8)?.try_into().ok()?);
        // A ninth byte of flags exists in later revisions.
        (data.len() <= 9).then_some(Self {
            references,
            size_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::page::{PAGE_SIZES_BYTES, node_bytes, page_capacity_bytes};

    #[test]
    fn keys_and_roots_come_back() {
        let root = LongValueRoot {
            references: 1,
            size_bytes: 20_000,
        };
        assert_eq!(LongValueRoot::decode(&root.encode()), Some(root));
        assert_eq!(
            LongValueKey::decode(&root_key(9)),
            Some(LongValueKey::Root { id: 9 })
        );
        let chunk = LongValueKey::Chunk {
            id: 9,
            offset: 8150,
        };
        assert_eq!(LongValueKey::decode(&chunk_key(9, 8150)), Some(chunk));
        assert_eq!(LongValueKey::decode(b"odd"), None);
        assert!(
            root_key(9).as_slice() < chunk_key(9, 0).as_slice()
                && chunk_key(9, 1) < chunk_key(10, 0)
        );
    }

    #[test]
    fn chunks_fit_their_pages() {
        for (size, chunks) in PAGE_SIZES_BYTES.into_iter().zip([1, 1, 4, 4]) {
            let space_header = 16 + 4;
            let used = chunks * node_bytes(8, chunk_bytes(size)) + space_header;
            assert!(used <= page_capacity_bytes(size), "{size}");
        }
    }
}
