//! The tree of owned extents.

use super::available::put_extent;
use super::{Extent, SpaceKind, extent_of, space_header};
use crate::format::page::{NodeFlags, PageView};
use crate::tree::find::last_leaf;
use crate::tree::insert::try_insert;
use crate::tree::split::{Pending, split_once};
use crate::tree::{Need, Step};

/// The least size of an extent that is registered in a space tree whose leaf is full: more pages
/// than the splits of both space trees can take.
pub(super) const SPLIT_EXTENT_PAGES: u32 = 16;

/// Whether the leaf of `extent` in a space tree has room for one more node.
pub(super) fn has_room(step: &Step<'_>, root: u32, last_page: u32) -> Result<bool, Need> {
    let key = last_page.to_be_bytes();
    let leaf = crate::tree::find_leaf(step, root, &key)?;
    Ok(PageView::new(&leaf.page).fits(&key, 4))
}

/// Gives the tree at `root` another extent, all of it available. The tree has space trees.
pub(crate) fn add_owned(step: &mut Step<'_>, root: u32, extent: Extent) -> Result<(), Need> {
    let SpaceKind::Multiple { owned_root: owned } = space_header(step, root)?.kind else {
        panic!("the tree at page {root} has no tree of owned extents");
    };
    let (key, data) = (extent.key(), extent.data());
    let mut rest = extent;
    while !try_insert(step, owned, &key, NodeFlags::NONE, &data)? {
        assert!(
            rest.pages > 1,
            "an extent of {} pages cannot be registered",
            extent.pages
        );
        let new_page = rest.first();
        rest.pages -= 1;
        split_once(
            step,
            owned,
            &key,
            Pending::Insert { data_bytes: 4 },
            new_page,
        )?;
    }
    put_extent(step, owned + 1, rest)
}

/// The owned extent with the highest page numbers: most likely the youngest.
pub(crate) fn last_owned(step: &Step<'_>, owned: u32) -> Result<Extent, Need> {
    let page = last_leaf(step, owned)?.page;
    let view = PageView::new(&page);
    let count = view.node_count();
    assert!(count > 0, "the tree at page {owned} owns nothing");
    let node = view.node(count - 1);
    Ok(extent_of(&node.key(), node.data))
}
