//! The whole contents of a page as a log record holds them: header fields and nodes, no free space.

use super::bytes::{PutBytes, TakeBytes};
use crate::format::page::{
    Node, NodeFlags, PageChange, PageFlags, PageFull, PageView, common_prefix_bytes,
};
use std::ops::Range;

/// New contents of a page, as encoded in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageContent<'a> {
    pub(crate) flags: PageFlags,
    pub(crate) object_id: u32,
    pub(crate) previous: u32,
    pub(crate) next: u32,
    /// Space header of a root, key prefix of any other page.
    pub(crate) external: &'a [u8],
    /// The nodes, see [`ContentBuilder::push`].
    nodes: &'a [u8],
}

impl<'a> PageContent<'a> {
    /// Formats the page and fills it.
    pub(crate) fn build(
        &self,
        change: &mut PageChange<'_>,
        page_number: u32,
    ) -> Result<(), PageFull> {
        change.format_new(page_number, self.object_id, self.flags);
        if self.flags.contains(PageFlags::LEAF) {
            change.set_previous(self.previous);
            change.set_next(self.next);
        }
        let is_root = self.flags.contains(PageFlags::ROOT);
        if is_root {
            change.set_external_header(self.external)?;
        } else {
            change.set_prefix(self.external)?;
        }
        let mut nodes = TakeBytes(self.nodes);
        let mut key = Vec::new();
        let mut index = 0;
        while !nodes.is_empty() {
            let (flags, shared, rest, data) =
                take_node(&mut nodes).unwrap_or_else(|| panic!("nodes of a record are whole"));
            key.clear();
            key.extend_from_slice(&self.external[..shared]);
            key.extend_from_slice(rest);
            change.insert_node(index, &key, data, flags)?;
            index += 1;
        }
        Ok(())
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.flags.0);
        out.put_u32(self.object_id);
        out.put_u32(self.previous);
        out.put_u32(self.next);
        out.put_string(self.external);
        out.put_u32(u32::try_from(self.nodes.len()).unwrap_or_else(|_| panic!("a page is small")));
        out.extend_from_slice(self.nodes);
    }

    pub(crate) fn decode(from: &mut TakeBytes<'a>) -> Option<Self> {
        let content = Self {
            flags: PageFlags(from.u32()?),
            object_id: from.u32()?,
            previous: from.u32()?,
            next: from.u32()?,
            external: from.string()?,
            nodes: {
                let bytes = from.u32()?;
                from.take(bytes as usize)?
            },
        };
        let mut nodes = TakeBytes(content.nodes);
        while !nodes.is_empty() {
            let (_, shared, _, _) = take_node(&mut nodes)?;
            content.external.get(..shared)?;
        }
        Some(content)
    }
}

type EncodedNode<'a> = (NodeFlags, usize, &'a [u8], &'a [u8]);

fn take_node<'a>(from: &mut TakeBytes<'a>) -> Option<EncodedNode<'a>> {
    let flags = NodeFlags(from.u8()?);
    let shared = from.u16()?;
    Some((flags, shared, from.string()?, from.string()?))
}

/// Puts page contents together.
#[derive(Debug, Clone)]
pub(crate) struct ContentBuilder {
    pub(crate) flags: PageFlags,
    pub(crate) object_id: u32,
    pub(crate) previous: u32,
    pub(crate) next: u32,
    external: Vec<u8>,
    nodes: Vec<u8>,
}

impl ContentBuilder {
    /// Contents without nodes. `external` is the space header of a root, else the key prefix.
    pub(crate) fn new(flags: PageFlags, object_id: u32, external: Vec<u8>) -> Self {
        let (previous, next, nodes) = (0, 0, Vec::new());
        Self {
            flags,
            object_id,
            previous,
            next,
            external,
            nodes,
        }
    }

    /// Adds a node after those added before.
    pub(crate) fn push(&mut self, flags: NodeFlags, key: &[u8], data: &[u8]) {
        let shared = match self.flags.contains(PageFlags::ROOT) {
            true => 0,
            false => common_prefix_bytes(&self.external, key),
        };
        // Whether a key is stored compressed is the page's own decision.
        self.nodes.put_u8(flags.0 & !NodeFlags::COMPRESSED.0);
        self.nodes.put_u16(shared);
        self.nodes.put_string(&key[shared..]);
        self.nodes.put_string(data);
    }

    /// Adds a node of another page, with its key.
    pub(crate) fn push_node(&mut self, node: Node<'_>) {
        self.push(node.flags, &node.key(), node.data);
    }

    /// Adds nodes of another page.
    pub(crate) fn push_range(&mut self, page: PageView<'_>, range: Range<usize>) {
        for index in range {
            self.push_node(page.node(index));
        }
    }

    /// The contents to encode.
    pub(crate) fn content(&self) -> PageContent<'_> {
        PageContent {
            flags: self.flags,
            object_id: self.object_id,
            previous: self.previous,
            next: self.next,
            external: &self.external,
            nodes: &self.nodes,
        }
    }
}
