//! Taking empty and sparse pages out of a tree.
//!
//! After a node was removed, [`tidy`] looks at its leaf. An empty leaf is unlinked and given back,
//! with the pages above it that would have no child left. A leaf less than a quarter full moves
//! together with a neighbour under the same parent if both fit one page with room to spare, and so
//! on upwards. A root with one child takes the child's nodes back.

use crate::format::page::{
    NodeFlags, PageFlags, PageView, common_prefix_bytes, node_bytes, page_capacity_bytes,
};
use crate::space;
use crate::tree::Page;
use crate::tree::content::ContentBuilder;
use crate::tree::find::{Level, Path, find_path};
use crate::tree::operation::{DataChange, PageOperation, compresses, tree_flags};
use crate::tree::step::{Need, Step};

/// A page with less than this part of its room in use looks for a neighbour to join.
const SPARSE_PART: usize = 4;
/// Two pages join if together they leave this part of one page free.
const JOINED_FREE_PART: usize = 5;

/// Looks after the leaf of `key`, from which a node was just removed.
pub(crate) fn tidy(step: &mut Step<'_>, root: u32, key: &[u8]) -> Result<(), Need> {
    let path = find_path(step, root, key)?;
    if path.levels.is_empty() {
        return Ok(());
    }
    let is_empty = PageView::new(&path.leaf.page).node_count() == 0;
    if is_empty {
        remove_leaf(step, root, &path)
    } else if is_sparse(&path.leaf.page) {
        let Path {
            mut levels, leaf, ..
        } = path;
        drop(leaf);
        join_upwards(step, root, &mut levels)
    } else {
        Ok(())
    }
}

/// Whether a leaf that loses one of its nodes needs no looking after: other nodes are left, and they are
/// not too few. The page without the node, which a step would have to make, is not needed for that.
pub(crate) fn stays_filled(leaf: &Page, index: usize) -> bool {
    let view = PageView::new(leaf);
    let node = view.node(index);
    // Stored with a shared prefix it takes less.
    let most = node_bytes(node.key_len(), node.data.len());
    let left = used_bytes(leaf).saturating_sub(most);
    view.node_count() > 1 && left >= least_bytes(leaf)
}

fn is_sparse(page: &Page) -> bool {
    used_bytes(page) < least_bytes(page)
}

/// Room that the nodes of a page take.
fn used_bytes(page: &Page) -> usize {
    let view = PageView::new(page);
    page_capacity_bytes(page.len()) - view.free_bytes() - view.external_header().len()
}

/// A page is sparse if its nodes take less.
fn least_bytes(page: &Page) -> usize {
    page_capacity_bytes(page.len()) / SPARSE_PART
}

/// Unlinks and frees an empty leaf.
fn remove_leaf(step: &mut Step<'_>, root: u32, path: &Path) -> Result<(), Need> {
    let view = PageView::new(&path.leaf.page);
    let (previous, next) = (view.previous(), view.next());
    if previous != 0 {
        step.change(previous, &PageOperation::Next(next))?;
    }
    if next != 0 {
        step.change(next, &PageOperation::Previous(previous))?;
    }
    free(step, root, path.leaf.number)?;
    let mut levels = path.levels.clone();
    while let Some(level) = levels.pop() {
        let page = step.page(level.number)?;
        if PageView::new(&page).node_count() > 1 {
            drop(page);
            remove_child(step, level)?;
            return settle(step, root, level, &mut levels);
        }
        if level.number == root {
            return empty_root(step, root);
        }
        drop(page);
        free(step, root, level.number)?;
    }
    unreachable!("the root ends the loop")
}

/// Takes one of several children out of an internal page. Its keys then belong to its right
/// neighbour, or to the left one if it was the last.
fn remove_child(step: &mut Step<'_>, level: Level) -> Result<(), Need> {
    let page = step.page(level.number)?;
    let view = PageView::new(&page);
    if level.index + 1 < view.node_count() {
        return step.change(
            level.number,
            &PageOperation::Remove {
                first: level.index,
                count: 1,
            },
        );
    }
    let first = level.index - 1;
    let last_child = view.child(first).to_le_bytes();
    drop(page);
    step.change(level.number, &PageOperation::Remove { first, count: 2 })?;
    let unbounded = PageOperation::Insert {
        index: first,
        flags: NodeFlags::NONE,
        key: &[],
        data: &last_child,
    };
    step.change(level.number, &unbounded)
}

fn empty_root(step: &mut Step<'_>, root: u32) -> Result<(), Need> {
    let page = step.page(root)?;
    let view = PageView::new(&page);
    let flags = tree_flags(view.flags()) | PageFlags::ROOT | PageFlags::LEAF;
    let external = view.external_header().to_vec();
    let empty = ContentBuilder::new(flags, view.object_id(), external);
    drop(page);
    step.change(root, &PageOperation::Format(empty.content()))
}

/// Looks after an internal page that lost a child; `above` are the pages above it.
fn settle(
    step: &mut Step<'_>,
    root: u32,
    level: Level,
    above: &mut Vec<Level>,
) -> Result<(), Need> {
    let page = step.page(level.number)?;
    if level.number == root {
        let is_single = PageView::new(&page).node_count() == 1;
        drop(page);
        return if is_single {
            shrink_root(step, root)
        } else {
            Ok(())
        };
    }
    let sparse = is_sparse(&page);
    drop(page);
    if sparse {
        join_upwards(step, root, above)
    } else {
        Ok(())
    }
}

/// Joins the child that the last of `levels` points at with a neighbour, if they fit one page.
fn join_upwards(step: &mut Step<'_>, root: u32, levels: &mut Vec<Level>) -> Result<(), Need> {
    let Some(level) = levels.pop() else {
        return Ok(());
    };
    let page = step.page(level.number)?;
    let view = PageView::new(&page);
    if view.node_count() < 2 {
        return Ok(());
    }
    let left_index = level.index.min(view.node_count() - 2);
    let (left, right) = (view.child(left_index), view.child(left_index + 1));
    let separator = view.node(left_index).key();
    drop(page);
    if !join(step, left, right, &separator)? {
        return Ok(());
    }
    free(step, root, right)?;
    // The left page takes the bound of the right one.
    let (old, new) = (right.to_le_bytes(), left.to_le_bytes());
    let change = DataChange::between(&old, &new);
    let replace = PageOperation::Replace {
        index: left_index + 1,
        change,
    };
    step.change(level.number, &replace)?;
    step.change(
        level.number,
        &PageOperation::Remove {
            first: left_index,
            count: 1,
        },
    )?;
    settle(
        step,
        root,
        Level {
            number: level.number,
            index: left_index,
        },
        levels,
    )
}

/// Moves all nodes of `right` to `left`, its neighbour, if they fit.
fn join(step: &mut Step<'_>, left: u32, right: u32, separator: &[u8]) -> Result<bool, Need> {
    let (left_page, right_page) = (step.page(left)?, step.page(right)?);
    let (one, two) = (PageView::new(&left_page), PageView::new(&right_page));
    let sizes = one.nodes().chain(two.nodes());
    let bytes: usize = sizes
        .map(|node| node_bytes(node.key_len(), node.data.len()))
        .sum();
    let room = page_capacity_bytes(left_page.len());
    if bytes + separator.len() > room - room / JOINED_FREE_PART {
        return Ok(false);
    }
    let (mut builder, after) = if one.is_leaf() {
        (joined_leaf(one, two), two.next())
    } else {
        (joined_internal(one, two, separator), 0)
    };
    builder.previous = one.previous();
    builder.next = after;
    drop((left_page, right_page));
    step.change(left, &PageOperation::Format(builder.content()))?;
    if after != 0 {
        step.change(after, &PageOperation::Previous(left))?;
    }
    Ok(true)
}

fn joined_leaf(one: PageView<'_>, two: PageView<'_>) -> ContentBuilder {
    let (ones, twos) = (one.node_count(), two.node_count());
    let mut prefix = Vec::new();
    if compresses(one.flags()) && ones > 0 && twos > 0 {
        let (first, last) = (one.node(0).key(), two.node(twos - 1).key());
        let shared = common_prefix_bytes(&first, &last);
        if shared > 2 {
            prefix = first[..shared].to_vec();
        }
    }
    let mut builder = ContentBuilder::new(one.flags(), one.object_id(), prefix);
    builder.push_range(one, 0..ones);
    builder.push_range(two, 0..twos);
    builder
}

fn joined_internal(one: PageView<'_>, two: PageView<'_>, separator: &[u8]) -> ContentBuilder {
    let last = one.node_count() - 1;
    let mut builder = ContentBuilder::new(one.flags(), one.object_id(), Vec::new());
    builder.push_range(one, 0..last);
    // The last child of the left page had no bound there; the page above held it.
    builder.push(NodeFlags::NONE, separator, one.node(last).data);
    builder.push_range(two, 0..two.node_count());
    builder
}

/// Takes the nodes of the only child into the root while they fit.
fn shrink_root(step: &mut Step<'_>, root: u32) -> Result<(), Need> {
    loop {
        let page = step.page(root)?;
        let view = PageView::new(&page);
        if view.is_leaf() || view.node_count() > 1 {
            return Ok(());
        }
        let child = view.child(0);
        let child_page = step.page(child)?;
        let below = PageView::new(&child_page);
        let bytes: usize = below
            .nodes()
            .map(|node| node_bytes(node.key_len(), node.data.len()))
            .sum();
        let room = page_capacity_bytes(page.len());
        if bytes + view.external_header().len() > room - room / JOINED_FREE_PART {
            return Ok(());
        }
        let flags = below.flags() | PageFlags::ROOT;
        let external = view.external_header().to_vec();
        let mut builder = ContentBuilder::new(flags, view.object_id(), external);
        builder.push_range(below, 0..below.node_count());
        drop((page, child_page));
        step.change(root, &PageOperation::Format(builder.content()))?;
        free(step, root, child)?;
    }
}

/// Marks a page empty and gives it back to the tree's space.
fn free(step: &mut Step<'_>, root: u32, number: u32) -> Result<(), Need> {
    let page = step.page(number)?;
    let view = PageView::new(&page);
    let flags = tree_flags(view.flags()) | PageFlags::LEAF | PageFlags::EMPTY;
    let empty = ContentBuilder::new(flags, view.object_id(), Vec::new());
    drop(page);
    step.change(number, &PageOperation::Format(empty.content()))?;
    space::free_page(step, root, number)
}
