//! All trees of a database: which pages an operation needs, which it changes, what it logs.

use super::ascending::{Ascending, LeafCleanup, NodePlaces};
use super::extents::Extents;
use super::geometry::Geometry;
use super::levels::Numbering;
use super::record;
use super::scattered::{Place, Scattered};
use super::spaces::{DATABASE_ROOT, NeedsPages, SpaceWork, Spaces, TreeName, TreeSpace};
use edb::format::layout::{FIRST_USER_PAGE, HEADER_PAGES};
use edb::format::page::node_bytes;

/// A node of one of the trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// A row of the table, by its number.
    Row(u64),
    /// The index entry of the row whose key has this place.
    Entry(Place),
    /// A long value's root (part 0) or one of its chunks.
    Long { id: u32, part: u32 },
}

/// What happens to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Insert,
    /// Its data become others of the same length.
    Replace,
    /// It gets the deleted flag, or loses it.
    Flag,
    /// It is taken out, and its page too if little is left on it.
    Remove,
}

/// A short list of pages.
#[derive(Debug)]
pub(crate) struct PageList {
    pages: [u32; Self::MOST],
    len: usize,
}

impl PageList {
    const MOST: usize = 40;

    pub(crate) fn new() -> Self {
        Self {
            pages: [0; Self::MOST],
            len: 0,
        }
    }

    pub(crate) fn push(&mut self, page: u32) {
        assert!(self.len < Self::MOST, "a step changes few pages");
        self.pages[self.len] = page;
        self.len += 1;
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.pages[..self.len]
    }
}

/// What a step has done.
#[derive(Debug)]
pub(crate) struct StepWork {
    /// Pages that the step changes.
    pub(crate) changed: PageList,
    /// Pages that start again, so that nobody reads them first.
    pub(crate) created: PageList,
    /// Bytes of the operations in the log.
    pub(crate) bytes: usize,
}

/// The trees of one database.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) geometry: Geometry,
    pub(crate) rows: Ascending,
    /// `None` without the index.
    pub(crate) entries: Option<Scattered>,
    pub(crate) long: Option<Ascending>,
    pub(crate) spaces: Spaces,
}

impl Shape {
    /// The trees as the bulk builder leaves them, and the last page of the file.
    pub(crate) fn built(geometry: Geometry, built_rows: u64, extension_pages: u32) -> (Self, u32) {
        let row_fill = geometry.rows;
        let places = NodePlaces::Even {
            built: u64::from(row_fill.built),
            full: u64::from(row_fill.full),
            built_nodes: built_rows,
        };
        let number = |root: u32, leaves: u32, fill: super::geometry::Fill| {
            Numbering::build(root, leaves, fill.children_built, fill.children_full)
        };
        let row_root = FIRST_USER_PAGE;
        let row_pages = number(row_root, Ascending::leaves_of(places, built_rows), row_fill);
        let row_bytes = node_bytes(geometry.row.key, geometry.row.data) as u32;
        let name = TreeName::Rows;
        let rows = Ascending::new(name, &row_pages, row_fill, row_bytes, places, built_rows);

        let entry_root = row_pages.next_page;
        let mut long_root = entry_root;
        let entries = geometry.entries.map(|fill| {
            let pages = number(entry_root, Scattered::leaves_of(fill, built_rows), fill);
            long_root = pages.next_page;
            Scattered::new(&pages, fill, built_rows)
        });

        let mut end = long_root + 3; // The tree is there, even if no value is.
        let long = geometry.long.map(|long| {
            let places = NodePlaces::Cycle(long.cycle);
            let nodes = built_rows * u64::from(long.nodes);
            let pages = number(long_root, Ascending::leaves_of(places, nodes), long.fill);
            end = pages.next_page;
            let bytes = geometry.page_room as u64 * u64::from(long.cycle.leaves)
                / u64::from(long.cycle.nodes);
            let name = TreeName::LongValues;
            Ascending::new(name, &pages, long.fill, bytes as u32, places, nodes)
        });

        let last_page = (end - 1 + HEADER_PAGES).next_multiple_of(extension_pages) - HEADER_PAGES;
        let space = |root: u32, next_root: u32| TreeSpace {
            root,
            available: Extents::default(),
            last_owned_pages: next_root - root,
        };
        let trees = [
            space(row_root, end),
            space(entry_root, long_root),
            space(long_root, end),
        ];
        let mut database = Extents::default();
        if last_page >= end {
            database.put(end, last_page + 1 - end);
        }
        let shape = Self {
            geometry,
            rows,
            entries,
            long,
            spaces: Spaces::new(trees, database, extension_pages),
        };
        (shape, last_page)
    }

    /// The index, whose entries nobody names where there is none.
    pub(crate) fn index(&self) -> &Scattered {
        let entries = self.entries.as_ref();
        entries.unwrap_or_else(|| panic!("rows have entries only in an index"))
    }

    fn index_mut(&mut self) -> &mut Scattered {
        let entries = self.entries.as_mut();
        entries.unwrap_or_else(|| panic!("rows have entries only in an index"))
    }

    fn ascending(&self, node: Node) -> Option<(&Ascending, u64)> {
        match node {
            Node::Row(row) => Some((&self.rows, row)),
            Node::Long { id, part } => {
                let (long, tree) = (self.geometry.long?, self.long.as_ref()?);
                let first = u64::from(id - 1) * u64::from(long.nodes);
                Some((tree, first + u64::from(part)))
            }
            Node::Entry(_) => None,
        }
    }

    fn ascending_mut(&mut self, name: TreeName) -> &mut Ascending {
        match (name, &mut self.long) {
            (TreeName::LongValues, Some(long)) => long,
            _ => &mut self.rows,
        }
    }

    /// The way from the root to the leaf of a node.
    pub(crate) fn path(&self, node: Node, pages: &mut PageList) {
        if let Some((tree, number)) = self.ascending(node) {
            let leaf = tree.leaf(number);
            tree.levels().path(leaf, |page| pages.push(page));
            pages.push(tree.page(leaf));
        } else if let Node::Entry(place) = node {
            let leaf = self.index().find(place);
            let levels = self.index().levels();
            levels.path(leaf.built, |page| pages.push(page));
            pages.push(leaf.page);
        }
    }

    /// Length of key and data of a node.
    pub(crate) fn size_of(&self, node: Node) -> (usize, usize) {
        match (node, self.geometry.long) {
            (Node::Row(_), _) | (_, None) => (self.geometry.row.key, self.geometry.row.data),
            (Node::Entry(_), _) => (self.geometry.entry.key, self.geometry.entry.data),
            (Node::Long { part: 0, .. }, Some(_)) => (4, 8),
            (Node::Long { part, .. }, Some(long)) => {
                let before = (part as usize - 1) * long.chunk;
                (8, (long.bytes - before).min(long.chunk))
            }
        }
    }

    /// The pages that a change of a node needs in the cache.
    pub(crate) fn wanted(
        &self,
        node: Node,
        change: Change,
        pages: &mut PageList,
    ) -> Result<(), NeedsPages> {
        self.path(node, pages);
        let Some((tree, number)) = self.ascending(node) else {
            return self.wanted_of_entry(node, change, pages);
        };
        let leaf = tree.leaf(number);
        if change == Change::Insert && tree.home(number) >= tree.leaves() {
            self.wanted_space(tree.name, pages)?;
        }
        if change == Change::Remove {
            let tidying = tree.tidying(leaf, self.geometry.page_room);
            match tidying {
                LeafCleanup::Leave => return Ok(()),
                LeafCleanup::Free { .. } => {}
                LeafCleanup::Join { left, right } | LeafCleanup::Compare { left, right } => {
                    pages.push(tree.page(left));
                    pages.push(tree.page(right));
                }
            }
            if let LeafCleanup::Compare { .. } = tidying {
                return Ok(());
            }
            for page in linked_pages(tree, tidying) {
                pages.extend_some(page);
            }
            self.push_space(tree.name, pages);
        }
        Ok(())
    }

    fn wanted_of_entry(
        &self,
        node: Node,
        change: Change,
        pages: &mut PageList,
    ) -> Result<(), NeedsPages> {
        let Node::Entry(place) = node else {
            return Ok(());
        };
        let leaf = self.index().find(place);
        if change == Change::Insert && self.index().is_full(leaf) {
            pages.extend_some(self.index().next_page(leaf));
            self.wanted_space(TreeName::Entries, pages)?;
        }
        Ok(())
    }

    fn wanted_space(&self, tree: TreeName, pages: &mut PageList) -> Result<(), NeedsPages> {
        self.push_space(tree, pages);
        if self.spaces.is_short(tree) {
            let table = self.spaces.trees[TreeName::Rows as usize].root;
            let own = self.spaces.trees[tree as usize].root;
            for page in [own + 1, table, table + 1, table + 2] {
                pages.push(page);
            }
            for page in DATABASE_ROOT..=DATABASE_ROOT + 2 {
                pages.push(page);
            }
        }
        self.spaces.check(tree)
    }

    fn push_space(&self, tree: TreeName, pages: &mut PageList) {
        let root = self.spaces.trees[tree as usize].root;
        pages.push(root);
        pages.push(root + 2);
    }

    /// Carries a change out; every page wanted is in the cache.
    pub(crate) fn carry_out(&mut self, node: Node, change: Change, work: &mut StepWork) {
        let (key, data) = self.size_of(node);
        if change == Change::Insert {
            self.make_room(node, work);
        }
        let tree = self.ascending(node);
        let place = tree.map(|(tree, number)| (tree.name, number, tree.leaf(number)));
        let page = match (tree, node) {
            (Some((tree, number)), _) => tree.page(tree.leaf(number)),
            (None, Node::Entry(place)) => self.index().find(place).page,
            (None, _) => panic!("long values are kept apart, or there are none"),
        };
        if !work.created.as_slice().contains(&page) {
            work.changed.push(page);
        }
        work.bytes += match change {
            Change::Insert => record::insert(key, data),
            Change::Replace => record::replace(self.geometry.row_changed),
            Change::Flag => record::FLAG,
            Change::Remove => record::REMOVE,
        };
        match (place, node, change) {
            (Some((name, number, _)), _, Change::Insert) => {
                self.ascending_mut(name).note_node(number);
            }
            (Some((name, _, leaf)), _, Change::Remove) => self.remove(name, leaf, work),
            (None, Node::Entry(place), Change::Insert | Change::Remove) => {
                let leaf = self.index().find(place);
                let one = if change == Change::Insert { 1 } else { -1 };
                self.index_mut().count(leaf, one);
            }
            _ => {}
        }
    }

    /// Splits until the leaf of a new node has room.
    fn make_room(&mut self, node: Node, work: &mut StepWork) {
        let Some((tree, number)) = self.ascending(node) else {
            if let Node::Entry(place) = node {
                self.split_entries(place, work);
            }
            return;
        };
        let name = tree.name;
        while self.ascending_mut(name).home(number) >= self.ascending_mut(name).leaves() {
            self.append_leaf(name, work);
        }
    }

    fn append_leaf(&mut self, name: TreeName, work: &mut StepWork) {
        let mut space = SpaceWork::default();
        let tree = self.ascending_mut(name);
        let (near, further) = (tree.last_page(), tree.levels().pages_for_another());
        let separator = tree.fill.separator;
        let mut taken = Vec::new();
        for _ in 0..=further {
            taken.push(self.spaces.take(name, near, &mut space));
        }
        for &page in &taken {
            work.created.push(page);
            work.bytes += record::format(0, 0);
        }
        let mut taken = taken.into_iter();
        let leaf_page = taken.next().unwrap_or(near);
        let tree = self.ascending_mut(name);
        tree.append(leaf_page, || taken.next().unwrap_or(near));
        let parent = tree.levels().parent_page(tree.leaves() - 1);
        if !work.created.as_slice().contains(&near) {
            work.changed.push(near);
        }
        if !work.created.as_slice().contains(&parent) {
            work.changed.push(parent);
        }
        work.bytes += record::NEIGHBOUR + record::add_child(separator);
        work.take_over(&space);
    }

    fn split_entries(&mut self, place: Place, work: &mut StepWork) {
        let leaf = self.index().find(place);
        if !self.index().is_full(leaf) {
            return;
        }
        let mut space = SpaceWork::default();
        let new_page = self.spaces.take(TreeName::Entries, leaf.page, &mut space);
        let next = self.index().next_page(leaf);
        let parent = self.index().levels().parent_page(leaf.built);
        let moved = leaf.entries as usize / 2;
        let (key, data) = self.size_of(Node::Entry(place));
        self.index_mut().split(leaf, new_page);
        work.created.push(new_page);
        work.changed.push(leaf.page);
        work.changed.push(parent);
        work.changed.extend_some(next);
        work.bytes += record::format(moved, moved * (key + data))
            + 2 * record::NEIGHBOUR
            + record::REMOVE
            + record::add_child(self.index().fill.separator);
        work.take_over(&space);
    }

    fn remove(&mut self, name: TreeName, leaf: u32, work: &mut StepWork) {
        let room = self.geometry.page_room;
        let tree = self.ascending_mut(name);
        let tidying = tree.tidying(leaf, room);
        let (page, parent) = (tree.page(leaf), tree.levels().parent_page(leaf));
        let linked = linked_pages(tree, tidying);
        tree.remove_node(leaf);
        let gone = match tidying {
            LeafCleanup::Leave | LeafCleanup::Compare { .. } => return,
            LeafCleanup::Free { .. } => page,
            LeafCleanup::Join { left, right } => {
                let nodes = (tree.nodes_on(left) + tree.nodes_on(right)) as usize;
                work.bytes += record::format(nodes, nodes * tree.node_bytes as usize);
                let (left, right) = (tree.page(left), tree.page(right));
                work.changed.push(if left == page { right } else { left });
                right
            }
        };
        tree.tidy(tidying);
        work.changed.push(parent);
        for page in linked {
            work.changed.extend_some(page);
        }
        work.bytes += record::format(0, 0) + record::DROP_CHILD + 2 * record::NEIGHBOUR;
        let mut space = SpaceWork::default();
        self.spaces.give(name, gone, &mut space);
        work.take_over(&space);
    }
}

/// The pages of the leaves that get another neighbour when a leaf goes.
fn linked_pages(tree: &Ascending, tidying: LeafCleanup) -> [Option<u32>; 2] {
    let leaves = match tidying {
        LeafCleanup::Leave | LeafCleanup::Compare { .. } => [None, None],
        LeafCleanup::Free { leaf } => [tree.previous_leaf(leaf), tree.next_leaf(leaf)],
        LeafCleanup::Join { right, .. } => [None, tree.next_leaf(right)],
    };
    leaves.map(|leaf| leaf.map(|leaf| tree.page(leaf)))
}

impl PageList {
    fn extend_some(&mut self, page: Option<u32>) {
        if let Some(page) = page {
            self.push(page);
        }
    }
}

impl StepWork {
    pub(crate) fn new() -> Self {
        Self {
            changed: PageList::new(),
            created: PageList::new(),
            bytes: 0,
        }
    }

    pub(crate) fn take_over(&mut self, space: &SpaceWork) {
        space
            .changed
            .iter()
            .for_each(|&page| self.changed.push(page));
        self.bytes += space.bytes;
    }
}
