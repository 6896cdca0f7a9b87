//! The first pages of the file, the extent trees and the catalog: small, so built in memory.

use std::collections::{BTreeMap, VecDeque};

use crate::format::catalog::{
    CatalogRow, ObjectKind, StoredTable, catalog_definition, object_id_definition, object_id_key,
    object_id_row, rows_of_table, system_rows,
};
use crate::format::layout::{
    CATALOG, CATALOG_NAME_INDEX, CATALOG_ROOT_INDEX, CATALOG_SHADOW, DATABASE_ROOT, LOCALES,
    OBJECT_IDS, SystemTree,
};
use crate::format::page::{NodeFlags, PageChange, PageFlags, seal};
use crate::format::record::{RecordError, RecordLayout};
use crate::format::space::{Extent, SPACE_HEADER_BYTES, SpaceHeader, SpaceKind, extents_of};

use super::tree::{PageSink, TreeKind, TreeWriter};

/// Pages of a tree that grows beyond its first extent.
const GROWTH_PAGES: u32 = 16;

/// Pages built in memory, to be written at the end.
pub(super) struct SystemPages {
    page_size_bytes: usize,
    /// Sealed pages by number.
    pub(super) pages: BTreeMap<u32, Vec<u8>>,
    /// Free pages of the tree that is being built.
    free: VecDeque<u32>,
    /// Extents the tree has taken beyond its first one.
    grown: Vec<Extent>,
    /// First page that no tree has taken.
    next_page: u32,
    /// The database time of every page.
    dbtime: u64,
}

impl PageSink for SystemPages {
    fn page_size_bytes(&self) -> usize {
        self.page_size_bytes
    }

    fn allocate(&mut self) -> u32 {
        if self.free.is_empty() {
            let extent = Extent::from_first(self.next_page, GROWTH_PAGES);
            self.next_page += GROWTH_PAGES;
            self.free.extend(extent.first()..=extent.last);
            self.grown.push(extent);
        }
        let page = self.free.pop_front().unwrap_or_default();
        self.pages.insert(page, vec![0; self.page_size_bytes]);
        page
    }

    fn page(&mut self, page: u32) -> &mut [u8] {
        self.pages
            .entry(page)
            .or_insert_with(|| vec![0; self.page_size_bytes])
    }

    fn finished(&mut self, page: u32) {
        seal(self.page(page), page);
    }
}

impl SystemPages {
    /// Begins without any page.
    pub(super) fn new(page_size_bytes: usize, dbtime: u64) -> Self {
        Self {
            dbtime,
            page_size_bytes,
            pages: BTreeMap::new(),
            free: VecDeque::new(),
            grown: Vec::new(),
            next_page: 0,
        }
    }

    /// Says that pages before this one are taken.
    pub(super) fn set_next_page(&mut self, page: u32) {
        self.next_page = page;
    }

    /// First page that no tree has taken.
    pub(super) fn next_page(&self) -> u32 {
        self.next_page
    }

    /// Adds a page that is complete but for its checksum.
    pub(super) fn add(&mut self, number: u32, mut page: Vec<u8>) {
        seal(&mut page, number);
        assert!(
            self.pages.insert(number, page).is_none(),
            "page {number} is there already"
        );
    }

    /// Adds the two roots of a tree's extent trees, from page `owned_root` on.
    pub(super) fn add_extents(
        &mut self,
        owned_root: u32,
        kind: TreeKind,
        owned: &[Extent],
        available: &[Extent],
    ) {
        for (number, extents) in [(owned_root, owned), (owned_root + 1, available)] {
            let mut bytes = vec![0; self.page_size_bytes];
            let mut page = PageChange::new(&mut bytes);
            let place = PageFlags::ROOT | PageFlags::LEAF | PageFlags::SPACE;
            page.format_new(number, kind.object_id, kind.flags | place);
            page.set_dbtime(kind.dbtime);
            let mut fits = page.set_external_header(&[0; SPACE_HEADER_BYTES]).is_ok();
            for (index, extent) in extents.iter().enumerate() {
                let (key, data) = (extent.key(), extent.data());
                fits &= page
                    .insert_node(index, &key, &data, NodeFlags::NONE)
                    .is_ok();
            }
            assert!(fits, "a new tree has few extents");
            self.add(number, bytes);
        }
    }

    /// Builds a system tree from its nodes; `free` are pages it may use besides its root. Returns
    /// those it left.
    fn add_tree(
        &mut self,
        tree: SystemTree,
        nodes: &[(Vec<u8>, Vec<u8>)],
        more: &[Extent],
        free: impl IntoIterator<Item = u32>,
    ) -> Vec<Extent> {
        let index = tree.parent_root == CATALOG.root;
        let kind = TreeKind {
            object_id: tree.object_id,
            flags: if index {
                PageFlags::INDEX
            } else {
                PageFlags::default()
            },
            density_percent: 100,
            compress: true,
            dbtime: self.dbtime,
        };
        self.free = free.into_iter().collect();
        self.grown.clear();
        let space = if tree.multiple_extents {
            SpaceKind::Multiple {
                owned_root: tree.root + 1,
            }
        } else {
            SpaceKind::Single { free_map: 0 }
        };
        let header = SpaceHeader {
            primary_pages: tree.primary_pages,
            parent_root: tree.parent_root,
            non_unique: false,
            kind: space,
        };
        let root = self.root_of(tree, kind, &header, nodes);
        self.add(tree.root, root);
        let mut owned = vec![Extent::from_first(tree.root, tree.primary_pages)];
        owned.extend_from_slice(more);
        owned.append(&mut self.grown);
        if tree.multiple_extents {
            let left: Vec<u32> = std::mem::take(&mut self.free).into();
            let available = extents_of(left.iter().copied());
            self.add_extents(tree.root + 1, kind, &owned, &available);
            return available;
        }
        assert!(owned.len() == 1, "{} does not fit its only page", tree.name);
        Vec::new()
    }

    /// Builds a tree and returns its root.
    fn root_of(
        &mut self,
        tree: SystemTree,
        kind: TreeKind,
        header: &SpaceHeader,
        nodes: &[(Vec<u8>, Vec<u8>)],
    ) -> Vec<u8> {
        let mut bytes = vec![0; self.page_size_bytes];
        let mut page = PageChange::new(&mut bytes);
        page.format_new(
            tree.root,
            tree.object_id,
            kind.flags | PageFlags::ROOT | PageFlags::LEAF,
        );
        page.set_dbtime(kind.dbtime);
        let mut fits = page.set_external_header(&header.encode()).is_ok();
        for (index, (key, data)) in nodes.iter().enumerate() {
            fits = fits && page.insert_node(index, key, data, NodeFlags::NONE).is_ok();
        }
        if fits {
            return bytes;
        }
        let mut writer = TreeWriter::new(kind, self.page_size_bytes);
        for (key, data) in nodes {
            writer.add(self, key, data.len(), |room| room.copy_from_slice(data));
        }
        let finished = writer.finish(self, tree.root, &header.encode());
        assert!(
            finished.unused_page.is_none(),
            "the nodes fit no single page"
        );
        finished.root
    }

    /// Adds the catalog with its indexes and its copy, and the other system tables.
    pub(super) fn add_catalog(&mut self, table: &StoredTable) -> Result<(), RecordError> {
        let mut rows = system_rows();
        rows.extend(rows_of_table(table));
        let layout = RecordLayout::new(&catalog_definition().columns, self.page_size_bytes);
        let encode = |row: &CatalogRow| Ok((row.key(), row.encode(&layout)?));
        let records: Vec<_> = rows
            .iter()
            .map(encode)
            .collect::<Result<_, RecordError>>()?;
        let mut names: Vec<_> = rows.iter().map(|row| (row.name_key(), row.key())).collect();
        names.sort();
        let root = |row: &CatalogRow| Some((row.root_key()?, row.key()));
        let mut roots: Vec<_> = rows.iter().filter_map(root).collect();
        roots.sort();

        // Beyond the roots of the catalog and its indexes, its first extent is free.
        let mut free: VecDeque<u32> =
            (CATALOG_ROOT_INDEX.root + 3..CATALOG.root + CATALOG.primary_pages).collect();
        self.add_tree(CATALOG_ROOT_INDEX, &roots, &[], []);
        let name_bytes: usize = names
            .iter()
            .map(|(key, data)| key.len() + data.len() + 8)
            .sum();
        let mut more = Vec::new();
        if name_bytes > self.page_size_bytes * 3 / 4 {
            let pages = (name_bytes * 3 / 2 / self.page_size_bytes + 3).min(free.len());
            more = extents_of(free.drain(..pages));
        }
        let name_free = more.iter().flat_map(|extent| extent.first()..=extent.last);
        self.add_tree(CATALOG_NAME_INDEX, &names, &more, name_free);
        self.add_tree(CATALOG, &records, &[], free);
        let shadow_free =
            CATALOG_SHADOW.root + 3..CATALOG_SHADOW.root + CATALOG_SHADOW.primary_pages;
        self.add_tree(CATALOG_SHADOW, &records, &[], shadow_free);

        let layout = RecordLayout::new(&object_id_definition().columns, self.page_size_bytes);
        // The primary index is the table: one row for both.
        let own_tree = |row: &&CatalogRow| {
            row.kind != ObjectKind::Column
                && (row.kind == ObjectKind::Table || row.id != row.table_object_id)
        };
        let mut objects = Vec::new();
        for row in rows.iter().filter(own_tree) {
            objects.push((object_id_key(row.id), object_id_row(row, &layout)?));
        }
        objects.sort();
        self.add_tree(OBJECT_IDS, &objects, &[], []);
        self.add_tree(LOCALES, &[], &[], []);
        Ok(())
    }

    /// Adds the root of the whole file, whose last page is `last_page`; pages from the first that
    /// no tree has taken are free.
    pub(super) fn add_database_root(&mut self, last_page: u32) {
        let kind = TreeKind {
            object_id: DATABASE_ROOT.object_id,
            flags: PageFlags::default(),
            density_percent: 100,
            compress: false,
            dbtime: self.dbtime,
        };
        let owned_root = DATABASE_ROOT.root + 1;
        let header = SpaceHeader {
            primary_pages: last_page,
            parent_root: DATABASE_ROOT.parent_root,
            non_unique: false,
            kind: SpaceKind::Multiple { owned_root },
        };
        let writer = TreeWriter::new(kind, self.page_size_bytes);
        let finished = writer.finish(self, DATABASE_ROOT.root, &header.encode());
        self.add(DATABASE_ROOT.root, finished.root);
        let free = extents_of(self.next_page..=last_page);
        let owned = [Extent {
            last: last_page,
            pages: last_page,
        }];
        self.add_extents(owned_root, kind, &owned, &free);
    }
}
