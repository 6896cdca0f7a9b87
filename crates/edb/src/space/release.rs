//! Giving a free page back to the tree that owns it.

use super::available::{first_from, put_extent};
use super::{Extent, SpaceHeader, SpaceKind, extent_of, space_header};
use crate::tree::find::find;
use crate::tree::{DataChange, Need, PageOperation, Step};

/// Gives a page back to the tree at `root`. It joins free neighbours of the same owned extent.
pub(crate) fn free_page(step: &mut Step<'_>, root: u32, page: u32) -> Result<(), Need> {
    let header = space_header(step, root)?;
    match header.kind {
        SpaceKind::Single { free_map: bits } => {
            let bit = page - root - 1;
            assert!(
                bit < 32 && bits & (1 << bit) == 0,
                "page {page} is free already"
            );
            let kind = SpaceKind::Single {
                free_map: bits | 1 << bit,
            };
            let header = SpaceHeader { kind, ..header };
            step.change(root, &PageOperation::External(&header.encode()))
        }
        SpaceKind::Multiple { owned_root: owned } => free_in_trees(step, owned, page),
    }
}

fn free_in_trees(step: &mut Step<'_>, owned: u32, page: u32) -> Result<(), Need> {
    let available = owned + 1;
    let home = first_from(step, owned, page)?;
    let home = home.filter(|home| home.first() <= page);
    let Some(home) = home else {
        panic!("page {page} does not belong to the space trees at page {owned}");
    };
    let mut freed = Extent::from_first(page, 1);
    if page > home.first()
        && let Some(left) = node_of(step, available, page - 1)?
    {
        remove(step, available, left)?;
        freed = Extent {
            last: page,
            pages: left.pages + 1,
        };
    }
    let right = first_from(step, available, page)?;
    if let Some(right) = right {
        assert!(right.first() > page, "page {page} is free already");
        if right.first() == page + 1 && right.last <= home.last {
            return widen(step, available, right, freed.pages);
        }
    }
    put_extent(step, available, freed)
}

/// The extent that ends exactly at `last`.
fn node_of(step: &Step<'_>, available: u32, last: u32) -> Result<Option<Extent>, Need> {
    let found = find(step, available, &last.to_be_bytes())?;
    Ok(found.map(|found| {
        let view = crate::format::page::PageView::new(&found.leaf.page);
        let node = view.node(found.index);
        extent_of(&node.key(), node.data)
    }))
}

fn remove(step: &mut Step<'_>, available: u32, extent: Extent) -> Result<(), Need> {
    super::available::take_front(step, available, extent, extent.pages).map(|_| ())
}

/// Lets `extent` begin `pages` pages earlier.
fn widen(step: &mut Step<'_>, available: u32, extent: Extent, pages: u32) -> Result<(), Need> {
    let Some(found) = find(step, available, &extent.key())? else {
        panic!("extent {extent:?} was found a moment ago");
    };
    let (number, index) = (found.leaf.number, found.index);
    drop(found);
    let (old, new) = (
        extent.pages.to_le_bytes(),
        (extent.pages + pages).to_le_bytes(),
    );
    let change = DataChange::between(&old, &new);
    step.change(number, &PageOperation::Replace { index, change })
}
