//! Rows, index entries and long values of one table: do they belong together?

use std::hash::{DefaultHasher, Hash, Hasher};

use runtime::File;

use super::bitmap::Bitmap;
use super::checker::Checker;
use super::finding::FindingKind;
use super::whole::KnownTable;
use crate::format::key::{StringKind, push_segment};
use crate::format::long_value::{LongValueKey, LongValueRoot, chunk_bytes};
use crate::format::page::Node;
use crate::format::record::{Field, RecordLayout};
use crate::format::schema::{IndexDefinition, TableDefinition};

/// A sum over pairs of primary key and index key that does not depend on their order. Two sets of
/// pairs with the same sum and count are the same for all practical purposes: it has 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PairSum {
    pub(super) count: u64,
    sum: u128,
}

impl PairSum {
    pub(super) fn add(&mut self, primary: &[u8], key: &[u8]) {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, primary, key).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        self.count += 1;
        self.sum = self.sum.wrapping_add(half(1) << 64 | half(2));
    }
}

/// How to compute the keys of an index from a record.
struct KeyMaker {
    columns: Vec<(usize, StringKind)>,
}

impl KeyMaker {
    fn new(table: &TableDefinition, index: &IndexDefinition) -> Self {
        let columns = index.columns.iter().filter_map(|id| {
            let position = table.columns.iter().position(|column| column.id == *id)?;
            let text = table.columns[position].column_type.is_text();
            Some((
                position,
                if text {
                    StringKind::Text
                } else {
                    StringKind::Binary
                },
            ))
        });
        Self {
            columns: columns.collect(),
        }
    }

    /// The key; `None` if a column's value lies outside the record.
    fn key(&self, fields: &[Field<'_>]) -> Option<Vec<u8>> {
        let mut key = Vec::new();
        for &(position, kind) in &self.columns {
            match fields[position] {
                Field::LongValue(_) => return None,
                field => push_segment(&mut key, &field, kind),
            }
        }
        Some(key)
    }
}

/// What the rows of a table say.
struct RowsSeen {
    layout: RecordLayout,
    primary: KeyMaker,
    keys: Vec<KeyMaker>,
    sums: Vec<PairSum>,
    references: Bitmap,
    complete: bool,
}

impl<F: File> Checker<F> {
    /// Walks all trees of a table and compares them.
    pub(super) async fn check_table(&mut self, table: &KnownTable) {
        let definition = &table.stored.definition;
        let mut indexes = definition
            .indexes
            .iter()
            .map(|index| KeyMaker::new(definition, index));
        let Some(primary) = indexes.next() else {
            return;
        };
        let keys: Vec<KeyMaker> = indexes.collect();
        let mut seen = RowsSeen {
            layout: RecordLayout::new(&definition.columns, self.reader.page_size_bytes),
            primary,
            sums: vec![PairSum::default(); keys.len()],
            keys,
            references: Bitmap::default(),
            complete: true,
        };
        let rows = &table.rows.0;
        let mut visit = |checker: &mut Self, page: u32, node: Node<'_>| {
            checker.rows += 1;
            if let Err(sentence) = seen.add(&node) {
                checker
                    .findings
                    .add(FindingKind::Record, Some(page), &rows.name, sentence);
                seen.complete = false;
            }
        };
        let complete = self.walk(rows, &mut visit).await.complete;
        seen.complete &= complete;
        self.trees_complete &= complete;
        for ((index, _), expected) in table.indexes.iter().zip(&seen.sums) {
            let mut found = PairSum::default();
            let mut visit = |_: &mut Self, _: u32, node: Node<'_>| {
                found.add(node.data, &node.key());
            };
            let complete = self.walk(index, &mut visit).await.complete;
            self.trees_complete &= complete;
            if complete && seen.complete && found != *expected {
                let sentence = if found.count == expected.count {
                    "its entries do not point at the rows they were made from".to_owned()
                } else {
                    format!("it has {} entries for {} rows", found.count, expected.count)
                };
                self.findings
                    .add(FindingKind::Index, None, &index.name, sentence);
            }
        }
        if table.long_values.is_some() {
            self.check_long_values(table, seen).await;
        }
    }

    async fn check_long_values(&mut self, table: &KnownTable, mut seen: RowsSeen) {
        let Some((tree, _)) = &table.long_values else {
            return;
        };
        let mut values = LongValueWalk::new(chunk_bytes(self.reader.page_size_bytes));
        let mut visit = |_: &mut Self, page: u32, node: Node<'_>| {
            values.add(page, &node, &mut seen);
        };
        let complete = self.walk(tree, &mut visit).await.complete;
        self.trees_complete &= complete;
        values.end_value();
        if !complete {
            // With pages missing, chunks are missing too: the pages have been reported.
            return;
        }
        for (page, sentence) in values.problems {
            self.findings
                .add(FindingKind::LongValue, page, &tree.name, sentence);
        }
        for id in seen.references.iter().take(100) {
            let sentence = format!("long value {id} is missing, though a row refers to it");
            self.findings
                .add(FindingKind::LongValue, None, &tree.name, sentence);
        }
    }
}

impl RowsSeen {
    fn add(&mut self, node: &Node<'_>) -> Result<(), String> {
        let record = self
            .layout
            .view(node.data)
            .map_err(|error| error.to_string())?;
        let fields = record.fields().map_err(|error| error.to_string())?;
        let key = node.key();
        if self.primary.key(&fields).as_ref() != Some(&key) {
            return Err("a record's key is not that of its values".to_owned());
        }
        for (maker, sum) in self.keys.iter().zip(&mut self.sums) {
            let index_key = maker
                .key(&fields)
                .ok_or("an indexed value is outside the record")?;
            sum.add(&key, &index_key);
        }
        for field in fields {
            if let Field::LongValue(id) = field
                && !self.references.insert(id)
            {
                return Err(format!("a second record refers to long value {id}"));
            }
        }
        Ok(())
    }
}

/// The value whose chunks are being seen.
struct OpenValue {
    id: u32,
    size_bytes: u32,
    seen_bytes: u32,
    page: u32,
}

/// Goes through a long value tree in key order.
struct LongValueWalk {
    chunk_bytes: usize,
    open: Option<OpenValue>,
    problems: Vec<(Option<u32>, String)>,
}

impl LongValueWalk {
    fn new(chunk_bytes: usize) -> Self {
        Self {
            chunk_bytes,
            open: None,
            problems: Vec::new(),
        }
    }

    fn problem(&mut self, page: u32, sentence: String) {
        if self.problems.len() < 1000 {
            self.problems.push((Some(page), sentence));
        }
    }

    fn add(&mut self, page: u32, node: &Node<'_>, seen: &mut RowsSeen) {
        match LongValueKey::decode(&node.key()) {
            Some(LongValueKey::Root { id }) => {
                self.end_value();
                let Some(root) = LongValueRoot::decode(node.data) else {
                    self.problem(page, format!("the root of long value {id} cannot be read"));
                    return;
                };
                if !seen.references.remove(id) && seen.complete {
                    self.problem(page, format!("no row refers to long value {id}"));
                }
                if root.references != 1 {
                    let count = root.references;
                    self.problem(
                        page,
                        format!("long value {id} counts {count} references, not 1"),
                    );
                }
                let size_bytes = root.size_bytes;
                self.open = Some(OpenValue {
                    id,
                    size_bytes,
                    seen_bytes: 0,
                    page,
                });
            }
            Some(LongValueKey::Chunk { id, offset }) => self.add_chunk(page, id, offset, node.data),
            None => self.problem(page, "it holds a key that names no long value".to_owned()),
        }
    }

    fn add_chunk(&mut self, page: u32, id: u32, offset: u32, data: &[u8]) {
        let expected = self.open.as_mut().filter(|value| value.id == id);
        let Some(value) = expected.filter(|value| value.seen_bytes == offset) else {
            let sentence =
                format!("the chunk at byte {offset} of long value {id} follows no chunk before it");
            self.problem(page, sentence);
            return;
        };
        let end = offset.saturating_add(data.len() as u32);
        value.seen_bytes = end;
        value.page = page;
        let size = value.size_bytes;
        let full = data.len() == self.chunk_bytes;
        if end > size || data.is_empty() || (end < size && !full) {
            let sentence =
                format!("the chunk at byte {offset} of long value {id} has a wrong length");
            self.problem(page, sentence);
        }
    }

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
}
