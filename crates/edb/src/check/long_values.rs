//! The long values of a table: are all chunks of each there, and does a row refer to it?

use runtime::File;

use super::bitmap::Bitmap;
use super::checker::Checker;
use super::finding::FindingKind;
use crate::format::general::{CompressionError, expand};
use crate::format::long_value::{LongValueKey, LongValueRoot};
use crate::format::page::Node;

/// Problems kept; the tree is beyond use by then.
const MOST_PROBLEMS: usize = 1000;

/// Missing values of a table that are reported.
const MOST_MISSING: usize = 100;

/// How chunks are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunks {
    /// As they are, by our own engine.
    Plain,
    /// Each may be compressed, by another program.
    Compressible,
}

/// The value whose chunks are being seen.
struct OpenValue {
    id: u32,
    size_bytes: u32,
    seen_bytes: u32,
    page: u32,
}

/// Goes through a long value tree in key order.
pub(super) struct LongValueWalk {
    chunk_bytes: u32,
    chunks: Chunks,
    open: Option<OpenValue>,
    problems: Vec<(u32, String)>,
}

impl LongValueWalk {
    pub(super) fn new(chunk_bytes: u32, chunks: Chunks) -> Self {
        Self {
            chunk_bytes,
            chunks,
            open: None,
            problems: Vec::new(),
        }
    }

    /// Notes a problem on this page.
    pub(super) fn problem(&mut self, page: u32, sentence: String) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push((page, sentence));
        }
    }

    /// Takes the next node. Returns the root that it is, if it is one.
    pub(super) fn add(&mut self, page: u32, node: &Node<'_>) -> Option<(u32, LongValueRoot)> {
        let key = node.key();
        let has_large_number = key.first().is_some_and(|byte| byte & 0x80 != 0);
        if self.chunks == Chunks::Compressible && has_large_number {
            // Keys with 64-bit numbers, of later versions of the format.
            return None;
        }
        match LongValueKey::decode(&key) {
            Some(LongValueKey::Root { id }) => return self.begin_value(page, id, node.data),
            Some(LongValueKey::Chunk { id, offset }) => self.add_chunk(page, id, offset, node.data),
            None => self.problem(page, "it holds a key that names no long value".to_owned()),
        }
        None
    }

    fn begin_value(&mut self, page: u32, id: u32, data: &[u8]) -> Option<(u32, LongValueRoot)> {
        self.end_value();
        let Some(root) = LongValueRoot::decode(data) else {
            self.problem(page, format!("the root of long value {id} cannot be read"));
            return None;
        };
        self.open = Some(OpenValue {
            id,
            size_bytes: root.size_bytes,
            seen_bytes: 0,
            page,
        });
        Some((id, root))
    }

    fn add_chunk(&mut self, page: u32, id: u32, offset: u32, data: &[u8]) {
        let expected = self.open.as_mut().filter(|value| value.id == id);
        let Some(value) = expected.filter(|value| value.seen_bytes == offset) else {
            let sentence =
                format!("the chunk at byte {offset} of long value {id} follows no chunk before it");
            self.problem(page, sentence);
            return;
        };
        let rest_bytes = value.size_bytes.saturating_sub(offset);
        let bytes = rest_bytes.min(self.chunk_bytes);
        value.seen_bytes = offset + bytes;
        value.page = page;
        let is_right = match self.chunks {
            Chunks::Plain => bytes > 0 && data.len() == bytes as usize,
            Chunks::Compressible => holds(data, bytes as usize),
        };
        if !is_right {
            let sentence =
                format!("the chunk at byte {offset} of long value {id} has a wrong length");
            self.problem(page, sentence);
        }
    }

    /// Ends the value whose chunks have been seen.
    fn end_value(&mut self) {
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

    /// Ends the walk; what was wrong, each with its page.
    fn finish(mut self) -> Vec<(u32, String)> {
        self.end_value();
        self.problems
    }
}

impl<F: File> Checker<F> {
    /// Reports what a complete walk of the tree `object` has found.
    pub(super) fn report_long_values(&mut self, walk: LongValueWalk, object: &str) {
        for (page, sentence) in walk.finish() {
            self.findings
                .add(FindingKind::LongValue, Some(page), object, sentence);
        }
    }

    /// Reports the values that rows refer to and that no walk has met.
    pub(super) fn report_missing_values(&mut self, references: &Bitmap, object: &str) {
        for id in references.iter().take(MOST_MISSING) {
            let sentence = format!("long value {id} is missing, though a row refers to it");
            self.findings
                .add(FindingKind::LongValue, None, object, sentence);
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
