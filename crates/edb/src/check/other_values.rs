//! Long values of a table that another program wrote: each chunk may be compressed.

use super::bitmap::Bitmap;
use crate::format::general::{CompressionError, expand};
use crate::format::long_value::{LongValueKey, LongValueRoot, chunk_bytes};
use crate::format::page::Node;

/// Problems kept; the tree is beyond use by then.
const MOST_PROBLEMS: usize = 1000;

struct OpenValue {
    id: u32,
    size_bytes: u32,
    seen_bytes: u32,
    page: u32,
}

/// Goes through a long value tree in key order.
pub(super) struct ValuesWalk {
    chunk_bytes: u32,
    open: Option<OpenValue>,
    pub(super) problems: Vec<(u32, String)>,
}

impl ValuesWalk {
    pub(super) fn new(page_size_bytes: usize, stated: Option<u32>) -> Self {
        Self {
            chunk_bytes: stated
                .filter(|&bytes| bytes > 0)
                .unwrap_or(chunk_bytes(page_size_bytes) as u32),
            open: None,
            problems: Vec::new(),
        }
    }

    fn problem(&mut self, page: u32, sentence: String) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push((page, sentence));
        }
    }

    /// Takes the next node. A value that is there is taken out of `references`.
    pub(super) fn add(&mut self, page: u32, node: &Node<'_>, references: &mut Bitmap) {
        let key = node.key();
        // Keys with 64-bit numbers, of later versions of the format.
        if key.first().is_some_and(|byte| byte & 0x80 != 0) {
            return;
        }
        match LongValueKey::decode(&key) {
            Some(LongValueKey::Root { id }) => {
                self.end_value();
                let Some(root) = LongValueRoot::decode(node.data) else {
                    self.problem(page, format!("the root of long value {id} cannot be read"));
                    return;
                };
                references.remove(id);
                self.open = Some(OpenValue {
                    id,
                    size_bytes: root.size_bytes,
                    seen_bytes: 0,
                    page,
                });
            }
            Some(LongValueKey::Chunk { id, offset }) => self.add_chunk(page, id, offset, node.data),
            None => self.problem(page, "it holds a key that names no long value".to_owned()),
        }
    }

    fn add_chunk(&mut self, page: u32, id: u32, offset: u32, data: &[u8]) {
        let full = self.chunk_bytes;
        let expected = self.open.as_mut().filter(|value| value.id == id);
        let Some(value) = expected.filter(|value| value.seen_bytes == offset) else {
            let sentence =
                format!("the chunk at byte {offset} of long value {id} follows no chunk before it");
            self.problem(page, sentence);
            return;
        };
        let bytes = value.size_bytes.saturating_sub(offset).min(full);
        value.seen_bytes = offset + bytes;
        value.page = page;
        if !holds(data, bytes as usize) {
            let sentence =
                format!("the chunk at byte {offset} of long value {id} has a wrong length");
            self.problem(page, sentence);
        }
    }

    /// Ends the value whose chunks have been seen.
    pub(super) fn end_value(&mut self) {
        if let Some(value) = self.open.take()
            && value.seen_bytes != value.size_bytes
        {
            let OpenValue {
                id,
                size_bytes,
                seen_bytes,
                page,
            } = value;
            let sentence = format!("long value {id} has {seen_bytes} of its {size_bytes} bytes");
            self.problem(page, sentence);
        }
    }
}

/// Whether a chunk holds so many bytes, as they are or compressed. Of compressions that are not known
/// here this is assumed.
fn holds(data: &[u8], bytes: usize) -> bool {
    if bytes == 0 || data.len() >= bytes {
        return bytes > 0 && data.len() == bytes;
    }
    match expand(data) {
        Ok(value) => value.len() == bytes,
        Err(CompressionError::Scheme(scheme)) => scheme != 0,
        Err(CompressionError::Damaged) => false,
    }
}
