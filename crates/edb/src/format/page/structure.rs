//! Whether a page makes sense: for bytes nothing is known about.

use super::header::{self, PageFlags, u16_at};
use super::node::{KEY_LENGTH_MASK, NodeFlags};
use super::tags::{self, Tag};
use super::{PageView, TAG_BYTES};

/// How a page breaks the format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StructureError {
    /// The tag count is zero or the tag array does not fit.
    #[error("the tag count is {count}")]
    TagCount {
        /// Tags, with the reserved bits.
        count: usize,
    },
    /// A value lies outside the data area.
    #[error("the value of tag {tag} (offset {offset}, {size} bytes) is outside the page")]
    ValueOutside {
        /// Number of the tag; 0 is the external header.
        tag: usize,
        /// Offset from the end of the header.
        offset: usize,
        /// Bytes of the value.
        size: usize,
    },
    /// Two values share bytes.
    #[error("the values of tags {first} and {second} overlap")]
    ValuesOverlap {
        /// The tag with the lower offset.
        first: usize,
        /// The tag with the higher offset.
        second: usize,
    },
    /// The free bytes in the header are not what the tags leave.
    #[error("the header says {stated} free bytes, the tags leave {actual}")]
    FreeBytes {
        /// Free bytes according to the header.
        stated: usize,
        /// Free bytes counted from the tags.
        actual: usize,
    },
    /// A node's key lengths do not fit its value or the prefix.
    #[error("the key lengths of node {node} do not fit")]
    KeyLength {
        /// Number of the node, from 0.
        node: usize,
    },
    /// A compressed key on a root page, whose external header is no prefix.
    #[error("node {node} of a root has a compressed key")]
    CompressedOnRoot {
        /// Number of the node, from 0.
        node: usize,
    },
    /// An internal node whose data is not a page number.
    #[error("node {node} of an internal page has {bytes} data bytes instead of a page number")]
    Child {
        /// Number of the node, from 0.
        node: usize,
        /// Bytes of the node's data, instead of four.
        bytes: usize,
    },
    /// The flags contradict each other or are unknown.
    #[error("the page flags {flags:#x} make no sense")]
    Flags {
        /// All flags of the page.
        flags: u32,
    },
    /// An internal page with neighbours, or without children, or whose last key is not empty.
    #[error("{0}")]
    Internal(&'static str),
    /// Keys not in ascending order.
    #[error("the key of node {node} is not above the one before it")]
    KeyOrder {
        /// The node that is out of order.
        node: usize,
    },
}

impl PageView<'_> {
    /// Checks everything a page must fulfil on its own; accepts any bytes without a panic.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn check_structure(self) -> Result<(), StructureError> {
        self.check_tags()?;
        self.check_nodes()?;
        self.check_kind()?;
        self.check_order()
    }

    fn check_tags(self) -> Result<(), StructureError> {
        let state = usize::from(u16_at(self.bytes, header::TAG_STATE));
        let room = self.values().len();
        if state == 0 || state != self.tag_count() || state * TAG_BYTES > room {
            return Err(StructureError::TagCount { count: state });
        }
        let values_end = room - state * TAG_BYTES;
        let mut placed = Vec::with_capacity(state);
        for tag in 0..state {
            let Tag { offset, size } = tags::get(self.bytes, tag);
            let limit = self.first_free().min(values_end);
            if offset + size > limit && (size > 0 || offset > values_end) {
                return Err(StructureError::ValueOutside { tag, offset, size });
            }
            if size > 0 {
                placed.push((offset, size, tag));
            }
        }
        placed.sort_unstable();
        for pair in placed.windows(2) {
            if pair[0].0 + pair[0].1 > pair[1].0 {
                return Err(StructureError::ValuesOverlap {
                    first: pair[0].2,
                    second: pair[1].2,
                });
            }
        }
        let (stated, actual) = (self.free_bytes(), self.free_bytes_by_definition());
        if stated != actual || self.uncommitted_free() > stated {
            return Err(StructureError::FreeBytes { stated, actual });
        }
        Ok(())
    }

    fn check_nodes(self) -> Result<(), StructureError> {
        for node in 0..self.node_count() {
            let value = self.value(node + 1);
            let lengths = || -> Option<(usize, usize, bool)> {
                let word = u16::from_le_bytes([*value.first()?, *value.get(1)?]);
                let length = usize::from(word & KEY_LENGTH_MASK);
                let tag = tags::get(self.bytes, node + 1);
                let flags = tags::node_flags(self.bytes, node + 1, tag);
                if !flags.contains(NodeFlags::COMPRESSED) {
                    return Some((0, 2 + length, false));
                }
                let suffix = u16::from_le_bytes([*value.get(2)?, *value.get(3)?]);
                Some((length, 4 + usize::from(suffix), true))
            };
            let (prefix, end, compressed) = lengths().ok_or(StructureError::KeyLength { node })?;
            if compressed && self.is_root() {
                return Err(StructureError::CompressedOnRoot { node });
            }
            if prefix > self.prefix().len() || end > value.len() {
                return Err(StructureError::KeyLength { node });
            }
            if !self.is_leaf() && value.len() - end != 4 {
                return Err(StructureError::Child {
                    node,
                    bytes: value.len() - end,
                });
            }
        }
        Ok(())
    }

    fn check_kind(self) -> Result<(), StructureError> {
        let flags = self.flags();
        let leaf = flags.contains(PageFlags::LEAF);
        let parent = flags.contains(PageFlags::PARENT_OF_LEAF);
        let usual = PageFlags::NEW_RECORDS | PageFlags::ECC;
        if flags.0 >= 0x2_0000 || (leaf && parent) || !flags.contains(usual) {
            return Err(StructureError::Flags { flags: flags.0 });
        }
        if leaf || flags.contains(PageFlags::EMPTY) {
            return Ok(());
        }
        let Some(last) = self.node_count().checked_sub(1) else {
            return Err(StructureError::Internal("an internal page has no children"));
        };
        if self.previous() != 0 || self.next() != 0 {
            return Err(StructureError::Internal("an internal page has neighbours"));
        }
        if self.node(last).key_len() != 0 {
            return Err(StructureError::Internal(
                "an internal page's last child has an upper bound",
            ));
        }
        Ok(())
    }

    fn check_order(self) -> Result<(), StructureError> {
        let ordered = if self.is_leaf() {
            self.node_count()
        } else {
            self.node_count().saturating_sub(1)
        };
        let (mut before, mut key) = (Vec::new(), Vec::new());
        for index in 0..ordered {
            let node = self.node(index);
            node.key_into(&mut key);
            let may_repeat = self.flags().contains(PageFlags::NON_UNIQUE);
            let repeats = index > 0 && key == before;
            let falls = index > 0 && key < before;
            let data_ascends = index > 0 && self.node(index - 1).data < node.data;
            if falls || (repeats && !(may_repeat && data_ascends)) {
                return Err(StructureError::KeyOrder { node: index });
            }
            std::mem::swap(&mut before, &mut key);
        }
        Ok(())
    }
}
