//! Inserting a node where there is room.

use super::find::find_leaf;
use super::operation::PageOperation;
use super::step::{Need, Step};
use crate::format::page::{NodeFlags, PageView};

/// Inserts a node if its leaf has room.
pub(crate) fn try_insert(
    step: &mut Step<'_>,
    root: u32,
    key: &[u8],
    flags: NodeFlags,
    data: &[u8],
) -> Result<bool, Need> {
    let leaf = find_leaf(step, root, key)?;
    let view = PageView::new(&leaf.page);
    let Err(index) = view.search(key) else {
        panic!("key {key:02x?} is in the tree at page {root} already");
    };
    if !view.fits(key, data.len()) {
        return Ok(false);
    }
    let number = leaf.number;
    drop(leaf);
    step.change(
        number,
        &PageOperation::Insert {
            index,
            flags,
            key,
            data,
        },
    )?;
    Ok(true)
}
