//! Insert, replace, flag and remove one node of a B+ tree, with the pages that the tree then takes or
//! gives back. [`merge`] takes empty and sparse pages away.

use crate::tree::insert::try_insert;

mod merge;

#[cfg(test)]
mod tests;

use crate::format::page::{NodeFlags, PageView};
use crate::space;
use crate::tree::find::{Found, find, find_leaf};
use crate::tree::operation::{DataChange, PageOperation};
use crate::tree::split::{Pending, split_once};
use crate::tree::step::{Need, Step};

/// Inserts a node. The key must not be in the tree.
pub(crate) fn insert_node(
    step: &mut Step<'_>,
    root: u32,
    key: &[u8],
    flags: NodeFlags,
    data: &[u8],
) -> Result<(), Need> {
    while !try_insert(step, root, key, flags, data)? {
        let near = find_leaf(step, root, key)?.number;
        let new_page = space::take_page(step, root, near)?;
        split_once(
            step,
            root,
            key,
            Pending::Insert {
                data_bytes: data.len(),
            },
            new_page,
        )?;
    }
    Ok(())
}

/// Gives a node new data and flags. The key must be in the tree.
pub(crate) fn change_node(
    step: &mut Step<'_>,
    root: u32,
    key: &[u8],
    flags: NodeFlags,
    data: &[u8],
) -> Result<(), Need> {
    loop {
        let found = find(step, root, key)?;
        let Some(Found { leaf, index }) = found else {
            panic!("key {key:02x?} is not in the tree at page {root}");
        };
        let view = PageView::new(&leaf.page);
        let node = view.node(index);
        if node.data.len() >= data.len() || view.fits_replacement(index, data.len()) {
            let change = DataChange::between(node.data, data);
            let same = node.data == data;
            let flags_differ = (node.flags.0 ^ flags.0) & !NodeFlags::COMPRESSED.0 != 0;
            let number = leaf.number;
            drop(leaf);
            if !same {
                step.change(number, &PageOperation::Replace { index, change })?;
            }
            if flags_differ {
                step.change(number, &PageOperation::Flag { index, flags })?;
            }
            return Ok(());
        }
        let new_page = space::take_page(step, root, leaf.number)?;
        drop(leaf);
        split_once(
            step,
            root,
            key,
            Pending::Grow {
                data_bytes: data.len(),
            },
            new_page,
        )?;
    }
}

/// Takes a node out of a tree, and its page too if little is left on it. The key must be there.
pub(crate) fn remove_node(step: &mut Step<'_>, root: u32, key: &[u8]) -> Result<(), Need> {
    let found = find(step, root, key)?;
    let Some(Found { leaf, index }) = found else {
        panic!("key {key:02x?} is not in the tree at page {root}");
    };
    let number = leaf.number;
    let stays_filled = merge::stays_filled(&leaf.page, index);
    drop(leaf);
    step.change(
        number,
        &PageOperation::Remove {
            first: index,
            count: 1,
        },
    )?;
    match stays_filled {
        true => Ok(()),
        false => merge::tidy(step, root, key),
    }
}
