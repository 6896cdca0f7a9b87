//! Long values, chunk by chunk.

use runtime::File;

use crate::format::general::{CompressionError, expand};
use crate::format::long_value::{LongValueRoot, chunk_bytes};
use crate::reading::{Page, ReadError, TreeReader, reason_of};

/// The long values of one table.
pub(super) struct LongValueReader<'r, F: File> {
    tree: TreeReader<'r, F>,
    /// The leaf used last: values mostly lie beside those of the row before.
    leaf: Option<Page>,
    chunk_bytes: usize,
}

/// Numbers of 64 bits, of later versions of the format, have this bit set in keys.
const WIDE: u64 = 1 << 63;

impl<'r, F: File> LongValueReader<'r, F> {
    pub(super) fn new(tree: TreeReader<'r, F>, page_bytes: usize, stated: Option<u32>) -> Self {
        let stated = stated.filter(|&bytes| bytes > 0);
        Self {
            tree,
            leaf: None,
            chunk_bytes: stated.map_or(chunk_bytes(page_bytes), |bytes| bytes as usize),
        }
    }

    /// Hands the bytes of a value to `take`, piece by piece. `reference` is what the record holds.
    pub(super) async fn read(
        &mut self,
        reference: &[u8],
        take: &mut dyn FnMut(&[u8]) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let (key, id) = match reference.len() {
            4 | 8 => key_of(reference),
            _ => (Vec::new(), 0),
        };
        let wrong = |object: &str, reason: String| ReadError::LongValue {
            id,
            object: object.to_owned(),
            reason,
        };
        let object = self.tree.object().to_owned();
        if key.is_empty() {
            return Err(wrong(&object, "has no number".to_owned()));
        }
        let root = self.node(&key).await?;
        let root = root.as_deref().and_then(LongValueRoot::decode);
        let Some(root) = root else {
            return Err(wrong(&object, "is missing".to_owned()));
        };
        let (size, mut offset) = (root.size_bytes as usize, 0);
        while offset < size {
            let mut chunk_key = key.clone();
            chunk_key.extend((offset as u32).to_be_bytes());
            let Some(chunk) = self.node(&chunk_key).await? else {
                let reason = format!("has {offset} of its {size} bytes");
                return Err(wrong(&object, reason));
            };
            let bytes = self.chunk_bytes.min(size - offset);
            let expanded = expanded(&chunk, bytes);
            take(&expanded.map_err(|error| wrong(&object, format!("is {}", reason_of(error))))?)?;
            offset += bytes;
        }
        Ok(())
    }

    /// Data of the node with this key.
    async fn node(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        if let Some(leaf) = &self.leaf
            && let Some(data) = find(leaf, key)
        {
            return Ok(Some(data));
        }
        let leaf = self.tree.leaf_of(key).await?;
        let found = find(&leaf, key);
        self.leaf = Some(leaf);
        Ok(found)
    }
}

fn find(leaf: &Page, key: &[u8]) -> Option<Vec<u8>> {
    let index = leaf.view().search(key).ok()?;
    let node = leaf.view().node(index);
    node.is_visible().then(|| node.data.to_vec())
}

/// Key of the root of a value, and its number.
fn key_of(reference: &[u8]) -> (Vec<u8>, u64) {
    let id = reference.iter().rev();
    let id = id.fold(0, |id: u64, &byte| id << 8 | u64::from(byte));
    let key: Vec<u8> = reference.iter().rev().copied().collect();
    (key, id & !WIDE)
}

/// A chunk that has fewer bytes than it stands for is compressed.
fn expanded(chunk: &[u8], bytes: usize) -> Result<Vec<u8>, CompressionError> {
    if chunk.len() == bytes {
        return Ok(chunk.to_vec());
    }
    let value = expand(chunk)?;
    if value.len() == bytes {
        Ok(value)
    } else {
        Err(CompressionError::Damaged)
    }
}
