//! Rows and index entries of a table that another program wrote.

use runtime::File;

use super::bitmap::Bitmap;
use super::checker::Checker;
use super::finding::FindingKind;
use super::long_values::{Chunks, LongValueWalk};
use super::other::OtherTable;
use super::table::PairSum;
use crate::format::general::{GeneralColumn, GeneralIndex, GeneralRecord, Part, Stored};
use crate::format::long_value::chunk_bytes;
use crate::format::page::Node;
use crate::format::record::RecordError;

/// Index flags: which keys with NULL in them are indexed.
const ALLOW_ALL_NULL: u32 = 0x2;
const ALLOW_FIRST_NULL: u32 = 0x4;
const ALLOW_SOME_NULL: u32 = 0x8;

/// Which rows an index has an entry for.
struct Rule<'t> {
    flags: u32,
    /// `None` if that cannot be said: some rows have several entries.
    columns: Option<Vec<&'t GeneralColumn>>,
    /// The primary keys of the rows that have one.
    expected: PairSum,
}

impl<'t> Rule<'t> {
    fn new(index: &GeneralIndex, columns: &'t [GeneralColumn]) -> Self {
        let column = |id: u16| {
            let mut same = columns.iter().filter(|column| column.id == id);
            // A column of the template may have the number of another one.
            let only = same.next();
            only.filter(|_| same.next().is_none())
        };
        let key = index.columns.iter().map(|key| column(key.id));
        let key: Option<Vec<_>> = key.collect();
        Self {
            flags: index.flags,
            columns: key.filter(|key| !index.is_partial && !key.is_empty()),
            expected: PairSum::default(),
        }
    }

    fn add(&mut self, key: &[u8], record: &GeneralRecord<'_>) -> Result<(), RecordError> {
        let Some(columns) = &self.columns else {
            return Ok(());
        };
        let mut nulls = Vec::with_capacity(columns.len());
        for column in columns {
            nulls.push(match column.stored(record)? {
                Stored::Null => true,
                Stored::Absent => column.default.is_none(),
                Stored::One(_) => false,
                Stored::Many(_) => {
                    self.columns = None;
                    return Ok(());
                }
            });
        }
        let allowed = |flag| self.flags & flag != 0;
        let has_entry = if nulls.iter().all(|&null| null) {
            allowed(ALLOW_ALL_NULL)
        } else if nulls[0] {
            allowed(ALLOW_FIRST_NULL)
        } else {
            !nulls.contains(&true) || allowed(ALLOW_SOME_NULL)
        };
        if has_entry {
            self.expected.add(key, &[]);
        }
        Ok(())
    }
}

/// What the rows of a table say.
struct RowsSeen<'t> {
    columns: &'t [GeneralColumn],
    page_size_bytes: usize,
    rules: Vec<Rule<'t>>,
    references: Bitmap,
    complete: bool,
}

impl RowsSeen<'_> {
    fn add(&mut self, key: &[u8], record: &[u8]) -> Result<(), RecordError> {
        let record = GeneralRecord::new(record, self.page_size_bytes)?;
        for column in self.columns.iter().filter(|column| column.id < 256) {
            column.stored(&record)?;
        }
        for stored in record.all_tagged()? {
            match stored {
                Stored::Absent | Stored::Null => {}
                Stored::One(part) => self.note_reference(&part)?,
                Stored::Many(parts) => {
                    for part in parts {
                        self.note_reference(&part)?;
                    }
                }
            }
        }
        for rule in &mut self.rules {
            rule.add(key, &record)?;
        }
        Ok(())
    }

    fn note_reference(&mut self, part: &Part<'_>) -> Result<(), RecordError> {
        if !part.separated {
            return Ok(());
        }
        match part.bytes.len() {
            4 => {
                let id = part.bytes.iter().rev();
                let id = id.fold(0, |id, &byte| id << 8 | u32::from(byte));
                // Several records may share a value.
                self.references.insert(id);
                Ok(())
            }
            // Numbers of later versions of the format, which the walk of the values passes over.
            8 => Ok(()),
            _ => Err(RecordError::Damaged {
                part: "references to long values",
            }),
        }
    }
}

impl<F: File> Checker<F> {
    /// Walks all trees of a table and holds them against each other.
    pub(super) async fn check_other_table(&mut self, table: &OtherTable) {
        let stored = &table.stored;
        let secondary = stored.indexes.iter().filter(|index| !index.is_primary());
        let mut seen = RowsSeen {
            columns: &stored.columns,
            page_size_bytes: self.reader.page_size_bytes,
            rules: secondary
                .map(|index| Rule::new(index, &stored.columns))
                .collect(),
            references: Bitmap::default(),
            complete: true,
        };
        self.see_rows(table, &mut seen).await;
        for ((index, _), rule) in table.indexes.iter().zip(&seen.rules) {
            let mut found = PairSum::default();
            let mut visit = |_: &mut Self, _: u32, node: Node<'_>| found.add(node.data, &[]);
            let complete = self.walk(index, &mut visit).await.complete;
            let comparable = complete && seen.complete && rule.columns.is_some();
            if comparable && found != rule.expected {
                let sentence = if found.count == rule.expected.count {
                    "its entries do not point at the rows of the table".to_owned()
                } else {
                    format!(
                        "it has {} entries for {} rows with a key",
                        found.count, rule.expected.count
                    )
                };
                self.findings
                    .add(FindingKind::Index, None, &index.name, sentence);
            }
        }
        if let Some((tree, _)) = &table.long_values {
            let stated = stored.chunk_bytes.filter(|&bytes| bytes > 0);
            let chunk_bytes = stated.unwrap_or(chunk_bytes(self.reader.page_size_bytes) as u32);
            let mut values = LongValueWalk::new(chunk_bytes, Chunks::Compressible);
            let mut visit = |_: &mut Self, page: u32, node: Node<'_>| {
                if let Some((id, _)) = values.add(page, &node) {
                    seen.references.remove(id);
                }
            };
            // With pages missing, chunks are missing too: the pages have been reported.
            if self.walk(tree, &mut visit).await.complete {
                self.report_long_values(values, &tree.name);
                self.report_missing_values(&seen.references, &tree.name);
            }
        } else {
            self.report_missing_values(&seen.references, &table.rows.0.name);
        }
    }

    async fn see_rows(&mut self, table: &OtherTable, seen: &mut RowsSeen<'_>) {
        let name = &table.rows.0.name;
        let is_system = table.stored.is_system();
        let mut visit = |checker: &mut Self, page: Option<u32>, key: &[u8], record: &[u8]| {
            checker.rows += u64::from(!is_system);
            if let Err(error) = seen.add(key, record) {
                checker
                    .findings
                    .add(FindingKind::Record, page, name, error.to_string());
                seen.complete = false;
            }
        };
        if let Some(nodes) = &table.read {
            for (key, record) in nodes {
                visit(self, None, key, record);
            }
            return;
        }
        let mut visit_node = |checker: &mut Self, page: u32, node: Node<'_>| {
            visit(checker, Some(page), &node.key(), node.data);
        };
        let complete = self.walk(&table.rows.0, &mut visit_node).await.complete;
        seen.complete &= complete;
    }
}
