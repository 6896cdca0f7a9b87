//! Taking pages and extents.

use super::available::{available_pages, first_from, first_of_size, take_front};
use super::owned::{SPLIT_EXTENT_PAGES, add_owned, has_room, last_owned};
use super::{DATABASE_ROOT, Extent, SpaceHeader, SpaceKind, space_header};
use crate::format::page::{NodeFlags, PageFlags, PageView};
use crate::tree::content::ContentBuilder;
use crate::tree::operation::tree_flags;
use crate::tree::{Need, PageOperation, Step};

/// A small tree grows by at least so many pages. Source: ESE.
const LEAST_GROWTH_PAGES: u32 = 4;
/// A tree grows by at most so many pages: the extents of busy trees stay long enough to be read and
/// written in large requests, and small enough not to tie up space.
const LARGEST_GROWTH_PAGES: u32 = 64;
/// Largest first extent whose free pages fit the bit map, root included.
const BITMAP_EXTENT_PAGES: u32 = 33;

/// Takes a free page of the tree at `root`, if possible the first one after `near`. The page still
/// has its old contents: format it.
pub(crate) fn take_page(step: &mut Step<'_>, root: u32, near: u32) -> Result<u32, Need> {
    let header = space_header(step, root)?;
    match header.kind {
        SpaceKind::Single { free_map: 0 } => {
            convert(step, root)?;
            take_page(step, root, near)
        }
        SpaceKind::Single { free_map: bits } => {
            let after_near = near.saturating_sub(root).min(31);
            let later = bits & (u32::MAX << after_near);
            let bit = if later == 0 { bits } else { later }.trailing_zeros();
            let kind = SpaceKind::Single {
                free_map: bits & !(1 << bit),
            };
            let header = SpaceHeader { kind, ..header };
            step.change(root, &PageOperation::External(&header.encode()))?;
            Ok(root + 1 + bit)
        }
        SpaceKind::Multiple { owned_root: owned } => {
            let available = owned + 1;
            let later = first_from(step, available, near)?;
            let extent = match later {
                Some(extent) => Some(extent),
                None => first_from(step, available, 0)?,
            };
            match extent {
                Some(extent) => Ok(take_front(step, available, extent, 1)?.first()),
                None => {
                    grow(step, root, 1)?;
                    take_page(step, root, near)
                }
            }
        }
    }
}

/// Takes `pages` pages in one piece from the tree at `root`.
fn take_extent(step: &mut Step<'_>, root: u32, pages: u32) -> Result<Extent, Need> {
    let header = space_header(step, root)?;
    let SpaceKind::Multiple { owned_root: owned } = header.kind else {
        convert(step, root)?;
        return take_extent(step, root, pages);
    };
    let available = owned + 1;
    if root == DATABASE_ROOT && !step.may_use_reserve {
        let free = available_pages(step, available)?;
        if free < pages + reserve_pages(step) {
            return Err(Need::Space { pages });
        }
    }
    match first_of_size(step, available, pages)? {
        Some(extent) => take_front(step, available, extent, pages),
        None => {
            grow(step, root, pages)?;
            take_extent(step, root, pages)
        }
    }
}

/// Pages of the file that only a rollback may take, so that undoing changes succeeds even when the
/// disk is full.
fn reserve_pages(step: &Step<'_>) -> u32 {
    (step.extension_pages() / 8).clamp(2, 32)
}

/// Adds an extent with at least `least` pages in a row to the tree at `root`.
fn grow(step: &mut Step<'_>, root: u32, least: u32) -> Result<(), Need> {
    let header = space_header(step, root)?;
    let SpaceKind::Multiple { owned_root: owned } = header.kind else {
        panic!("the tree at page {root} has no space trees to grow");
    };
    if header.parent_root == 0 {
        return Err(Need::Space { pages: least });
    }
    let last = last_owned(step, owned)?.pages;
    let largest = LARGEST_GROWTH_PAGES.min(step.extension_pages());
    let wanted = (last * 2).clamp(LEAST_GROWTH_PAGES, largest.max(LEAST_GROWTH_PAGES));
    // New extents mostly lie beyond all others; a full last leaf means that splits are near.
    let has_room_for_splits =
        has_room(step, owned, u32::MAX)? && has_room(step, owned + 1, u32::MAX)?;
    let pages = if has_room_for_splits {
        wanted.max(least)
    } else {
        wanted.max(least + SPLIT_EXTENT_PAGES)
    };
    let extent = take_extent(step, header.parent_root, pages)?;
    add_owned(step, root, extent)
}

/// Gives a tree whose bit map is used up its space trees, and some more pages.
fn convert(step: &mut Step<'_>, root: u32) -> Result<(), Need> {
    let header = space_header(step, root)?;
    let SpaceKind::Single { free_map: bits } = header.kind else {
        panic!("the tree at page {root} has space trees already");
    };
    let wanted = (header.primary_pages * 2).clamp(LEAST_GROWTH_PAGES, LARGEST_GROWTH_PAGES);
    let extent = take_extent(step, header.parent_root, wanted + 2)?;
    let primary = Extent::from_first(root, header.primary_pages);
    let mut free: Vec<Extent> = (0..32)
        .filter(|bit| bits & (1 << bit) != 0)
        .map(|bit| Extent::from_first(root + 1 + bit, 1))
        .collect();
    free.push(Extent {
        pages: extent.pages - 2,
        ..extent
    });
    free.sort_unstable();
    let mut owned = [primary, extent];
    owned.sort_unstable();
    let page = step.page(root)?;
    let view = PageView::new(&page);
    let (flags, object_id) = (tree_flags(view.flags()), view.object_id());
    drop(page);
    format_space_trees(step, extent.first(), flags, object_id, &owned, &free)?;
    let kind = SpaceKind::Multiple {
        owned_root: extent.first(),
    };
    let header = SpaceHeader { kind, ..header };
    step.change(root, &PageOperation::External(&header.encode()))
}

/// Formats the roots of the owned and of the available extents, on pages `first` and `first + 1`.
pub(super) fn format_space_trees(
    step: &mut Step<'_>,
    first: u32,
    flags: PageFlags,
    object_id: u32,
    owned: &[Extent],
    available: &[Extent],
) -> Result<(), Need> {
    let flags = flags | PageFlags::SPACE | PageFlags::ROOT | PageFlags::LEAF;
    for (page, extents) in [(first, owned), (first + 1, available)] {
        // The external header of a space tree is sixteen zero bytes: no pages are kept for splits.
        let mut builder = ContentBuilder::new(flags, object_id, vec![0; 16]);
        for extent in extents {
            builder.push(NodeFlags::NONE, &extent.key(), &extent.data());
        }
        step.change(page, &PageOperation::Format(builder.content()))?;
    }
    Ok(())
}

/// Creates an empty tree whose first extent of `pages` pages comes from `parent`; returns its root.
/// From three pages on the tree may be given its space trees at once.
pub(crate) fn create_tree(
    step: &mut Step<'_>,
    parent: u32,
    pages: u32,
    flags: PageFlags,
    object_id: u32,
    with_space_trees: bool,
) -> Result<u32, Need> {
    let extent = take_extent(step, parent, pages)?;
    format_tree(step, extent, parent, flags, object_id, with_space_trees)?;
    Ok(extent.first())
}

/// Formats an empty tree that owns `extent`.
pub(crate) fn format_tree(
    step: &mut Step<'_>,
    extent: Extent,
    parent: u32,
    flags: PageFlags,
    object_id: u32,
    with_space_trees: bool,
) -> Result<(), Need> {
    let root = extent.first();
    let kind = if with_space_trees {
        assert!(
            extent.pages >= 3,
            "a root and its space trees take three pages"
        );
        let rest = Extent {
            pages: extent.pages - 3,
            ..extent
        };
        let available: &[Extent] = if rest.pages > 0 { &[rest] } else { &[] };
        format_space_trees(step, root + 1, flags, object_id, &[extent], available)?;
        SpaceKind::Multiple {
            owned_root: root + 1,
        }
    } else {
        assert!(
            extent.pages <= BITMAP_EXTENT_PAGES,
            "the bit map has 32 bits"
        );
        SpaceKind::Single {
            free_map: ((1u64 << (extent.pages - 1)) - 1) as u32,
        }
    };
    let header = SpaceHeader {
        primary_pages: extent.pages,
        parent_root: parent,
        non_unique: false,
        kind,
    };
    let flags = flags | PageFlags::ROOT | PageFlags::LEAF;
    let empty = ContentBuilder::new(flags, object_id, header.encode().to_vec());
    step.change(root, &PageOperation::Format(empty.content()))
}
