//! Who owns which pages.
//!
//! Every tree owns runs of pages (extents) and knows which of them are free. The root page of a tree
//! begins with a [`SpaceHeader`]. A small tree owns one extent that begins at its root; a bit map in
//! the header says which of the next 32 pages are free. A larger tree has two trees of its own for
//! that: the owned extents (OE) and the available ones (AE), keyed by the last page of each extent.
//! A tree that runs out asks its parent for another extent: indexes and long values ask their table,
//! tables ask the database root (page 1), and that one asks for a larger file.
//!
//! Changing a space tree may itself need a page. It never asks the allocator for one: a page for a
//! split of AE or OE comes out of the extent that is being registered, or, when a single page is
//! given back and there is no room to say so, that very page becomes part of the AE tree. So there
//! is no recursion through allocation and no reserve to keep filled. Leaves of space trees are not
//! merged when they become empty; searches step over them.
//!
//! All of this happens inside the step that needs the page, hence in the same log record.

mod allocate;
mod available;
mod owned;
mod release;

pub(crate) use crate::format::space::{Extent, SpaceHeader, SpaceKind};
pub(crate) use allocate::{create_tree, format_tree, take_page};
#[cfg(test)]
pub(crate) use available::visit;
pub(crate) use owned::{add_owned, last_owned};
pub(crate) use release::free_page;

use crate::tree::{Need, Step};

/// The root page of the tree that owns the whole file.
pub(crate) const DATABASE_ROOT: u32 = 1;

/// The extent in a node of a space tree.
fn extent_of(key: &[u8], data: &[u8]) -> Extent {
    let extent = Extent::decode(key, data);
    extent.unwrap_or_else(|| panic!("key {key:02x?} and data {data:02x?} are no extent"))
}

/// The space header of a tree.
pub(crate) fn space_header(step: &Step<'_>, root: u32) -> Result<SpaceHeader, Need> {
    let page = step.page(root)?;
    let view = crate::format::page::PageView::new(&page);
    let header = SpaceHeader::decode(view.external_header());
    Ok(header.unwrap_or_else(|| panic!("page {root} has no space header")))
}
