//! Where pages lie in the file, and what the first pages of every database are for.
//!
//! Two identical headers of one page each come first; page 1 follows them.

/// Header copies before page 1.
pub const HEADER_PAGES: u32 = 2;

/// Byte offset of a page in the file.
///
/// # Panics
/// For page 0, which does not exist.
#[must_use]
pub fn page_offset(page_number: u32, page_size_bytes: usize) -> u64 {
    assert!(page_number > 0, "pages are numbered from 1");
    (u64::from(page_number) + 1) * page_size_bytes as u64
}

/// Number of the last page slot of a file of this size; 0 if it has none.
#[must_use]
pub fn last_page(file_size_bytes: u64, page_size_bytes: usize) -> u32 {
    let slots = file_size_bytes / page_size_bytes as u64;
    u32::try_from(slots.saturating_sub(u64::from(HEADER_PAGES))).unwrap_or(u32::MAX)
}

/// A tree every database has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemTree {
    /// Name of the table or index.
    pub name: &'static str,
    /// Object id on the pages of the tree.
    pub object_id: u32,
    /// Its root; the extent trees, if any, are rooted in the two pages after it.
    pub root: u32,
    /// Root of the tree it takes its space from.
    pub parent_root: u32,
    /// First extent, from the root on.
    pub primary_pages: u32,
    /// Whether it has extent trees.
    pub multiple_extents: bool,
}

/// Owner of the whole file; it has no records.
pub const DATABASE_ROOT: SystemTree = SystemTree {
    name: "database",
    object_id: 1,
    root: 1,
    parent_root: 0,
    primary_pages: 254,
    multiple_extents: true,
};
/// The catalog: a row for each table, column, index and long value tree.
pub const CATALOG: SystemTree = SystemTree {
    name: "MSysObjects",
    object_id: 2,
    root: 4,
    parent_root: 1,
    primary_pages: 20,
    multiple_extents: true,
};
/// Copy of the catalog, row for row.
pub const CATALOG_SHADOW: SystemTree = SystemTree {
    name: "MSysObjectsShadow",
    object_id: 3,
    root: 24,
    parent_root: 1,
    primary_pages: 5,
    multiple_extents: true,
};
/// Index of the catalog by table, type and name. Its space comes from the catalog's first extent.
pub const CATALOG_NAME_INDEX: SystemTree = SystemTree {
    name: "Name",
    object_id: 4,
    root: 7,
    parent_root: 4,
    primary_pages: 3,
    multiple_extents: true,
};
/// Index of the catalog's tables by name.
pub const CATALOG_ROOT_INDEX: SystemTree = SystemTree {
    name: "RootObjects",
    object_id: 5,
    root: 10,
    parent_root: 4,
    primary_pages: 3,
    multiple_extents: true,
};
/// Which object belongs to which table.
pub const OBJECT_IDS: SystemTree = SystemTree {
    name: "MSysObjids",
    object_id: 6,
    root: 29,
    parent_root: 1,
    primary_pages: 1,
    multiple_extents: false,
};
/// Locales in use by indexes: always empty here, keys are binary.
pub const LOCALES: SystemTree = SystemTree {
    name: "MSysLocales",
    object_id: 7,
    root: 30,
    parent_root: 1,
    primary_pages: 1,
    multiple_extents: false,
};
/// All of them, by root.
pub const SYSTEM_TREES: [SystemTree; 7] = [
    DATABASE_ROOT,
    CATALOG,
    CATALOG_NAME_INDEX,
    CATALOG_ROOT_INDEX,
    CATALOG_SHADOW,
    OBJECT_IDS,
    LOCALES,
];
/// First page free for user tables.
pub const FIRST_USER_PAGE: u32 = 31;
/// First object id for user tables.
pub const FIRST_USER_OBJECT_ID: u32 = 8;
/// Pages of the smallest file: 256 slots, two of them headers.
pub const INITIAL_PAGES: u32 = 254;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_two_headers() {
        assert_eq!(page_offset(1, 32_768), 65_536);
        assert_eq!(last_page(25_165_824, 32_768), 766);
        assert_eq!(last_page(100, 32_768), 0);
    }
}
