//! One node: flags, a key that may share the prefix of its page, and data.

use std::cmp::Ordering;

use super::TAG_BYTES;

/// The three flag bits of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodeFlags(pub u8);

impl NodeFlags {
    /// Present, without older versions, with the whole key in the node.
    pub const NONE: Self = Self(0);
    /// Older versions of this node are in the version store.
    pub const VERSION: Self = Self(1);
    /// Deleted, not yet removed. Some independent readers return such nodes, so a clean file has
    /// none.
    pub const DELETED: Self = Self(2);
    /// The key is prefix-compressed; set by the page itself, never by callers.
    pub const COMPRESSED: Self = Self(4);

    /// Whether every bit of `other` is set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags, with that of a compressed key as `stored` has it.
    pub(super) const fn stored_as(self, stored: Self) -> Self {
        Self(self.0 & !Self::COMPRESSED.0 | stored.0 & Self::COMPRESSED.0)
    }
}

/// One node of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node<'a> {
    /// Flags; [`NodeFlags::COMPRESSED`] is as stored.
    pub flags: NodeFlags,
    /// The part of the key that lies in the external header; empty when not compressed.
    pub prefix: &'a [u8],
    /// The rest of the key.
    pub suffix: &'a [u8],
    /// The data after the key.
    pub data: &'a [u8],
}

impl Node<'_> {
    /// Bytes of the whole key.
    #[must_use]
    pub fn key_len(&self) -> usize {
        self.prefix.len() + self.suffix.len()
    }

    /// Prefix and suffix joined, as the key was given when the node was inserted.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        [self.prefix, self.suffix].concat()
    }

    /// Replaces the contents of `key` by the whole key.
    pub fn key_into(&self, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(self.prefix);
        key.extend_from_slice(self.suffix);
    }

    /// Order of this node's key against `key`, bytewise, shorter first.
    #[must_use]
    pub fn compare_key(&self, key: &[u8]) -> Ordering {
        let head = self.prefix.len().min(key.len());
        self.prefix
            .cmp(&key[..head])
            .then_with(|| self.suffix.cmp(&key[head..]))
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.flags.contains(NodeFlags::DELETED)
    }

    /// Whether a reader sees this node.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        !self.is_deleted()
    }
}

/// The bits of the first word of a node that hold the key length. On large pages the others are its
/// flags; see `tags`.
pub(super) const KEY_LENGTH_MASK: u16 = 0x1FFF;
/// A key is compressed when more than this many bytes lie in the prefix: the second length word
/// costs two.
const COMPRESSION_COST: usize = 2;

/// Reads a node out of its value; `external` is the page's external header.
#[inline]
pub(super) fn parse<'a>(value: &'a [u8], flags: NodeFlags, external: &'a [u8]) -> Node<'a> {
    let word = u16::from_le_bytes([value[0], value[1]]);
    let length = usize::from(word & KEY_LENGTH_MASK);
    if flags.contains(NodeFlags::COMPRESSED) {
        let suffix_length = usize::from(u16::from_le_bytes([value[2], value[3]]));
        let (suffix, data) = value[4..].split_at(suffix_length);
        Node {
            flags,
            prefix: &external[..length],
            suffix,
            data,
        }
    } else {
        let (suffix, data) = value[2..].split_at(length);
        Node {
            flags,
            prefix: &[],
            suffix,
            data,
        }
    }
}

/// How a key is stored on a page whose usable prefix is given: the number of prefix bytes, 0 = not
/// compressed.
pub(super) fn compressed_bytes(prefix: &[u8], key: &[u8]) -> usize {
    let common = common_prefix_bytes(prefix, key);
    if common > COMPRESSION_COST { common } else { 0 }
}

/// Size of a node's value when `prefix_bytes` of its key are in the external header.
pub(super) const fn value_bytes(key_bytes: usize, prefix_bytes: usize, data_bytes: usize) -> usize {
    let lengths = if prefix_bytes > 0 { 4 } else { 2 };
    lengths + key_bytes - prefix_bytes + data_bytes
}

/// Page space a node takes, its tag included, when nothing is compressed.
#[must_use]
pub const fn node_bytes(key_bytes: usize, data_bytes: usize) -> usize {
    value_bytes(key_bytes, 0, data_bytes) + TAG_BYTES
}

/// How many leading bytes two keys share.
#[must_use]
pub fn common_prefix_bytes(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// Writes a node into `value`, which has exactly the right size; the data is written by the
/// caller's closure. Its flags, of which the result is those it has by the way its key is stored,
/// are for the caller to set.
pub(super) fn write(
    value: &mut [u8],
    key: &[u8],
    prefix_bytes: usize,
    data: impl FnOnce(&mut [u8]),
) -> NodeFlags {
    assert!(
        key.len() <= usize::from(KEY_LENGTH_MASK),
        "a key length has 13 bits"
    );
    let suffix = &key[prefix_bytes..];
    let (head, flags) = if prefix_bytes > 0 {
        value[..2].copy_from_slice(&(prefix_bytes as u16).to_le_bytes());
        value[2..4].copy_from_slice(&(suffix.len() as u16).to_le_bytes());
        (4, NodeFlags::COMPRESSED)
    } else {
        value[..2].copy_from_slice(&(key.len() as u16).to_le_bytes());
        (2, NodeFlags::NONE)
    };
    value[head..head + suffix.len()].copy_from_slice(suffix);
    data(&mut value[head + suffix.len()..]);
    flags
}
