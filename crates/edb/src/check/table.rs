//! Rows, index entries and long values of one table: do they belong together?

use std::hash::{DefaultHasher, Hash, Hasher};

use runtime::File;

use super::bitmap::Bitmap;
use super::checker::Checker;
use super::finding::FindingKind;
use super::long_values::{Chunks, LongValueWalk};
use super::whole::KnownTable;
use crate::format::key::{StringKind, push_segment};
use crate::format::long_value::{LongValueRoot, chunk_bytes};
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
        let chunk_bytes = chunk_bytes(self.reader.page_size_bytes) as u32;
        let mut values = LongValueWalk::new(chunk_bytes, Chunks::Plain);
        let mut visit = |_: &mut Self, page: u32, node: Node<'_>| {
            if let Some((id, root)) = values.add(page, &node) {
                seen.compare_root(&mut values, page, id, &root);
            }
        };
        let complete = self.walk(tree, &mut visit).await.complete;
        self.trees_complete &= complete;
        // With pages missing, chunks are missing too: the pages have been reported.
        if complete {
            self.report_long_values(values, &tree.name);
            self.report_missing_values(&seen.references, &tree.name);
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
    /// Compares the root of a long value with the rows, of which exactly one refers to it.
    fn compare_root(
        &mut self,
        values: &mut LongValueWalk,
        page: u32,
        id: u32,
        root: &LongValueRoot,
    ) {
        if !self.references.remove(id) && self.complete {
            values.problem(page, format!("no row refers to long value {id}"));
        }
        if root.references != 1 {
            let count = root.references;
            let sentence = format!("long value {id} counts {count} references, not 1");
            values.problem(page, sentence);
        }
    }
}
