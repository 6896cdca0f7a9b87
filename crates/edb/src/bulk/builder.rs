//! From plan and rows to a file.

use std::rc::Rc;

use runtime::{Buffer, File, Handle, Persistence};

use super::earlier::Earlier;
use super::source::{BuildError, BuildPlan, RowSource, long_value_id};
use super::stream::PageStream;
use super::system::SystemPages;
use super::tree::{TreeKind, TreeWriter};
use crate::format::catalog::{StoredTable, StoredTree};
use crate::format::database_header::{DatabaseHeader, DatabaseState};
use crate::format::key::{long_key, long_long_key, push_binary};
use crate::format::layout::{FIRST_USER_OBJECT_ID, HEADER_PAGES, page_offset};
use crate::format::long_value::{LongValueRoot, chunk_bytes, chunk_key, root_key};
use crate::format::page::{PageFlags, max_record_bytes};
use crate::format::record::{Field, RecordLayout};
use crate::format::space::{Extent, SpaceHeader, SpaceKind, extents_of};
use crate::integrity::{DbtimeRange, Version};

/// Pages at the start of each tree: its root and the roots of its extent trees.
const ROOT_PAGES: u32 = 3;
/// Rows looked at to estimate the size of the file.
const SAMPLED_ROWS: u64 = 64;

/// Size and contents of a finished database file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildReport {
    /// Size of the file.
    pub file_size_bytes: u64,
    /// Rows in the table.
    pub rows: u64,
    /// Bytes of all long values.
    pub long_value_bytes: u64,
    /// Pages of table, long values and index.
    pub table_pages: u32,
    /// The header as it was written last.
    pub header: DatabaseHeader,
    /// The versions of pages 1 and up ([`crate::verification::StoredVersions`] keeps them).
    pub versions: Vec<u16>,
}

/// Builds a complete, clean database in `file`, which must be new and empty.
///
/// `progress` is called with the bytes written so far, at least once per few megabytes.
///
/// # Errors
/// If the storage fails, a row does not fit, or the plan or source makes no sense.
pub async fn build<F: File>(
    handle: &Handle,
    file: &F,
    plan: &BuildPlan,
    source: &mut impl RowSource,
    progress: impl FnMut(u64),
) -> Result<BuildReport, BuildError> {
    build_over(handle, file, plan, source, None, progress).await
}

/// Goes on with a build by the same plan and rows that was interrupted and has left `file`: what is there
/// is read and compared with what this build makes, and written from the first difference on. `found`
/// hears, once, how many bytes were there; `progress` the bytes that were compared or written so far.
///
/// # Errors
/// As [`build`].
pub async fn go_on<F: File>(
    handle: &Handle,
    file: &F,
    plan: &BuildPlan,
    source: &mut impl RowSource,
    found: impl FnOnce(u64) + 'static,
    progress: impl FnMut(u64),
) -> Result<BuildReport, BuildError> {
    let size_bytes = file.size_bytes().await?;
    let earlier = Earlier::new(size_bytes, plan.page_size_bytes, Box::new(found));
    build_over(handle, file, plan, source, Some(earlier), progress).await
}

async fn build_over<F: File>(
    handle: &Handle,
    file: &F,
    plan: &BuildPlan,
    source: &mut impl RowSource,
    earlier: Option<Rc<Earlier>>,
    progress: impl FnMut(u64),
) -> Result<BuildReport, BuildError> {
    let index_column = plan.check()?;
    let stream = PageStream::new(handle, file, plan.page_size_bytes, 1, earlier);
    let layout = RecordLayout::new(&plan.table.columns, plan.page_size_bytes);
    let rows = source.rows();
    // One change: that the pages were made.
    let dbtime = DbtimeRange::of_new(plan.signature).base + 1;
    let system = SystemPages::new(plan.page_size_bytes, dbtime);
    let mut builder = Builder {
        file,
        plan,
        layout,
        rows,
        stream,
        system,
        progress,
        dbtime,
        long_values: 0,
        bytes: 0,
    };
    let mut header = DatabaseHeader::new(plan.page_size_bytes as u32, plan.signature);
    builder.write_headers(&header).await?;
    builder.pre_extend(source).await?;
    builder
        .stream
        .skip(crate::format::layout::FIRST_USER_PAGE - 1);

    let table_root = builder.stream.skip(ROOT_PAGES);
    let table_free = builder.build_rows(source, table_root).await?;
    let mut object_id = FIRST_USER_OBJECT_ID;
    let mut next_object_id = || {
        object_id += 1;
        object_id
    };
    let mut indexes = Vec::new();
    if index_column.is_some() {
        let id = next_object_id();
        indexes.push(builder.build_index(source, table_root, id).await?);
    }
    let mut long_values = None;
    if plan.table.has_long_values() {
        long_values = Some(
            builder
                .build_long_values(source, table_root, next_object_id())
                .await?,
        );
    }
    let end = builder.stream.next_page();
    let pages = end - table_root;
    let owned = [Extent::from_first(table_root, pages)];
    let kind = builder.kind(FIRST_USER_OBJECT_ID, PageFlags::default(), 100);
    let table_free = extents_of(table_free);
    builder
        .system
        .add_extents(table_root + 1, kind, &owned, &table_free);
    let tree = StoredTree {
        object_id: FIRST_USER_OBJECT_ID,
        root: table_root,
        initial_pages: pages,
    };
    let definition = plan.table.clone();
    let table = StoredTable {
        definition,
        flags: 0,
        tree,
        indexes,
        long_values,
    };
    let last_page = builder.add_system_pages(&table, end)?;
    // The free pages at the end are written too, so that no later write has to allocate space.
    while builder.stream.next_page() <= last_page {
        builder.stream.skip(1);
        builder.flush().await?;
    }
    builder.stream.finish().await?;
    let file_size_bytes = page_offset(last_page + 1, plan.page_size_bytes);
    file.set_size_bytes(file_size_bytes).await?;
    let written = builder.write_system_pages().await?;
    file.sync().await?;
    let mut versions = builder.stream.versions(Version::of(dbtime));
    for page in written {
        versions[page as usize - 1] = Version::of(dbtime).code();
    }

    header.state = DatabaseState::Clean;
    header.dbtime = dbtime;
    header.last_object_id = object_id;
    builder.write_headers(&header).await?;
    file.sync().await?;
    let long_value_bytes = builder.bytes;
    Ok(BuildReport {
        file_size_bytes,
        rows,
        long_value_bytes,
        table_pages: pages,
        header,
        versions,
    })
}

struct Builder<'a, F: File, P> {
    file: &'a F,
    plan: &'a BuildPlan,
    layout: RecordLayout,
    rows: u64,
    stream: PageStream<F>,
    system: SystemPages,
    progress: P,
    /// The database time of every page.
    dbtime: u64,
    /// Records that refer to a long value, less the long values stored.
    long_values: i64,
    /// Bytes of long values.
    bytes: u64,
}

impl<F: File, P: FnMut(u64)> Builder<'_, F, P> {
    fn kind(&self, object_id: u32, flags: PageFlags, density_percent: u32) -> TreeKind {
        // Prefixes in long value trees would mislead a reader.
        let compress = !flags.contains(PageFlags::LONG_VALUE);
        TreeKind {
            object_id,
            flags,
            density_percent,
            compress,
            dbtime: self.dbtime,
        }
    }

    fn primary_key(&self, row: u64) -> ([u8; 9], usize) {
        let number = row as i64 + 1;
        if self.plan.has_short_key() {
            let mut key = [0; 9];
            key[..5].copy_from_slice(&long_key(number as i32));
            return (key, 5);
        }
        (long_long_key(number), 9)
    }

    async fn flush(&mut self) -> Result<(), BuildError> {
        self.stream.flush_full().await?;
        (self.progress)(self.stream.written_bytes());
        Ok(())
    }

    /// Fills the table; returns pages it did not need.
    async fn build_rows(
        &mut self,
        source: &mut impl RowSource,
        root: u32,
    ) -> Result<Option<u32>, BuildError> {
        let size = self.plan.page_size_bytes;
        let density = self.plan.table.density_percent;
        let kind = self.kind(FIRST_USER_OBJECT_ID, PageFlags::default(), density);
        let mut writer = TreeWriter::new(kind, size);
        let limit = max_record_bytes(size, 9);
        let key_column = self.plan.table.indexes[0].columns[0];
        let short_key = self.plan.has_short_key();
        if short_key && self.rows > i32::MAX as u64 {
            return Err(BuildError::Plan(
                "a key of type Long has no room for these rows".into(),
            ));
        }
        for row in 0..self.rows {
            let fields = source.row(row);
            let row_error = |error| BuildError::Row { row, error };
            let bytes = self.layout.encoded_bytes(&fields).map_err(row_error)?;
            if bytes > limit {
                return Err(BuildError::RowTooLong { row, bytes, limit });
            }
            // The key column is fixed, so its position is its id less one.
            let expected = row as i64 + 1;
            let good_key = match fields[usize::from(key_column) - 1] {
                Field::LongLong(key) => key == expected,
                Field::Long(key) => i64::from(key) == expected,
                _ => false,
            };
            let refers = |field: &&Field<'_>| matches!(field, Field::LongValue(_));
            let good_value = fields.iter().filter(refers).count() <= 1
                && fields
                    .iter()
                    .filter(refers)
                    .all(|f| *f == Field::LongValue(long_value_id(row)));
            if !good_key || !good_value {
                return Err(BuildError::Source(format!(
                    "row {row} has another key or long value"
                )));
            }
            self.long_values += fields.iter().filter(refers).count() as i64;
            let (key, key_bytes) = self.primary_key(row);
            let layout = &self.layout;
            writer.add(&mut self.stream, &key[..key_bytes], bytes, |record| {
                layout.encode_into(&fields, record);
            });
            drop(fields);
            if self.stream.has_full() {
                self.flush().await?;
            }
        }
        let pages = self.stream.next_page();
        Ok(self.finish_tree(writer, root, 1, pages - root))
    }

    fn finish_tree(
        &mut self,
        writer: TreeWriter,
        root: u32,
        parent_root: u32,
        primary_pages: u32,
    ) -> Option<u32> {
        let header = SpaceHeader {
            primary_pages,
            parent_root,
            non_unique: false,
            kind: SpaceKind::Multiple {
                owned_root: root + 1,
            },
        };
        let finished = writer.finish(&mut self.stream, root, &header.encode());
        self.system.add(root, finished.root);
        finished.unused_page
    }

    /// Completes a tree that takes its space from the table.
    fn finish_subtree(
        &mut self,
        writer: TreeWriter,
        kind: TreeKind,
        root: u32,
        table_root: u32,
    ) -> StoredTree {
        let so_far = self.stream.next_page() - root;
        let unused = self.finish_tree(writer, root, table_root, so_far);
        let owned = [Extent::from_first(root, self.stream.next_page() - root)];
        self.system
            .add_extents(root + 1, kind, &owned, &extents_of(unused));
        StoredTree {
            object_id: kind.object_id,
            root,
            initial_pages: 1,
        }
    }

    async fn build_index(
        &mut self,
        source: &mut impl RowSource,
        table_root: u32,
        object_id: u32,
    ) -> Result<StoredTree, BuildError> {
        let root = self.stream.skip(ROOT_PAGES);
        let density = self.plan.table.indexes[1].density_percent;
        let kind = self.kind(object_id, PageFlags::INDEX, density);
        let mut writer = TreeWriter::new(kind, self.plan.page_size_bytes);
        let (mut key, mut before, mut entries) = (Vec::new(), Vec::new(), 0);
        let mut value = Vec::new();
        while let Some(row) = source.next_index_entry(&mut value) {
            key.clear();
            push_binary(&mut key, &value);
            if key <= before || row >= self.rows {
                let reason = format!("the index entry of row {row} is not above the one before it");
                return Err(BuildError::Source(reason));
            }
            let (primary, primary_bytes) = self.primary_key(row);
            writer.add(&mut self.stream, &key, primary_bytes, |data| {
                data.copy_from_slice(&primary[..primary_bytes]);
            });
            std::mem::swap(&mut key, &mut before);
            entries += 1;
            if self.stream.has_full() {
                self.flush().await?;
            }
        }
        if entries != self.rows {
            let reason = format!("{entries} index entries for {} rows", self.rows);
            return Err(BuildError::Source(reason));
        }
        Ok(self.finish_subtree(writer, kind, root, table_root))
    }

    async fn build_long_values(
        &mut self,
        source: &mut impl RowSource,
        table_root: u32,
        object_id: u32,
    ) -> Result<StoredTree, BuildError> {
        let root = self.stream.skip(ROOT_PAGES);
        let density = self.plan.table.long_value_density_percent;
        let kind = self.kind(object_id, PageFlags::LONG_VALUE, density);
        let size = self.plan.page_size_bytes;
        let mut writer = TreeWriter::new(kind, size);
        let mut value = Vec::new();
        for row in 0..self.rows {
            let Some(length) = source.long_value_bytes(row) else {
                continue;
            };
            let id = long_value_id(row);
            let size_bytes = u32::try_from(length).unwrap_or(u32::MAX);
            let data = LongValueRoot {
                references: 1,
                size_bytes,
            }
            .encode();
            writer.add(&mut self.stream, &root_key(id), data.len(), |room| {
                room.copy_from_slice(&data);
            });
            if length > 0 && length <= chunk_bytes(size) {
                // The usual case: the value is made where it will lie.
                writer.add(&mut self.stream, &chunk_key(id, 0), length, |room| {
                    source.write_long_value(row, room);
                });
            } else {
                value.resize(length, 0);
                source.write_long_value(row, &mut value);
                for (number, chunk) in value.chunks(chunk_bytes(size)).enumerate() {
                    let key = chunk_key(id, (number * chunk_bytes(size)) as u32);
                    writer.add(&mut self.stream, &key, chunk.len(), |room| {
                        room.copy_from_slice(chunk);
                    });
                }
            }
            self.long_values -= 1;
            self.bytes += length as u64;
            if self.stream.has_full() {
                self.flush().await?;
            }
        }
        if self.long_values != 0 {
            let reason = "records refer to more or fewer long values than there are".to_owned();
            return Err(BuildError::Source(reason));
        }
        Ok(self.finish_subtree(writer, kind, root, table_root))
    }

    /// Gives the file about its final size at once, so that writes need not extend it one by one.
    async fn pre_extend(&mut self, source: &mut impl RowSource) -> Result<(), BuildError> {
        let step = (self.rows / SAMPLED_ROWS).max(1);
        let (mut sampled, mut bytes) = (0_u64, 0);
        for row in (0..self.rows).step_by(step as usize) {
            let fields = source.row(row);
            let record = self.layout.encoded_bytes(&fields).unwrap_or(0);
            bytes += (record + 80) as u64 * 100 / u64::from(self.plan.table.density_percent);
            drop(fields);
            let long_value = source.long_value_bytes(row);
            bytes += long_value.map_or(0, |length| length as u64 + 200);
            sampled += 1;
        }
        let size = bytes / sampled.max(1) * self.rows;
        let size = size.next_multiple_of(self.plan.page_size_bytes as u64);
        // An interrupted build may have come further.
        let size = size.max(self.file.size_bytes().await?);
        // Only a help: if there is not so much space, the writes fail.
        let _ = self
            .file
            .set_size_bytes(size.max(2 * self.plan.page_size_bytes as u64))
            .await;
        Ok(())
    }

    /// Builds what describes the rest; returns the last page of the file.
    fn add_system_pages(&mut self, table: &StoredTable, end: u32) -> Result<u32, BuildError> {
        // The trees of the table are in `system` already; the catalog may grow beyond them.
        self.system.set_next_page(end);
        let refuse = |error| BuildError::Plan(format!("the catalog cannot describe it: {error}"));
        self.system.add_catalog(table).map_err(refuse)?;
        let used = self.system.next_page() - 1 + HEADER_PAGES;
        let last_page = used.next_multiple_of(self.plan.extension_pages) - HEADER_PAGES;
        self.system.add_database_root(last_page);
        Ok(last_page)
    }

    /// Writes them; gives their numbers.
    async fn write_system_pages(&mut self) -> Result<Vec<u32>, BuildError> {
        let size = self.plan.page_size_bytes;
        let pages = std::mem::take(&mut self.system.pages);
        for extent in extents_of(pages.keys().copied()) {
            let mut buffer = Buffer::zeroed(extent.pages as usize * size);
            for (slot, (_, page)) in buffer
                .chunks_mut(size)
                .zip(pages.range(extent.first()..=extent.last))
            {
                slot.copy_from_slice(page);
            }
            let offset = page_offset(extent.first(), size);
            self.file
                .write(offset, buffer.into(), Persistence::Volatile)
                .await?;
        }
        Ok(pages.into_keys().collect())
    }

    async fn write_headers(&self, header: &DatabaseHeader) -> Result<(), BuildError> {
        let size = self.plan.page_size_bytes;
        for copy in 0..u64::from(HEADER_PAGES) {
            let mut buffer = Buffer::zeroed(size);
            header.encode(&mut buffer);
            let offset = copy * size as u64;
            self.file
                .write(offset, buffer.into(), Persistence::Durable)
                .await?;
        }
        Ok(())
    }
}
