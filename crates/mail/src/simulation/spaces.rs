//! Who owns which pages: the space trees of the database root, the table and its two trees.
//!
//! A tree that has no free page left asks the table for an extent, the table the database root, and
//! that one a larger file, by the engine's rules for sizes.

use super::extents::Extents;
use super::record;

/// The trees of a mail database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeName {
    Rows = 0,
    Entries = 1,
    LongValues = 2,
}

/// A small tree grows by at least so many pages.
const LEAST_GROWTH_PAGES: u32 = 4;
/// A tree grows by at most so many pages.
const LARGEST_GROWTH_PAGES: u32 = 64;
/// Pages that one step takes at most: a leaf and the pages above it.
const STEP_PAGES: u32 = 8;
/// Root page of the tree that owns the whole file.
pub(crate) const DATABASE_ROOT: u32 = 1;

/// The space of one tree.
#[derive(Debug, Clone)]
pub(crate) struct TreeSpace {
    /// Root page; the roots of the trees of owned and of available extents follow it.
    pub(crate) root: u32,
    pub(crate) available: Extents,
    /// Pages of the owned extent with the highest page numbers.
    pub(crate) last_owned_pages: u32,
}

/// What taking or giving back a page changes.
#[derive(Debug, Default)]
pub(crate) struct SpaceWork {
    /// Pages of space trees that change.
    pub(crate) changed: Vec<u32>,
    /// Bytes of the operations in the log.
    pub(crate) bytes: usize,
}

impl SpaceWork {
    fn change(&mut self, page: u32, bytes: usize) {
        if !self.changed.contains(&page) {
            self.changed.push(page);
        }
        self.bytes += bytes;
    }
}

/// The file is too short for this: so many pages in a row are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NeedsPages(pub(crate) u32);

/// The space trees of a database.
#[derive(Debug, Clone)]
pub(crate) struct Spaces {
    pub(crate) trees: [TreeSpace; 3],
    /// Free pages of the database root.
    pub(crate) database: Extents,
    extension_pages: u32,
}

impl Spaces {
    pub(crate) fn new(trees: [TreeSpace; 3], database: Extents, extension_pages: u32) -> Self {
        Self {
            trees,
            database,
            extension_pages,
        }
    }

    /// Whether a step may have to let the tree grow.
    pub(crate) fn is_short(&self, tree: TreeName) -> bool {
        self.trees[tree as usize].available.pages() < STEP_PAGES
    }

    /// Whether the pages of one step can be taken for the tree without a longer file.
    pub(crate) fn check(&self, tree: TreeName) -> Result<(), NeedsPages> {
        let wanted = self.growth_of(tree);
        let table = &self.trees[TreeName::Rows as usize].available;
        if !self.is_short(tree) || (tree != TreeName::Rows && table.has_run(wanted)) {
            return Ok(());
        }
        let wanted = wanted.max(self.growth_of(TreeName::Rows));
        let reserve = (self.extension_pages / 8).clamp(2, 32);
        if self.database.pages() < wanted + reserve || !self.database.has_run(wanted) {
            return Err(NeedsPages(wanted));
        }
        Ok(())
    }

    /// Takes a page for a tree, if possible one that follows `near`; [`Spaces::check`] has passed.
    pub(crate) fn take(&mut self, tree: TreeName, near: u32, work: &mut SpaceWork) -> u32 {
        if self.trees[tree as usize].available.pages() == 0 {
            self.grow(tree, 1, work);
        }
        let space = &mut self.trees[tree as usize];
        work.change(space.root + 2, record::replace(1));
        let page = space.available.take_near(near);
        page.unwrap_or_else(|| panic!("a tree that has grown has pages"))
    }

    /// Gives a page back to its tree.
    pub(crate) fn give(&mut self, tree: TreeName, page: u32, work: &mut SpaceWork) {
        let space = &mut self.trees[tree as usize];
        work.change(space.root + 2, record::insert(4, 4));
        space.available.put(page, 1);
    }

    /// Adds an extension of the file to the database root.
    pub(crate) fn extend(&mut self, first: u32, pages: u32, work: &mut SpaceWork) {
        work.change(DATABASE_ROOT + 1, record::insert(4, 4));
        work.change(DATABASE_ROOT + 2, record::insert(4, 4));
        self.database.put(first, pages);
    }

    fn growth_of(&self, tree: TreeName) -> u32 {
        let largest = LARGEST_GROWTH_PAGES.min(self.extension_pages);
        (self.trees[tree as usize].last_owned_pages * 2)
            .clamp(LEAST_GROWTH_PAGES, largest.max(LEAST_GROWTH_PAGES))
    }

    fn grow(&mut self, tree: TreeName, least: u32, work: &mut SpaceWork) {
        let pages = self.growth_of(tree).max(least);
        let first = if tree == TreeName::Rows {
            work.change(DATABASE_ROOT + 2, record::replace(1));
            self.database.take_run(pages)
        } else {
            let table = TreeName::Rows as usize;
            let mut first = self.trees[table].available.take_run(pages);
            if first.is_none() {
                self.grow(TreeName::Rows, pages, work);
                first = self.trees[table].available.take_run(pages);
            }
            work.change(self.trees[table].root + 2, record::replace(1));
            first
        };
        let first = first.unwrap_or_else(|| panic!("{pages} free pages were checked"));
        let space = &mut self.trees[tree as usize];
        work.change(space.root + 1, record::insert(4, 4));
        work.change(space.root + 2, record::insert(4, 4));
        space.available.put(first, pages);
        space.last_owned_pages = pages;
    }
}
