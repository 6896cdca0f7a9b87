//! The tree of available extents.

use super::{Extent, extent_of};
use crate::format::page::{NodeFlags, PageView};
use crate::tree::find::{find, find_leaf, first_leaf};
use crate::tree::insert::try_insert;
use crate::tree::split::{Pending, split_once};
use crate::tree::{DataChange, Need, PageOperation, Step};

/// The first extent that ends at `page` or later.
pub(super) fn first_from(
    step: &Step<'_>,
    available: u32,
    page: u32,
) -> Result<Option<Extent>, Need> {
    let mut leaf = find_leaf(step, available, &page.to_be_bytes())?;
    loop {
        let view = PageView::new(&leaf.page);
        let index = view
            .search(&page.to_be_bytes())
            .unwrap_or_else(|index| index);
        if index < view.node_count() {
            let node = view.node(index);
            return Ok(Some(extent_of(&node.key(), node.data)));
        }
        let next = view.next();
        if next == 0 {
            return Ok(None);
        }
        leaf.page = step.page(next)?;
        leaf.number = next;
    }
}

/// The first extent of at least `pages` pages.
pub(super) fn first_of_size(
    step: &Step<'_>,
    available: u32,
    pages: u32,
) -> Result<Option<Extent>, Need> {
    let mut found = None;
    visit(step, available, |extent| {
        let fits = extent.pages >= pages;
        if fits {
            found = Some(extent);
        }
        !fits
    })?;
    Ok(found)
}

/// Free pages of a space tree, counted.
pub(crate) fn available_pages(step: &Step<'_>, available: u32) -> Result<u32, Need> {
    let mut pages = 0;
    visit(step, available, |extent| {
        pages += extent.pages;
        true
    })?;
    Ok(pages)
}

/// Shows all extents in order until `go_on` says no.
pub(crate) fn visit(
    step: &Step<'_>,
    root: u32,
    mut go_on: impl FnMut(Extent) -> bool,
) -> Result<(), Need> {
    let mut page = first_leaf(step, root)?.page;
    loop {
        let view = PageView::new(&page);
        for node in view.nodes() {
            if !go_on(extent_of(&node.key(), node.data)) {
                return Ok(());
            }
        }
        match view.next() {
            0 => return Ok(()),
            next => page = step.page(next)?,
        }
    }
}

/// Takes the first `pages` pages off an extent of the tree. Never splits a page.
pub(super) fn take_front(
    step: &mut Step<'_>,
    available: u32,
    extent: Extent,
    pages: u32,
) -> Result<Extent, Need> {
    assert!(
        pages > 0 && pages <= extent.pages,
        "{pages} of {} pages",
        extent.pages
    );
    let Some(found) = find(step, available, &extent.key())? else {
        panic!("extent {extent:?} is not in the space tree at page {available}");
    };
    let (number, index) = (found.leaf.number, found.index);
    drop(found);
    if pages == extent.pages {
        step.change(
            number,
            &PageOperation::Remove {
                first: index,
                count: 1,
            },
        )?;
    } else {
        let (old, new) = (
            extent.pages.to_le_bytes(),
            (extent.pages - pages).to_le_bytes(),
        );
        let change = DataChange::between(&old, &new);
        step.change(number, &PageOperation::Replace { index, change })?;
    }
    Ok(Extent::from_first(extent.first(), pages))
}

/// Adds an extent. If its leaf is full, pages for the split come out of the extent itself.
pub(crate) fn put_extent(
    step: &mut Step<'_>,
    available: u32,
    mut extent: Extent,
) -> Result<(), Need> {
    while extent.pages > 0 {
        let (key, data) = (extent.key(), extent.data());
        if try_insert(step, available, &key, NodeFlags::NONE, &data)? {
            return Ok(());
        }
        let new_page = extent.first();
        extent.pages -= 1;
        split_once(
            step,
            available,
            &key,
            Pending::Insert { data_bytes: 4 },
            new_page,
        )?;
    }
    Ok(())
}
