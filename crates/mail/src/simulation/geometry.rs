//! How many nodes fit a page and how long records are, measured with the engine's own formats on a
//! few sample rows. All rows of a mail database are of one size, so a few represent all.

use crate::item::ItemMaker;
use crate::keys::INDEX_KEY_BYTES;
use crate::schema::{self, BuiltRows};
use edb::bulk::RowSource;
use edb::format::key::{long_long_key, push_binary};
use edb::format::long_value::{chunk_bytes, chunk_key, root_key};
use edb::format::page::{
    NodeFlags, PageChange, PageFlags, PageView, node_bytes, page_capacity_bytes, shortest_separator,
};
use edb::format::record::RecordLayout;

/// Bytes of keys and of data that every node of a tree has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeSize {
    pub(crate) key: usize,
    pub(crate) data: usize,
}

/// How full pages of a tree become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fill {
    /// Nodes of a leaf as built.
    pub(crate) built: u32,
    /// Nodes that fit a leaf.
    pub(crate) full: u32,
    /// Children of an internal page as built.
    pub(crate) children_built: u32,
    /// Children that fit an internal page.
    pub(crate) children_full: u32,
    /// Bytes of a separator.
    pub(crate) separator: usize,
}

/// The long values of a database whose long column is stored apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LongValues {
    /// Nodes of one value: its root and its chunks.
    pub(crate) nodes: u32,
    /// Bytes of the value.
    pub(crate) bytes: usize,
    /// Bytes of a full chunk.
    pub(crate) chunk: usize,
    /// Which nodes begin a leaf.
    pub(crate) cycle: LeafCycle,
    pub(crate) fill: Fill,
}

/// Leaves of long values in a cycle that repeats for ever: what begins a leaf decides what begins the
/// next one. Values straddle leaves, often most of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeafCycle {
    /// Nodes and leaves before the cycle begins.
    pub(crate) before: (u32, u32),
    /// First nodes of the leaves of one turn, counted from its first node.
    starts: [u32; Self::MOST],
    /// Leaves of one turn.
    pub(crate) leaves: u32,
    /// Nodes of one turn.
    pub(crate) nodes: u32,
}

impl LeafCycle {
    /// Longer cycles are cut: in very long values nothing depends on where they straddle.
    const MOST: usize = 16;

    /// The cycle that follows from how many nodes fit a leaf that begins with this part of a value
    /// of `parts` nodes.
    fn find(parts: u32, on_leaf: impl Fn(u32) -> u32) -> Self {
        let mut starts = vec![0];
        let repeats = loop {
            let last = starts[starts.len() - 1];
            let next: u32 = last + on_leaf(last % parts);
            let same = |start: &u32| start % parts == next % parts;
            let known = starts.iter().position(same);
            starts.push(next);
            match known {
                Some(known) => break known,
                None if starts.len() == Self::MOST => break 0,
                None => {}
            }
        };
        let first = starts[repeats];
        let leaves = starts.len() - 1 - repeats;
        let mut cycle = [u32::MAX; Self::MOST];
        for (place, start) in cycle.iter_mut().zip(&starts[repeats..repeats + leaves]) {
            *place = start - first;
        }
        Self {
            before: (first, repeats as u32),
            starts: cycle,
            leaves: leaves as u32,
            nodes: starts[starts.len() - 1] - first,
        }
    }

    /// The leaf of a node.
    pub(crate) fn leaf(&self, node: u64) -> u32 {
        let (nodes, leaves) = (u64::from(self.before.0), u64::from(self.before.1));
        let Some(after) = node.checked_sub(nodes) else {
            return (node * leaves / nodes) as u32;
        };
        let each = u64::from(self.nodes);
        let (turns, within) = (after / each, (after % each) as u32);
        let starts = &self.starts[..self.leaves as usize];
        let leaf = starts.iter().filter(|&&start| start <= within).count() as u64 - 1;
        (leaves + turns * u64::from(self.leaves) + leaf) as u32
    }
}

/// All sizes of one kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) page_bytes: usize,
    /// Room for nodes on a page.
    pub(crate) page_room: usize,
    pub(crate) row: NodeSize,
    pub(crate) rows: Fill,
    /// Bytes of a row's record that differ from one version to the next.
    pub(crate) row_changed: usize,
    pub(crate) entry: NodeSize,
    /// `None` without the index.
    pub(crate) entries: Option<Fill>,
    /// `None` if the long column stays in the row.
    pub(crate) long: Option<LongValues>,
}

/// Position of the first column that differs between versions of a row.
const VERSION_COLUMN: usize = 2;

impl Geometry {
    /// Measures databases of `rows` rows made by `maker`, in pages of `page_bytes` that the builder
    /// fills to `fill_percent`.
    pub(crate) fn measure(
        maker: &ItemMaker,
        rows: u64,
        page_bytes: usize,
        fill_percent: u32,
    ) -> Self {
        let definition = schema::definition(maker.short_bytes, fill_percent, maker.is_indexed);
        let layout = RecordLayout::new(&definition.columns, page_bytes);
        let mut source = BuiltRows::new(maker.clone(), rows);
        let middle = rows / 2;
        let record = layout.encoded_bytes(&source.row(middle));
        let record = record.unwrap_or_else(|error| panic!("a row has a record: {error}"));
        let row = NodeSize {
            key: 9,
            data: record,
        };
        let reserve = page_bytes * (100 - fill_percent.min(100) as usize) / 100;
        let measure = Measure {
            page_bytes,
            reserve,
        };
        let unchanged = layout.fixed_offset(VERSION_COLUMN).unwrap_or(0);
        let kept_at_end = usize::from(maker.is_long_apart());
        Self {
            page_bytes,
            page_room: page_capacity_bytes(page_bytes),
            row,
            rows: measure.rows(middle, record),
            row_changed: record - unchanged - kept_at_end,
            entry: index_entry(maker),
            entries: maker.is_indexed.then(|| measure.entries(maker, rows)),
            long: maker
                .is_long_apart()
                .then(|| measure.long_values(maker.long_bytes, middle)),
        }
    }
}

fn index_entry(maker: &ItemMaker) -> NodeSize {
    NodeSize {
        key: index_key(&maker.keys.key(0)).len(),
        data: 9,
    }
}

fn index_key(value: &[u8; INDEX_KEY_BYTES]) -> Vec<u8> {
    let mut key = Vec::new();
    push_binary(&mut key, value);
    key
}

/// Counts the nodes that fit pages, by filling one.
struct Measure {
    page_bytes: usize,
    reserve: usize,
}

impl Measure {
    fn rows(&self, middle: u64, record: usize) -> Fill {
        let key = |row: u64| long_long_key(row as i64 + 1).to_vec();
        let built = self.nodes(true, self.reserve, |node| key(middle + node), record);
        let full = self.nodes(true, 0, |node| key(middle + node), record);
        let bound = |leaf: u64| {
            let first = middle + leaf * u64::from(built);
            shortest_separator(&key(first), &key(first + 1)).to_vec()
        };
        self.with_children(built, full, bound)
    }

    fn entries(&self, maker: &ItemMaker, rows: u64) -> Fill {
        // Keys that lie as far apart as those of the built rows.
        let key_at = |place: u64| {
            let mut value = maker.keys.key(0);
            value[..8].copy_from_slice(&place.to_be_bytes());
            index_key(&value)
        };
        let apart = u64::MAX / rows.max(2);
        let middle = u64::MAX / 5 * 2;
        let key = |node: u64| key_at(middle.wrapping_add(node.wrapping_mul(apart)));
        let built = self.nodes(true, self.reserve, key, 9);
        let full = self.nodes(true, 0, key, 9);
        let bound = |leaf: u64| {
            let first = leaf * u64::from(built);
            shortest_separator(&key(first), &key(first + 1)).to_vec()
        };
        self.with_children(built, full, bound)
    }

    fn long_values(&self, bytes: usize, middle: u64) -> LongValues {
        let chunk = chunk_bytes(self.page_bytes);
        let nodes = 1 + bytes.div_ceil(chunk) as u32;
        let first_id = middle as u32 + 1;
        let size_of = |node: u32| {
            let (id, part) = (first_id + node / nodes, node % nodes);
            if part == 0 {
                return (root_key(id).to_vec(), 8);
            }
            let offset = (part as usize - 1) * chunk;
            let key = chunk_key(id, offset as u32).to_vec();
            (key, (bytes - offset).min(chunk))
        };
        let on_leaf = |part: u32| self.fill_page(None, 0, |index| size_of(part + index as u32));
        let cycle = LeafCycle::find(nodes, on_leaf);
        let each = cycle.nodes.div_ceil(cycle.leaves);
        let bound = |leaf: u64| size_of(leaf as u32 * each).0;
        LongValues {
            nodes,
            bytes,
            chunk,
            cycle,
            fill: self.with_children(each, each, bound),
        }
    }

    /// Nodes with keys in order and `data` bytes that fit a leaf which keeps `reserve` bytes free.
    fn nodes(
        &self,
        compresses: bool,
        reserve: usize,
        key: impl Fn(u64) -> Vec<u8>,
        data: usize,
    ) -> u32 {
        let prefix = compresses.then(|| key(0));
        self.fill_page(prefix.as_deref(), reserve, |node| (key(node), data))
            .max(1)
    }

    fn fill_page(
        &self,
        prefix: Option<&[u8]>,
        reserve: usize,
        node: impl Fn(u64) -> (Vec<u8>, usize),
    ) -> u32 {
        let mut bytes = vec![0; self.page_bytes];
        let mut page = PageChange::new(&mut bytes);
        page.format_new(1, 1, PageFlags::LEAF);
        if let Some(prefix) = prefix {
            assert!(page.set_prefix(prefix).is_ok(), "a key fits an empty page");
        }
        for index in 0.. {
            let (key, data) = node(index);
            let view: PageView<'_> = page.view();
            let room = view.free_bytes().saturating_sub(reserve);
            let fits = view.space_for(&key, data) <= room && view.fits(&key, data);
            let inserted = fits
                && page
                    .insert_node_with(index as usize, &key, data, NodeFlags::NONE, |_| {})
                    .is_ok();
            if !inserted {
                return index as u32;
            }
        }
        unreachable!("a page becomes full")
    }

    fn with_children(&self, built: u32, full: u32, bound: impl Fn(u64) -> Vec<u8>) -> Fill {
        let last_child = node_bytes(0, 4);
        let children_built = self.nodes(true, self.reserve + last_child, &bound, 4) + 1;
        let children_full = self.nodes(false, last_child, &bound, 4) + 1;
        Fill {
            built,
            full,
            // The last child has no bound and its own reserve. The builder shares prefixes of bounds
            // on its pages, the engine on none that it makes: a built page may hold more than others.
            children_built,
            children_full: children_full.max(children_built),
            separator: bound(7).len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_straddle_leaves_as_they_do_when_pages_are_filled_one_by_one() {
        // Roots of 20 bytes and chunks of 2,018 on pages of 8,112, 16,300 and 32,600.
        for room in [8_112, 16_300, 32_600] {
            let size = |node: u32| if node.is_multiple_of(2) { 20 } else { 2_018 };
            let on_leaf = |first: u32| {
                let mut used = 0;
                let fits = |node: &u32| {
                    used += size(*node);
                    used <= room
                };
                (first..).take_while(fits).count() as u32
            };
            let cycle = LeafCycle::find(2, on_leaf);
            let (mut leaf, mut begins) = (0, 0);
            for node in 0..5_000 {
                if node == begins + on_leaf(begins) {
                    begins = node;
                    leaf += 1;
                }
                if node >= cycle.before.0 {
                    assert_eq!(
                        cycle.leaf(u64::from(node)),
                        leaf,
                        "node {node}, {room} bytes"
                    );
                }
            }
        }
    }
}
