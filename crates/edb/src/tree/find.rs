//! From a key to its leaf.

use super::step::{Need, Step};
use crate::format::page::{KeyRange, PageView};
use crate::tree::Page;
use std::rc::Rc;

/// No tree is deeper: even 4 KiB pages with the longest keys fill the largest file before.
const MAX_DEPTH: usize = 24;

/// The leaf in which a key lies, or would lie.
pub(crate) struct Leaf {
    pub(crate) number: u32,
    pub(crate) page: Rc<Page>,
    /// What the pages above show of its keys.
    range: KeyRange,
}

impl Leaf {
    /// A leaf of whose keys nothing is known.
    pub(crate) fn new(number: u32, page: Rc<Page>) -> Self {
        Self {
            number,
            page,
            range: KeyRange::default(),
        }
    }

    /// Looks for `key` on it, as [`PageView::search`].
    pub(crate) fn search(&self, key: &[u8]) -> Result<usize, usize> {
        PageView::new(&self.page).search_within(key, self.range)
    }
}

/// A key found in a leaf.
pub(crate) struct Found {
    pub(crate) leaf: Leaf,
    /// The node on it.
    pub(crate) index: usize,
}

/// Descends to the leaf of `key`.
pub(crate) fn find_leaf(step: &Step<'_>, root: u32, key: &[u8]) -> Result<Leaf, Need> {
    let resumed = step.resumed(root, key);
    debug_assert!(resumed.is_none_or(|page| is_on_the_way(step, root, key, page)));
    let mut number = resumed.unwrap_or(root);
    let mut above = None;
    let mut range = KeyRange::default();
    for _ in 0..MAX_DEPTH {
        let page = step.page(number).inspect_err(|_| {
            if let Some(parent) = above {
                step.note_missed(root, key, parent, number);
            }
        })?;
        let view = PageView::new(&page);
        view.ask_for_ends();
        if view.is_leaf() {
            let leaf = Leaf {
                number,
                page,
                range,
            };
            return Ok(leaf);
        }
        above = Some((number, view.dbtime()));
        let index = view.child_index_within(key, range);
        range = range.of_child(view, index);
        number = view.child(index);
    }
    panic!("the tree at page {root} is deeper than {MAX_DEPTH} levels");
}

/// Whether the way from the root to `key` passes `page`, as far as the cache shows.
fn is_on_the_way(step: &Step<'_>, root: u32, key: &[u8], page: u32) -> bool {
    let mut number = root;
    while number != page {
        let Ok(above) = step.page(number) else {
            return true;
        };
        let view = PageView::new(&above);
        if view.is_leaf() {
            return false;
        }
        number = view.child(view.child_index(key));
    }
    true
}

/// Finds `key`, whether its node carries the deleted flag or not.
pub(crate) fn find(step: &Step<'_>, root: u32, key: &[u8]) -> Result<Option<Found>, Need> {
    let leaf = find_leaf(step, root, key)?;
    let place = leaf.search(key);
    Ok(place.ok().map(|index| Found { leaf, index }))
}

/// One internal page on the way to a leaf.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    pub(crate) number: u32,
    /// Which child the way goes on to.
    pub(crate) index: usize,
}

/// The way from the root to a leaf.
pub(crate) struct Path {
    /// Internal pages, root first.
    pub(crate) levels: Vec<Level>,
    pub(crate) leaf: Leaf,
    /// Whether the way takes the last child everywhere.
    pub(crate) is_rightmost: bool,
}

/// Descends to the leaf of `key` and remembers the way.
pub(crate) fn find_path(step: &Step<'_>, root: u32, key: &[u8]) -> Result<Path, Need> {
    let mut levels = Vec::new();
    let mut number = root;
    let mut is_rightmost = true;
    loop {
        assert!(
            levels.len() < MAX_DEPTH,
            "the tree at page {root} is too deep"
        );
        let page = step.page(number)?;
        let view = PageView::new(&page);
        if view.is_leaf() {
            return Ok(Path {
                levels,
                leaf: Leaf::new(number, page),
                is_rightmost,
            });
        }
        let index = view.child_index(key);
        is_rightmost &= index + 1 == view.node_count();
        levels.push(Level { number, index });
        number = view.child(index);
    }
}

/// The children of the page above the leaf of `key` that come after that leaf, at most `limit`; in
/// descending order those before it if `backward`. Empty where pages are not in the cache or the
/// root is a leaf: a list for reading ahead, nothing else.
pub(crate) fn neighbours(
    step: &Step<'_>,
    root: u32,
    key: &[u8],
    limit: usize,
    backward: bool,
) -> Vec<u32> {
    let Ok(path) = find_path_to_parent(step, root, key) else {
        return Vec::new();
    };
    let Some(Level { number, index }) = path else {
        return Vec::new();
    };
    let Ok(page) = step.page(number) else {
        return Vec::new();
    };
    let view = PageView::new(&page);
    if backward {
        (0..index)
            .rev()
            .take(limit)
            .map(|child| view.child(child))
            .collect()
    } else {
        (index + 1..view.node_count())
            .take(limit)
            .map(|child| view.child(child))
            .collect()
    }
}

/// The page above the leaf of `key`; the leaf itself need not be in the cache.
fn find_path_to_parent(step: &Step<'_>, root: u32, key: &[u8]) -> Result<Option<Level>, Need> {
    let mut above = None;
    let mut number = root;
    for _ in 0..MAX_DEPTH {
        let page = match step.page(number) {
            Ok(page) => page,
            // The leaf itself may be missing; the page above it says so.
            Err(Need::Page(_)) if above.is_some() => return Ok(above),
            Err(need) => return Err(need),
        };
        let view = PageView::new(&page);
        if view.is_leaf() {
            break;
        }
        let index = view.child_index(key);
        above = Some(Level { number, index });
        number = view.child(index);
    }
    Ok(above)
}

/// The first leaf of a tree.
pub(crate) fn first_leaf(step: &Step<'_>, root: u32) -> Result<Leaf, Need> {
    find_leaf(step, root, &[])
}

/// The last leaf of a tree.
pub(crate) fn last_leaf(step: &Step<'_>, root: u32) -> Result<Leaf, Need> {
    let mut number = root;
    loop {
        let page = step.page(number)?;
        let view = PageView::new(&page);
        if view.is_leaf() {
            return Ok(Leaf::new(number, page));
        }
        number = view.child(view.node_count() - 1);
    }
}
