//! One tree, filled from left to right.

use crate::format::page::{
    NodeFlags, PageAppend, PageChange, PageFlags, PageHead, PageView, node_bytes,
    shortest_separator,
};

/// Where the pages of a tree go.
pub(super) trait PageSink {
    fn page_size_bytes(&self) -> usize;
    /// The next page number.
    fn allocate(&mut self) -> u32;
    /// The bytes of a page handed out and not finished; their content is undefined at first.
    fn page(&mut self, page: u32) -> &mut [u8];
    /// The page is complete but for its checksum.
    fn finished(&mut self, page: u32);
}

/// What a tree is.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeKind {
    pub(super) object_id: u32,
    /// Flags of all its pages, besides those of their place in the tree.
    pub(super) flags: PageFlags,
    /// How full pages become.
    pub(super) density_percent: u32,
    /// Whether keys are compressed against a prefix (never in long value trees).
    pub(super) compress: bool,
    /// The database time of every page of the built database.
    pub(super) dbtime: u64,
}

/// An internal page that is being filled. Its last child waits, since the last one has no key.
struct Level {
    bytes: Vec<u8>,
    waiting: Option<(Vec<u8>, u32)>,
}

/// The leaf that is being filled.
struct Leaf {
    number: u32,
    filling: PageAppend,
    previous: u32,
    last_key: Vec<u8>,
}

/// What is left to do for a complete tree.
pub(super) struct FinishedTree {
    /// The root page, not sealed.
    pub(super) root: Vec<u8>,
    /// A page that was handed out and is not part of the tree.
    pub(super) unused_page: Option<u32>,
}

/// Fills a tree with nodes in ascending key order.
pub(super) struct TreeWriter {
    kind: TreeKind,
    leaf: Option<Leaf>,
    levels: Vec<Level>,
    reserve_bytes: usize,
}

/// Space of the keyless last child of an internal page.
const LAST_CHILD_BYTES: usize = node_bytes(0, 4);

impl TreeWriter {
    pub(super) fn new(kind: TreeKind, page_size_bytes: usize) -> Self {
        let left_free = 100 - kind.density_percent.min(100) as usize;
        let reserve_bytes = page_size_bytes * left_free / 100;
        Self {
            kind,
            leaf: None,
            levels: Vec::new(),
            reserve_bytes,
        }
    }

    /// Appends a node with `data_bytes` bytes of data, which `write` fills.
    ///
    /// # Panics
    /// If the key is not above all before it, or the node fits no page.
    pub(super) fn add(
        &mut self,
        sink: &mut impl PageSink,
        key: &[u8],
        data_bytes: usize,
        write: impl FnOnce(&mut [u8]),
    ) {
        self.make_room(sink, key, data_bytes);
        let Some(leaf) = &mut self.leaf else {
            unreachable!("room was made in an open leaf");
        };
        let page = sink.page(leaf.number);
        leaf.filling.append(page, key, data_bytes, write);
        leaf.last_key.clear();
        leaf.last_key.extend_from_slice(key);
    }

    /// Sees to it that the open leaf has room for a node; opens a new one if need be.
    fn make_room(&mut self, sink: &mut impl PageSink, key: &[u8], data_bytes: usize) {
        let Some(leaf) = &self.leaf else {
            self.leaf = Some(self.open_leaf(sink, 0, key));
            return;
        };
        assert!(leaf.last_key.as_slice() < key, "keys must ascend");
        let filling = &leaf.filling;
        let room = filling.free_bytes().saturating_sub(self.reserve_bytes);
        let needed = filling.space_for(key, data_bytes);
        let below_limit = filling.node_count() + 2 < crate::format::page::MAX_TAGS;
        if (needed <= room || filling.node_count() == 0) && below_limit {
            return;
        }
        let separator = shortest_separator(&leaf.last_key, key).to_vec();
        let number = leaf.number;
        self.push_child(sink, 0, separator, number);
        let next = self.open_leaf(sink, number, key);
        let next_number = next.number;
        if let Some(full) = self.leaf.replace(next) {
            let page = sink.page(number);
            full.filling.finish(page);
            PageChange::new(page).set_next(next_number);
            sink.finished(number);
        }
    }

    fn open_leaf(&self, sink: &mut impl PageSink, previous: u32, key: &[u8]) -> Leaf {
        let number = sink.allocate();
        let head = PageHead {
            page_number: number,
            object_id: self.kind.object_id,
            flags: self.kind.flags | PageFlags::LEAF,
            dbtime: self.kind.dbtime,
            previous,
            prefix: if self.kind.compress { key } else { &[] },
        };
        Leaf {
            number,
            filling: PageAppend::new(sink.page(number), &head),
            previous,
            last_key: Vec::new(),
        }
    }

    /// Adds a child whose keys are all below `separator` to level `level` above the leaves.
    fn push_child(
        &mut self,
        sink: &mut impl PageSink,
        level: usize,
        separator: Vec<u8>,
        child: u32,
    ) {
        if level == self.levels.len() {
            let bytes = vec![0; sink.page_size_bytes()];
            self.levels.push(Level {
                bytes,
                waiting: None,
            });
            self.open_internal(level, &separator);
        }
        let reserve = self.reserve_bytes + LAST_CHILD_BYTES;
        let current = &mut self.levels[level];
        let Some((key, waiting)) = current.waiting.take() else {
            current.waiting = Some((separator, child));
            return;
        };
        let mut page = PageChange::new(&mut current.bytes);
        let (view, count) = (page.view(), page.view().node_count());
        let room = view.free_bytes().saturating_sub(reserve);
        // Two children at least, whatever the density: else levels would never end.
        let must = count < 1 && view.free_bytes() >= view.space_for(&key, 4) + LAST_CHILD_BYTES;
        if view.space_for(&key, 4) <= room || must {
            insert_child(&mut page, &key, waiting);
            current.waiting = Some((separator, child));
            return;
        }
        insert_child(&mut page, &[], waiting);
        self.close_internal(sink, level, key);
        self.open_internal(level, &separator);
        self.levels[level].waiting = Some((separator, child));
    }

    fn open_internal(&mut self, level: usize, first_key: &[u8]) {
        let mut page = PageChange::new(&mut self.levels[level].bytes);
        page.format_new(
            0,
            self.kind.object_id,
            self.kind.flags | internal_flag(level),
        );
        page.set_dbtime(self.kind.dbtime);
        if self.kind.compress {
            let kept = page.set_prefix(first_key);
            assert!(kept.is_ok(), "a key fits an empty page");
        }
    }

    /// Gives the complete page of a level its number, and its parent the bound of its keys.
    fn close_internal(&mut self, sink: &mut impl PageSink, level: usize, bound: Vec<u8>) {
        let number = sink.allocate();
        let page = sink.page(number);
        page.copy_from_slice(&self.levels[level].bytes);
        PageChange::new(page).set_page_number(number);
        sink.finished(number);
        self.push_child(sink, level + 1, bound, number);
    }

    /// Completes the tree; its root is to be page `root`, with this external header.
    pub(super) fn finish(
        mut self,
        sink: &mut impl PageSink,
        root: u32,
        external: &[u8],
    ) -> FinishedTree {
        let finished = |page| FinishedTree {
            root: page,
            unused_page: None,
        };
        let Some(leaf) = self.leaf.take() else {
            return finished(self.root_page(sink, root, external, PageFlags::LEAF));
        };
        let (number, previous) = (leaf.number, leaf.previous);
        leaf.filling.finish(sink.page(number));
        if previous == 0 {
            // The only leaf becomes the root, if its keys fit without compression.
            let leaf = sink.page(number).to_vec();
            let mut page = self.root_page(sink, root, external, PageFlags::LEAF);
            let view = PageView::new(&leaf);
            if PageChange::new(&mut page)
                .copy_nodes(view, 0..view.node_count())
                .is_ok()
            {
                // The slot it was built in stays behind as an empty page.
                let flags = self.kind.flags | PageFlags::EMPTY;
                let mut empty = PageChange::new(sink.page(number));
                empty.format_new(number, self.kind.object_id, flags);
                empty.set_dbtime(self.kind.dbtime);
                sink.finished(number);
                return FinishedTree {
                    root: page,
                    unused_page: Some(number),
                };
            }
        }
        self.push_child(sink, 0, Vec::new(), number);
        sink.finished(number);
        let mut level = 0;
        loop {
            let current = &mut self.levels[level];
            if let Some((_, child)) = current.waiting.take() {
                insert_child(&mut PageChange::new(&mut current.bytes), &[], child);
            }
            if level + 1 == self.levels.len() {
                let mut page = self.root_page(sink, root, external, internal_flag(level));
                let top = PageView::new(&self.levels[level].bytes);
                if PageChange::new(&mut page)
                    .copy_nodes(top, 0..top.node_count())
                    .is_ok()
                {
                    return finished(page);
                }
            }
            self.close_internal(sink, level, Vec::new());
            level += 1;
        }
    }

    fn root_page(
        &self,
        sink: &impl PageSink,
        root: u32,
        external: &[u8],
        place: PageFlags,
    ) -> Vec<u8> {
        let mut bytes = vec![0; sink.page_size_bytes()];
        let mut page = PageChange::new(&mut bytes);
        page.format_new(
            root,
            self.kind.object_id,
            self.kind.flags | PageFlags::ROOT | place,
        );
        page.set_dbtime(self.kind.dbtime);
        let fits = page.set_external_header(external);
        assert!(fits.is_ok(), "a space header fits an empty page");
        bytes
    }
}

fn internal_flag(level: usize) -> PageFlags {
    if level == 0 {
        PageFlags::PARENT_OF_LEAF
    } else {
        PageFlags::default()
    }
}

fn insert_child(page: &mut PageChange<'_>, key: &[u8], child: u32) {
    let index = page.view().node_count();
    let inserted = page.insert_node(index, key, &child.to_le_bytes(), NodeFlags::NONE);
    assert!(inserted.is_ok(), "room for a last child is always kept");
}
