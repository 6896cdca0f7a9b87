//! Making room: one split at a time.
//!
//! [`split_once`] does exactly one structure change with exactly one new page: it moves part of a
//! leaf to the right, or part of an internal page that must take another child first, or, when the
//! root itself is full, all of the root's nodes into a child. The caller repeats until its node
//! fits, descending again each time. So the code never has to keep a half-split path consistent.
//!
//! When the new node would be the very last of the tree, nothing is moved: the new right page
//! starts empty (ESE's append split), so that ascending insertion fills pages completely and
//! writes them in order. Transactions side by side insert ascending keys nearly in order; so on the last leaf
//! a node that belongs before a few others takes only those along, and what is inserted above
//! all nodes that stay goes right. Otherwise both halves get about the same number of bytes, the new node
//! counted in.

use super::content::ContentBuilder;
use super::find::{Level, Path, find_path};
use super::operation::{DataChange, PageOperation, compresses, tree_flags};
use super::step::{Need, Step};
use crate::format::page::{
    NodeFlags, PageFlags, PageView, common_prefix_bytes, lowest_separator, node_bytes,
    shortest_separator,
};
use crate::tree::Page;

/// What does not fit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pending {
    /// A new node with so much data.
    Insert { data_bytes: usize },
    /// The node that has the key gets so much data.
    Grow { data_bytes: usize },
}

/// Makes one step towards room for `pending` at `key`, using `new_page`.
pub(crate) fn split_once(
    step: &mut Step<'_>,
    root: u32,
    key: &[u8],
    pending: Pending,
    new_page: u32,
) -> Result<(), Need> {
    let path = find_path(step, root, key)?;
    let Some(&above) = path.levels.last() else {
        return grow_root(step, root, new_page);
    };
    let place = leaf_split(&path, key, pending);
    if has_room(step, above, &place.separator)? {
        return split_leaf(step, &path, &place, new_page);
    }
    split_above(step, root, &path, new_page)
}

/// Whether the page at `level` takes another child with this separator.
fn has_room(step: &Step<'_>, level: Level, separator: &[u8]) -> Result<bool, Need> {
    let page = step.page(level.number)?;
    Ok(PageView::new(&page).fits(separator, 4))
}

/// Where a leaf is split.
struct LeafSplit {
    /// First node that moves right, as numbered before.
    first_right: usize,
    /// Exclusive upper bound of the left page.
    separator: Vec<u8>,
    /// Prefix for the right page if it is to be filled by insertions in ascending order.
    append_prefix: Option<usize>,
}

fn leaf_split(path: &Path, key: &[u8], pending: Pending) -> LeafSplit {
    let view = PageView::new(&path.leaf.page);
    let count = view.node_count();
    let (insert_at, data_bytes) = match pending {
        Pending::Insert { data_bytes } => (view.search(key).err(), data_bytes),
        Pending::Grow { data_bytes } => (None, data_bytes),
    };
    let grows_at = match pending {
        Pending::Insert { .. } => None,
        Pending::Grow { .. } => view.search(key).ok(),
    };
    assert!(
        insert_at.is_some() != grows_at.is_some(),
        "the pending node has one place"
    );
    let pending_bytes = node_bytes(key.len(), data_bytes);
    let total = count + usize::from(insert_at.is_some());
    assert!(total >= 2, "a node that fits no page was let in");
    // Node `virtual_index` of the leaf as it would be with the pending node on it.
    let old_index = |virtual_index: usize| match insert_at {
        Some(at) if virtual_index == at => None,
        Some(at) if virtual_index > at => Some(virtual_index - 1),
        _ => Some(virtual_index),
    };
    let size = |virtual_index: usize| match old_index(virtual_index) {
        Some(old) if Some(old) != grows_at => view.space_of(old),
        _ => pending_bytes,
    };
    let appended_at = insert_at.filter(|&at| view.next() == 0 && is_near_end(at, count));
    let left = appended_at.unwrap_or_else(|| even(total, size));
    let key_of = |virtual_index: usize| match old_index(virtual_index) {
        Some(old) => view.node(old).key(),
        None => key.to_vec(),
    };
    let (last_left, first_right_key) = (key_of(left - 1), key_of(left));
    // The few nodes that move say less of those to come than the keys on both sides do.
    let append_prefix = appended_at.map(|_| common_prefix_bytes(&last_left, &first_right_key));
    let separator = match appended_at {
        Some(_) => lowest_separator(&last_left, &first_right_key),
        None => shortest_separator(&last_left, &first_right_key).to_vec(),
    };
    let first_right = match insert_at {
        Some(at) if at < left => left - 1,
        _ => left,
    };
    LeafSplit {
        first_right,
        separator,
        append_prefix,
    }
}

/// Nodes that others may have put on the last leaf before one with a lower key that was begun earlier.
const OVERTAKEN_BY: usize = 16;

/// Whether a node inserted at this place of the last leaf belongs to insertions in ascending order.
fn is_near_end(at: usize, count: usize) -> bool {
    at == count || (count - at <= OVERTAKEN_BY && at > count / 2)
}

/// How many of `total` nodes stay left so that both sides hold about the same bytes.
fn even(total: usize, size: impl Fn(usize) -> usize) -> usize {
    let all: usize = (0..total).map(&size).sum();
    let mut left_bytes = 0;
    let mut best = (usize::MAX, 1);
    for left in 1..total {
        left_bytes += size(left - 1);
        best = best.min((left_bytes.abs_diff(all - left_bytes), left));
    }
    best.1
}

fn split_leaf(
    step: &mut Step<'_>,
    path: &Path,
    place: &LeafSplit,
    new_page: u32,
) -> Result<(), Need> {
    let left = path.leaf.number;
    let view = PageView::new(&path.leaf.page);
    let (count, next) = (view.node_count(), view.next());
    let moved = place.first_right..count;
    let compresses = compresses(view.flags());
    let prefix = match (compresses, place.append_prefix) {
        (true, None) => view.best_prefix(moved.clone()),
        // A shorter one would save nothing.
        (true, Some(bytes)) if bytes > 2 => place.separator[..bytes].to_vec(),
        _ => Vec::new(),
    };
    let flags = tree_flags(view.flags()) | PageFlags::LEAF;
    let mut right = ContentBuilder::new(flags, view.object_id(), prefix);
    right.previous = left;
    right.next = next;
    right.push_range(view, moved.clone());
    step.change(new_page, &PageOperation::Format(right.content()))?;
    if next != 0 {
        step.change(next, &PageOperation::Previous(new_page))?;
    }
    step.change(left, &PageOperation::Next(new_page))?;
    if !moved.is_empty() {
        let removed = PageOperation::Remove {
            first: moved.start,
            count: moved.len(),
        };
        step.change(left, &removed)?;
        if compresses {
            compress_again(step, left)?;
        }
    }
    let Some(&above) = path.levels.last() else {
        panic!("a leaf that is split has a page above it");
    };
    add_child(step, above, &place.separator, left, new_page)
}

/// Gives what stayed on a page the prefix that suits it.
fn compress_again(step: &mut Step<'_>, number: u32) -> Result<(), Need> {
    let page = step.page(number)?;
    let view = PageView::new(&page);
    let best = view.best_prefix(0..view.node_count());
    if best == view.prefix() {
        return Ok(());
    }
    drop(page);
    step.change(number, &PageOperation::Prefix(&best))
}

/// Puts `right` behind `left` under `above`: `left` gets `separator` as its bound, `right` the bound
/// that `left` had.
fn add_child(
    step: &mut Step<'_>,
    above: Level,
    separator: &[u8],
    left: u32,
    right: u32,
) -> Result<(), Need> {
    let page = step.page(above.number)?;
    let view = PageView::new(&page);
    assert_eq!(
        view.child(above.index),
        left,
        "page {} lost its child",
        above.number
    );
    let bound = view.node(above.index);
    assert!(
        above.index + 1 == view.node_count() || bound.compare_key(separator).is_gt(),
        "separators of page {} must ascend",
        above.number
    );
    let (left, right) = (left.to_le_bytes(), right.to_le_bytes());
    let change = DataChange::between(&left, &right);
    drop(page);
    step.change(
        above.number,
        &PageOperation::Replace {
            index: above.index,
            change,
        },
    )?;
    let insert = PageOperation::Insert {
        index: above.index,
        flags: NodeFlags::NONE,
        key: separator,
        data: &left,
    };
    step.change(above.number, &insert)
}

/// Splits the lowest internal page whose own parent has room, or grows the root.
fn split_above(step: &mut Step<'_>, root: u32, path: &Path, new_page: u32) -> Result<(), Need> {
    for depth in (1..path.levels.len()).rev() {
        let level = path.levels[depth];
        let page = step.page(level.number)?;
        let (first_right, separator) = internal_split(&page, level.index, path.is_rightmost);
        let above = path.levels[depth - 1];
        if has_room(step, above, &separator)? {
            drop(page);
            return split_internal(step, level, above, first_right, &separator, new_page);
        }
    }
    grow_root(step, root, new_page)
}

/// Where an internal page is split, and the bound of its left half.
fn internal_split(page: &Page, index: usize, is_rightmost: bool) -> (usize, Vec<u8>) {
    let view = PageView::new(page);
    let count = view.node_count();
    assert!(
        count >= 2,
        "internal page {} is full with one child",
        view.page_number()
    );
    let first_right = if is_rightmost && index + 1 == count {
        count - 1
    } else {
        even(count, |node| view.space_of(node))
    };
    (first_right, view.node(first_right - 1).key())
}

fn split_internal(
    step: &mut Step<'_>,
    level: Level,
    above: Level,
    first_right: usize,
    separator: &[u8],
    new_page: u32,
) -> Result<(), Need> {
    let page = step.page(level.number)?;
    let view = PageView::new(&page);
    let count = view.node_count();
    let mut right = ContentBuilder::new(view.flags(), view.object_id(), Vec::new());
    right.push_range(view, first_right..count);
    let last_child = view.child(first_right - 1).to_le_bytes();
    drop(page);
    step.change(new_page, &PageOperation::Format(right.content()))?;
    // The last child of the left half loses its bound to the page above.
    let first = first_right - 1;
    step.change(
        level.number,
        &PageOperation::Remove {
            first,
            count: count - first,
        },
    )?;
    let unbounded = PageOperation::Insert {
        index: first,
        flags: NodeFlags::NONE,
        key: &[],
        data: &last_child,
    };
    step.change(level.number, &unbounded)?;
    add_child(step, above, separator, level.number, new_page)
}

/// Moves all nodes of the root into `new_page`, its only child from then on.
fn grow_root(step: &mut Step<'_>, root: u32, new_page: u32) -> Result<(), Need> {
    let page = step.page(root)?;
    let view = PageView::new(&page);
    assert!(view.is_root(), "page {root} is not a root");
    let nodes = 0..view.node_count();
    let compresses = compresses(view.flags());
    let prefix = if compresses {
        view.best_prefix(nodes.clone())
    } else {
        Vec::new()
    };
    let child_flags = view.flags().without(PageFlags::ROOT);
    let mut child = ContentBuilder::new(child_flags, view.object_id(), prefix);
    child.push_range(view, nodes);
    let above = if view.is_leaf() {
        PageFlags::PARENT_OF_LEAF
    } else {
        PageFlags::default()
    };
    let flags = tree_flags(view.flags()) | PageFlags::ROOT | above;
    let external = view.external_header().to_vec();
    let mut top = ContentBuilder::new(flags, view.object_id(), external);
    top.push(NodeFlags::NONE, &[], &new_page.to_le_bytes());
    drop(page);
    step.change(new_page, &PageOperation::Format(child.content()))?;
    step.change(root, &PageOperation::Format(top.content()))
}
